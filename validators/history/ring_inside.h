/* The members of a history, only for the files in this folder and for tests. */
#ifndef HS_HISTORY_INSIDE_H
#define HS_HISTORY_INSIDE_H

#include "validators/history/ring.h"

/* A state that samples share: the state of a player, or of a mover (see hs_history.of_mover). */
union hs_any_state {
    struct hs_state player;
    struct hs_mover_state mover;
};

/* A state, and the number of samples that use it; 0: the entry is free. */
struct hs_shared_state {
    union hs_any_state state;
    uint32_t references;
};

struct hs_history {
    uint32_t limit;
    bool of_mover, has_carried;
    uint16_t pose_size; /* bytes per block of `poses` */
    struct hs_budget *budget;
    uint32_t capacity, head, count; /* ring of samples */
    uint32_t state_capacity;
    struct hs_sample *samples;
    struct hs_shared_state *states; /* array of `state_capacity` entries */
    /* Blocks of equal size, one per posted pose. The first bytes of a free block contain the index
       of the next free block. */
    unsigned char *poses;
    uint32_t pose_capacity, pose_free;
    uint32_t round_trips; /* number of samples with a posted round trip */
    uint32_t since_span;  /* inserts since the span was last computed from all samples */
    struct hs_history_span span;
    struct hs_inherited carried; /* valid if has_carried; a sample that is inserted before the
                                    oldest sample inherits these values */
};

_Static_assert(sizeof(union hs_posted_pose_space) <= UINT16_MAX, "pose_size is large enough");

static inline struct hs_sample *hs_history_slot(const struct hs_history *history, uint32_t i)
{
    uint32_t at = history->head + i;
    return &history->samples[at < history->capacity ? at : at - history->capacity];
}

static inline unsigned char *hs_history_pose_block(const struct hs_history *history, uint32_t i)
{
    return history->poses + (size_t)i * history->pose_size;
}

/* The result of growing a part of a history. REFUSED: the budget has no bytes left. */
enum hs_growth { HS_GROWTH_DONE, HS_GROWTH_REFUSED, HS_GROWTH_NO_MEMORY };

/* Allocates the smallest capacity. Returns false if out of memory. */
bool hs_history_allocate(struct hs_history *history);

enum hs_growth hs_history_grow_samples(struct hs_history *history);

/* If the sample `like` is not NULL and its state is equal to `state`, adds a reference to that
   state. Otherwise, stores a copy of `state`. `state` is a struct hs_state or a struct
   hs_mover_state. Sets *out to the index of the shared state. */
enum hs_growth hs_history_share_state(struct hs_history *history, const void *state,
                                      const struct hs_sample *like, uint16_t *out);

/* Stores the posted pose of a sample, and sets *out to the index of the stored pose. The ring must
   already have space for the sample. */
enum hs_growth hs_history_store_pose(struct hs_history *history,
                                     const struct hs_posted_pose *posted_pose, uint32_t *out);

/* Frees posted pose `i`. Does nothing if `i` is HS_NO_POSTED_POSE. */
void hs_history_free_pose(struct hs_history *history, uint32_t i);

void hs_history_drop_oldest(struct hs_history *history);

/* Drops the `count` oldest samples to make space. Late samples inherit from the newest dropped
   sample. */
void hs_history_drop_for_space(struct hs_history *history, uint32_t count);

#endif
