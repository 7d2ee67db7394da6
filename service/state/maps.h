/*
 * Maps by name. Uploading a map under an existing name creates a new entry. The old entry stays
 * valid until its last reference is released, so the world of a running match never changes.
 * Thread-safe.
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
    struct hs_name owner; /* the tenant who uploaded the map; "" if it belongs to everybody */
    char revision[HS_REVISION_MAX]; /* "sha256:" and the hash of the geometry */
    struct hs_world *world;
    struct hs_world_info info; /* sizes of `world` */
    char *document; /* the original document, `document_size` bytes, or NULL if the document is not
                       kept */
    size_t document_size;
    /* The mesh of `world`; all pointers are NULL if the mesh is not kept. Only the thread that
       calls hs_map_store_forget_mesh may read the mesh. */
    struct hs_world_mesh mesh;
    size_t bytes;        /* bytes charged to the owner; guarded by the store */
    unsigned references; /* guarded by the store */
};

struct hs_map_store;

/*
 * Creates a store for `max_maps` maps. `max_bytes` limits the memory for all worlds, kept documents
 * and kept meshes. The limit also includes uploads and builds in progress, and replaced or deleted
 * maps that a match still uses. Returns NULL if memory runs out.
 */
struct hs_map_store *hs_map_store_create(size_t max_maps, size_t max_bytes);

/* From now on, new maps keep their meshes until hs_map_store_forget_mesh. Call this function before
   other threads use the store. */
void hs_map_store_keep_meshes(struct hs_map_store *store);

/* Frees the mesh of an entry. The caller holds a reference to the entry. Only one thread in the
   process may call this function. */
void hs_map_store_forget_mesh(struct hs_map_store *store, struct hs_map_entry *entry);

/* Returns the share (share.h) that limits the bytes for maps. Each map is charged to its owner. */
struct hs_share *hs_map_store_share(struct hs_map_store *store);

/* Returns how many bytes to reserve for a map: the memory to build its world, and to keep a
   document of `document_size` bytes (0: no document). `counts` contains the world's numbers of
   vertices, triangles and boxes. Nearly all maps fit into the returned number of bytes. */
size_t hs_map_store_put_bytes(const struct hs_map_store *store, const struct hs_world_mesh *counts,
                              size_t document_size);

/* Destroys the store. All references must already be released. Does nothing for NULL. */
void hs_map_store_destroy(struct hs_map_store *store);

/* Returns the entry with this name and a reference to it, or NULL. */
struct hs_map_entry *hs_map_store_get(struct hs_map_store *store, struct hs_str name);

/* Adds a reference; the caller must already have one. */
void hs_map_store_retain(struct hs_map_store *store, struct hs_map_entry *entry);
/* Drops a reference. Does nothing for NULL. */
void hs_map_store_release(struct hs_map_store *store, struct hs_map_entry *entry);

enum hs_map_put {
    HS_MAP_CREATED,
    HS_MAP_REPLACED, /* the name was already in use, perhaps with the same geometry */
    HS_MAP_FOREIGN,  /* the name belongs to another owner */
    HS_MAP_FULL,     /* there are already max_maps maps */
    HS_MAP_TOO_BIG,  /* the map needs more bytes than the owner has left */
    HS_MAP_NO_MEMORY
};

/*
 * Builds the world of a mesh, which takes a while. Stores the world as a map under a name. The mesh
 * must be valid (hs_map_decode checks this). If the result is HS_MAP_CREATED or HS_MAP_REPLACED,
 * *entry is the new entry, with a reference for the caller.
 */
enum hs_map_put hs_map_store_put(struct hs_map_store *store, struct hs_str name,
                                 const struct hs_world_mesh *mesh, struct hs_map_entry **entry);

/* Like hs_map_store_put, but gives the map an owner (len 0: everybody), and keeps the document (ptr
   NULL: none). The caller has reserved `reserved` bytes for the owner (hs_map_store_put_bytes); the
   store releases these bytes. If `reserved` is 0, this function reserves the bytes itself. */
enum hs_map_put hs_map_store_put_kept(struct hs_map_store *store, struct hs_str owner,
                                      struct hs_str name, const struct hs_world_mesh *mesh,
                                      struct hs_str document, size_t reserved,
                                      struct hs_map_entry **entry);

/* Like hs_map_store_put_kept without reserved bytes, but the map gets no name. Callers use this
   function for an open match whose map was replaced or deleted. If the owner has too few bytes
   left, the function charges nobody instead of failing, because the match was already open. Returns
   HS_MAP_CREATED, HS_MAP_TOO_BIG or HS_MAP_NO_MEMORY. */
enum hs_map_put hs_map_store_adopt(struct hs_map_store *store, struct hs_str owner,
                                   struct hs_str name, const struct hs_world_mesh *mesh,
                                   struct hs_str document, struct hs_map_entry **entry);

/*
 * These two functions restore a map after a restart. hs_map_store_restore creates an entry without
 * a name, returns it with a reference, and charges its bytes to nobody. hs_map_store_restore
 * returns HS_MAP_CREATED, HS_MAP_TOO_BIG or HS_MAP_NO_MEMORY. The mesh is not kept, and the memory
 * of the build is not charged, so that all maps that fitted before the restart fit again. `limits`
 * may be NULL. If `limits` stops the build, the function returns HS_MAP_NO_MEMORY.
 *
 * hs_map_store_restore_name then gives the entry its name and charges its owner.
 * hs_map_store_restore_name returns HS_MAP_CREATED, HS_MAP_FULL, or HS_MAP_FOREIGN if the name is
 * already in use. Between the two calls, no other thread may use the entry.
 */
enum hs_map_put hs_map_store_restore(struct hs_map_store *store, struct hs_str name,
                                     const struct hs_world_mesh *mesh, struct hs_str document,
                                     const struct hs_world_limits *limits,
                                     struct hs_map_entry **entry);
enum hs_map_put hs_map_store_restore_name(struct hs_map_store *store, struct hs_str owner,
                                          struct hs_map_entry *entry);

/* Returns all named maps, in no particular order, with a reference to each. The caller frees the
   array. Returns NULL if memory runs out. */
struct hs_map_entry **hs_map_store_all(struct hs_map_store *store, size_t *count);

/* Deletes a map's name. Returns false if the owner (len 0: everybody) has no map with this name. */
bool hs_map_store_delete(struct hs_map_store *store, struct hs_str owner, struct hs_str name);

struct hs_map_usage {
    size_t maps; /* number of named maps */
    /* memory for worlds, documents and meshes, including maps under construction */
    size_t bytes;
};

struct hs_map_usage hs_map_store_usage(struct hs_map_store *store);

#endif
