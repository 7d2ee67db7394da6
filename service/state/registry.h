/*
 * The open matches by name, each with its own lock. Requests for different matches never wait for
 * each other; requests for the same match take turns. Thread-safe.
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

/* Which posts to a match the recording contains (record/recorder.h). */
enum hs_recorded {
    HS_RECORDED_NOT,  /* no posts so far */
    HS_RECORDED_OPEN, /* all posts so far */
    HS_RECORDED_LOST, /* not all posts */
    HS_RECORDED_ENDED /* not all posts; a `gap` line states this */
};

/* A position in the journal. The records before this position contain the match's first `payments`
   payments. */
struct hs_written {
    uint64_t position;
    uint32_t payments;
};

struct hs_match_slot {
    struct hs_name name, tenant;      /* `tenant`: the owner; "" without tokens */
    struct hs_ruleset_entry *ruleset; /* a reference */
    struct hs_map_entry *map;         /* a reference; NULL: no map */
    struct hs_match_limits limits;
    pthread_mutex_t turn; /* held by the thread that gets `lock` next */
    atomic_uint waiting;  /* number of threads that wait for `turn` or `lock` */
    pthread_mutex_t lock; /* guards the members from `match` to `closed` */
    struct hs_match *match;
    uint32_t players, movers, accounts; /* this match's part of the registry's totals */
    bool counted_limited;
    enum hs_recorded recorded;
    int64_t used_us; /* time of the last post (monotonic) */
    /* set when an allocation is refused; cleared once 10 % of the limit is free */
    bool memory_limited;
    unsigned logged_hints; /* one bit for each hint in the log (enum hs_hint_code) */
    /* The map that the match waits for; "": none. A match that was restored without its map waits
       until the map is uploaded again. */
    struct hs_name awaited_map;
    char awaited_revision[HS_REVISION_MAX];
    uint64_t opening;          /* identifies this match among all matches that ever had this name */
    struct hs_verdict_ids ids; /* creates the ids of this match's verdicts */
    bool is_kept;              /* the opening is in the journal or the checkpoint */
    struct hs_bytes journal;   /* records that are not in a file yet */
    bool pays_nothing;         /* the journal cannot be written, so answers report no payments */
    /* `written` is the position after the match's newest record in a file. `written_before` is the
       same position or an earlier position. Once the records before `written_before` are safe from
       a power failure, `written_before` is set to `written`. */
    struct hs_written written, written_before;
    uint32_t settled_payments; /* the first `settled_payments` payments of the match are safe from a
                                  power failure */
    bool closed;               /* the match was deleted while another thread waited for `lock` */
    /* The match in the shared store. NULL: there is no shared store, or the match was restored from
       a checkpoint and this replica has not asked the shared store yet. Set at most once. */
    struct hs_shared_match *_Atomic shared;
    atomic_uint references;
    struct hs_match_slot *next; /* guarded by the registry */
};

/* Parameters of a new match. */
struct hs_match_opening {
    struct hs_ruleset_entry *ruleset; /* the match takes its own reference */
    struct hs_map_entry *map;         /* the match takes its own reference; NULL: no map */
    struct hs_match_limits limits;
    struct hs_str tenant; /* the owner; ptr NULL without tokens */
    /* the number of a recorded or restored opening; 0: assign a new one */
    uint64_t number;
    /* A restored match that uses `ruleset`, or NULL for a new match. If the result is
       HS_REGISTRY_CREATED, the registry owns `match`. */
    struct hs_match *match;
};

struct hs_registry;

/* Returns the configured limits for a match. The limits contain a pointer to the registry's memory
   budget. */
struct hs_match_limits hs_registry_match_limits(struct hs_registry *registry,
                                                const struct hs_options *options);

/* Creates a registry. Both stores must outlive the registry. Returns NULL if memory runs out. */
struct hs_registry *hs_registry_create(size_t max_matches, struct hs_ruleset_store *rulesets,
                                       struct hs_map_store *maps);

/* From now on, matches append journal records (validators/journal.h) to their slots. Call this
   function after the restore and before new matches open. Sets `is_kept` in all open matches: these
   matches were restored, so their openings are already on the disk. */
void hs_registry_keep_journals(struct hs_registry *registry);

/* Destroys the registry. No thread may use a match any more. Does nothing for NULL. */
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
 * Locks the match with this name and returns HS_REGISTRY_FOUND. If no match has this name, opens a
 * match with the parameters `opening`, and returns HS_REGISTRY_CREATED. If `opening` is NULL,
 * returns HS_REGISTRY_MISSING instead. A new match is locked, too, before other threads can find
 * it. After FOUND and CREATED, call hs_registry_release.
 *
 * `tenant` is the caller; its ptr is NULL without tokens. If another tenant owns the match, returns
 * HS_REGISTRY_FOREIGN without waiting for the lock. Otherwise the caller could learn something
 * about the match from the duration of the wait.
 */
