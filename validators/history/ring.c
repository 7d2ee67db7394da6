#include "validators/base/prefetch.h"
#include "validators/base/units.h"
#include "validators/history/ring_inside.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

/* The number of newest samples that a move check usually reads: the sample of the move's tick, and
   four samples with round trips (hs_connection_read). */
enum { NEWEST = 5 };

struct hs_history *hs_history_create(const struct hs_history_limits *limits)
{
    struct hs_history *history = calloc(1, sizeof *history);
    if (history == NULL)
        return NULL;
    history->limit = limits->samples < 2 ? 2 : limits->samples;
    history->budget = limits->budget;
    history->of_mover = limits->of_mover;
    history->pose_free = HS_NO_POSTED_POSE;
    if (hs_history_allocate(history))
        return history;
    free(history->states);
    free(history);
    return NULL;
}

void hs_history_destroy(struct hs_history *history)
{
    if (history == NULL)
        return;
    hs_budget_release(history->budget,
                      hs_history_bytes(history) - hs_history_min_bytes(history->limit));
    free(history->samples);
    free(history->states);
    free(history->poses);
    free(history);
}

void hs_history_clear(struct hs_history *history)
{
    while (history->count > 0)
        hs_history_drop_oldest(history);
}

uint32_t hs_history_count(const struct hs_history *history)
{
    return history->count;
}

uint32_t hs_history_round_trips(const struct hs_history *history)
{
    return history->round_trips;
}

const struct hs_sample *hs_history_at(const struct hs_history *history, uint32_t i)
{
    return hs_history_slot(history, i);
}

const struct hs_sample *hs_history_run(const struct hs_history *history, uint32_t i,
                                       uint32_t *count)
{
    const struct hs_sample *first = hs_history_slot(history, i);
    uint32_t before_wrap = history->capacity - (uint32_t)(first - history->samples);
    *count = history->count - i < before_wrap ? history->count - i : before_wrap;
    return first;
}

const struct hs_state *hs_history_state(const struct hs_history *history,
                                        const struct hs_sample *sample)
{
    return &history->states[sample->state].state.player;
}

const struct hs_mover_state *hs_history_mover_state(const struct hs_history *history,
                                                    const struct hs_sample *sample)
{
    return &history->states[sample->state].state.mover;
}

bool hs_history_inherited(const struct hs_history *history, int64_t before,
                          struct hs_inherited *out)
{
    if (before >= 0) {
        const struct hs_sample *sample = hs_history_slot(history, (uint32_t)before);
        *out = (struct hs_inherited){history->states[sample->state].state.player, sample->rtt_us,
                                     sample->interp_us};
    } else if (history->has_carried) {
        *out = history->carried;
    }
    return before >= 0 || history->has_carried;
}

void hs_history_carry(struct hs_history *history, const struct hs_inherited *values)
{
    history->has_carried = values != NULL;
    if (values != NULL)
        history->carried = *values;
}

const struct hs_sample *hs_history_next(const struct hs_history *history,
                                        const struct hs_sample *sample)
{
    if (sample == hs_history_slot(history, history->count - 1))
        return NULL;
    bool is_last = sample + 1 == history->samples + history->capacity;
    return is_last ? history->samples : sample + 1;
}

const struct hs_posted_pose *hs_history_posted_pose(const struct hs_history *history,
                                                    const struct hs_sample *sample)
{
    if (sample->posted_pose == HS_NO_POSTED_POSE)
        return NULL;
    return (const struct hs_posted_pose *)(const void *)hs_history_pose_block(history,
                                                                              sample->posted_pose);
}

/* Guesses the index of the last sample at or before a time. The time must be between the oldest and
   the newest sample. Samples usually arrive at a steady rate, so the guess is usually right. */
static uint32_t guess_index(const struct hs_history *history, int64_t time_us)
{
    const struct hs_history_span *span = &history->span;
    double share =
        (double)(time_us - span->oldest_us) / (double)(span->newest_us - span->oldest_us);
    uint32_t guess = (uint32_t)(share * (double)(history->count - 1));
    return guess < history->count - 1 ? guess : history->count - 2;
}

