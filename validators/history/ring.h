/*
 * The history of one player or mover: samples sorted by time. A sample that arrives late is
 * inserted at its place in this order.
 *
 * The root is stored in double. The bones are stored as float offsets from the root. Samples share
 * state that rarely changes, such as rig, team, weapon and life. A sample without posted bones
 * needs 80 bytes.
 *
 * The history grows as far as its limits and its budget allow. After creation, only
 * hs_history_insert and hs_history_shrink allocate. Not thread-safe: one writer or many readers at
 * a time.
 */
#ifndef HS_HISTORY_H
#define HS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/budget.h"
#include "validators/frame.h"
#include "validators/ruleset.h"
#include "validators/state.h"
#include "validators/vec.h"
#include "validators/vocabulary.h"

/* Values that a player's sample inherits from the previous sample, unless its frame posts new
   ones. */
struct hs_state {
#define SAID(type, member, first, saved, stale, field)    type member;
#define OWN(type, member, dimension, first, saved, stale) type member dimension;
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
#undef OWN
    uint8_t stale; /* set of enum hs_stale */
};

/* The struct has no padding, so two states are equal if their bytes are equal. */
/* The rows form a sum, so they cannot have parentheses. */
/* NOLINTBEGIN(bugprone-macro-parentheses) */
#define SAID(type, member, first, saved, stale, field)    sizeof(type) +
#define OWN(type, member, dimension, first, saved, stale) sizeof(type dimension) +
_Static_assert(sizeof(struct hs_state) == HS_STATE_FIELDS(SAID, OWN) sizeof(uint8_t), "no padding");
#undef SAID
#undef OWN
/* NOLINTEND(bugprone-macro-parentheses) */

/* A weapon that is not in the ruleset. This value occurs only in checkpoints from old versions of
   the program, because the old versions stored frames with such weapons. */
#define HS_WEAPON_FOREIGN 0xFFFEu

/* Values that a mover's sample inherits from the previous sample, unless its frame posts new
   ones. */
struct hs_mover_state {
    struct hs_vec half_extents; /* half the size of the box, in the mover's frame; length */
    struct hs_vec center;       /* centre of the box, in the mover's frame */
    bool has_box;
    bool is_solid;    /* false for an open door */
    bool tells_solid; /* `is_solid` was posted at least once */
    bool is_stale;    /* `is_solid` was posted before a restore (snapshot.h) */
};

/* Returns an upper bound of the distance from the mover's position to any point of its box. */
static inline double hs_mover_reach(const struct hs_mover_state *state)
{
    return hs_vec_length(state->half_extents) + hs_vec_length(state->center);
}

/* The values that a player's sample inherits from the previous sample. */
struct hs_inherited {
    struct hs_state state;
    int32_t rtt_us, interp_us; /* -1: unknown */
};

struct hs_sample {
    int64_t time_us;
    struct hs_vec position; /* position of the root; world, length */
    float rotation[4];      /* rotation of the root */
    float aim[3];           /* unit vector; 0 0 0: not posted */
    int32_t rtt_us;         /* -1: unknown */
    int32_t interp_us;      /* -1: unknown */
    uint32_t posted_pose;   /* internal: index of bones and eye; HS_NO_POSTED_POSE: neither was
                               posted */
    uint16_t state;         /* internal: index of the shared state */
    uint8_t event;          /* enum hs_sample_event */
    bool rtt_posted;        /* rtt_us was posted with this sample, not inherited */
    bool jumped;            /* the body moved faster than history.max_speed, without an announced
                               jump */
};

#define HS_NO_POSTED_POSE UINT32_MAX

/*
 * Posted bones and eye of a sample. A bone has `stride` floats: its offset from the root along the
 * world's axes (3, length), its world rotation (4), and its scale (3) if the scale was posted.
 */
struct hs_posted_pose {
    float reach; /* upper bound of the distance from the root to the furthest hitbox point */
    bool has_eye;
    uint8_t stride;      /* HS_BONE_FLOATS or HS_BONE_FLOATS_SCALED */
    uint16_t bone_count; /* 0: no bones were posted */
    /* Bounds of the hitboxes along the world's axes, as offsets from the root, rounded outwards.
       hs_posted_pose_bound (body_box.h) sets these bounds if there are bones. */
    float low[3], high[3];
    double eye[3]; /* offset from the root; the origin check needs the precision of double */
    uint64_t present[HS_MAX_BONES / 64];
    float bones[]; /* bone_count * stride */
};

