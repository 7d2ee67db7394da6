#include "service/state/map_store.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/endpoints/pages.h"
#include "service/state/sha256.h"

struct hs_map_store {
    pthread_mutex_t lock;
    size_t max_maps, max_bytes;
    bool keeps_meshes;
    struct hs_map_usage usage;
    struct hs_map_entry **entries; /* max_maps of them, usage.maps used, in no order */
};

struct hs_map_store *hs_map_store_create(size_t max_maps, size_t max_bytes)
{
    struct hs_map_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->entries = calloc(max_maps + 1, sizeof(struct hs_map_entry *));
    if (store->entries == NULL) {
        free(store);
        return NULL;
    }
    store->max_maps = max_maps;
    store->max_bytes = max_bytes;
    pthread_mutex_init(&store->lock, NULL);
    return store;
}

void hs_map_store_keep_meshes(struct hs_map_store *store)
{
    store->keeps_meshes = true;
}

/* ---- meshes ---- */

/* Of arrays that are its own, though others may only read them. */
static void free_mesh(const struct hs_world_mesh *mesh)
{
    free((void *)(uintptr_t)mesh->vertices);
    free((void *)(uintptr_t)mesh->triangles);
    free((void *)(uintptr_t)mesh->boxes);
}

static void *copy_of(const void *from, size_t count, size_t size)
{
    void *to = malloc(count * size + 1);
    if (to != NULL && count > 0)
        memcpy(to, from, count * size);
    return to;
}

static bool copy_mesh(const struct hs_world_mesh *from, struct hs_world_mesh *to)
{
    struct hs_world_mesh copy = *from;
    copy.vertices = copy_of(from->vertices, from->vertex_count, sizeof *from->vertices);
    copy.triangles = copy_of(from->triangles, from->triangle_count, sizeof *from->triangles);
    copy.boxes = copy_of(from->boxes, from->box_count, sizeof *from->boxes);
    if (copy.vertices == NULL || copy.triangles == NULL || copy.boxes == NULL) {
        free_mesh(&copy);
        return false;
    }
    *to = copy;
    return true;
}

static size_t mesh_bytes(const struct hs_world_mesh *mesh)
{
    return mesh->vertex_count * sizeof *mesh->vertices +
           mesh->triangle_count * sizeof *mesh->triangles + mesh->box_count * sizeof *mesh->boxes;
}

/* ---- entries ---- */

static void destroy_entry(struct hs_map_entry *entry)
{
    hs_world_destroy(entry->world);
    free_mesh(&entry->mesh);
    free(entry->document);
    free(entry);
}

/* What the geometry is, apart from how its document is written. */
static void name_revision(const struct hs_world_mesh *mesh, char revision[HS_REVISION_MAX])
{
    char digest[HS_SHA256_HEX];
    const uint64_t counts[3] = {mesh->vertex_count, mesh->triangle_count, mesh->box_count};
    const struct hs_sha256_part parts[] = {
        {counts, sizeof counts},
        {mesh->vertices, mesh->vertex_count * sizeof *mesh->vertices},
        {mesh->triangles, mesh->triangle_count * sizeof *mesh->triangles},
        {mesh->boxes, mesh->box_count * sizeof *mesh->boxes},
    };
    hs_sha256_hex_parts(parts, sizeof parts / sizeof parts[0], digest);
    snprintf(revision, HS_REVISION_MAX, "sha256:%s", digest);
}

static size_t bytes_of(const struct hs_map_entry *entry)
{
    return entry->info.bytes + entry->document_size + mesh_bytes(&entry->mesh);
}

/* What an entry keeps beside its world. False: out of memory. */
static bool keep(struct hs_map_entry *entry, const struct hs_world_mesh *mesh, bool keeps_mesh,
                 struct hs_str document)
{
    if (keeps_mesh && !copy_mesh(mesh, &entry->mesh))
        return false;
    if (document.ptr == NULL)
        return true;
    entry->document = copy_of(document.ptr, document.len, 1);
    entry->document_size = document.len;
    return entry->document != NULL;
}