static bool is_between(const struct hs_history *history, int64_t time_us)
{
    return history->count > 0 && time_us >= history->span.oldest_us &&
           time_us < history->span.newest_us;
}

int64_t hs_history_find(const struct hs_history *history, int64_t time_us)
{
    if (!is_between(history, time_us))
        return history->count == 0 || time_us < history->span.oldest_us
                   ? -1
                   : (int64_t)history->count - 1;
    /* The result plus 1 is in [low, high]. */
    uint32_t low = 1, high = history->count - 1;
    uint32_t guess = guess_index(history, time_us);
    if (hs_history_slot(history, guess)->time_us <= time_us) {
        if (hs_history_slot(history, guess + 1)->time_us > time_us)
            return guess;
        low = guess + 2;
    } else {
        high = guess;
    }
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (hs_history_slot(history, middle)->time_us <= time_us)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low - 1;
}

void hs_history_prefetch(const struct hs_history *history, int64_t time_us)
{
    if (!is_between(history, time_us))
        return;
    uint32_t guess = guess_index(history, time_us);
    hs_prefetch(hs_history_slot(history, guess), sizeof(struct hs_sample));
    hs_prefetch(hs_history_slot(history, guess + 1), sizeof(struct hs_sample));
}

void hs_history_prefetch_pose(const struct hs_history *history, const struct hs_sample *sample)
{
    if (sample->posted_pose != HS_NO_POSTED_POSE)
        hs_prefetch(hs_history_pose_block(history, sample->posted_pose), history->pose_size);
}

void hs_history_prefetch_itself(const struct hs_history *history)
{
    hs_prefetch(history, sizeof *history);
}

void hs_history_prefetch_ends(const struct hs_history *history)
{
    if (history->count < 2)
        return;
    hs_prefetch(hs_history_slot(history, 0), 2 * sizeof(struct hs_sample));
    hs_prefetch(hs_history_slot(history, history->count - 1), 2 * sizeof(struct hs_sample));
    hs_prefetch(history->states, sizeof *history->states);
    if (history->pose_free != HS_NO_POSTED_POSE)
        hs_prefetch(hs_history_pose_block(history, history->pose_free), history->pose_size);
}

void hs_history_prefetch_newest(const struct hs_history *history)
{
    uint32_t count = history->count < NEWEST ? history->count : NEWEST;
    for (uint32_t i = history->count - count; i < history->count; i++)
        hs_prefetch(hs_history_slot(history, i), sizeof(struct hs_sample));
    hs_prefetch(history->states, sizeof *history->states);
}

void hs_history_prune(struct hs_history *history, int64_t before_us)
{
    while (history->count >= 2 && hs_history_slot(history, 1)->time_us <= before_us)
        hs_history_drop_oldest(history);
}

/* ---- span ---- */

/* Extends the bounds of the hitboxes by the hitboxes of a sample. Without posted bones, the stance
   in the ruleset determines where the hitboxes are. The history does not know the ruleset, so the
   bounds become infinite. */
static inline void widen_body(struct hs_history *history, const struct hs_sample *sample)
{
    struct hs_history_span *span = &history->span;
    const struct hs_posted_pose *pose = hs_history_posted_pose(history, sample);
    if (pose == NULL || pose->bone_count == 0) {
        for (int a = 0; a < 3; a++) {
            span->body_low[a] = -FLT_MAX;
            span->body_high[a] = FLT_MAX;
        }
        return;
    }
    span->posted_reach = hs_larger(span->posted_reach, (double)pose->reach);
    for (int a = 0; a < 3; a++) {
        span->body_low[a] = pose->low[a] < span->body_low[a] ? pose->low[a] : span->body_low[a];
        span->body_high[a] =
            pose->high[a] > span->body_high[a] ? pose->high[a] : span->body_high[a];
    }
}

/* Extends the span by a sample and by the gap between `before` and the sample. `before` is the
   sample itself if there is no gap. */
