/* Restores matches, rulesets and maps from a checkpoint when the service starts. */
#ifndef HS_SERVICE_CHECKPOINT_RESTORE_H
#define HS_SERVICE_CHECKPOINT_RESTORE_H

#include "service/checkpoint/maps.h"
#include "service/checkpoint/save.h"

/* The state of the journals at the start. */
struct hs_restored_journals {
    uint64_t contained; /* the newest checkpoint contains journals before this number */
    uint64_t next;      /* above the numbers of all files */
};

/*
 * Reads the newest checkpoint of a directory. If it is not whole, the previous one supplies the
 * missing matches. Then reads the journals that the checkpoints do not contain. Moves a refused
 * file out of the way, so that it never becomes the previous checkpoint. Returns false with a
 * sentence in `error`, only if a file cannot be opened, because a start without it would lose its
 * contents. `maps` gets the maps that the checkpoints refer to.
 */
bool hs_checkpoint_restore(struct hs_service *service, int directory, struct hs_kept_maps *maps,
                           struct hs_checkpoint_stats *stats, struct hs_restored_journals *journals,
                           char error[512]);

#endif