/* `document`: to be kept, or ptr NULL. NULL: out of memory. */
static struct hs_map_entry *create_entry(struct hs_str name, const struct hs_world_mesh *mesh,
                                         bool keeps_mesh, struct hs_str document)
{
    struct hs_map_entry *entry = calloc(1, sizeof *entry);
    if (entry == NULL)
        return NULL;
    if (keep(entry, mesh, keeps_mesh, document))
        entry->world = hs_world_create(mesh, hs_pages_alloc, NULL);
    if (entry->world == NULL) {
        destroy_entry(entry);
        return NULL;
    }
    hs_name_set(&entry->name, name);
    name_revision(mesh, entry->revision);
    hs_world_info(entry->world, &entry->info);
    return entry;
}

/* The rest with the lock held. Whoever drops the last reference destroys, after unlocking: a large
   world takes a while to free. */
static struct hs_map_entry *drop_reference(struct hs_map_store *store, struct hs_map_entry *entry)
{
    if (--entry->references > 0)
        return NULL;
    store->usage.bytes -= bytes_of(entry);
    return entry;
}

static size_t find_place(const struct hs_map_store *store, struct hs_str name)
{
    size_t i = 0;
    while (i < store->usage.maps && !hs_str_equal(hs_name_str(&store->entries[i]->name), name))
        i++;
    return i;
}

static bool is_owner(const struct hs_map_entry *entry, struct hs_str owner)
{
    return hs_str_equal(hs_name_str(&entry->owner), owner);
}

/* ---- the store ---- */

void hs_map_store_destroy(struct hs_map_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->usage.maps; i++)
        destroy_entry(store->entries[i]);
    pthread_mutex_destroy(&store->lock);
    free(store->entries);
    free(store);
}

struct hs_map_entry *hs_map_store_get(struct hs_map_store *store, struct hs_str name)
{
    struct hs_map_entry *entry = NULL;
    pthread_mutex_lock(&store->lock);
    size_t place = find_place(store, name);
    if (place < store->usage.maps) {
        entry = store->entries[place];
        entry->references++;
    }
    pthread_mutex_unlock(&store->lock);
    return entry;
}

void hs_map_store_retain(struct hs_map_store *store, struct hs_map_entry *entry)
{
    pthread_mutex_lock(&store->lock);
    entry->references++;
    pthread_mutex_unlock(&store->lock);
}

void hs_map_store_release(struct hs_map_store *store, struct hs_map_entry *entry)
{
    if (entry == NULL)
        return;
    pthread_mutex_lock(&store->lock);
    struct hs_map_entry *last = drop_reference(store, entry);
    pthread_mutex_unlock(&store->lock);
    if (last != NULL)
        destroy_entry(last);
}

/* With the lock held. *gone: to be destroyed afterwards. */
static enum hs_map_put put_entry(struct hs_map_store *store, struct hs_map_entry *entry,
                                 struct hs_map_entry **gone)
{
    size_t place = find_place(store, hs_name_str(&entry->name));
    bool there = place < store->usage.maps;
    *gone = entry;
    if (there && !is_owner(store->entries[place], hs_name_str(&entry->owner)))
        return HS_MAP_FOREIGN;
    if (!there && store->usage.maps == store->max_maps)
        return HS_MAP_FULL;
    /* A map nobody else holds makes room for its successor. */
    struct hs_map_entry *old = there ? store->entries[place] : NULL;
    size_t freed = old != NULL && old->references == 1 ? bytes_of(old) : 0;
    if (store->usage.bytes - freed + bytes_of(entry) > store->max_bytes)
        return HS_MAP_TOO_BIG;
    *gone = old != NULL ? drop_reference(store, old) : NULL;
    store->usage.bytes += bytes_of(entry);
    store->usage.maps += !there;
    store->entries[place] = entry;
    entry->references = 2; /* the name's, and the caller's */
    return there ? HS_MAP_REPLACED : HS_MAP_CREATED;
}

enum hs_map_put hs_map_store_put(struct hs_map_store *store, struct hs_str name,
                                 const struct hs_world_mesh *mesh, struct hs_map_entry **entry)
{
    return hs_map_store_put_kept(store, (struct hs_str){0}, name, mesh, (struct hs_str){0}, entry);
}

