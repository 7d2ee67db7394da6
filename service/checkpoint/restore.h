/* Restores matches, rulesets and maps from a checkpoint when the service starts. */
#ifndef HS_SERVICE_CHECKPOINT_RESTORE_H
#define HS_SERVICE_CHECKPOINT_RESTORE_H

#include "service/checkpoint/maps.h"
#include "service/checkpoint/save.h"

/* The state of the journals at the start. */
struct hs_restored_journals {
    uint64_t contained; /* the newest checkpoint contains the records of all journals below this
                           number */
    uint64_t next;      /* a number above the numbers of all journals */
};

/*
 * Reads the newest checkpoint of a directory. If that checkpoint is not whole, the previous one
 * supplies the missing matches. Then reads the journals that the checkpoints do not contain.
 * Renames a refused file, so that it never becomes the previous checkpoint. Returns false with a
 * message in `error` only if a file cannot be opened. In that case the service must not start,
 * because it would lose the content of the file. Adds to `maps` each map to which the checkpoints
 * refer.
 */
bool hs_checkpoint_restore(struct hs_service *service, int directory, struct hs_kept_maps *maps,
                           struct hs_checkpoint_stats *stats, struct hs_restored_journals *journals,
                           char error[512]);

#endif
