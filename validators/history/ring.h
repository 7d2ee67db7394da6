/*
 * The history of one player or mover: samples in order of time, with late ones put in their place.
 *
 * The root pose is kept in double, everything hanging on it (bones, eye) as float offsets from
 * the root, and what rarely changes (rig, stance, team, weapon, life ...) once per change and not
 * once per sample. A player without posted bones costs 80 bytes a sample.
 *
 * Memory: the history grows up to its limits and never beyond, and where its account lets it; only
 * hs_history_insert and hs_history_shrink allocate.
 * Not thread-safe: one writer or many readers at a time.
 */
#ifndef HS_HISTORY_H
#define HS_HISTORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/account.h"
#include "validators/frame.h"
#include "validators/ruleset.h"
#include "validators/state.h"
#include "validators/vec.h"
#include "validators/vocabulary.h"

/* What a sample inherits from the one before it in time when it does not say it. */
struct hs_state {
#define SAID(type, member, first, saved, unsure, field)    type member;
#define OWN(type, member, dimension, first, saved, unsure) type member dimension;
    HS_STATE_FIELDS(SAID, OWN)
#undef SAID
#undef OWN
    uint8_t unsure; /* set of enum hs_unsure */
};

/* A weapon that is not in the ruleset: only checkpoints of versions that stored such frames have
 * it. */
#define HS_WEAPON_FOREIGN 0xFFFEu

/* The same of a mover: its box, and whether it is in the way. */
struct hs_mover_state {
    struct hs_vec half_extents; /* of the box, in the mover's frame; length */
    struct hs_vec center;       /* of the box, in the mover's frame */
    bool has_box;
    bool is_solid;    /* an open door is not */
    bool tells_solid; /* `is_solid` was said, and may change; a lift's never is */
    bool is_unsure;   /* it was last said before the match was read back (snapshot.h) */
};

/* Nothing of the box is further from the mover's position. */
static inline double hs_mover_reach(const struct hs_mover_state *state)
{
    return hs_vec_length(state->half_extents) + hs_vec_length(state->center);
}

struct hs_sample {
    int64_t time_us;
    struct hs_vec position; /* of the root; world, length */
    float rotation[4];      /* of the root */
    float aim[3];           /* unit, or 0 0 0: not said */
    int32_t rtt_us;         /* -1: not known */
    int32_t interp_us;      /* -1: not known */
    uint32_t extra;         /* internal: bones and eye; HS_NO_EXTRA: none */
    uint16_t state;         /* internal */
    uint8_t event;          /* enum hs_sample_event */
    bool rtt_posted;        /* rtt_us was said by this sample, not inherited */
    bool jumped;            /* moved here faster than history.max_speed without saying so */
};

#define HS_NO_EXTRA UINT32_MAX

/*
 * Posted bones and eye of a sample. A bone is `stride` floats: offset from the root's position
 * along the world's axes (3, length), world rotation (4), and scale (3) where it was sent.
 */
struct hs_extra {
    float reach; /* no hitbox point is further from the root */
    bool has_eye;
    uint8_t stride;      /* HS_BONE_FLOATS or HS_BONE_FLOATS_SCALED */
    uint16_t bone_count; /* 0: none posted */
    double eye[3];       /* offset from the root; double: origin is judged at its limit by it */
    uint64_t present[HS_MAX_BONES / 64];
    float bones[]; /* bone_count * stride */
};

enum { HS_BONE_FLOATS = 7, HS_BONE_FLOATS_SCALED = 10 };

/* An extra with room for the largest rig, for building one on the stack. */
union hs_extra_room {
    struct hs_extra extra;
    unsigned char
        bytes[sizeof(struct hs_extra) + sizeof(float) * HS_MAX_BONES * HS_BONE_FLOATS_SCALED];
};

static inline bool hs_extra_has_bone(const struct hs_extra *extra, uint16_t bone)
{
    return bone < extra->bone_count && (extra->present[bone / 64] >> (bone % 64) & 1) != 0;
}

struct hs_history_limits {
    uint32_t samples;           /* at most, >= 2; the oldest go first */
    struct hs_account *account; /* what the samples take is taken from it; NULL: there is none */
    bool of_mover;              /* its states are struct hs_mover_state */
};

/* Samples there is room for at first and always, and samples that are not given up for bones. */
enum { HS_HISTORY_FIRST = 16, HS_HISTORY_LEAST = 8 };

