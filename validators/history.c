#include "history.h"

#include <stdlib.h>
#include <string.h>

enum { FIRST_CAPACITY = 16 };

/* More than a few operations on coordinates lose of them. */
#define ROUNDING 1e-12

/* A state in use by `references` samples. */
struct shared_state {
    struct hs_state state;
    uint32_t references;
};

struct hs_history {
    uint32_t limit;
    bool held;
    uint32_t capacity, head, count; /* ring of samples */
    struct hs_sample *samples;
    struct shared_state *states; /* `state_capacity`, free where references is 0 */
    uint32_t state_capacity;
    /* Extras are blocks of one size; free ones are linked by the index in their first bytes. */
    unsigned char *extras;
    size_t extra_size;
    uint32_t extra_capacity, extra_free;
    uint32_t since_span; /* samples that came since the span was computed anew */
    struct hs_history_span span;
};

struct hs_history *hs_history_create(const struct hs_history_limits *limits)
{
    struct hs_history *history = calloc(1, sizeof *history);
    if (history == NULL)
        return NULL;
    history->limit = limits->samples < 2 ? 2 : limits->samples;
    history->extra_free = HS_NO_EXTRA;
    return history;
}

void hs_history_destroy(struct hs_history *history)
{
    if (history == NULL)
        return;
    free(history->samples);
    free(history->states);
    free(history->extras);
    free(history);
}

static struct hs_sample *slot(const struct hs_history *history, uint32_t i)
{
    uint32_t at = history->head + i;
    return &history->samples[at < history->capacity ? at : at - history->capacity];
}

static unsigned char *extra_block(const struct hs_history *history, uint32_t i)
{
    return history->extras + (size_t)i * history->extra_size;
}

static void free_extra(struct hs_history *history, uint32_t i)
{
    if (i == HS_NO_EXTRA)
        return;
    memcpy(extra_block(history, i), &history->extra_free, sizeof history->extra_free);
    history->extra_free = i;
}

static void forget_sample(struct hs_history *history, struct hs_sample *sample)
{
    free_extra(history, sample->extra);
    history->states[sample->state].references--;
}

static void drop_oldest(struct hs_history *history)
{
    forget_sample(history, slot(history, 0));
    history->head = history->head + 1 == history->capacity ? 0 : history->head + 1;
    history->count--;
    if (history->count > 0)
        history->span.oldest_us = slot(history, 0)->time_us;
}

void hs_history_clear(struct hs_history *history)
{
    while (history->count > 0)
        drop_oldest(history);
}

void hs_history_hold(struct hs_history *history, bool held)
{
    history->held = held;
}

uint32_t hs_history_count(const struct hs_history *history)
{
    return history->count;
}

const struct hs_sample *hs_history_at(const struct hs_history *history, uint32_t i)
{
    return slot(history, i);
}

const struct hs_state *hs_history_state(const struct hs_history *history,
                                        const struct hs_sample *sample)
{
    return &history->states[sample->state].state;
}

const struct hs_extra *hs_history_extra(const struct hs_history *history,
                                        const struct hs_sample *sample)
{
    if (sample->extra == HS_NO_EXTRA)
        return NULL;
    return (const struct hs_extra *)(const void *)extra_block(history, sample->extra);
}

