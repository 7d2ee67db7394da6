/*
 * The map files that checkpoints refer to. Each geometry has one file (map_file.h) in the
 * subdirectory HS_CHECKPOINT_MAPS. A file is deleted when neither the newest nor the previous
 * checkpoint refers to it. Only one thread at a time may use this module.
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

/* Adds a revision, unless the list already contains it. Returns false if memory runs out. */
bool hs_revisions_add(struct hs_revisions *revisions, const char *revision);

struct hs_kept_maps {
    int directory;
    struct hs_revisions on_disk; /* revisions whose files are known to be complete */
    struct hs_revisions newest;  /* revisions that the newest checkpoint refers to */
    struct hs_revisions next;    /* revisions that the current checkpoint refers to */
    bool no_memory;              /* `next` is incomplete, because memory ran out */
    bool is_partial;             /* `newest` is incomplete */
    /* how many map files were written, and how many could not be written */
    uint64_t written, failed;
};

/* Opens the directory of map files. Creates the directory if it is missing. On failure returns
   false and sets errno. */
bool hs_kept_maps_open(struct hs_kept_maps *maps, int data);
void hs_kept_maps_close(struct hs_kept_maps *maps);

/* Records that the current checkpoint refers to a revision. The current checkpoint is the
   checkpoint that is being read (during a restore) or written. */
void hs_kept_maps_refer(struct hs_kept_maps *maps, const char *revision);

/* Must be called at the end of a restore. The revisions that were recorded so far become the
   revisions of the newest checkpoint. */
void hs_kept_maps_settle(struct hs_kept_maps *maps);

/* Records that the file with this revision is complete. */
void hs_kept_maps_found(struct hs_kept_maps *maps, const char *revision);

/* Records that the current checkpoint refers to a map, and writes the map's file if the file is
   missing. The caller holds a reference to the map. Failures are logged; the next checkpoint tries
   again. */
void hs_kept_maps_keep(struct hs_kept_maps *maps, struct hs_map_store *store,
                       struct hs_map_entry *entry);

/* Must be called after each checkpoint. `fine`: the checkpoint was written; must be false if
   `no_memory` is set. If `fine` is set and `is_partial` is not set, deletes the files to which
   neither this checkpoint nor the previous checkpoint refers. */
void hs_kept_maps_taken(struct hs_kept_maps *maps, bool fine);

#endif
