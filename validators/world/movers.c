#include "validators/world/movers.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>

#include "validators/geometry/quat.h"

enum { FIRST_CAPACITY = 16 };

static const struct hs_mover_state first_state = {.is_solid = true};

void hs_movers_destroy(struct hs_movers *movers)
{
    for (uint32_t i = 0; i < movers->count; i++)
        free(movers->all[i].samples);
    free(movers->all);
}

static bool is_named(const struct hs_mover *mover, uint64_t hash, struct hs_str name)
{
    return mover->hash == hash && hs_str_equal(hs_name_str(&mover->name), name);
}

static struct hs_mover *find(const struct hs_movers *movers, struct hs_str name, size_t at)
{
    uint64_t hash = hs_str_hash(name);
    if (at < movers->count && is_named(&movers->all[at], hash, name))
        return &movers->all[at];
    for (uint32_t i = 0; i < movers->count; i++)
        if (is_named(&movers->all[i], hash, name))
            return &movers->all[i];
    return NULL;
}

static struct hs_mover_sample *slot(const struct hs_mover *mover, uint32_t i)
{
    uint32_t at = mover->first + i;
    return &mover->samples[at < mover->capacity ? at : at - mover->capacity];
}

static const struct hs_mover_sample *sample_at(const struct hs_mover *mover, uint32_t i)
{
    return slot(mover, i);
}

/* The sample after one that is not the newest. */
static const struct hs_mover_sample *next_of(const struct hs_mover *mover,
                                             const struct hs_mover_sample *sample)
{
    bool is_last = sample + 1 == mover->samples + mover->capacity;
    return is_last ? mover->samples : sample + 1;
}

/* Index of the last sample at or before a time, or -1. */
static int64_t find_sample(const struct hs_mover *mover, int64_t time_us)
{
    uint32_t low = 0, high = mover->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (sample_at(mover, middle)->time_us <= time_us)
            low = middle + 1;
        else
            high = middle;
    }
    return (int64_t)low - 1;
}

/* ---- what is around all samples ---- */

/* Nothing of the box is further from the mover's position. */
static double reach_of(const struct hs_mover_state *state)
{
    return hs_vec_length(state->half_extents) + hs_vec_length(state->center);
}

static void cover(struct hs_mover *mover, const struct hs_mover_sample *sample)
{
    double reach = reach_of(&sample->state) * (1 + HS_TOUCH_SLACK);
    struct hs_vec p = sample->position;
    mover->low = (struct hs_vec){fmin(mover->low.x, p.x - reach), fmin(mover->low.y, p.y - reach),
                                 fmin(mover->low.z, p.z - reach)};
    mover->high =
        (struct hs_vec){fmax(mover->high.x, p.x + reach), fmax(mover->high.y, p.y + reach),
                        fmax(mover->high.z, p.z + reach)};
}

static void forget_surroundings(struct hs_mover *mover)
{
    mover->low = (struct hs_vec){DBL_MAX, DBL_MAX, DBL_MAX};
    mover->high = (struct hs_vec){-DBL_MAX, -DBL_MAX, -DBL_MAX};
    mover->widest_gap_us = 0;
    mover->dropped = 0;
}

/* Sample i may be as far in time from the one before it. */
static void note_gap(struct hs_mover *mover, int64_t i)
{
    if (i < 1 || i >= mover->count)
        return;
    int64_t gap =
        sample_at(mover, (uint32_t)i)->time_us - sample_at(mover, (uint32_t)i - 1)->time_us;
    mover->widest_gap_us = gap > mover->widest_gap_us ? gap : mover->widest_gap_us;
}

/* The oldest sample goes. What is around the rest is found anew once as many went as are left: each
   sample is looked at twice in its life. */
static void drop_oldest(struct hs_mover *mover)
{
    mover->carried = sample_at(mover, 0)->state;
    mover->first = mover->first + 1 == mover->capacity ? 0 : mover->first + 1;
    mover->count--;
    if (++mover->dropped <= mover->count)
        return;
    forget_surroundings(mover);
    for (uint32_t i = 0; i < mover->count; i++) {
        cover(mover, sample_at(mover, i));
        note_gap(mover, i);
    }
}

