#include "service/state/maps.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/maps.h"
#include "service/system/pages.h"
#include "service/system/sha256.h"

struct hs_map_store {
    pthread_mutex_t lock;
    size_t max_maps;
    bool keeps_meshes;
    struct hs_share *share;
    size_t count;
    /* array of max_maps elements; the first `count` are in use, in no particular order */
    struct hs_map_entry **entries;
};

struct hs_map_store *hs_map_store_create(size_t max_maps, size_t max_bytes)
{
    struct hs_map_store *store = calloc(1, sizeof *store);
    if (store == NULL)
        return NULL;
    store->entries = calloc(max_maps + 1, sizeof(struct hs_map_entry *));
    store->share = hs_share_create(max_bytes);
    store->max_maps = max_maps;
    pthread_mutex_init(&store->lock, NULL);
    if (store->entries != NULL && store->share != NULL)
        return store;
    hs_map_store_destroy(store);
    return NULL;
}

void hs_map_store_keep_meshes(struct hs_map_store *store)
{
    store->keeps_meshes = true;
}

/* ---- meshes ---- */

/* Frees the arrays of a mesh. This module owns the arrays, although their type is const. */
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

/* ---- entries ---- */

/* Frees an entry and everything that it owns. Does nothing for NULL. */
static void destroy_entry(struct hs_map_entry *entry)
{
    if (entry == NULL)
        return;
    hs_world_destroy(entry->world);
    free_mesh(&entry->mesh);
    free(entry->document);
    free(entry);
}

/* The revision is a hash of the geometry, and does not depend on how the document is written. */
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

size_t hs_map_store_put_bytes(const struct hs_map_store *store, const struct hs_world_mesh *counts,
                              size_t document_size)
{
    return hs_world_build_bytes(counts, false) + document_size +
           (store->keeps_meshes ? hs_map_mesh_bytes(counts) : 0);
}

/* Copies the document and, if `keeps_mesh` is set, the mesh into an entry. Returns false if memory
   runs out. */
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

/* Builds the world of a mesh within the *reserved bytes. If the mesh needs more bytes, reserves
   these bytes, too, and adds their number to *reserved. Few meshes need more bytes. On failure
   returns NULL and sets *result. */
static struct hs_world *build(struct hs_map_store *store, struct hs_str owner,
                              const struct hs_world_mesh *mesh, size_t *reserved,
                              enum hs_map_put *result)
{
    enum hs_world_fault fault;
    size_t usual = hs_world_build_bytes(mesh, false);
    const struct hs_world_limits limits = {.max_bytes = usual};
    struct hs_world *world = hs_world_create_within(mesh, hs_pages_alloc, &limits, &fault);
    *result = HS_MAP_NO_MEMORY;
    if (world != NULL || fault != HS_WORLD_TOO_LARGE)
        return world;
    size_t more = hs_world_build_bytes(mesh, true) - usual;
    *result = HS_MAP_TOO_BIG;
    if (!hs_share_reserve(store->share, owner, more))
        return NULL;
    *reserved += more;
    *result = HS_MAP_NO_MEMORY;
    return hs_world_create(mesh, hs_pages_alloc, NULL);
}

/* Sets the name, the owner, the revision and the size of an entry whose world is built. */
static void finish(struct hs_map_entry *entry, struct hs_str owner, struct hs_str name,
                   const struct hs_world_mesh *mesh)
{
    hs_name_set(&entry->name, name);
    hs_name_set(&entry->owner, owner);
    name_revision(mesh, entry->revision);
    hs_world_info(entry->world, &entry->info);
    entry->bytes = entry->info.bytes + entry->document_size + hs_map_mesh_bytes(&entry->mesh);
}

/* Creates an entry. The caller has reserved `reserved` bytes for the owner. Releases the bytes that
   the entry does not need. On failure returns NULL, sets *result, and releases all reserved
   bytes. */
