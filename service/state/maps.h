/*
 * Maps by name. A put under an existing name creates a new entry. The old entry stays valid until
 * its last reference is released, so the world of a running match never changes. Thread-safe.
 */
#ifndef HS_SERVICE_MAP_STORE_H
#define HS_SERVICE_MAP_STORE_H

#include <stddef.h>

#include "service/state/rulesets.h"
#include "service/state/share.h"
#include "validators/str.h"
#include "validators/world.h"

struct hs_map_entry {
    struct hs_name name;
    struct hs_name owner;           /* the tenant who put the map, or "" if it belongs to
                                       everybody */
    char revision[HS_REVISION_MAX]; /* "sha256:" of the geometry: vertices, triangles, boxes */
    struct hs_world *world;
    struct hs_world_info info; /* the numbers of `world` */
    char *document; /* the original document, `document_size` bytes; NULL if the document is not
                       kept */
    size_t document_size;
    /* The mesh of `world`, owned; all pointers are NULL if the mesh is not kept. Only the thread
       that calls hs_map_store_forget_mesh may read the mesh. */
    struct hs_world_mesh mesh;
    size_t bytes;        /* bytes charged to the owner in the store's share; guarded by the store */
    unsigned references; /* guarded by the store */
};

struct hs_map_store;

/*
 * Creates a store for `max_maps` maps. `max_bytes` bounds the memory of all worlds, kept documents
 * and kept meshes. Replaced and deleted maps count while a match uses them. The texts and builds of
 * maps under construction count too. Returns NULL if memory runs out.
 */
struct hs_map_store *hs_map_store_create(size_t max_maps, size_t max_bytes);

/* From now on, new maps keep their meshes until hs_map_store_forget_mesh. Call it before other
   threads use the store. */
void hs_map_store_keep_meshes(struct hs_map_store *store);

/* Frees the mesh of an entry to which the caller has a reference. Only one thread may call this
   function. */
void hs_map_store_forget_mesh(struct hs_map_store *store, struct hs_map_entry *entry);

/* Returns the share for the bytes of maps. Each map is charged to its owner. */
struct hs_share *hs_map_store_share(struct hs_map_store *store);

/* Returns the bytes that a put reserves for a mesh with these counts and for a kept document of
   `document_size` bytes (0: no document). Only an unusual mesh needs more bytes. */
size_t hs_map_store_put_bytes(const struct hs_map_store *store, const struct hs_world_mesh *counts,
                              size_t document_size);

/* Destroys the store. No references to entries may be left. */
void hs_map_store_destroy(struct hs_map_store *store);

/* Returns the entry of a name, with a reference for the caller, or NULL. */
struct hs_map_entry *hs_map_store_get(struct hs_map_store *store, struct hs_str name);

/* Adds a reference to an entry that the caller already references. */
void hs_map_store_retain(struct hs_map_store *store, struct hs_map_entry *entry);
/* Drops a reference. Does nothing for NULL. */
void hs_map_store_release(struct hs_map_store *store, struct hs_map_entry *entry);

enum hs_map_put {
    HS_MAP_CREATED,
    HS_MAP_REPLACED, /* the name had a map, perhaps with the same geometry */
    HS_MAP_FOREIGN,  /* another owner has the name */
    HS_MAP_FULL,     /* the store already has max_maps maps */
    HS_MAP_TOO_BIG,  /* the build needs more bytes than the owner has left */
    HS_MAP_NO_MEMORY
};

/*
 * Builds the world of a mesh, which takes a while, and then puts it under a name. The mesh must be
 * valid (hs_map_decode checks it) and is not changed. CREATED and REPLACED set *entry to the new
 * entry, with a reference for the caller.
 */
enum hs_map_put hs_map_store_put(struct hs_map_store *store, struct hs_str name,
                                 const struct hs_world_mesh *mesh, struct hs_map_entry **entry);

/* Works like hs_map_store_put, but the map keeps its document (unless ptr is NULL) and belongs to
   an owner (len 0: everybody). The caller has reserved `reserved` bytes for the owner
   (hs_map_store_put_bytes); the store releases them later. If `reserved` is 0, the function
   reserves the bytes itself. */
enum hs_map_put hs_map_store_put_kept(struct hs_map_store *store, struct hs_str owner,
                                      struct hs_str name, const struct hs_world_mesh *mesh,
                                      struct hs_str document, size_t reserved,
                                      struct hs_map_entry **entry);

/* Works like hs_map_store_put_kept without reserved bytes, but gives no name to the map (CREATED,
   TOO_BIG or NO_MEMORY). So an open match can use a map that was replaced or deleted. If the owner
   has too few bytes left, nobody is charged, because the match was already open. */
enum hs_map_put hs_map_store_adopt(struct hs_map_store *store, struct hs_str owner,
                                   struct hs_str name, const struct hs_world_mesh *mesh,
                                   struct hs_str document, struct hs_map_entry **entry);

/*
 * These two functions restore a map. Together, the two do the work of hs_map_store_put_kept.
 * hs_map_store_restore creates an entry without a name, with a reference for the caller, and
 * charges its bytes (CREATED, TOO_BIG or NO_MEMORY). hs_map_store_restore_name gives the entry its
 * name (CREATED, FULL, or FOREIGN if another owner has the name). Between the two calls, no other
 * thread may use the entry. The mesh is not kept. The build is not charged, so all maps from before
 * the restart fit again. `limits` may stop the build (NO_MEMORY), or is NULL.
 */
enum hs_map_put hs_map_store_restore(struct hs_map_store *store, struct hs_str name,
                                     const struct hs_world_mesh *mesh, struct hs_str document,
                                     const struct hs_world_limits *limits,
                                     struct hs_map_entry **entry);
enum hs_map_put hs_map_store_restore_name(struct hs_map_store *store, struct hs_str owner,
                                          struct hs_map_entry *entry);

/* Returns all maps with a name, in no particular order. The caller gets a reference to each map,
   and frees the array. Returns NULL if memory runs out. */
struct hs_map_entry **hs_map_store_all(struct hs_map_store *store, size_t *count);

/* Deletes a map. Returns false if the owner (len 0: everybody) has no map with that name. */
bool hs_map_store_delete(struct hs_map_store *store, struct hs_str owner, struct hs_str name);

struct hs_map_usage {
    size_t maps; /* maps with a name */
    /* memory of all worlds, documents and meshes, including maps under construction */
    size_t bytes;
};

struct hs_map_usage hs_map_store_usage(struct hs_map_store *store);

#endif