/* ---- room ---- */

static uint32_t doubled(uint32_t capacity)
{
    return capacity == 0 ? FIRST_CAPACITY : capacity * 2;
}

/* What it takes to have a place for one more. */
static size_t place_bytes(const struct hs_movers *movers)
{
    uint32_t more = doubled(movers->capacity) - movers->capacity;
    return movers->count < movers->capacity ? 0 : more * sizeof *movers->all;
}

static uint32_t next_capacity(const struct hs_mover *mover, uint32_t limit)
{
    uint32_t capacity = doubled(mover->capacity);
    return capacity < limit ? capacity : limit;
}

size_t hs_movers_least_bytes(void)
{
    return sizeof(struct hs_mover) + FIRST_CAPACITY * sizeof(struct hs_mover_sample);
}

/* Room for a sample more of one of which there are as many as there is room for, of fewer than
   `limit`; taken here, and made by make_room. */
static bool take_room(struct hs_movers *movers, const struct hs_mover *mover, uint32_t limit)
{
    size_t more = next_capacity(mover, limit) - mover->capacity;
    return hs_account_take_spare(movers->account, more * sizeof *mover->samples);
}

/* Its place is taken. NULL: out of memory. */
static struct hs_mover *add(struct hs_movers *movers, struct hs_str name)
{
    if (movers->count == movers->capacity) {
        uint32_t capacity = doubled(movers->capacity);
        struct hs_mover *all = realloc(movers->all, capacity * sizeof *all);
        if (all == NULL) {
            hs_account_give(movers->account, place_bytes(movers));
            return NULL;
        }
        movers->all = all;
        movers->capacity = capacity;
    }
    struct hs_mover *mover = &movers->all[movers->count++];
    *mover = (struct hs_mover){.hash = hs_str_hash(name), .carried = first_state};
    forget_surroundings(mover);
    hs_name_set(&mover->name, name);
    return mover;
}

/* What take_room took. */
static bool make_room(struct hs_movers *movers, struct hs_mover *mover, uint32_t limit)
{
    if (mover->count < mover->capacity)
        return true;
    uint32_t capacity = next_capacity(mover, limit);
    struct hs_mover_sample *samples = malloc(capacity * sizeof *samples);
    if (samples == NULL) {
        hs_account_give(movers->account, (capacity - mover->capacity) * sizeof *samples);
        return false;
    }
    for (uint32_t i = 0; i < mover->count; i++)
        samples[i] = *sample_at(mover, i);
    free(mover->samples);
    mover->samples = samples;
    mover->first = 0;
    mover->capacity = capacity;
    return true;
}

/* ---- posting ---- */

static enum hs_frame_result resolve(const struct hs_ruleset *ruleset,
                                    const struct hs_mover_frame *entry,
                                    const struct hs_mover_state *inherited, int64_t time_us,
                                    struct hs_mover_sample *out)
{
    double bound = ruleset->history.world_bound;
    *out = (struct hs_mover_sample){.time_us = time_us,
                                    .position = entry->position,
                                    .rotation = {0, 0, 0, 1},
                                    .state = *inherited,
                                    .teleported = entry->teleported};
    if (entry->fields & HS_MOVER_ROTATION) {
        for (int i = 0; i < 4; i++)
            out->rotation[i] = (float)entry->rotation[i];
        if (!hs_quat_normalise(out->rotation))
            return HS_FRAME_BAD_ROTATION;
    }
    if (entry->fields & HS_MOVER_BOX) {
        out->state.half_extents = entry->half_extents;
        out->state.center = entry->center;
        out->state.has_box = true;
    }
    if (entry->fields & HS_MOVER_SOLID) {
        out->state.is_solid = entry->is_solid;
        out->state.tells_solid = true;
        out->state.is_unsure = false;
    }
    if (!hs_vec_is_within(entry->position, bound) ||
        !hs_vec_is_within(out->state.half_extents, bound) ||
        !hs_vec_is_within(out->state.center, bound))
        return HS_FRAME_COORDINATE_OUT_OF_WORLD;
    return out->state.has_box ? HS_FRAME_STORED : HS_FRAME_NO_HITBOXES;
}

