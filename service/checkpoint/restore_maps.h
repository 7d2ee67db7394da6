/* Restores the maps in a checkpoint when the service starts. Reads each map file once, and only if
   a match or a name refers to the map. */
#ifndef HS_SERVICE_CHECKPOINT_RESTORE_MAPS_H
#define HS_SERVICE_CHECKPOINT_RESTORE_MAPS_H

#include "service/checkpoint/maps.h"
#include "service/checkpoint/save.h"
#include "service/state/maps.h"

struct hs_restored_map;

struct hs_restored_maps {
    struct hs_map_store *store;
    struct hs_kept_maps *kept;
    bool keeps_documents; /* the recording needs the maps' documents */
    struct hs_restored_map *maps;
    size_t count, capacity;
};

/* Returns the map with this name and revision ("sha256:..."), valid until hs_restored_maps_end.
   Returns NULL and logs the reason if the map cannot be restored. */
struct hs_map_entry *hs_restored_maps_get(struct hs_restored_maps *maps, struct hs_str name,
                                          struct hs_str revision);

/* Restores a map and its name, with the owner of the name. */
void hs_restored_maps_name(struct hs_restored_maps *maps, struct hs_str name, struct hs_str owner,
                           struct hs_str revision);

/* Releases all maps, and adds the number of maps with each outcome to `counts`. */
void hs_restored_maps_end(struct hs_restored_maps *maps, uint64_t counts[HS_RESTORED_NAME_COUNT]);

#endif
