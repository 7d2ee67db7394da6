/* The memory of a history, which grows as far as its budget allows and can be shrunk. */
#include "validators/history/ring_inside.h"

#include <stdlib.h>
#include <string.h>

uint32_t hs_history_limit(const struct hs_history *history)
{
    return history->limit;
}

uint32_t hs_history_capacity(const struct hs_history *history)
{
    return history->capacity;
}

/* The minimum capacity of the state table. */
enum { FIRST_STATES = 2 };

static uint32_t first_capacity(uint32_t limit)
{
    return limit < HS_HISTORY_FIRST ? limit : HS_HISTORY_FIRST;
}

size_t hs_history_min_bytes(uint32_t max_samples)
{
    uint32_t limit = max_samples < 2 ? 2 : max_samples;
    return sizeof(struct hs_history) + first_capacity(limit) * sizeof(struct hs_sample) +
           FIRST_STATES * sizeof(struct hs_shared_state);
}

size_t hs_history_bytes(const struct hs_history *history)
{
    return sizeof *history + history->capacity * sizeof *history->samples +
           history->state_capacity * sizeof *history->states +
           (size_t)history->pose_capacity * history->pose_size;
}

void hs_history_free_pose(struct hs_history *history, uint32_t i)
{
    if (i == HS_NO_POSTED_POSE)
        return;
    memcpy(hs_history_pose_block(history, i), &history->pose_free, sizeof history->pose_free);
    history->pose_free = i;
}

/* `capacity` must be at least the number of samples. */
static bool resize_samples(struct hs_history *history, uint32_t capacity)
{
    struct hs_sample *samples = malloc(capacity * sizeof *samples);
    if (samples == NULL)
        return false;
    for (uint32_t i = 0; i < history->count; i++)
        samples[i] = *hs_history_slot(history, i);
    free(history->samples);
    history->samples = samples;
    history->capacity = capacity;
    history->head = 0;
    return true;
}

bool hs_history_allocate(struct hs_history *history)
{
    history->states = calloc(FIRST_STATES, sizeof *history->states);
    history->state_capacity = history->states != NULL ? FIRST_STATES : 0;
    return history->states != NULL && resize_samples(history, first_capacity(history->limit));
}

enum hs_growth hs_history_grow_samples(struct hs_history *history)
{
    uint32_t capacity = history->capacity * 2;
    if (capacity > history->limit)
        capacity = history->limit;
    size_t more = (capacity - history->capacity) * sizeof *history->samples;
    if (!hs_budget_reserve_spare(history->budget, more))
        return HS_GROWTH_REFUSED;
    if (resize_samples(history, capacity))
        return HS_GROWTH_DONE;
    hs_budget_release(history->budget, more);
    return HS_GROWTH_NO_MEMORY;
}

static bool is_same(struct hs_vec a, struct hs_vec b)
{
    return a.x == b.x && a.y == b.y && a.z == b.z;
}

static bool mover_states_equal(const struct hs_mover_state *a, const struct hs_mover_state *b)
{
    return is_same(a->half_extents, b->half_extents) && is_same(a->center, b->center) &&
           a->has_box == b->has_box && a->is_solid == b->is_solid &&
           a->tells_solid == b->tells_solid && a->is_stale == b->is_stale;
}

static bool player_states_equal(const struct hs_state *a, const struct hs_state *b)
{
    /* Compare the bytes. If two states differ only in the sign of a zero, their bytes differ, and
       both states are stored. This does no harm. */
    /* NOLINTNEXTLINE(bugprone-suspicious-memory-comparison,cert-exp42-c,cert-flp37-c) */
    return memcmp(a, b, sizeof *a) == 0;
}

static bool states_equal(const struct hs_history *history, const union hs_any_state *a,
                         const void *b)
{
    return history->of_mover ? mover_states_equal(&a->mover, b)
                             : player_states_equal(&a->player, b);
}

static enum hs_growth grow_states(struct hs_history *history)
{
    uint32_t before = history->state_capacity, capacity = before > 0 ? before * 2 : FIRST_STATES;
    struct hs_shared_state *states;
    size_t more = (capacity - before) * sizeof *states;
    if (capacity > UINT16_MAX)
        return HS_GROWTH_NO_MEMORY;
    if (!hs_budget_reserve_spare(history->budget, more))
        return HS_GROWTH_REFUSED;
    states = realloc(history->states, capacity * sizeof *states);
    if (states == NULL) {
        hs_budget_release(history->budget, more);
        return HS_GROWTH_NO_MEMORY;
    }
    memset(states + before, 0, more);
    history->states = states;
    history->state_capacity = capacity;
    return HS_GROWTH_DONE;
}

enum hs_growth hs_history_share_state(struct hs_history *history, const void *state,
                                      const struct hs_sample *like, uint16_t *out)
{
    if (like != NULL && states_equal(history, &history->states[like->state].state, state)) {
        history->states[like->state].references++;
        *out = like->state;
        return HS_GROWTH_DONE;
    }
    uint32_t i = 0;
    while (i < history->state_capacity && history->states[i].references > 0)
        i++;
    enum hs_growth growth = i < history->state_capacity ? HS_GROWTH_DONE : grow_states(history);
    if (growth != HS_GROWTH_DONE)
        return growth;
    struct hs_shared_state *place = &history->states[i];
    memcpy(&place->state, state,
           history->of_mover ? sizeof place->state.mover : sizeof place->state.player);
    place->references = 1;
    *out = (uint16_t)i;
    return HS_GROWTH_DONE;
}

