/* The matches, rulesets and maps of a checkpoint, at the start of the service. */
#ifndef HS_SERVICE_CHECKPOINT_RESTORE_H
#define HS_SERVICE_CHECKPOINT_RESTORE_H

#include "service/checkpoint/checkpoint.h"
#include "service/checkpoint/checkpoint_maps.h"

/* What is known of the journals at the start. */
struct hs_restored_journals {
    uint64_t contained; /* those before it are in the newest checkpoint */
    uint64_t next;      /* above the numbers of all files */
};

/*
 * Reads the newest checkpoint of a directory; where it is not whole, also the one before, for the
 * matches that are missing; then the journals
 * that the checkpoints do not contain. A file that is refused is moved out of the way, so that the
 * next checkpoint does not put it into the place of the good one. False, with a sentence in
 * `error`, only when there is one that cannot be opened: to start without it would lose what it
 * holds. `maps` learns what the checkpoints refer to.
 */
bool hs_checkpoint_restore(struct hs_service *service, int directory, struct hs_kept_maps *maps,
                           struct hs_checkpoint_stats *stats, struct hs_restored_journals *journals,
                           char error[512]);

#endif