enum { HS_BONE_FLOATS = 7, HS_BONE_FLOATS_SCALED = 10 };

/* Space for a posted pose of the largest rig, so that a posted pose can be built on the stack. */
union hs_posted_pose_space {
    struct hs_posted_pose posted_pose;
    unsigned char
        bytes[sizeof(struct hs_posted_pose) + sizeof(float) * HS_MAX_BONES * HS_BONE_FLOATS_SCALED];
};

static inline bool hs_posted_pose_has_bone(const struct hs_posted_pose *posted_pose, uint16_t bone)
{
    return bone < posted_pose->bone_count &&
           (posted_pose->present[bone / 64] >> (bone % 64) & 1) != 0;
}

struct hs_history_limits {
    uint32_t samples;         /* maximum number of samples, >= 2; the oldest are dropped first */
    struct hs_budget *budget; /* the budget in which the bytes of the history are reserved; NULL: no
                                 budget */
    bool of_mover;            /* a mover's history, whose states are struct hs_mover_state */
};

/* HS_HISTORY_FIRST is the minimum capacity. The newest HS_HISTORY_MIN samples are never dropped to
   make space for bones. */
enum { HS_HISTORY_FIRST = 16, HS_HISTORY_MIN = 8 };

struct hs_history;

/* Creates an empty history. Returns NULL if out of memory. The owner must first reserve
   hs_history_min_bytes in the budget. */
struct hs_history *hs_history_create(const struct hs_history_limits *limits);
void hs_history_destroy(struct hs_history *history);
void hs_history_clear(struct hs_history *history);

enum hs_insert_result {
    HS_INSERT_STORED,
    HS_INSERT_STORED_FULL, /* stored, but the oldest samples had to be dropped */
    HS_INSERT_TOO_OLD,     /* not stored: the history is full of newer samples */
    HS_INSERT_DUPLICATE,   /* not stored: an existing sample has the same time and is kept */
    HS_INSERT_NO_SPACE,    /* not stored: the budget has no bytes for the state or the bones, even
                              after old samples were dropped */
    HS_INSERT_NO_MEMORY
};

/*
 * Inserts a sample in order of time. `state` is a struct hs_state, or a struct hs_mover_state in
 * the history of a mover. `posted_pose` contains bones and eye; NULL: neither was posted. The
 * members `state` and `posted_pose` of `sample` are ignored.
 *
 * Marks this sample and the next sample as jumped if the body moved to them faster than
 * rules->max_speed. Replaces stale values in later samples by the values of this sample. Drops the
 * oldest samples if the history is full or the budget refuses more bytes.
 *
 * If an old sample has the same time and rules->same_time is HS_SAME_TIME_LAST, the new sample
 * replaces the old sample. The event of the old sample is kept if the new sample has no event. A
 * spawn is always kept. A teleport is kept if the new event is not a spawn. If the round trip of
 * the old sample was posted, the round trip of the new sample counts as posted.
 */
enum hs_insert_result hs_history_insert(struct hs_history *history,
                                        const struct hs_history_rules *rules,
                                        const struct hs_sample *sample, const void *state,
                                        const struct hs_posted_pose *posted_pose);

/* Converts the result of an insert to the result of a frame entry. Adds bit `1 << flag` to *flags
   for each enum hs_frame_flag that applies. */
enum hs_frame_result hs_history_insert_report(const struct hs_history *history,
                                              enum hs_insert_result inserted, int64_t time_us,
                                              unsigned *flags);

/* Drops all samples except the newest `capacity`, and frees the memory that is no longer needed,
   down to the minimum capacity. Returns false if out of memory; the samples are then dropped, but
   not all memory is freed. */
bool hs_history_shrink(struct hs_history *history, uint32_t capacity);

/* hs_history_limit returns the maximum number of samples, hs_history_capacity the current
   capacity. */
uint32_t hs_history_limit(const struct hs_history *history);
uint32_t hs_history_capacity(const struct hs_history *history);

/* Keeps the newest sample at or before `before_us`, because interpolation needs this sample. Drops
   all samples that are older than this sample. */
void hs_history_prune(struct hs_history *history, int64_t before_us);

uint32_t hs_history_count(const struct hs_history *history);

