#include "validators/world/movers.h"

#include <stdlib.h>
#include <string.h>

#include "validators/geometry/quat.h"

enum { FIRST_CAPACITY = 16 };

static const struct hs_mover_state first_state = {.is_solid = true};

void hs_movers_destroy(struct hs_movers *movers)
{
    for (uint32_t i = 0; i < movers->count; i++)
        hs_history_destroy(movers->all[i].history);
    free(movers->all);
}

static bool is_named(const struct hs_mover *mover, uint64_t hash, struct hs_str name)
{
    return mover->hash == hash && hs_str_equal(hs_name_str(&mover->name), name);
}

struct hs_mover *hs_movers_find(const struct hs_movers *movers, struct hs_str name, size_t at)
{
    uint64_t hash = hs_str_hash(name);
    if (at < movers->count && is_named(&movers->all[at], hash, name))
        return &movers->all[at];
    for (uint32_t i = 0; i < movers->count; i++)
        if (is_named(&movers->all[i], hash, name))
            return &movers->all[i];
    return NULL;
}

/* ---- memory ---- */

static uint32_t doubled(uint32_t capacity)
{
    return capacity == 0 ? FIRST_CAPACITY : capacity * 2;
}

/* Returns the number of bytes that one more mover needs. If the array of movers is full, the number
   includes the growth of the array. */
static size_t min_bytes(const struct hs_movers *movers, const struct hs_match_limits *limits)
{
    uint32_t more = doubled(movers->capacity) - movers->capacity;
    return (movers->count < movers->capacity ? 0 : more * sizeof *movers->all) +
           hs_history_min_bytes(limits->samples);
}

static bool make_place(struct hs_movers *movers)
{
    uint32_t capacity = doubled(movers->capacity);
    if (movers->count < movers->capacity)
        return true;
    struct hs_mover *all = realloc(movers->all, capacity * sizeof *all);
    if (all == NULL)
        return false;
    movers->all = all;
    movers->capacity = capacity;
    return true;
}

/* Adds a mover. The caller must have reserved min_bytes(). If out of memory, returns NULL and
   releases the reserved bytes, except the bytes of an array that has already grown. */
static struct hs_mover *add(struct hs_movers *movers, const struct hs_match_limits *limits,
                            struct hs_str name)
{
    const struct hs_history_limits of_history = {
        .samples = limits->samples, .budget = movers->budget, .of_mover = true};
    size_t bytes = min_bytes(movers, limits);
    struct hs_history *history = NULL;
    if (make_place(movers)) {
        /* The array has grown, so its bytes stay reserved. */
        bytes = hs_history_min_bytes(limits->samples);
        history = hs_history_create(&of_history);
    }
    if (history == NULL) {
        hs_budget_release(movers->budget, bytes);
        return NULL;
    }
    struct hs_mover *mover = &movers->all[movers->count++];
    *mover =
        (struct hs_mover){.hash = hs_str_hash(name), .history = history, .carried = first_state};
    hs_name_set(&mover->name, name);
    return mover;
}

/* ---- posting ---- */

static enum hs_frame_result resolve(const struct hs_ruleset *ruleset,
                                    const struct hs_mover_frame *entry, struct hs_sample *sample,
                                    struct hs_mover_state *state)
{
    double bound = ruleset->history.world_bound;
    sample->position = entry->position;
    sample->event = entry->teleported ? HS_EVENT_TELEPORT : HS_EVENT_NONE;
    sample->rotation[3] = 1;
    if (entry->fields & HS_MOVER_ROTATION) {
        for (int i = 0; i < 4; i++)
            sample->rotation[i] = (float)entry->rotation[i];
        if (!hs_quat_normalise(sample->rotation))
            return HS_FRAME_BAD_ROTATION;
    }
    if (entry->fields & HS_MOVER_BOX) {
        state->half_extents = entry->half_extents;
        state->center = entry->center;
        state->has_box = true;
    }
    if (entry->fields & HS_MOVER_SOLID) {
        state->is_solid = entry->is_solid;
        state->tells_solid = true;
        state->is_stale = false;
    }
    if (!hs_vec_is_within(entry->position, bound) ||
        !hs_vec_is_within(state->half_extents, bound) || !hs_vec_is_within(state->center, bound))
        return HS_FRAME_COORDINATE_OUT_OF_WORLD;
    return state->has_box ? HS_FRAME_STORED : HS_FRAME_NO_HITBOXES;
}

/* Returns the state that a sample inherits. `before` is the index of the previous sample, or -1 if
   there is no previous sample. `mover` is NULL for a new mover. */