enum hs_map_put hs_map_store_put_kept(struct hs_map_store *store, struct hs_str owner,
                                      struct hs_str name, const struct hs_world_mesh *mesh,
                                      struct hs_str document, struct hs_map_entry **entry)
{
    struct hs_map_entry *made = create_entry(name, mesh, store->keeps_meshes, document);
    struct hs_map_entry *gone;
    if (made == NULL)
        return HS_MAP_NO_MEMORY;
    hs_name_set(&made->owner, owner);
    pthread_mutex_lock(&store->lock);
    enum hs_map_put result = put_entry(store, made, &gone);
    pthread_mutex_unlock(&store->lock);
    if (result == HS_MAP_CREATED || result == HS_MAP_REPLACED)
        *entry = made;
    if (gone != NULL)
        destroy_entry(gone);
    return result;
}

enum hs_map_put hs_map_store_restore(struct hs_map_store *store, struct hs_str name,
                                     const struct hs_world_mesh *mesh, struct hs_str document,
                                     struct hs_map_entry **entry)
{
    struct hs_map_entry *made = create_entry(name, mesh, false, document);
    if (made == NULL)
        return HS_MAP_NO_MEMORY;
    pthread_mutex_lock(&store->lock);
    bool fits = bytes_of(made) <= store->max_bytes &&
                store->usage.bytes <= store->max_bytes - bytes_of(made);
    if (fits)
        store->usage.bytes += bytes_of(made);
    pthread_mutex_unlock(&store->lock);
    if (!fits) {
        destroy_entry(made);
        return HS_MAP_TOO_BIG;
    }
    made->references = 1;
    *entry = made;
    return HS_MAP_CREATED;
}

enum hs_map_put hs_map_store_restore_name(struct hs_map_store *store, struct hs_str owner,
                                          struct hs_map_entry *entry)
{
    enum hs_map_put result = HS_MAP_CREATED;
    pthread_mutex_lock(&store->lock);
    if (find_place(store, hs_name_str(&entry->name)) < store->usage.maps) {
        result = HS_MAP_FOREIGN;
    } else if (store->usage.maps == store->max_maps) {
        result = HS_MAP_FULL;
    } else {
        hs_name_set(&entry->owner, owner);
        entry->references++;
        store->entries[store->usage.maps++] = entry;
    }
    pthread_mutex_unlock(&store->lock);
    return result;
}

void hs_map_store_forget_mesh(struct hs_map_store *store, struct hs_map_entry *entry)
{
    pthread_mutex_lock(&store->lock);
    struct hs_world_mesh mesh = entry->mesh;
    store->usage.bytes -= mesh_bytes(&mesh);
    entry->mesh = (struct hs_world_mesh){0};
    pthread_mutex_unlock(&store->lock);
    free_mesh(&mesh);
}

struct hs_map_entry **hs_map_store_all(struct hs_map_store *store, size_t *count)
{
    pthread_mutex_lock(&store->lock);
    *count = store->usage.maps;
    struct hs_map_entry **all = copy_of(store->entries, *count, sizeof(struct hs_map_entry *));
    for (size_t i = 0; all != NULL && i < *count; i++)
        all[i]->references++;
    pthread_mutex_unlock(&store->lock);
    return all;
}

bool hs_map_store_delete(struct hs_map_store *store, struct hs_str owner, struct hs_str name)
{
    struct hs_map_entry *gone = NULL;
    pthread_mutex_lock(&store->lock);
    size_t place = find_place(store, name);
    bool there = place < store->usage.maps && is_owner(store->entries[place], owner);
    if (there) {
        gone = drop_reference(store, store->entries[place]);
        store->entries[place] = store->entries[--store->usage.maps];
    }
    pthread_mutex_unlock(&store->lock);
    if (gone != NULL)
        destroy_entry(gone);
    return there;
}

struct hs_map_usage hs_map_store_usage(struct hs_map_store *store)
{
    pthread_mutex_lock(&store->lock);
    struct hs_map_usage usage = store->usage;
    pthread_mutex_unlock(&store->lock);
    return usage;
}

size_t hs_map_store_bytes_limit(const struct hs_map_store *store)
{
    return store->max_bytes;
}