/* Reads the values that a player's sample inherits from the sample at index `before`. If `before`
   is -1, reads the carried values: the values of the newest sample that was dropped to make space,
   or the values that hs_history_carry set. Returns false if nothing is known about the player. */
bool hs_history_inherited(const struct hs_history *history, int64_t before,
                          struct hs_inherited *out);

/* Replaces the carried values. NULL: nothing is known. */
void hs_history_carry(struct hs_history *history, const struct hs_inherited *values);

/* Returns the number of samples with a posted round trip. */
uint32_t hs_history_round_trips(const struct hs_history *history);

/* Returns sample i in order of time; 0 is the oldest. Pointers stay valid until the history is
   changed. */
const struct hs_sample *hs_history_at(const struct hs_history *history, uint32_t i);
/* Like hs_history_at, for loops. Sets *count to the number of samples that are contiguous in
   memory, from sample i on (at least 1). */
const struct hs_sample *hs_history_run(const struct hs_history *history, uint32_t i,
                                       uint32_t *count);
const struct hs_state *hs_history_state(const struct hs_history *history,
                                        const struct hs_sample *sample);
const struct hs_mover_state *hs_history_mover_state(const struct hs_history *history,
                                                    const struct hs_sample *sample);
/* Returns the next sample in order of time, or NULL if `sample` is the newest. */
const struct hs_sample *hs_history_next(const struct hs_history *history,
                                        const struct hs_sample *sample);
/* Returns the posted bones and eye of a sample, or NULL if neither was posted. */
const struct hs_posted_pose *hs_history_posted_pose(const struct hs_history *history,
                                                    const struct hs_sample *sample);

/*
 * Bounds of all samples, so that a search can exclude a player without reading a sample. An insert
 * updates the bounds in amortised O(1). The bounds are never too small. After samples were dropped,
 * the bounds may be too large for a while.
 */
struct hs_history_span {
    struct hs_vec low, high; /* bounds of the roots, in world coordinates */
    double posted_reach; /* largest distance from the root to a posted hitbox or a mover's box */
    /* Players: bounds of the posted hitboxes, as offsets from the root. If a sample has no posted
       bones, these bounds are -FLT_MAX and FLT_MAX. */
    float body_low[3], body_high[3];
    int64_t oldest_us, newest_us; /* always exact, unlike the other bounds */
    int64_t longest_gap_us;       /* between two neighbouring samples */
};

/* Returns the bounds of all samples, or NULL if the history is empty. */
const struct hs_history_span *hs_history_span(const struct hs_history *history);

/* Computes the middle and the half extents of a box around all roots. The half extents are a little
   too large: the margin exceeds the rounding error of a few operations on coordinates. */
static inline void hs_history_span_box(const struct hs_history_span *span, struct hs_vec *middle,
                                       struct hs_vec *half)
{
    *middle = hs_vec_scale(hs_vec_add(span->low, span->high), 0.5);
    *half = hs_vec_sub(span->high, *middle);
    double rounding =
        1e-12 * (fabs(middle->x) + fabs(middle->y) + fabs(middle->z) + half->x + half->y + half->z);
    *half = (struct hs_vec){half->x + rounding, half->y + rounding, half->z + rounding};
}

/* Returns the index of the last sample at or before a time, or -1 if there is no such sample. O(log
   n). */
int64_t hs_history_find(const struct hs_history *history, int64_t time_us);

/* The first function starts to load the samples around a time into the processor's cache. The
   second function starts to load the posted pose of a sample. Most histories are not in the
   cache. */
void hs_history_prefetch(const struct hs_history *history, int64_t time_us);
void hs_history_prefetch_pose(const struct hs_history *history, const struct hs_sample *sample);

/* Each of these functions starts to load a part of the history into the cache. The first function
   loads the struct. The second function loads the data for dropping the oldest samples and for
   inserting a newest sample. The third function loads the newest samples. The second and the third
   function read the struct, so call hs_history_prefetch_itself earlier. */
void hs_history_prefetch_itself(const struct hs_history *history);
void hs_history_prefetch_ends(const struct hs_history *history);
void hs_history_prefetch_newest(const struct hs_history *history);

/* Returns the number of bytes that a new history uses. */
size_t hs_history_min_bytes(uint32_t max_samples);

/* Returns the number of bytes that the history uses now. */
size_t hs_history_bytes(const struct hs_history *history);

#endif