static void mark_jump(struct hs_mover *mover, int64_t i, double max_speed)
{
    if (i < 1 || i >= mover->count)
        return;
    struct hs_mover_sample *to = slot(mover, (uint32_t)i);
    const struct hs_mover_sample *from = sample_at(mover, (uint32_t)i - 1);
    double seconds = (double)(to->time_us - from->time_us) / 1e6;
    to->jumped =
        !to->teleported && hs_vec_distance(from->position, to->position) > max_speed * seconds;
}

/* Samples after i came first, as the newest frame does after a restart, and inherited less than i
   knows. */
static void inform_later(struct hs_mover *mover, uint32_t i)
{
    const struct hs_mover_state known = sample_at(mover, i)->state;
    while (!known.is_unsure && ++i < mover->count && sample_at(mover, i)->state.is_unsure) {
        slot(mover, i)->state.is_solid = known.is_solid;
        slot(mover, i)->state.is_unsure = false;
    }
}

/* `before`: index of the last sample before it, or -1. There is room for it. */
static void insert(struct hs_mover *mover, int64_t before, const struct hs_mover_sample *sample,
                   double max_speed)
{
    uint32_t place = (uint32_t)(before + 1);
    for (uint32_t i = mover->count++; i > place; i--)
        *slot(mover, i) = *slot(mover, i - 1);
    *slot(mover, place) = *sample;
    cover(mover, sample);
    for (int64_t i = before + 1; i <= before + 2; i++) {
        mark_jump(mover, i, max_speed);
        note_gap(mover, i);
    }
    inform_later(mover, place);
}

static size_t first_bytes(const struct hs_match_limits *limits)
{
    const struct hs_mover none = {0};
    return next_capacity(&none, limits->samples) * sizeof *none.samples;
}

/* For one that nobody knows: its place, and its first samples. */
static bool take_new(struct hs_movers *movers, const struct hs_match_limits *limits)
{
    return movers->count < limits->movers &&
           hs_account_take_spare(movers->account, place_bytes(movers) + first_bytes(limits));
}

bool hs_movers_post(struct hs_movers *movers, const struct hs_ruleset *ruleset,
                    const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                    size_t at, int64_t time_us, enum hs_frame_result *result, unsigned *flags)
{
    struct hs_mover *mover = find(movers, entry->mover, at);
    int64_t before = mover != NULL ? find_sample(mover, time_us) : -1;
    if (before >= 0 && sample_at(mover, (uint32_t)before)->time_us == time_us) {
        *result = HS_FRAME_DUPLICATE_TIME;
        return true;
    }
    struct hs_mover_sample sample;
    const struct hs_mover_state *inherited = mover == NULL ? &first_state
                                             : before >= 0
                                                 ? &sample_at(mover, (uint32_t)before)->state
                                                 : &mover->carried;
    *result = resolve(ruleset, entry, inherited, time_us, &sample);
    if (*result != HS_FRAME_STORED)
        return true;
    bool has_room = mover == NULL ? take_new(movers, limits)
                                  : mover->count < mover->capacity ||
                                        (mover->count < limits->samples &&
                                         take_room(movers, mover, limits->samples));
    bool full = mover != NULL && !has_room && mover->count > 0;
    if (!has_room && !full) {
        *result = HS_FRAME_CAPACITY;
        return true;
    }
    if (full && before < 0) {
        *result = HS_FRAME_TOO_OLD;
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_FULL;
        return true;
    }
    if (mover == NULL && (mover = add(movers, entry->mover)) == NULL) {
        hs_account_give(movers->account, first_bytes(limits));
        return false;
    }
    if (full) {
        drop_oldest(mover);
        before--;
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_FULL;
    }
    if (!make_room(movers, mover, limits->samples))
        return false;
    insert(mover, before, &sample, ruleset->history.max_speed);
    if (sample_at(mover, (uint32_t)(before + 1))->jumped)
        *flags |= 1u << HS_FRAME_FLAG_UNFLAGGED_JUMP;
    return true;
}