struct hs_history;

/* NULL: out of memory. The owner answers for what it takes then, hs_history_min_bytes: room for
   the first samples, which it always has. */
struct hs_history *hs_history_create(const struct hs_history_limits *limits);
void hs_history_destroy(struct hs_history *history);
void hs_history_clear(struct hs_history *history);

enum hs_insert_result {
    HS_INSERT_STORED,
    HS_INSERT_STORED_FULL, /* stored; samples inside the window had to go */
    HS_INSERT_TOO_OLD,     /* older than all there is room for: not stored */
    HS_INSERT_DUPLICATE,   /* a sample of that time is there already, and stays */
    HS_INSERT_NO_ROOM,     /* the account has none for the bones, not even with fewer samples */
    HS_INSERT_NO_MEMORY
};

/*
 * Puts a sample in its place. `sample->state` and `extra` are ignored: the state comes from
 * `state`, bones and eye from `extra` (NULL: none). Marks this sample and its successor
 * as jumped where the speed between samples exceeds rules->max_speed. What later samples inherited
 * and are unsure of, they have from this one if it knows. Where the account lets it not grow, the
 * oldest samples make room.
 */
enum hs_insert_result hs_history_insert(struct hs_history *history,
                                        const struct hs_history_rules *rules,
                                        const struct hs_sample *sample,
                                        const struct hs_state *state, const struct hs_extra *extra);

/* The same for the history of a mover. */
enum hs_insert_result hs_history_insert_mover(struct hs_history *history,
                                              const struct hs_history_rules *rules,
                                              const struct hs_sample *sample,
                                              const struct hs_mover_state *state);

/* What an insert at a time means for the entry of the frame. *flags gets a bit per enum
   hs_frame_flag. */
enum hs_frame_result hs_history_insert_report(const struct hs_history *history,
                                              enum hs_insert_result inserted, int64_t time_us,
                                              unsigned *flags);

/* Gives memory back: all samples but the newest `capacity` go, and what none of those needs, but
   for the room of the first. False: out of memory, and it stays as it is but for samples that went.
 */
bool hs_history_shrink(struct hs_history *history, uint32_t capacity);

/* Samples it may have at most, and those there is room for. */
uint32_t hs_history_limit(const struct hs_history *history);
uint32_t hs_history_capacity(const struct hs_history *history);

/* Forgets samples older than `before_us`, but keeps one at or before it. */
void hs_history_prune(struct hs_history *history, int64_t before_us);

uint32_t hs_history_count(const struct hs_history *history);

/* Sample i in order of time, 0 the oldest. Pointers stay valid until the next insert or prune. */
const struct hs_sample *hs_history_at(const struct hs_history *history, uint32_t i);
const struct hs_state *hs_history_state(const struct hs_history *history,
                                        const struct hs_sample *sample);
const struct hs_mover_state *hs_history_mover_state(const struct hs_history *history,
                                                    const struct hs_sample *sample);
/* The sample after one; NULL: it is the newest. */
const struct hs_sample *hs_history_next(const struct hs_history *history,
                                        const struct hs_sample *sample);
/* NULL: neither bones nor eye were posted. */
const struct hs_extra *hs_history_extra(const struct hs_history *history,
                                        const struct hs_sample *sample);

/*
 * What holds of all samples kept, so that a player can be passed by without a look at any: kept up
 * to date in O(1) a sample, and never too narrow. It may be too wide for a while after samples
 * went.
 */
struct hs_history_span {
    struct hs_vec middle, half;   /* of the box from low to high, rounded up */
    struct hs_vec low, high;      /* roots; world, length */
    double posted_reach;          /* nothing posted, and no box, is further from its root; or 0 */
    int64_t oldest_us, newest_us; /* exact */
    int64_t longest_gap_us;       /* between neighbours */
};

/* NULL: not one sample. */
const struct hs_history_span *hs_history_span(const struct hs_history *history);

/* Index of the last sample at or before a time, or -1. O(log n). */
int64_t hs_history_find(const struct hs_history *history, int64_t time_us);

/* Bytes of one with these limits that was just created. */
size_t hs_history_min_bytes(uint32_t max_samples);

/* Bytes held, for accounting. */
size_t hs_history_bytes(const struct hs_history *history);

#endif
