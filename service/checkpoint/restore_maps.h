/* The maps of a checkpoint, at the start of the service: each file is read once, and only where a
   match or a name refers to it. */
#ifndef HS_SERVICE_CHECKPOINT_RESTORE_MAPS_H
#define HS_SERVICE_CHECKPOINT_RESTORE_MAPS_H

#include "service/checkpoint/maps.h"
#include "service/checkpoint/save.h"
#include "service/state/maps.h"

struct hs_restored_map;

struct hs_restored_maps {
    struct hs_map_store *store;
    struct hs_kept_maps *kept;
    bool keeps_documents; /* a recording wants them */
    struct hs_restored_map *maps;
    size_t count, room;
};

/* The map of that name and revision, "sha256:..."; NULL, which is logged once: it cannot be had. It
   is held until the end. */
struct hs_map_entry *hs_restored_maps_get(struct hs_restored_maps *maps, struct hs_str name,
                                          struct hs_str revision);

/* Gives it the name and the owner it had. */
void hs_restored_maps_name(struct hs_restored_maps *maps, struct hs_str name, struct hs_str owner,
                           struct hs_str revision);

/* Lets go of all maps, and adds to the counts what became of them. */
void hs_restored_maps_end(struct hs_restored_maps *maps, uint64_t counts[HS_RESTORED_NAME_COUNT]);

#endif
