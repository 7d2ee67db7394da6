/*
 * The matches of this process by name, each with its own lock. Requests for different matches never
 * wait for each other; requests for the same match take turns. Thread-safe.
 */
#ifndef HS_SERVICE_REGISTRY_H
#define HS_SERVICE_REGISTRY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

#include "api/matches.h"
#include "service/options/values.h"
#include "service/state/rulesets.h"
#include "service/state/verdict_ids.h"
#include "validators/budget.h"
#include "validators/match.h"
#include "validators/snapshot.h"
#include "validators/str.h"

struct hs_map_entry;
struct hs_map_store;
struct hs_shared_match;

/* Which posts to a match are in the recording (record/recorder.h). */
enum hs_recorded {
    HS_RECORDED_NOT,  /* no post so far */
    HS_RECORDED_OPEN, /* all posts so far */
    HS_RECORDED_LOST, /* not all posts */
    HS_RECORDED_ENDED /* not all posts, and the recording contains a `gap` line */
};

/* A place in the journal. The records of a match before `position` contain the first `payments`
   payments of the match. */
struct hs_written {
    uint64_t position;
    uint32_t payments;
};

struct hs_match_slot {
    struct hs_name name, tenant;      /* tenant: its owner; "" without tenants */
    struct hs_ruleset_entry *ruleset; /* a reference for the life of the match */
    struct hs_map_entry *map;         /* a reference for the life of the match; NULL: no map */
    struct hs_match_limits limits;
    pthread_mutex_t turn; /* locked by the thread that gets `lock` next */
    atomic_uint waiting;  /* threads that wait for `turn` or `lock` */
    pthread_mutex_t lock; /* guards the fields from `match` to `closed` */
    struct hs_match *match;
    uint32_t players, movers, accounts; /* the numbers of this match that the registry's totals
                                           include */
    bool counted_limited;
    enum hs_recorded recorded;
    int64_t used_us;       /* time of the last post, monotonic */
    bool memory_limited;   /* an allocation was refused, and less than 10 % of the limit has been
                              free since */
    unsigned logged_hints; /* bits of enum hs_hint_code; guarded by the lock */
    /* The map that a match restored without its map waits for. Guarded by the lock. */
    struct hs_name awaited_map; /* name of the awaited map; empty if the match does not wait for a
                                   map */
    char awaited_revision[HS_REVISION_MAX];
    uint64_t opening;          /* identifies the match among all matches that ever had this name */
    struct hs_verdict_ids ids; /* creates the ids of the match's verdicts */
    bool is_kept; /* the opening is in the journal or the checkpoint; guarded by the lock */
    struct hs_bytes journal; /* records that are not in a file yet; guarded by the lock */
    bool pays_nothing;       /* the journal cannot be written now; guarded by the lock */
    /* `written` is the place after the newest record in a file. `written_before` is an earlier
       place; the records before that place were not settled at the last check. */
    struct hs_written written, written_before;
    uint32_t settled_payments; /* number of settled payments, counted from the first payment */
    bool closed;               /* deleted while another thread waited for the lock */
    /* The match in the store of --state-redis. NULL if the service has no store, or if the match
       was restored from the checkpoint and the store was not asked yet. Set only once. */
    struct hs_shared_match *_Atomic shared;
    atomic_uint references;
    struct hs_match_slot *next; /* guarded by the registry */
};

/* The parameters of a new match. */
struct hs_match_opening {
    struct hs_ruleset_entry *ruleset; /* the match gets its own reference */
    struct hs_map_entry *map;         /* the match gets its own reference; NULL: no map */
    struct hs_match_limits limits;
    struct hs_str tenant; /* the owner of the match; ptr NULL without tenants */
    /* Number of a recorded or restored opening. 0: the registry assigns a new number. */
    uint64_t number;
    /* A restored match that uses `ruleset`. If the result is CREATED, the registry then owns this
       match. NULL for a new match. */
    struct hs_match *match;
};

struct hs_registry;

/* Returns the configured limits of each match, which use the registry's memory budget. */
struct hs_match_limits hs_registry_match_limits(struct hs_registry *registry,
                                                const struct hs_options *options);

/* Creates a registry. The stores must outlive the registry. Returns NULL if memory runs out. */
struct hs_registry *hs_registry_create(size_t max_matches, struct hs_ruleset_store *rulesets,
                                       struct hs_map_store *maps);

/* From now on, matches append journal records (validators/journal.h) to their slots. The matches
   that are open already were restored, so their openings are already on disk. */
void hs_registry_keep_journals(struct hs_registry *registry);

/* Destroys the registry. No match may be in use. */
void hs_registry_destroy(struct hs_registry *registry);