static inline void widen_span(struct hs_history *history, const struct hs_sample *before,
                              const struct hs_sample *sample)
{
    struct hs_history_span *span = &history->span;
    int64_t gap = sample->time_us - before->time_us;
    span->low = hs_vec_min(span->low, sample->position);
    span->high = hs_vec_max(span->high, sample->position);
    if (history->of_mover)
        span->posted_reach =
            hs_larger(span->posted_reach, hs_mover_reach(hs_history_mover_state(history, sample)));
    else
        widen_body(history, sample);
    if (gap > span->longest_gap_us)
        span->longest_gap_us = gap;
}

static void compute_span(struct hs_history *history)
{
    const struct hs_sample *before = hs_history_slot(history, 0);
    history->span = (struct hs_history_span){.low = before->position,
                                             .high = before->position,
                                             .body_low = {FLT_MAX, FLT_MAX, FLT_MAX},
                                             .body_high = {-FLT_MAX, -FLT_MAX, -FLT_MAX},
                                             .oldest_us = before->time_us};
    for (uint32_t k = 0; k < history->count; k++) {
        const struct hs_sample *sample = hs_history_slot(history, k);
        widen_span(history, before, sample);
        before = sample;
    }
    history->span.newest_us = before->time_us;
    history->since_span = 0;
}

/* Updates the span after `sample` was inserted between `before` (NULL: `sample` is the oldest) and
   `after` (NULL: `sample` is the newest). The span may still cover dropped samples. So the span is
   recomputed when the number of inserts reaches the number of samples. */
static void update_span(struct hs_history *history, const struct hs_sample *before,
                        const struct hs_sample *sample, const struct hs_sample *after)
{
    if (++history->since_span >= history->count) {
        compute_span(history);
        return;
    }
    if (before == NULL)
        history->span.oldest_us = sample->time_us;
    if (after == NULL)
        history->span.newest_us = sample->time_us;
    widen_span(history, before != NULL ? before : sample, sample);
    /* If the sample has a predecessor, the gap to `after` is part of a gap that the span already
       includes. */
    if (before == NULL && after != NULL)
        widen_span(history, sample, after);
}

const struct hs_history_span *hs_history_span(const struct hs_history *history)
{
    return history->count > 0 ? &history->span : NULL;
}

/* ---- insertion ---- */

/* Marks `to` as jumped if the body moved too fast since the previous sample `from`; NULL: there is
   no previous sample. */
static void mark_jump(const struct hs_sample *from, struct hs_sample *to, double max_speed)
{
    to->jumped = false;
    if (from == NULL || to->event == HS_EVENT_TELEPORT || to->event == HS_EVENT_SPAWN)
        return;
    double seconds = hs_seconds(to->time_us - from->time_us);
    to->jumped = hs_vec_distance(from->position, to->position) > max_speed * seconds;
}

/* Copies the members that are stale in `to` and current in `from`. Returns false if no member is
   copied. */
