/*
 * The matches of this process: name -> match with its own lock. Two requests for different
 * matches never wait for each other; two for the same match take turns.
 */
#ifndef HS_SERVICE_REGISTRY_H
#define HS_SERVICE_REGISTRY_H

#include <pthread.h>
#include <stddef.h>

#include "validators/match.h"
#include "validators/str.h"

struct hs_ruleset_entry;

struct hs_match_slot {
    struct hs_name name;
    struct hs_name map; /* empty: none */
    const struct hs_ruleset_entry *ruleset; /* pinned for the life of the match */
    pthread_mutex_t lock; /* guards `match` and `closed` */
    struct hs_match *match;
    bool closed;          /* deleted while somebody waited for the lock */
    unsigned references;  /* guarded by the registry */
};

struct hs_registry;

struct hs_registry *hs_registry_create(size_t max_matches);
void hs_registry_destroy(struct hs_registry *registry);

enum hs_registry_result {
    HS_REGISTRY_FOUND,
    HS_REGISTRY_CREATED,
    HS_REGISTRY_MISSING,
    HS_REGISTRY_FULL,
    HS_REGISTRY_NO_MEMORY
};

/*
 * The match of that name, locked; hs_registry_release gives it back. With `ruleset` not NULL a
 * missing match is opened with it. Thread-safe.
 */
enum hs_registry_result hs_registry_acquire(struct hs_registry *registry, struct hs_str name,
                                            struct hs_ruleset_entry *ruleset,
                                            struct hs_str map,
                                            const struct hs_match_limits *limits,
                                            struct hs_match_slot **slot);
void hs_registry_release(struct hs_registry *registry, struct hs_match_slot *slot);

/* Takes a locked match out of the registry; the caller still releases the slot. */
void hs_registry_remove(struct hs_registry *registry, struct hs_match_slot *slot);

/* Calls `visit` with each match, locked, in no order. */
void hs_registry_each(struct hs_registry *registry,
                      void (*visit)(void *context, struct hs_match_slot *slot), void *context);

size_t hs_registry_count(struct hs_registry *registry);

#endif