enum hs_registry_result hs_registry_acquire(struct hs_registry *registry, struct hs_str tenant,
                                            struct hs_str name,
                                            const struct hs_match_opening *opening,
                                            struct hs_match_slot **slot);
void hs_registry_release(struct hs_registry *registry, struct hs_match_slot *slot);

/* These functions lock and unlock a match. The caller holds a reference to the slot. Waiting
   threads take turns. */
void hs_registry_lock(struct hs_match_slot *slot);
void hs_registry_unlock(struct hs_match_slot *slot);

/* Returns whether threads wait for a locked match. */
bool hs_registry_is_awaited(struct hs_match_slot *slot);

/* Unlocks a match so that each waiting thread gets one turn, and locks the match again. Returns
   false if the match was deleted in the meantime. The match is locked when the call returns, even
   if it was deleted. */
bool hs_registry_yield(struct hs_registry *registry, struct hs_match_slot *slot);

/* Removes a locked match from the registry. The caller must still release the slot. */
void hs_registry_remove(struct hs_registry *registry, struct hs_match_slot *slot);

/* Returns whether a match with this name is open, and sets *tenant to its owner. */
bool hs_registry_owner(struct hs_registry *registry, struct hs_str name, struct hs_name *tenant);

/* Returns whether a match with this name is open here, and this replica is known to own the match
   in the shared store. Returns false if another replica owns the match, or the ownership is
   uncertain (hs_shared_match_is_doubtful). */
bool hs_registry_is_shared(struct hs_registry *registry, struct hs_str name);

/*
 * Sets the memory limits in bytes: for each match, and for all matches together. The limits are
 * never exceeded; match.h describes what is dropped first. If the matches use more than nine tenths
 * of `all_bytes`, only restored matches can be opened. Call this function before the first match is
 * opened. By default, there are no limits.
 */
void hs_registry_limit_bytes(struct hs_registry *registry, size_t match_bytes, size_t all_bytes);

/* Returns HS_REGISTRY_CREATED if another match could be opened now, otherwise HS_REGISTRY_FULL or
   HS_REGISTRY_NO_HISTORY. */
enum hs_registry_result hs_registry_capacity(struct hs_registry *registry);

/* Records a post to a locked match at `now_us` (hs_clock_us). Marks the match as memory-limited if
   an allocation was refused, and removes the mark once 10 % of the limit is free. */
void hs_registry_record_post(struct hs_match_slot *slot, int64_t now_us);

/* Returns the memory that all matches use, in bytes. */
size_t hs_registry_bytes(const struct hs_registry *registry);

/* Calls `visit` for each match. The slot is valid but not locked; `closed` shows whether the match
   was deleted. Returns false if memory runs out; `visit` is then not called. */
bool hs_registry_visit(struct hs_registry *registry,
                       void (*visit)(void *context, struct hs_match_slot *slot), void *context);

/* Calls `visit` for each of a tenant's matches (ptr NULL: all matches), in no particular order. The
   match is locked during the call, and `visit` may remove the match. */
void hs_registry_each(struct hs_registry *registry, struct hs_str tenant,
                      void (*visit)(void *context, struct hs_match_slot *slot), void *context);

/* Totals over all open matches. The totals contain the values that each match had when it was last
   released. */
struct hs_registry_totals {
    size_t matches, players, movers, accounts;
    size_t memory_limited;     /* number of memory-limited matches */
    size_t bytes, bytes_limit; /* memory used by all matches, and its limit */
};

void hs_registry_totals(struct hs_registry *registry, struct hs_registry_totals *out);

/* Gives a newly uploaded map to each match that waits for this map. */
void hs_registry_give_map(struct hs_registry *registry, struct hs_map_store *maps,
                          struct hs_map_entry *entry);

/* Returns the members at the beginning of every answer about a match. The texts of these members
   point into the slot. */
struct hs_match_head hs_match_slot_head(const struct hs_match_slot *slot);

/* Computes the id of a verdict about a player, for the player's session at `time_us`. `number` must
   be unique in the session, for example a hash of the claim. The match must be locked. */
void hs_match_slot_verdict_id(const struct hs_match_slot *slot, enum hs_verdict_about about,
                              uint64_t number, struct hs_str player, int64_t time_us,
                              struct hs_verdict_id *out);

#endif