bool hs_movers_jump(const struct hs_movers *movers, struct hs_str name, size_t at, int64_t time_us,
                    double *distance, int64_t *elapsed_us)
{
    const struct hs_mover *mover = find(movers, name, at);
    int64_t i = mover != NULL ? find_sample(mover, time_us) : -1;
    *distance = 0;
    *elapsed_us = 0;
    if (i < 1)
        return false;
    const struct hs_mover_sample *to = sample_at(mover, (uint32_t)i);
    const struct hs_mover_sample *from = sample_at(mover, (uint32_t)i - 1);
    *distance = hs_vec_distance(from->position, to->position);
    *elapsed_us = to->time_us - from->time_us;
    return to->time_us == time_us && to->jumped;
}

/* What its first sample on another clock inherits. */
const struct hs_mover_state *hs_mover_newest_state(const struct hs_mover *mover)
{
    return mover->count > 0 ? &sample_at(mover, mover->count - 1)->state : &mover->carried;
}

bool hs_movers_would_store(const struct hs_movers *movers, const struct hs_ruleset *ruleset,
                           const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                           size_t at)
{
    const struct hs_mover *mover = find(movers, entry->mover, at);
    const struct hs_mover_state *inherited =
        mover != NULL ? hs_mover_newest_state(mover) : &first_state;
    struct hs_mover_sample sample;
    bool has_place = movers->count < limits->movers &&
                     hs_account_has_spare(movers->account, hs_movers_least_bytes());
    return (mover != NULL || has_place) &&
           resolve(ruleset, entry, inherited, 0, &sample) == HS_FRAME_STORED;
}

void hs_movers_prune(struct hs_movers *movers, int64_t before_us)
{
    for (uint32_t i = 0; i < movers->count; i++) {
        struct hs_mover *mover = &movers->all[i];
        while (mover->count >= 2 && sample_at(mover, 1)->time_us <= before_us)
            drop_oldest(mover);
    }
}

void hs_movers_restart(struct hs_movers *movers)
{
    for (uint32_t i = 0; i < movers->count; i++) {
        struct hs_mover *mover = &movers->all[i];
        mover->carried = *hs_mover_newest_state(mover);
        mover->first = mover->count = 0;
        forget_surroundings(mover);
    }
}

bool hs_movers_restore(struct hs_movers *movers, struct hs_str name,
                       const struct hs_mover_state *state)
{
    if (!hs_account_take(movers->account, place_bytes(movers)))
        return false;
    struct hs_mover *mover = add(movers, name);
    if (mover != NULL)
        mover->carried = *state;
    return mover != NULL;
}

size_t hs_movers_bytes(const struct hs_movers *movers)
{
    size_t bytes = movers->capacity * sizeof *movers->all;
    for (uint32_t i = 0; i < movers->count; i++)
        bytes += movers->all[i].capacity * sizeof *movers->all[i].samples;
    return bytes;
}

/* ---- rewinding ---- */

static void place(struct hs_vec position, const float rotation[4],
                  const struct hs_mover_state *state, struct hs_mover_pose *out)
{
    *out = (struct hs_mover_pose){.is_solid = state->is_solid,
                                  .reach = hs_vec_length(state->half_extents)};
    out->solid.half_extents = state->half_extents;
    out->solid.center = hs_vec_add(position, hs_quat_rotate(rotation, state->center));
    hs_quat_axes(rotation, out->solid.axes);
}

static bool is_arrived_at(const struct hs_mover_sample *to)
{
    return to->teleported || to->jumped;
}

