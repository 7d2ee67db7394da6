/*
 * Maps by name. A map is replaced whole; who holds the old one keeps it until he lets go, so the
 * world of a running match never changes. Thread-safe.
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
    struct hs_name owner;           /* the tenant who put it; "": it is everybody's */
    char revision[HS_REVISION_MAX]; /* "sha256:" of the geometry: vertices, triangles, boxes */
    struct hs_world *world;
    struct hs_world_info info; /* of `world` */
    char *document;            /* as it was put, `document_size` bytes; NULL: it is not kept */
    size_t document_size;
    /* What `world` was built from, owned: all NULL where it is not kept, or not any more. Whoever
       calls hs_map_store_forget_mesh is the only one who reads it. */
    struct hs_world_mesh mesh;
    size_t bytes;        /* charged to its owner in the store's share; guarded by the store */
    unsigned references; /* guarded by the store */
};

struct hs_map_store;

/*
 * A store for `max_maps` maps. `max_bytes` bounds the memory of all worlds, kept documents and kept
 * meshes. Replaced and deleted maps count as long as a match holds them. The texts and builds of
 * maps under construction count too. NULL: out of memory.
 */
struct hs_map_store *hs_map_store_create(size_t max_maps, size_t max_bytes);

/* From now on what is put keeps its mesh until hs_map_store_forget_mesh. Before anybody else uses
   the store. */
void hs_map_store_keep_meshes(struct hs_map_store *store);

/* The mesh of an entry that is held is not needed any more; one thread only. */
void hs_map_store_forget_mesh(struct hs_map_store *store, struct hs_map_entry *entry);

/* The share for the bytes of maps; each map is charged to its owner. */
struct hs_share *hs_map_store_share(struct hs_map_store *store);

/* Bytes that a put reserves for a mesh with these counts and a kept document of that size (0:
   none). Only an odd mesh needs more. */
size_t hs_map_store_put_bytes(const struct hs_map_store *store, const struct hs_world_mesh *counts,
                              size_t document_size);

/* Nobody may hold an entry any more. */
void hs_map_store_destroy(struct hs_map_store *store);

/* The entry of a name, or NULL. hs_map_store_release gives it back. */
struct hs_map_entry *hs_map_store_get(struct hs_map_store *store, struct hs_str name);

/* One more holder of an entry that is held already. */
void hs_map_store_retain(struct hs_map_store *store, struct hs_map_entry *entry);
/* NULL is fine. */
void hs_map_store_release(struct hs_map_store *store, struct hs_map_entry *entry);

enum hs_map_put {
    HS_MAP_CREATED,
    HS_MAP_REPLACED, /* also when the same geometry was there already */
    HS_MAP_FOREIGN,  /* the name is another owner's */
    HS_MAP_FULL,     /* the store already has max_maps maps */
    HS_MAP_TOO_BIG,  /* its build takes more bytes than are left for its owner */
    HS_MAP_NO_MEMORY
};

/*
 * Builds the world of a mesh, which takes a while, and then puts it under a name. The mesh is
 * right (hs_map_decode said so) and only read. With CREATED and REPLACED *entry is the new one,
 * held for the caller.
 */
enum hs_map_put hs_map_store_put(struct hs_map_store *store, struct hs_str name,
                                 const struct hs_world_mesh *mesh, struct hs_map_entry **entry);

/* The same, but the map keeps its document (ptr NULL: it does not) and belongs to an owner (len 0:
   to everybody). `taken`: the caller has already reserved this many bytes for the owner, as
   put_bytes says, and passes them on; 0: the put reserves them itself. */
enum hs_map_put hs_map_store_put_kept(struct hs_map_store *store, struct hs_str owner,
                                      struct hs_str name, const struct hs_world_mesh *mesh,
                                      struct hs_str document, size_t taken,
                                      struct hs_map_entry **entry);

/*
 * The same in two steps, for a map that is read back. The first makes an entry without a name, held
 * for the caller, and charges its bytes (CREATED, TOO_BIG or NO_MEMORY). The second names it
 * (CREATED, FULL, or FOREIGN if another owner has the name). Nobody else may use the entry between
 * the two. `document` as above; the mesh is not kept. The build itself is not charged, so all maps
 * that fitted before the restart fit again.
 */
enum hs_map_put hs_map_store_restore(struct hs_map_store *store, struct hs_str name,
                                     const struct hs_world_mesh *mesh, struct hs_str document,
                                     struct hs_map_entry **entry);
enum hs_map_put hs_map_store_restore_name(struct hs_map_store *store, struct hs_str owner,
                                          struct hs_map_entry *entry);

/* All maps that have a name, held for the caller, who frees the array; in no order. NULL: out of
   memory. */
struct hs_map_entry **hs_map_store_all(struct hs_map_store *store, size_t *count);

/* Takes a map away; false: the owner (len 0: everybody) has none of that name. */
bool hs_map_store_delete(struct hs_map_store *store, struct hs_str owner, struct hs_str name);

struct hs_map_usage {
    size_t maps;  /* that have a name */
    size_t bytes; /* of all worlds, documents and meshes in memory, and under construction */
};

struct hs_map_usage hs_map_store_usage(struct hs_map_store *store);

#endif