enum hs_registry_result {
    HS_REGISTRY_FOUND,
    HS_REGISTRY_CREATED,
    HS_REGISTRY_MISSING,
    HS_REGISTRY_FOREIGN, /* another tenant owns the match */
    HS_REGISTRY_FULL,
    HS_REGISTRY_NO_HISTORY, /* the open matches nearly fill the memory for histories */
    HS_REGISTRY_NO_MEMORY
};

/*
 * Locks the match with a name and returns FOUND; call hs_registry_release afterwards. If no match
 * has the name, opens one (CREATED), or returns MISSING if `opening` is NULL. `tenant` is the
 * caller; its ptr is NULL without tenants. Returns FOREIGN at once for another tenant's match. The
 * function does not wait for the lock of such a match, because the wait could reveal something
 * about the match.
 */
enum hs_registry_result hs_registry_acquire(struct hs_registry *registry, struct hs_str tenant,
                                            struct hs_str name,
                                            const struct hs_match_opening *opening,
                                            struct hs_match_slot **slot);
void hs_registry_release(struct hs_registry *registry, struct hs_match_slot *slot);

/* Lock and unlock the match of a slot to which the caller has a reference. Waiting threads take
   turns. */
void hs_registry_lock(struct hs_match_slot *slot);
void hs_registry_unlock(struct hs_match_slot *slot);

/* Returns whether a thread waits for a locked match. */
bool hs_registry_is_awaited(struct hs_match_slot *slot);

/* Unlocks a locked match so that each waiting thread can use it once, and locks it again. Returns
   false if the match was closed in between. The match is locked afterwards in any case. */
bool hs_registry_yield(struct hs_registry *registry, struct hs_match_slot *slot);

/* Removes a locked match from the registry; the caller must still release the slot. */
void hs_registry_remove(struct hs_registry *registry, struct hs_match_slot *slot);

/* Returns whether a match with that name is open, and sets *tenant to its owner. */
bool hs_registry_owner(struct hs_registry *registry, struct hs_str name, struct hs_name *tenant);

/* Returns whether a match with that name is open, is shared with other replicas, and has not moved
   to another replica. Also returns false if the store has not confirmed the match lately
   (hs_shared_match_is_doubtful). */
bool hs_registry_is_shared(struct hs_registry *registry, struct hs_str name);

/*
 * Sets the memory limits of each match and of all matches together, in bytes. Neither limit is ever
 * exceeded (match.h describes the order in which data is dropped). If the matches use more than
 * nine tenths of `all_bytes`, no match is opened, except restored ones. Call it before the first
 * match; the default is no limit.
 */
void hs_registry_limit_bytes(struct hs_registry *registry, size_t match_bytes, size_t all_bytes);

/* Returns HS_REGISTRY_CREATED if another match could be opened now, otherwise FULL or
   NO_HISTORY. */
enum hs_registry_result hs_registry_capacity(struct hs_registry *registry);

/* Records that something was posted to a locked match at `now_us` (hs_clock_us). The match is
   marked memory-limited when an allocation is refused, and unmarked once 10 % of its limit is
   free. */
void hs_registry_record_post(struct hs_match_slot *slot, int64_t now_us);

/* Returns the memory that all matches use, in bytes. */
size_t hs_registry_bytes(const struct hs_registry *registry);

/* Calls `visit` with each match. The slot stays valid but is not locked, and `closed` shows whether
   the match was removed. Returns false, without a call of `visit`, if memory runs out. */
bool hs_registry_visit(struct hs_registry *registry,
                       void (*visit)(void *context, struct hs_match_slot *slot), void *context);

/* Calls `visit` with each match of a tenant (ptr NULL: all tenants), in no particular order. Each
   match is locked during its call. `visit` may remove the match. */
void hs_registry_each(struct hs_registry *registry, struct hs_str tenant,
                      void (*visit)(void *context, struct hs_match_slot *slot), void *context);

/* Sums over all open matches. The sums use the numbers that each match had at its last release. */
struct hs_registry_totals {
    size_t matches, players, movers, accounts;
    size_t memory_limited;     /* number of memory-limited matches */
    size_t bytes, bytes_limit; /* memory of all matches, and its limit */
};

void hs_registry_totals(struct hs_registry *registry, struct hs_registry_totals *out);

/* Gives a map to each match that was restored without its map and waits for this revision. */
void hs_registry_give_map(struct hs_registry *registry, struct hs_map_store *maps,
                          struct hs_map_entry *entry);

/* Returns the members that begin each answer about a match. The members are borrowed from the
   slot. */
struct hs_match_head hs_match_slot_head(const struct hs_match_slot *slot);

/* Computes the id of a verdict about a player, in the player's session at `time_us`. `number` is
   the number of the shot, or another number that is unique in the session. The match must be
   locked. */
void hs_match_slot_verdict_id(const struct hs_match_slot *slot, enum hs_verdict_about about,
                              uint64_t number, struct hs_str player, int64_t time_us,
                              struct hs_verdict_id *out);

#endif