static struct hs_map_entry *create_entry(struct hs_map_store *store, struct hs_str owner,
                                         struct hs_str name, const struct hs_world_mesh *mesh,
                                         struct hs_str document, size_t reserved,
                                         enum hs_map_put *result)
{
    struct hs_map_entry *entry = calloc(1, sizeof *entry);
    *result = HS_MAP_NO_MEMORY;
    if (entry != NULL && keep(entry, mesh, store->keeps_meshes, document))
        entry->world = build(store, owner, mesh, &reserved, result);
    if (entry == NULL || entry->world == NULL) {
        hs_share_release(store->share, owner, reserved);
        destroy_entry(entry);
        return NULL;
    }
    finish(entry, owner, name, mesh);
    hs_share_release(store->share, owner, reserved - entry->bytes);
    return entry;
}

/* Frees an entry that has no references, and then returns its bytes to the owner's
   share. Does nothing for NULL. */
static void discard(struct hs_map_store *store, struct hs_map_entry *entry)
{
    if (entry == NULL)
        return;
    struct hs_name owner = entry->owner;
    size_t bytes = entry->bytes;
    destroy_entry(entry);
    hs_share_release(store->share, hs_name_str(&owner), bytes);
}

/* Drops a reference. Returns the entry if this was the last reference, otherwise NULL. The caller
   holds the lock, and must discard the returned entry after unlocking, because freeing a large
   world takes a while. */
static struct hs_map_entry *drop_reference(struct hs_map_entry *entry)
{
    return --entry->references > 0 ? NULL : entry;
}

static size_t find_place(const struct hs_map_store *store, struct hs_str name)
{
    size_t i = 0;
    while (i < store->count && !hs_str_equal(hs_name_str(&store->entries[i]->name), name))
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
    for (size_t i = 0; store->entries != NULL && i < store->count; i++)
        destroy_entry(store->entries[i]);
    pthread_mutex_destroy(&store->lock);
    hs_share_destroy(store->share);
    free(store->entries);
    free(store);
}