enum hs_rewind_status hs_mover_find(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                                    int64_t time_us, struct hs_mover_bracket *out)
{
    if (mover->count == 0)
        return HS_REWIND_NO_HISTORY;
    int64_t i = find_sample(mover, time_us);
    if (i < 0)
        return HS_REWIND_TOO_SHORT;
    const struct hs_mover_sample *from = sample_at(mover, (uint32_t)i);
    *out = (struct hs_mover_bracket){.from = from, .to = from};
    if ((uint32_t)i + 1 == mover->count)
        return time_us - from->time_us > ruleset->rewind.future_slack_us ? HS_REWIND_AFTER_NEWEST
                                                                         : HS_REWIND_OK;
    if (from->time_us == time_us)
        return HS_REWIND_OK;
    const struct hs_mover_sample *to = sample_at(mover, (uint32_t)i + 1);
    int64_t gap = to->time_us - from->time_us;
    if (gap > ruleset->history.max_gap_us)
        return HS_REWIND_LOW_CONFIDENCE;
    out->to = to;
    if (!is_arrived_at(out->to))
        out->alpha = (double)(time_us - from->time_us) / (double)gap;
    return HS_REWIND_OK;
}

void hs_mover_ball(const struct hs_mover_bracket *bracket, struct hs_vec *center, double *reach)
{
    *center = hs_vec_lerp(bracket->from->position, bracket->to->position, bracket->alpha);
    *reach = reach_of(&bracket->from->state) * (1 + HS_TOUCH_SLACK);
}

/* Lifts do not turn: the usual case costs no slerp. */
static bool is_same_rotation(const float a[4], const float b[4])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

void hs_mover_place(const struct hs_mover_bracket *bracket, struct hs_mover_pose *out)
{
    const struct hs_mover_sample *from = bracket->from, *to = bracket->to;
    float rotation[4];
    memcpy(rotation, from->rotation, sizeof rotation);
    if (bracket->alpha > 0 && !is_same_rotation(from->rotation, to->rotation))
        hs_quat_slerp(from->rotation, to->rotation, bracket->alpha, rotation);
    place(hs_vec_lerp(from->position, to->position, bracket->alpha), rotation, &from->state, out);
}

bool hs_mover_is_placed(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                        int64_t from_us, int64_t to_us)
{
    return mover->count > 0 && mover->widest_gap_us <= ruleset->history.max_gap_us &&
           sample_at(mover, 0)->time_us <= from_us &&
           to_us - sample_at(mover, mover->count - 1)->time_us <= ruleset->rewind.future_slack_us;
}

bool hs_mover_newest(const struct hs_mover *mover, struct hs_mover_pose *out)
{
    if (mover->count == 0)
        return false;
    const struct hs_mover_sample *newest = sample_at(mover, mover->count - 1);
    place(newest->position, newest->rotation, &newest->state, out);
    return true;
}

int64_t hs_mover_next_change(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                             int64_t time_us)
{
    int64_t next = find_sample(mover, time_us) + 1;
    if (next < mover->count)
        return sample_at(mover, (uint32_t)next)->time_us;
    if (mover->count == 0)
        return INT64_MAX;
    int64_t lost_us = sample_at(mover, mover->count - 1)->time_us + ruleset->rewind.future_slack_us;
    return lost_us > time_us ? lost_us : INT64_MAX;
}

bool hs_mover_later(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                    const struct hs_mover_bracket *now, int64_t time_us,
                    struct hs_mover_bracket *out)
{
    const struct hs_mover_sample *from = now->from, *to = next_of(mover, from);
    if (from == sample_at(mover, mover->count - 1) || is_arrived_at(to))
        return false;
    int64_t gap = to->time_us - from->time_us;
    if (gap > ruleset->history.max_gap_us)
        return false;
    *out = (struct hs_mover_bracket){from, to, (double)(time_us - from->time_us) / (double)gap};
    return true;
}
