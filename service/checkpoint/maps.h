/*
 * The maps of checkpoints. Each geometry has one file (map_file.h) in HS_CHECKPOINT_MAPS. The file
 * stays while the newest or the previous checkpoint refers to it. Only one thread at a time
 * may use this module.
 */
#ifndef HS_SERVICE_CHECKPOINT_MAPS_H
#define HS_SERVICE_CHECKPOINT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/state/maps.h"

#define HS_CHECKPOINT_MAPS "maps" /* subdirectory of the data directory */

struct hs_revisions {
    char (*text)[HS_REVISION_MAX];
    size_t count, capacity;
};

bool hs_revisions_has(const struct hs_revisions *revisions, const char *revision);

/* Adds a revision, unless the list has it already. Returns false if memory runs out. */
bool hs_revisions_add(struct hs_revisions *revisions, const char *revision);

struct hs_kept_maps {
    int directory;
    struct hs_revisions on_disk; /* revisions whose files this process has written, or has read
                                    completely */
    struct hs_revisions newest;  /* revisions of the newest checkpoint */
    struct hs_revisions next;    /* revisions of the checkpoint that is being taken */
    bool no_memory;              /* `next` is incomplete and must not become `newest` */
    bool is_partial;             /* `newest` is incomplete */
    uint64_t written, failed;    /* numbers of files that were written, and that could not be
                                    written */
};

/* Creates the directory if it is missing. Returns false and sets errno on failure. */
bool hs_kept_maps_open(struct hs_kept_maps *maps, int data);
void hs_kept_maps_close(struct hs_kept_maps *maps);

/* Records that an existing checkpoint, or the checkpoint that is being taken, refers to a revision.
 */
void hs_kept_maps_refer(struct hs_kept_maps *maps, const char *revision);

/* Ends the restore: the revisions recorded so far belong to the existing checkpoints. */
void hs_kept_maps_settle(struct hs_kept_maps *maps);

/* Records that the file of a revision is complete. */
void hs_kept_maps_found(struct hs_kept_maps *maps, const char *revision);

/* Records that the checkpoint that is being taken refers to a map. Writes the file of the map if it
   is missing. The caller has a reference to the map. A failure is logged, and the next checkpoint
   tries again. */
void hs_kept_maps_keep(struct hs_kept_maps *maps, struct hs_map_store *store,
                       struct hs_map_entry *entry);

/* Ends a checkpoint. `fine`: whether the checkpoint was written. If it was, deletes the files that
   neither this checkpoint nor the previous one refers to. Otherwise nothing changes. `fine` must be
   false if `no_memory` is set. */
void hs_kept_maps_taken(struct hs_kept_maps *maps, bool fine);

#endif