struct hs_map_entry *hs_map_store_get(struct hs_map_store *store, struct hs_str name)
{
    struct hs_map_entry *entry = NULL;
    pthread_mutex_lock(&store->lock);
    size_t place = find_place(store, name);
    if (place < store->count) {
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
    struct hs_map_entry *last = drop_reference(entry);
    pthread_mutex_unlock(&store->lock);
    discard(store, last);
}

/* Stores an entry under its name. The caller holds the lock, and must discard *gone after
   unlocking. */
static enum hs_map_put put_entry(struct hs_map_store *store, struct hs_map_entry *entry,
                                 struct hs_map_entry **gone)
{
    size_t place = find_place(store, hs_name_str(&entry->name));
    bool there = place < store->count;
    *gone = entry;
    if (there && !is_owner(store->entries[place], hs_name_str(&entry->owner)))
        return HS_MAP_FOREIGN;
    if (!there && store->count == store->max_maps)
        return HS_MAP_FULL;
    *gone = there ? drop_reference(store->entries[place]) : NULL;
    store->count += !there;
    store->entries[place] = entry;
    entry->references = 2; /* one for the name, one for the caller */
    return there ? HS_MAP_REPLACED : HS_MAP_CREATED;
}

enum hs_map_put hs_map_store_put(struct hs_map_store *store, struct hs_str name,
                                 const struct hs_world_mesh *mesh, struct hs_map_entry **entry)
{
    return hs_map_store_put_kept(store, (struct hs_str){0}, name, mesh, (struct hs_str){0}, 0,
                                 entry);
}

/* Creates an entry without references. `reserved` is the number of bytes that the caller has
   reserved for the owner. If `reserved` is 0, this function reserves the bytes that the entry
   needs. On failure returns NULL and sets *result. */
static struct hs_map_entry *create_kept(struct hs_map_store *store, struct hs_str owner,
                                        struct hs_str name, const struct hs_world_mesh *mesh,
                                        struct hs_str document, size_t reserved,
                                        enum hs_map_put *result)
{
    *result = HS_MAP_TOO_BIG;
    if (reserved == 0) {
        reserved = hs_map_store_put_bytes(store, mesh, document.len);
        if (!hs_share_reserve(store->share, owner, reserved))
            return NULL;
    }
    return create_entry(store, owner, name, mesh, document, reserved, result);
}

enum hs_map_put hs_map_store_put_kept(struct hs_map_store *store, struct hs_str owner,
                                      struct hs_str name, const struct hs_world_mesh *mesh,
                                      struct hs_str document, size_t reserved,
                                      struct hs_map_entry **entry)
{
    enum hs_map_put result;
    struct hs_map_entry *gone;
    struct hs_map_entry *made = create_kept(store, owner, name, mesh, document, reserved, &result);
    if (made == NULL)
        return result;
    pthread_mutex_lock(&store->lock);
    result = put_entry(store, made, &gone);
    pthread_mutex_unlock(&store->lock);
    if (result == HS_MAP_CREATED || result == HS_MAP_REPLACED)
        *entry = made;
    discard(store, gone);
    return result;
}

enum hs_map_put hs_map_store_adopt(struct hs_map_store *store, struct hs_str owner,
                                   struct hs_str name, const struct hs_world_mesh *mesh,
                                   struct hs_str document, struct hs_map_entry **entry)
{
    enum hs_map_put result;
    *entry = create_kept(store, owner, name, mesh, document, 0, &result);
    if (*entry == NULL && result == HS_MAP_TOO_BIG && owner.len > 0)
        *entry = create_kept(store, (struct hs_str){0}, name, mesh, document, 0, &result);
    if (*entry == NULL)
        return result;
    (*entry)->references = 1;
    return HS_MAP_CREATED;
}

enum hs_map_put hs_map_store_restore(struct hs_map_store *store, struct hs_str name,
                                     const struct hs_world_mesh *mesh, struct hs_str document,
                                     const struct hs_world_limits *limits,
                                     struct hs_map_entry **entry)
{
    static const struct hs_world_limits none = {.max_bytes = SIZE_MAX};
    struct hs_map_entry *made = calloc(1, sizeof *made);
    if (made != NULL && keep(made, mesh, false, document))
        made->world =
            hs_world_create_within(mesh, hs_pages_alloc, limits != NULL ? limits : &none, NULL);
    if (made == NULL || made->world == NULL) {
        destroy_entry(made);
        return HS_MAP_NO_MEMORY;
    }
    finish(made, (struct hs_str){0}, name, mesh);
    if (!hs_share_reserve(store->share, (struct hs_str){0}, made->bytes)) {
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
    if (find_place(store, hs_name_str(&entry->name)) < store->count) {
        result = HS_MAP_FOREIGN;
    } else if (store->count == store->max_maps ||
               !hs_share_assign(store->share, owner, entry->bytes)) {
        result = HS_MAP_FULL;
    } else {
        hs_name_set(&entry->owner, owner);
        entry->references++;
        store->entries[store->count++] = entry;
    }
    pthread_mutex_unlock(&store->lock);
    return result;
}

void hs_map_store_forget_mesh(struct hs_map_store *store, struct hs_map_entry *entry)
{
    pthread_mutex_lock(&store->lock);
    struct hs_world_mesh mesh = entry->mesh;
    entry->bytes -= hs_map_mesh_bytes(&mesh);
    entry->mesh = (struct hs_world_mesh){0};
    pthread_mutex_unlock(&store->lock);
    free_mesh(&mesh);
    hs_share_release(store->share, hs_name_str(&entry->owner), hs_map_mesh_bytes(&mesh));
}

struct hs_map_entry **hs_map_store_all(struct hs_map_store *store, size_t *count)
{
    pthread_mutex_lock(&store->lock);
    *count = store->count;
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
    bool there = place < store->count && is_owner(store->entries[place], owner);
    if (there) {
        gone = drop_reference(store->entries[place]);
        store->entries[place] = store->entries[--store->count];
    }
    pthread_mutex_unlock(&store->lock);
    discard(store, gone);
    return there;
}

struct hs_map_usage hs_map_store_usage(struct hs_map_store *store)
{
    pthread_mutex_lock(&store->lock);
    struct hs_map_usage usage = {.maps = store->count};
    pthread_mutex_unlock(&store->lock);
    usage.bytes = hs_share_used(store->share);
    return usage;
}

struct hs_share *hs_map_store_share(struct hs_map_store *store)
{
    return store->share;
}