static const struct hs_mover_state *inherited_at(const struct hs_mover *mover, int64_t before)
{
    if (mover == NULL)
        return &first_state;
    return before < 0 ? &mover->carried
                      : hs_history_mover_state(mover->history,
                                               hs_history_at(mover->history, (uint32_t)before));
}

bool hs_movers_post(struct hs_movers *movers, const struct hs_ruleset *ruleset,
                    const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                    size_t at, int64_t time_us, enum hs_frame_result *result, unsigned *flags)
{
    struct hs_mover *mover = hs_movers_find(movers, entry->mover, at);
    int64_t before = mover != NULL ? hs_history_find(mover->history, time_us) : -1;
    *result = HS_FRAME_DUPLICATE_TIME;
    if (before >= 0 && hs_history_at(mover->history, (uint32_t)before)->time_us == time_us &&
        ruleset->history.same_time == HS_SAME_TIME_FIRST)
        return true;
    struct hs_sample sample = {.time_us = time_us, .posted_pose = HS_NO_POSTED_POSE};
    struct hs_mover_state state = *inherited_at(mover, before);
    *result = resolve(ruleset, entry, &sample, &state);
    if (*result != HS_FRAME_STORED)
        return true;
    if (mover == NULL) {
        *result = HS_FRAME_CAPACITY;
        if (movers->count >= limits->movers ||
            !hs_budget_reserve_spare(movers->budget, min_bytes(movers, limits)))
            return true;
        mover = add(movers, limits, entry->mover);
        if (mover == NULL)
            return false;
    }
    const struct hs_mover_state oldest =
        *inherited_at(mover, hs_history_count(mover->history) > 0 ? 0 : -1);
    enum hs_insert_result inserted =
        hs_history_insert(mover->history, &ruleset->history, &sample, &state, NULL);
    if (inserted == HS_INSERT_STORED_FULL)
        mover->carried = oldest;
    *result = hs_history_insert_report(mover->history, inserted, time_us, flags);
    return inserted != HS_INSERT_NO_MEMORY;
}

const struct hs_mover_state *hs_mover_newest_state(const struct hs_mover *mover)
{
    return inherited_at(mover, (int64_t)hs_history_count(mover->history) - 1);
}

bool hs_movers_would_store(const struct hs_movers *movers, const struct hs_ruleset *ruleset,
                           const struct hs_match_limits *limits, const struct hs_mover_frame *entry,
                           size_t at)
{
    const struct hs_mover *mover = hs_movers_find(movers, entry->mover, at);
    struct hs_sample sample = {0};
    struct hs_mover_state state = mover != NULL ? *hs_mover_newest_state(mover) : first_state;
    bool has_place = movers->count < limits->movers &&
                     hs_budget_has_spare(movers->budget, min_bytes(movers, limits));
    return (mover != NULL || has_place) &&
           resolve(ruleset, entry, &sample, &state) == HS_FRAME_STORED;
}

void hs_movers_prune(struct hs_movers *movers, int64_t before_us)
{
    for (uint32_t i = 0; i < movers->count; i++)
        hs_history_prune(movers->all[i].history, before_us);
}

void hs_movers_restart(struct hs_movers *movers)
{
    for (uint32_t i = 0; i < movers->count; i++) {
        struct hs_mover *mover = &movers->all[i];
        mover->carried = *hs_mover_newest_state(mover);
        hs_history_clear(mover->history);
    }
}

bool hs_movers_restore(struct hs_movers *movers, const struct hs_match_limits *limits,
                       struct hs_str name, const struct hs_mover_state *state)
{
    if (!hs_budget_reserve(movers->budget, min_bytes(movers, limits)))
        return false;
    struct hs_mover *mover = add(movers, limits, name);
    if (mover != NULL)
        mover->carried = *state;
    return mover != NULL;
}

size_t hs_movers_bytes(const struct hs_movers *movers)
{
    size_t bytes = movers->capacity * sizeof *movers->all;
    for (uint32_t i = 0; i < movers->count; i++)
        bytes += hs_history_bytes(movers->all[i].history);
    return bytes;
}

/* ---- rewinding ---- */

const struct hs_mover_state *hs_mover_state_at(const struct hs_mover *mover,
                                               const struct hs_bracket *bracket)
{
    return hs_history_mover_state(mover->history, bracket->from);
}

void hs_mover_ball(const struct hs_mover *mover, const struct hs_bracket *bracket,
                   struct hs_vec *center, double *reach)
{
    *center = hs_rewind_position(bracket);
    *reach = hs_mover_reach(hs_mover_state_at(mover, bracket)) * (1 + HS_TOUCH_SLACK);
}

