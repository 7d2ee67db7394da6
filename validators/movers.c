#include "movers.h"

#include <stdlib.h>

#include "quat.h"

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

static struct hs_mover *add(struct hs_movers *movers, struct hs_str name)
{
    if (movers->count == movers->capacity) {
        uint32_t capacity = movers->capacity == 0 ? FIRST_CAPACITY : movers->capacity * 2;
        struct hs_mover *all = realloc(movers->all, capacity * sizeof *all);
        if (all == NULL)
            return NULL;
        movers->all = all;
        movers->capacity = capacity;
    }
    struct hs_mover *mover = &movers->all[movers->count++];
    *mover = (struct hs_mover){.hash = hs_str_hash(name), .carried = first_state};
    hs_name_set(&mover->name, name);
    return mover;
}

static const struct hs_mover_sample *sample_at(const struct hs_mover *mover, uint32_t i)
{
    return &mover->samples[mover->first + i];
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

/* Room for one more at the end: samples that were dropped make it first. */
static bool make_room(struct hs_mover *mover)
{
    if (mover->first + mover->count < mover->capacity)
        return true;
    if (mover->first > mover->capacity / 2) {
        memmove(mover->samples, mover->samples + mover->first,
                mover->count * sizeof *mover->samples);
        mover->first = 0;
        return true;
    }
    uint32_t capacity = mover->capacity == 0 ? FIRST_CAPACITY : mover->capacity * 2;
    struct hs_mover_sample *samples = malloc(capacity * sizeof *samples);
    if (samples == NULL)
        return false;
    if (mover->count > 0)
        memcpy(samples, mover->samples + mover->first, mover->count * sizeof *samples);
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
    if (entry->fields & HS_MOVER_SOLID)
        out->state.is_solid = entry->is_solid;
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
    struct hs_mover_sample *to = &mover->samples[mover->first + i], *from = to - 1;
    double seconds = (double)(to->time_us - from->time_us) / 1e6;
    to->jumped =
        !to->teleported && hs_vec_distance(from->position, to->position) > max_speed * seconds;
}

/* `before`: index of the last sample before it, or -1. There is room at the end. */
static void insert(struct hs_mover *mover, int64_t before, const struct hs_mover_sample *sample,
                   double max_speed)
{
    struct hs_mover_sample *place = mover->samples + mover->first + (before + 1);
    memmove(place + 1, place, (size_t)(mover->count - (before + 1)) * sizeof *place);
    *place = *sample;
    mover->count++;
    mark_jump(mover, before + 1, max_speed);
    mark_jump(mover, before + 2, max_speed);
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
    if (mover == NULL && movers->count >= limits->movers) {
        *result = HS_FRAME_CAPACITY;
        return true;
    }
    bool full = mover != NULL && mover->count == limits->samples;
    if (full && before < 0) {
        *result = HS_FRAME_TOO_OLD;
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_FULL;
        return true;
    }
    if (mover == NULL && (mover = add(movers, entry->mover)) == NULL)
        return false;
    if (full) {
        mover->first++;
        mover->count--;
        before--;
        *flags |= 1u << HS_FRAME_FLAG_HISTORY_FULL;
    }
    if (!make_room(mover))
        return false;
    insert(mover, before, &sample, ruleset->history.max_speed);
    if (sample_at(mover, (uint32_t)(before + 1))->jumped)
        *flags |= 1u << HS_FRAME_FLAG_UNFLAGGED_JUMP;
    return true;
}

/* What its first sample on another clock inherits. */
static const struct hs_mover_state *newest_state(const struct hs_mover *mover)
{
    return mover->count > 0 ? &sample_at(mover, mover->count - 1)->state : &mover->carried;
}

bool hs_movers_would_store(const struct hs_movers *movers, const struct hs_ruleset *ruleset,
                           const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                           size_t at)
{
    const struct hs_mover *mover = find(movers, entry->mover, at);
    const struct hs_mover_state *inherited = mover != NULL ? newest_state(mover) : &first_state;
    struct hs_mover_sample sample;
    return (mover != NULL || movers->count < limits->movers) &&
           resolve(ruleset, entry, inherited, 0, &sample) == HS_FRAME_STORED;
}

void hs_movers_prune(struct hs_movers *movers, int64_t before_us)
{
    for (uint32_t i = 0; i < movers->count; i++) {
        struct hs_mover *mover = &movers->all[i];
        while (mover->count >= 2 && sample_at(mover, 1)->time_us <= before_us) {
            mover->first++;
            mover->count--;
        }
    }
}

void hs_movers_restart(struct hs_movers *movers)
{
    for (uint32_t i = 0; i < movers->count; i++) {
        struct hs_mover *mover = &movers->all[i];
        mover->carried = *newest_state(mover);
        mover->first = mover->count = 0;
    }
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

enum hs_rewind_status hs_mover_rewind(const struct hs_mover *mover,
                                      const struct hs_ruleset *ruleset, int64_t time_us,
                                      struct hs_mover_pose *out)
{
    if (mover->count == 0)
        return HS_REWIND_NO_HISTORY;
    int64_t i = find_sample(mover, time_us);
    if (i < 0)
        return HS_REWIND_TOO_SHORT;
    const struct hs_mover_sample *from = sample_at(mover, (uint32_t)i), *to = from;
    double alpha = 0;
    if ((uint32_t)i + 1 == mover->count) {
        if (time_us - from->time_us > ruleset->rewind.future_slack_us)
            return HS_REWIND_AFTER_NEWEST;
    } else if (from->time_us != time_us) {
        to = from + 1;
        int64_t gap = to->time_us - from->time_us;
        if (gap > ruleset->history.max_gap_us)
            return HS_REWIND_LOW_CONFIDENCE;
        if (!is_arrived_at(to))
            alpha = (double)(time_us - from->time_us) / (double)gap;
    }
    float rotation[4];
    memcpy(rotation, from->rotation, sizeof rotation);
    if (alpha > 0)
        hs_quat_slerp(from->rotation, to->rotation, alpha, rotation);
    place(hs_vec_lerp(from->position, to->position, alpha), rotation, &from->state, out);
    return HS_REWIND_OK;
}

bool hs_mover_newest(const struct hs_mover *mover, struct hs_mover_pose *out)
{
    if (mover->count == 0)
        return false;
    const struct hs_mover_sample *newest = sample_at(mover, mover->count - 1);
    place(newest->position, newest->rotation, &newest->state, out);
    return true;
}

int64_t hs_mover_next_sample(const struct hs_mover *mover, int64_t time_us)
{
    int64_t next = find_sample(mover, time_us) + 1;
    return next < mover->count ? sample_at(mover, (uint32_t)next)->time_us : INT64_MAX;
}

bool hs_mover_is_continuous(const struct hs_mover *mover, int64_t from_us, int64_t to_us)
{
    int64_t first = find_sample(mover, from_us), last = find_sample(mover, to_us);
    if (first < 0)
        return false;
    if (last + 1 < mover->count && sample_at(mover, (uint32_t)last)->time_us < to_us)
        last++;
    for (int64_t i = first + 1; i <= last; i++)
        if (is_arrived_at(sample_at(mover, (uint32_t)i)))
            return false;
    return true;
}