static bool learn_player(struct hs_state *to, const struct hs_state *from)
{
    unsigned news = to->stale & ~(unsigned)from->stale;
#define SAID(type, member, first, saved, stale, field) OWN(type, member, , first, saved, stale)
#define OWN(type, member, dimension, first, saved, stale)                                          \
    if (news & HS_STALE_##stale)                                                                   \
        memcpy(&to->member, &from->member, sizeof to->member);
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
#undef OWN
    to->stale = (uint8_t)(to->stale & ~news);
    return news != 0;
}

static bool learn_mover(struct hs_mover_state *to, const struct hs_mover_state *from)
{
    if (from->is_stale || !to->is_stale)
        return false;
    to->is_solid = from->is_solid;
    to->is_stale = false;
    return true;
}

static bool learn(const struct hs_history *history, union hs_any_state *to,
                  const union hs_any_state *from)
{
    return history->of_mover ? learn_mover(&to->mover, &from->mover)
                             : learn_player(&to->player, &from->player);
}

static bool has_stale_connection(const struct hs_history *history, const union hs_any_state *state)
{
    return !history->of_mover && (state->player.stale & HS_STALE_CONNECTION) != 0;
}

/* Updates the samples that are later than sample i but arrived before sample i. After a restore,
   these later samples may have inherited stale values, so the current values of sample i are copied
   to them. If memory runs out, the values stay stale. */
static void inform_later(struct hs_history *history, uint32_t i)
{
    union hs_any_state known = history->states[hs_history_slot(history, i)->state].state;
    for (uint32_t k = i + 1; k < history->count; k++) {
        struct hs_sample *later = hs_history_slot(history, k);
        union hs_any_state state = history->states[later->state].state;
        bool was_stale = has_stale_connection(history, &state);
        uint16_t informed;
        if (!learn(history, &state, &known) ||
            hs_history_share_state(history, &state, hs_history_slot(history, k - 1), &informed) !=
                HS_GROWTH_DONE)
            return;
        history->states[later->state].references--;
        later->state = informed;
        if (was_stale && !has_stale_connection(history, &state))
            later->rtt_us = hs_history_slot(history, k - 1)->rtt_us;
        known = state;
    }
}

static enum hs_insert_result result_of(enum hs_growth growth)
{
    return growth == HS_GROWTH_REFUSED ? HS_INSERT_NO_SPACE : HS_INSERT_NO_MEMORY;
}

/* Stores the state and the posted pose of a sample, and sets their indices in `stored`. */
static enum hs_growth store_parts(struct hs_history *history, const void *state,
                                  const struct hs_posted_pose *posted_pose,
                                  const struct hs_sample *like, struct hs_sample *stored)
{
    enum hs_growth growth = hs_history_share_state(history, state, like, &stored->state);
    stored->posted_pose = HS_NO_POSTED_POSE;
    if (growth == HS_GROWTH_DONE && posted_pose != NULL) {
        growth = hs_history_store_pose(history, posted_pose, &stored->posted_pose);
        if (growth != HS_GROWTH_DONE)
            history->states[stored->state].references--;
    }
    return growth;
}

/* Updates everything that depends on the new sample at index `place` and on its neighbours. */
static void settle(struct hs_history *history, const struct hs_history_rules *rules, uint32_t place)
{
    struct hs_sample *sample = hs_history_slot(history, place), *after = NULL;
    const struct hs_sample *before = place > 0 ? hs_history_slot(history, place - 1) : NULL;
    mark_jump(before, sample, rules->max_speed);
    if (place + 1 < history->count) {
        after = hs_history_slot(history, place + 1);
        mark_jump(sample, after, rules->max_speed);
        inform_later(history, place);
    }
    update_span(history, before, sample, after);
}

/* Returns the event to store when a new sample replaces the old sample with the same time. A
   teleport or a spawn is kept, because no pose may be interpolated across such an event. A spawn
   also starts a life, so it replaces a teleport. */
static uint8_t merge_events(uint8_t old, uint8_t event)
{
    bool stays = event == HS_EVENT_NONE || old == HS_EVENT_SPAWN ||
                 (old == HS_EVENT_TELEPORT && event != HS_EVENT_SPAWN);
    return stays ? old : event;
}

static enum hs_insert_result replace(struct hs_history *history,
                                     const struct hs_history_rules *rules,
                                     const struct hs_sample *sample, const void *state,
                                     const struct hs_posted_pose *posted_pose, uint32_t place)
{
    struct hs_sample *old = hs_history_slot(history, place), stored = *sample;
    enum hs_growth growth = store_parts(history, state, posted_pose, old, &stored);
    if (growth != HS_GROWTH_DONE)
        return result_of(growth);
    stored.event = merge_events(old->event, stored.event);
    stored.rtt_posted = stored.rtt_posted || old->rtt_posted;
    history->states[old->state].references--;
    hs_history_free_pose(history, old->posted_pose);
    history->round_trips += (uint32_t)stored.rtt_posted - (uint32_t)old->rtt_posted;
    *old = stored;
    settle(history, rules, place);
    return HS_INSERT_STORED;
}

/* Inserts a sample. Returns NO_SPACE if the budget has no bytes for the state or the posted bones.
   The caller can then drop samples and try again. */
static enum hs_insert_result insert(struct hs_history *history,
                                    const struct hs_history_rules *rules,
                                    const struct hs_sample *sample, const void *state,
                                    const struct hs_posted_pose *posted_pose)
{
    int64_t before = hs_history_find(history, sample->time_us);
    if (before >= 0 && hs_history_slot(history, (uint32_t)before)->time_us == sample->time_us)
        return rules->same_time == HS_SAME_TIME_FIRST
                   ? HS_INSERT_DUPLICATE
                   : replace(history, rules, sample, state, posted_pose, (uint32_t)before);

    bool full = history->count == history->limit;
    if (full && before < 0)
        return HS_INSERT_TOO_OLD;
    if (!full && history->count == history->capacity) {
        enum hs_growth growth = hs_history_grow_samples(history);
        full = growth == HS_GROWTH_REFUSED;
        if (growth != HS_GROWTH_DONE && !full)
            return result_of(growth);
        if (full && before < 0)
            return HS_INSERT_TOO_OLD;
    }

    if (full) {
        hs_history_drop_for_space(history, 1);
        before--;
    }
    struct hs_sample stored;
    const struct hs_sample *like = before >= 0 ? hs_history_slot(history, (uint32_t)before) : NULL;
    enum hs_growth growth = store_parts(history, state, posted_pose, like, &stored);
    if (growth != HS_GROWTH_DONE)
        return result_of(growth);

    uint32_t place = (uint32_t)(before + 1);
    history->count++;
    for (uint32_t i = history->count - 1; i > place; i--)
        *hs_history_slot(history, i) = *hs_history_slot(history, i - 1);
    struct hs_sample *to = hs_history_slot(history, place);
    *to = *sample;
    to->state = stored.state;
    to->posted_pose = stored.posted_pose;
    history->round_trips += sample->rtt_posted;
    settle(history, rules, place);
    return full ? HS_INSERT_STORED_FULL : HS_INSERT_STORED;
}

/* Drops about half of the samples. Returns false if the history already has its minimum length, or
   if out of memory. */
static bool halve(struct hs_history *history)
{
    uint32_t half = history->count / 2;
    return history->count > HS_HISTORY_MIN &&
           hs_history_shrink(history, half > HS_HISTORY_MIN ? half : HS_HISTORY_MIN);
}

enum hs_insert_result hs_history_insert(struct hs_history *history,
                                        const struct hs_history_rules *rules,
                                        const struct hs_sample *sample, const void *state,
                                        const struct hs_posted_pose *posted_pose)
{
    enum hs_insert_result result;
    bool is_halved = false;
    for (;;) {
        result = insert(history, rules, sample, state, posted_pose);
        if (result != HS_INSERT_NO_SPACE || !halve(history))
            break;
        is_halved = true;
    }
    return is_halved && result == HS_INSERT_STORED ? HS_INSERT_STORED_FULL : result;
}

enum hs_frame_result hs_history_insert_report(const struct hs_history *history,
                                              enum hs_insert_result inserted, int64_t time_us,
                                              unsigned *flags)
{
    static const enum hs_frame_result results[] = {
        [HS_INSERT_STORED] = HS_FRAME_STORED,     [HS_INSERT_STORED_FULL] = HS_FRAME_STORED,
        [HS_INSERT_TOO_OLD] = HS_FRAME_TOO_OLD,   [HS_INSERT_DUPLICATE] = HS_FRAME_DUPLICATE_TIME,
        [HS_INSERT_NO_SPACE] = HS_FRAME_CAPACITY, [HS_INSERT_NO_MEMORY] = HS_FRAME_CAPACITY,
    };
    int64_t at = hs_history_find(history, time_us);
    const struct hs_sample *sample = at >= 0 ? hs_history_slot(history, (uint32_t)at) : NULL;
    if (inserted == HS_INSERT_STORED_FULL || inserted == HS_INSERT_TOO_OLD)
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_FULL;
    if (sample != NULL && sample->time_us == time_us && sample->jumped)
        *flags |= 1u << HS_FRAME_FLAG_UNFLAGGED_JUMP;
    return results[inserted];
}