/* Makes all blocks at least `size` bytes long, and makes sure that one block is free. */
static enum hs_growth make_pose_space(struct hs_history *history, size_t size)
{
    size_t block = size > history->pose_size ? size : history->pose_size;
    uint32_t old_capacity = history->pose_capacity;
    uint32_t capacity = old_capacity;
    if (history->pose_free == HS_NO_POSTED_POSE) {
        /* Each sample uses at most one block. While a new pose replaces an old pose, both poses
           have a block. */
        uint32_t max = history->capacity + (old_capacity < history->capacity ? 0 : 1);
        capacity = capacity == 0 ? HS_HISTORY_FIRST : capacity * 2;
        if (capacity > max)
            capacity = max;
    }
    if (block == history->pose_size && capacity == old_capacity)
        return HS_GROWTH_DONE;
    size_t more = capacity * block - (size_t)old_capacity * history->pose_size;
    if (!hs_budget_reserve_spare(history->budget, more))
        return HS_GROWTH_REFUSED;
    unsigned char *poses = calloc(capacity, block);
    if (poses == NULL) {
        hs_budget_release(history->budget, more);
        return HS_GROWTH_NO_MEMORY;
    }
    for (uint32_t i = 0; i < old_capacity; i++)
        memcpy(poses + (size_t)i * block, hs_history_pose_block(history, i), history->pose_size);
    free(history->poses);
    history->poses = poses;
    history->pose_size = (uint16_t)block;
    history->pose_capacity = capacity;
    for (uint32_t i = capacity; i-- > old_capacity;)
        hs_history_free_pose(history, i);
    return HS_GROWTH_DONE;
}

enum hs_growth hs_history_store_pose(struct hs_history *history,
                                     const struct hs_posted_pose *posted_pose, uint32_t *out)
{
    size_t size =
        sizeof *posted_pose + (size_t)posted_pose->bone_count * posted_pose->stride * sizeof(float);
    size_t align = sizeof(uint64_t);
    enum hs_growth growth = make_pose_space(history, (size + align - 1) / align * align);
    if (growth != HS_GROWTH_DONE)
        return growth;
    uint32_t i = history->pose_free;
    memcpy(&history->pose_free, hs_history_pose_block(history, i), sizeof history->pose_free);
    memcpy(hs_history_pose_block(history, i), posted_pose, size);
    *out = i;
    return HS_GROWTH_DONE;
}

/* Drops unused states from the table, down to its minimum capacity. */
static bool shrink_states(struct hs_history *history)
{
    uint32_t used = 0;
    for (uint32_t i = 0; i < history->state_capacity; i++)
        used += history->states[i].references > 0 ? 1 : 0;
    uint32_t capacity = used < FIRST_STATES ? FIRST_STATES : used;
    if (capacity >= history->state_capacity)
        return true;
    struct hs_shared_state *states = calloc(capacity, sizeof *states);
    if (states == NULL)
        return false;
    for (uint32_t i = 0, to = 0; i < history->state_capacity; i++) {
        if (history->states[i].references == 0)
            continue;
        states[to] = history->states[i];
        for (uint32_t k = 0; k < history->count; k++)
            if (hs_history_slot(history, k)->state == i)
                hs_history_slot(history, k)->state = (uint16_t)to;
        to++;
    }
    free(history->states);
    history->states = states;
    history->state_capacity = capacity;
    return true;
}

/* Frees the blocks that no sample uses. */
static bool shrink_poses(struct hs_history *history)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < history->count; i++)
        count += hs_history_slot(history, i)->posted_pose != HS_NO_POSTED_POSE ? 1 : 0;
    unsigned char *poses = count > 0 ? calloc(count, history->pose_size) : NULL;
    if (poses == NULL && count > 0)
        return false;
    for (uint32_t i = 0, to = 0; i < history->count; i++) {
        struct hs_sample *sample = hs_history_slot(history, i);
        if (sample->posted_pose == HS_NO_POSTED_POSE)
            continue;
        memcpy(poses + (size_t)to * history->pose_size,
               hs_history_pose_block(history, sample->posted_pose), history->pose_size);
        sample->posted_pose = to++;
    }
    free(history->poses);
    history->poses = poses;
    history->pose_capacity = count;
    history->pose_free = HS_NO_POSTED_POSE;
    if (count == 0)
        history->pose_size = 0;
    return true;
}

void hs_history_drop_oldest(struct hs_history *history)
{
    const struct hs_sample *oldest = &history->samples[history->head];
    hs_history_free_pose(history, oldest->posted_pose);
    history->states[oldest->state].references--;
    history->round_trips -= oldest->rtt_posted;
    history->head = history->head + 1 == history->capacity ? 0 : history->head + 1;
    history->count--;
    if (history->count > 0)
        history->span.oldest_us = history->samples[history->head].time_us;
}

void hs_history_drop_for_space(struct hs_history *history, uint32_t count)
{
    if (!history->of_mover)
        history->has_carried = hs_history_inherited(history, (int64_t)count - 1, &history->carried);
    for (; count > 0; count--)
        hs_history_drop_oldest(history);
}

bool hs_history_shrink(struct hs_history *history, uint32_t capacity)
{
    size_t before = hs_history_bytes(history);
    if (history->count > capacity)
        hs_history_drop_for_space(history, history->count - capacity);
    uint32_t first = first_capacity(history->limit);
    capacity = capacity > first ? capacity : first;
    bool fine = shrink_poses(history) && shrink_states(history) &&
                (capacity >= history->capacity || resize_samples(history, capacity));
    hs_budget_release(history->budget, before - hs_history_bytes(history));
    return fine;
}
