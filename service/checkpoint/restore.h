/* Restores matches, rulesets and maps from a checkpoint when the service starts. */
#ifndef HS_SERVICE_CHECKPOINT_RESTORE_H
#define HS_SERVICE_CHECKPOINT_RESTORE_H

#include "service/checkpoint/maps.h"
#include "service/checkpoint/save.h"

struct hs_restored_journals {
    /* the newest checkpoint contains the records in all journals with lower numbers */
    uint64_t contained;
    uint64_t next; /* higher than the number of every journal */
};

/*
 * Reads the newest checkpoint in a directory. If this checkpoint is missing, damaged or from
 * another version, also reads the previous checkpoint, and restores the missing matches from it.
 * Then reads the journals whose records the checkpoints do not contain. If the newest checkpoint is
 * damaged or from another version, renames it, so that it never becomes the previous checkpoint.
 * Records in `maps` all maps that the checkpoints refer to.
 *
 * Returns false with a message in `error` if a file cannot be opened or memory runs out. The
 * service must then not start, because it would lose the saved state.
 */
bool hs_checkpoint_restore(struct hs_service *service, int directory, struct hs_kept_maps *maps,
                           struct hs_checkpoint_stats *stats, struct hs_restored_journals *journals,
                           char error[512]);

#endif
