/*
 * The maps of checkpoints: each geometry once, in a file of its own (map_file.h) below the data
 * directory, for as long as the newest checkpoint or the one before refers to it. One thread at a
 * time.
 */
#ifndef HS_SERVICE_CHECKPOINT_MAPS_H
#define HS_SERVICE_CHECKPOINT_MAPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "service/state/maps.h"

#define HS_CHECKPOINT_MAPS "maps" /* the directory, in that of the checkpoints */

struct hs_revisions {
    char (*text)[HS_REVISION_MAX];
    size_t count, room;
};

struct hs_kept_maps {
    int directory;
    struct hs_revisions on_disk; /* this process wrote or read them, and they were whole */
    struct hs_revisions newest;  /* the newest checkpoint refers to them */
    struct hs_revisions next;    /* the one being taken does */
    bool no_memory;              /* not all of `next` is there: it must not become the newest */
    bool is_partial;             /* `newest` lacks some */
    uint64_t written, failed;    /* files */
};

/* Makes the directory where it is not there. False, with errno. */
bool hs_kept_maps_open(struct hs_kept_maps *maps, int data);
void hs_kept_maps_close(struct hs_kept_maps *maps);

/* A checkpoint that is there, or is being taken, refers to a revision. */
void hs_kept_maps_refer(struct hs_kept_maps *maps, const char *revision);

/* What refer was called with until now is what the checkpoints that are there refer to. */
void hs_kept_maps_settle(struct hs_kept_maps *maps);

/* The file of a revision was read and is whole. */
void hs_kept_maps_found(struct hs_kept_maps *maps, const char *revision);

/* The checkpoint being taken refers to a map that is held: its file is there when this returns, or
   the log says why not, and it is tried again with the next one. */
void hs_kept_maps_keep(struct hs_kept_maps *maps, struct hs_map_store *store,
                       struct hs_map_entry *entry);

/* The checkpoint was written, and what was the newest is the one before: deletes the files that
   neither refers to. With `fine` false it was not, and nothing changes; so it must be where
   `no_memory` is set. */
void hs_kept_maps_taken(struct hs_kept_maps *maps, bool fine);

#endif
