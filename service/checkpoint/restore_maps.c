#include "service/checkpoint/restore_maps.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/checkpoint/map_file.h"
#include "service/system/array.h"
#include "service/watch/log.h"

struct hs_restored_map {
    struct hs_name name;
    char revision[HS_REVISION_MAX];
    struct hs_map_entry *entry; /* owned reference; NULL: the map could not be restored */
    enum hs_restored_name outcome;
    bool has_name;
};

static void log_refused(const struct hs_restored_map *map, const char *why)
{
    hs_log(HS_LOG_WARN, "a map in the checkpoint cannot be restored: upload it again",
           HS_LOG_TEXT("map", map->name.text), HS_LOG_TEXT("revision", map->revision),
           HS_LOG_TEXT("detail", why));
}

static const char *const reasons[HS_RESTORED_NAME_COUNT] = {
    [HS_RESTORED_NAME_MISSING] = "its file is missing",
    [HS_RESTORED_NAME_DAMAGED] = "its file is damaged",
    [HS_RESTORED_NAME_NO_SPACE] = "the memory for maps is full, or the service is out of memory",
};

/* Builds a map's world in the same way as an upload does. */
static enum hs_restored_name build(const struct hs_restored_maps *maps, struct hs_restored_map *map,
                                   const struct hs_map_document *document)
{
    struct hs_world_mesh mesh = hs_map_mesh(document);
    struct hs_buffer text = {0};
    struct hs_writer writer = {.buffer = &text};
    struct hs_str kept = {0};
    if (maps->keeps_documents) {
        hs_map_encode_document(&writer, &mesh);
        kept = (struct hs_str){text.data, text.len};
    }
    enum hs_map_put result = HS_MAP_NO_MEMORY;
    if (!text.failed)
        result = hs_map_store_restore(maps->store, hs_name_str(&map->name), &mesh, kept, NULL,
                                      &map->entry);
    hs_buffer_free(&text);
    if (result != HS_MAP_CREATED)
        return HS_RESTORED_NAME_NO_SPACE;
    if (strcmp(map->entry->revision, map->revision) == 0)
        return HS_RESTORED_NAME_BACK;
    hs_map_store_release(maps->store, map->entry);
    map->entry = NULL;
    return HS_RESTORED_NAME_DAMAGED; /* the file is complete, but contains a different map */
}

static enum hs_restored_name load(const struct hs_restored_maps *maps, struct hs_restored_map *map)
{
    static const enum hs_restored_name outcomes[] = {
        [HS_MAP_FILE_MISSING] = HS_RESTORED_NAME_MISSING,
        [HS_MAP_FILE_DAMAGED] = HS_RESTORED_NAME_DAMAGED,
        [HS_MAP_FILE_NO_MEMORY] = HS_RESTORED_NAME_NO_SPACE,
    };
    struct hs_map_document document;
    enum hs_map_file result = hs_map_file_read(maps->kept->directory, map->revision, &document);
    if (result != HS_MAP_FILE_READ)
        return outcomes[result];
    enum hs_restored_name outcome = build(maps, map, &document);
    hs_map_document_free(&document);
    if (outcome == HS_RESTORED_NAME_BACK)
        hs_kept_maps_found(maps->kept, map->revision);
    return outcome;
}

/* Returns the map with this name and revision from the list. If the map is not in the list,
   restores the map and adds it. Returns NULL if memory runs out. */
static struct hs_restored_map *look_up(struct hs_restored_maps *maps, struct hs_str name,
                                       struct hs_str revision)
{
    for (size_t i = 0; i < maps->count; i++)
        if (hs_str_equal(hs_name_str(&maps->maps[i].name), name) &&
            hs_str_equal(hs_str_of(maps->maps[i].revision), revision))
            return &maps->maps[i];
    void *grown = hs_array_grow(maps->maps, maps->count, &maps->capacity, sizeof *maps->maps);
    if (grown == NULL)
        return NULL;
    maps->maps = grown;
    struct hs_restored_map *map = &maps->maps[maps->count++];
    *map = (struct hs_restored_map){0};
    hs_name_set(&map->name, name);
    snprintf(map->revision, sizeof map->revision, "%.*s", (int)revision.len, revision.ptr);
    hs_kept_maps_refer(maps->kept, map->revision);
    map->outcome = load(maps, map);
    if (map->entry == NULL)
        log_refused(map, reasons[map->outcome]);
    return map;
}

struct hs_map_entry *hs_restored_maps_get(struct hs_restored_maps *maps, struct hs_str name,
                                          struct hs_str revision)
{
    struct hs_restored_map *map = look_up(maps, name, revision);
    return map != NULL ? map->entry : NULL;
}

void hs_restored_maps_name(struct hs_restored_maps *maps, struct hs_str name, struct hs_str owner,
                           struct hs_str revision)
{
    struct hs_restored_map *map = look_up(maps, name, revision);
    if (map == NULL || map->entry == NULL || map->has_name)
        return;
    enum hs_map_put result = hs_map_store_restore_name(maps->store, owner, map->entry);
    /* The name now refers to this map, or still to the map from a newer checkpoint. */
    map->has_name = true;
    if (result != HS_MAP_FULL)
        return;
    map->outcome = HS_RESTORED_NAME_NO_SPACE;
    log_refused(map, "the limit of maps is reached");
}

void hs_restored_maps_end(struct hs_restored_maps *maps, uint64_t counts[HS_RESTORED_NAME_COUNT])
{
    for (size_t i = 0; i < maps->count; i++) {
        counts[maps->maps[i].outcome]++;
        hs_map_store_release(maps->store, maps->maps[i].entry);
    }
    free(maps->maps);
    *maps = (struct hs_restored_maps){0};
}