int64_t hs_history_find(const struct hs_history *history, int64_t time_us)
{
    const struct hs_history_span *span = &history->span;
    if (history->count == 0 || time_us < span->oldest_us)
        return -1;
    if (time_us >= span->newest_us)
        return (int64_t)history->count - 1;
    /* Samples mostly come at a steady rate: the place is guessed, and searched for where that is
       wrong. */
    double share =
        (double)(time_us - span->oldest_us) / (double)(span->newest_us - span->oldest_us);
    uint32_t low = 1, high = history->count - 1; /* the answer + 1 is in [low, high] */
    uint32_t guess = (uint32_t)(share * (double)(history->count - 1));
    guess = guess < high ? guess : high - 1;
    if (slot(history, guess)->time_us <= time_us) {
        if (slot(history, guess + 1)->time_us > time_us)
            return guess;
        low = guess + 2;
    } else {
        high = guess;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (slot(history, middle)->time_us <= time_us)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low - 1;
}

void hs_history_prune(struct hs_history *history, int64_t before_us)
{
    while (history->count >= 2 && slot(history, 1)->time_us <= before_us)
        drop_oldest(history);
}

size_t hs_history_bytes(const struct hs_history *history)
{
    return sizeof *history + history->capacity * sizeof *history->samples +
           history->state_capacity * sizeof *history->states +
           history->extra_capacity * history->extra_size;
}

/* ---- room ---- */

static bool grow_samples(struct hs_history *history)
{
    uint32_t capacity = history->capacity == 0 ? FIRST_CAPACITY : history->capacity * 2;
    if (capacity > history->limit)
        capacity = history->limit;
    struct hs_sample *samples = malloc(capacity * sizeof *samples);
    if (samples == NULL)
        return false;
    for (uint32_t i = 0; i < history->count; i++)
        samples[i] = *slot(history, i);
    free(history->samples);
    history->samples = samples;
    history->capacity = capacity;
    history->head = 0;
    return true;
}

static bool states_equal(const struct hs_state *a, const struct hs_state *b)
{
    return memcmp(a->owned, b->owned, sizeof a->owned) == 0 && a->damage_scale == b->damage_scale &&
           a->life == b->life && a->ammo == b->ammo && a->prediction_us == b->prediction_us &&
           a->rig == b->rig && a->stance == b->stance && a->team == b->team &&
           a->weapon == b->weapon && a->any_weapon == b->any_weapon && a->alive == b->alive &&
           a->is_protected == b->is_protected && a->reloading == b->reloading &&
           a->unsure == b->unsure;
}

/* Index of a state equal to `state`, with one more reference; `like` is tried first. */
static bool share_state(struct hs_history *history, const struct hs_state *state,
                        const struct hs_sample *like, uint16_t *out)
{
    if (like != NULL && states_equal(&history->states[like->state].state, state)) {
        history->states[like->state].references++;
        *out = like->state;
        return true;
    }
    uint32_t i = 0;
    while (i < history->state_capacity && history->states[i].references > 0)
        i++;
    if (i == history->state_capacity) {
        uint32_t capacity = i == 0 ? 2 : i * 2;
        struct shared_state *states =
            capacity <= UINT16_MAX ? realloc(history->states, capacity * sizeof *states) : NULL;
        if (states == NULL)
            return false;
        memset(states + i, 0, (capacity - i) * sizeof *states);
        history->states = states;
        history->state_capacity = capacity;
    }
    history->states[i] = (struct shared_state){*state, 1};
    *out = (uint16_t)i;
    return true;
}

/* Blocks of at least `size` bytes and at least one free; old blocks move along. */
static bool make_extra_room(struct hs_history *history, size_t size)
{
    size_t block = size > history->extra_size ? size : history->extra_size;
    uint32_t old_capacity = history->extra_capacity;
    uint32_t capacity = old_capacity;
    if (history->extra_free == HS_NO_EXTRA)
        capacity = capacity == 0 ? FIRST_CAPACITY : capacity * 2;
    if (block == history->extra_size && capacity == old_capacity)
        return true;
    unsigned char *extras = calloc(capacity, block);
    if (extras == NULL)
        return false;
    for (uint32_t i = 0; i < old_capacity; i++)
        memcpy(extras + (size_t)i * block, extra_block(history, i), history->extra_size);
    free(history->extras);
    history->extras = extras;
    history->extra_size = block;
    history->extra_capacity = capacity;
    for (uint32_t i = capacity; i-- > old_capacity;)
        free_extra(history, i);
    return true;
}

static bool store_extra(struct hs_history *history, const struct hs_extra *extra, uint32_t *out)
{
    *out = HS_NO_EXTRA;
    if (extra == NULL)
        return true;
    size_t size = sizeof *extra + (size_t)extra->bone_count * extra->stride * sizeof(float);
    size_t align = sizeof(uint64_t);
    if (!make_extra_room(history, (size + align - 1) / align * align))
        return false;
    uint32_t i = history->extra_free;
    memcpy(&history->extra_free, extra_block(history, i), sizeof history->extra_free);
    memcpy(extra_block(history, i), extra, size);
    *out = i;
    return true;
}

/* ---- span ---- */

static double least(double a, double b)
{
    return a < b ? a : b;
}

static double most(double a, double b)
{
    return a > b ? a : b;
}

/* Takes in sample i, and the gap before it. */
static void widen_span(struct hs_history *history, uint32_t i)
{
    struct hs_history_span *span = &history->span;
    const struct hs_sample *sample = slot(history, i);
    struct hs_vec p = sample->position;
    span->low =
        (struct hs_vec){least(span->low.x, p.x), least(span->low.y, p.y), least(span->low.z, p.z)};
    span->high =
        (struct hs_vec){most(span->high.x, p.x), most(span->high.y, p.y), most(span->high.z, p.z)};
    const struct hs_extra *extra = hs_history_extra(history, sample);
    if (extra != NULL && extra->bone_count > 0)
        span->posted_reach = most(span->posted_reach, (double)extra->reach);
    int64_t gap = i > 0 ? sample->time_us - slot(history, i - 1)->time_us : 0;
    if (gap > span->longest_gap_us)
        span->longest_gap_us = gap;
}

/* After sample i came. Anew after as many samples as there are, so that what went is forgotten. */
static void update_span(struct hs_history *history, uint32_t i)
{
    struct hs_history_span *span = &history->span;
    if (++history->since_span >= history->count) {
        struct hs_vec first = slot(history, 0)->position;
        *span = (struct hs_history_span){.low = first, .high = first};
        for (uint32_t k = 0; k < history->count; k++)
            widen_span(history, k);
        history->since_span = 0;
    } else {
        widen_span(history, i);
        /* The gap after it is no longer than the one it came into, which was taken in. */
        if (i == 0)
            widen_span(history, 1);
    }
    span->oldest_us = slot(history, 0)->time_us;
    span->newest_us = slot(history, history->count - 1)->time_us;
    span->middle = hs_vec_scale(hs_vec_add(span->low, span->high), 0.5);
    struct hs_vec half = hs_vec_sub(span->high, span->middle);
    double rounding = ROUNDING * (fabs(span->middle.x) + fabs(span->middle.y) +
                                  fabs(span->middle.z) + half.x + half.y + half.z);
    span->half = (struct hs_vec){half.x + rounding, half.y + rounding, half.z + rounding};
}

const struct hs_history_span *hs_history_span(const struct hs_history *history)
{
    return history->count > 0 ? &history->span : NULL;
}

/* ---- insertion ---- */

static bool is_announced(const struct hs_sample *sample)
{
    return sample->event == HS_EVENT_TELEPORT || sample->event == HS_EVENT_SPAWN;
}

static void mark_jump(struct hs_history *history, uint32_t i, double max_speed)
{
    if (i >= history->count)
        return;
    struct hs_sample *to = slot(history, i);
    to->jumped = false;
    if (i == 0 || is_announced(to))
        return;
    const struct hs_sample *from = slot(history, i - 1);
    double seconds = (double)(to->time_us - from->time_us) / 1e6;
    to->jumped = hs_vec_distance(from->position, to->position) > max_speed * seconds;
}

/* Takes over of `from` what `to` is unsure of. False: nothing. */
static bool learn(struct hs_state *to, const struct hs_state *from)
{
    unsigned news = to->unsure & ~(unsigned)from->unsure;
    if (news & HS_UNSURE_LIFE) {
        to->alive = from->alive;
        to->life = from->life;
    }
    if (news & HS_UNSURE_PROTECTED)
        to->is_protected = from->is_protected;
    if (news & HS_UNSURE_RELOADING)
        to->reloading = from->reloading;
    if (news & HS_UNSURE_AMMO)
        to->ammo = from->ammo;
    if (news & HS_UNSURE_WEAPON)
        to->weapon = from->weapon;
    if (news & HS_UNSURE_OWNED) {
        to->any_weapon = from->any_weapon;
        memcpy(to->owned, from->owned, sizeof to->owned);
    }
    to->unsure = (uint8_t)(to->unsure & ~news);
    return news != 0;
}

/* Samples after i came first, as the newest frame does after a restart, and inherited less than i
   knows. Without memory they stay unsure. */
static void inform_later(struct hs_history *history, uint32_t i)
{
    struct hs_state known = history->states[slot(history, i)->state].state;
    for (uint32_t k = i + 1; k < history->count; k++) {
        struct hs_sample *later = slot(history, k);
        struct hs_state state = history->states[later->state].state;
        bool lacks_line = (state.unsure & HS_UNSURE_LINE) != 0;
        uint16_t informed;
        if (!learn(&state, &known) ||
            !share_state(history, &state, slot(history, k - 1), &informed))
            return;
        history->states[later->state].references--;
        later->state = informed;
        if (lacks_line && (state.unsure & HS_UNSURE_LINE) == 0)
            later->rtt_us = slot(history, k - 1)->rtt_us;
        known = state;
    }
}

enum hs_insert_result hs_history_insert(struct hs_history *history,
                                        const struct hs_history_rules *rules,
                                        const struct hs_sample *sample,
                                        const struct hs_state *state, const struct hs_extra *extra)
{
    int64_t before = hs_history_find(history, sample->time_us);
    if (before >= 0 && slot(history, (uint32_t)before)->time_us == sample->time_us)
        return HS_INSERT_DUPLICATE;

    uint32_t room = history->held && history->capacity > 0 ? history->capacity : history->limit;
    bool full = history->count == room;
    if (full && before < 0)
        return HS_INSERT_TOO_OLD;
    if (!full && history->count == history->capacity && !grow_samples(history))
        return HS_INSERT_NO_MEMORY;

    struct hs_sample stored = *sample;
    const struct hs_sample *like = before >= 0 ? slot(history, (uint32_t)before) : NULL;
    if (!share_state(history, state, like, &stored.state))
        return HS_INSERT_NO_MEMORY;
    if (!store_extra(history, extra, &stored.extra)) {
        history->states[stored.state].references--;
        return HS_INSERT_NO_MEMORY;
    }
    if (full) {
        drop_oldest(history);
        before--;
    }

    uint32_t place = (uint32_t)(before + 1);
    history->count++;
    for (uint32_t i = history->count - 1; i > place; i--)
        *slot(history, i) = *slot(history, i - 1);
    *slot(history, place) = stored;
    mark_jump(history, place, rules->max_speed);
    mark_jump(history, place + 1, rules->max_speed);
    update_span(history, place);
    inform_later(history, place);
    return full ? HS_INSERT_STORED_FULL : HS_INSERT_STORED;
}