/* Most movers do not turn. So this test usually avoids the slow spherical interpolation. */
static bool is_same_rotation(const float a[4], const float b[4])
{
    return a[0] == b[0] && a[1] == b[1] && a[2] == b[2] && a[3] == b[3];
}

static void rotation_at(const struct hs_bracket *bracket, float rotation[4])
{
    const struct hs_sample *from = bracket->from, *to = bracket->to;
    memcpy(rotation, from->rotation, sizeof from->rotation);
    if (bracket->alpha > 0 && !is_same_rotation(from->rotation, to->rotation))
        hs_quat_slerp(from->rotation, to->rotation, bracket->alpha, rotation);
}

void hs_mover_place(const struct hs_mover *mover, const struct hs_bracket *bracket,
                    struct hs_mover_pose *out)
{
    const struct hs_mover_state *state = hs_mover_state_at(mover, bracket);
    float rotation[4];
    rotation_at(bracket, rotation);
    *out = (struct hs_mover_pose){.is_solid = state->is_solid,
                                  .reach = hs_vec_length(state->half_extents)};
    out->solid.half_extents = state->half_extents;
    out->solid.center =
        hs_vec_add(hs_rewind_position(bracket), hs_quat_rotate(rotation, state->center));
    hs_quat_axes(rotation, out->solid.axes);
}

/* Finds the mover's origin and rotation at a time. For times after the newest sample, uses the
   newest sample. Returns false if the mover has no pose at that time. */
static bool find_frame(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                       int64_t time_us, struct hs_vec *origin, float rotation[4])
{
    struct hs_bracket bracket;
    enum hs_rewind_status status = hs_rewind_find(mover->history, ruleset, time_us, &bracket);
    if (status == HS_REWIND_AFTER_NEWEST) {
        const struct hs_sample *newest =
            hs_history_at(mover->history, hs_history_count(mover->history) - 1);
        bracket = (struct hs_bracket){.from = newest, .to = newest};
    } else if (status != HS_REWIND_OK) {
        return false;
    }
    *origin = hs_rewind_position(&bracket);
    rotation_at(&bracket, rotation);
    return true;
}

bool hs_mover_to_world(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                       int64_t time_us, struct hs_vec *point)
{
    struct hs_vec origin;
    float rotation[4];
    if (!find_frame(mover, ruleset, time_us, &origin, rotation))
        return false;
    *point = hs_vec_add(origin, hs_quat_rotate(rotation, *point));
    return true;
}

bool hs_mover_carry(const struct hs_mover *mover, const struct hs_ruleset *ruleset, int64_t from_us,
                    int64_t to_us, struct hs_vec *point)
{
    struct hs_vec from, to;
    float before[4], after[4];
    if (!find_frame(mover, ruleset, from_us, &from, before) ||
        !find_frame(mover, ruleset, to_us, &to, after))
        return false;
    const float back[4] = {-before[0], -before[1], -before[2], before[3]};
    struct hs_vec local = hs_quat_rotate(back, hs_vec_sub(*point, from));
    *point = hs_vec_add(to, hs_quat_rotate(after, local));
    return true;
}

bool hs_mover_newest(const struct hs_mover *mover, struct hs_mover_pose *out)
{
    uint32_t count = hs_history_count(mover->history);
    if (count == 0)
        return false;
    const struct hs_sample *newest = hs_history_at(mover->history, count - 1);
    hs_mover_place(mover, &(struct hs_bracket){.from = newest, .to = newest}, out);
    return true;
}

int64_t hs_mover_next_change(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                             int64_t time_us)
{
    const struct hs_history_span *span = hs_history_span(mover->history);
    if (span == NULL)
        return INT64_MAX;
    if (time_us < span->newest_us) {
        int64_t next = hs_history_find(mover->history, time_us) + 1;
        return hs_history_at(mover->history, (uint32_t)next)->time_us;
    }
    int64_t lost_us = span->newest_us + ruleset->rewind.future_slack_us;
    return lost_us > time_us ? lost_us : INT64_MAX;
}

bool hs_mover_later(const struct hs_mover *mover, const struct hs_ruleset *ruleset,
                    const struct hs_bracket *now, int64_t time_us, struct hs_bracket *out)
{
    const struct hs_sample *from = now->from, *to = hs_history_next(mover->history, from);
    if (to == NULL || to->jumped || to->event == HS_EVENT_TELEPORT)
        return false;
    int64_t gap = to->time_us - from->time_us;
    if (gap > ruleset->history.max_gap_us)
        return false;
    *out = (struct hs_bracket){
        .from = from, .to = to, .alpha = (double)(time_us - from->time_us) / (double)gap};
    return true;
}
