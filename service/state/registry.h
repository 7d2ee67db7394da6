/*
 * The matches of this process: name -> match with its own lock. Two requests for different
 * matches never wait for each other's work; two for the same match take turns. Thread-safe.
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
#include "validators/account.h"
#include "validators/match.h"
#include "validators/snapshot.h"
#include "validators/str.h"

struct hs_map_entry;
struct hs_map_store;

/* What the recording of requests (record.h) knows of a match. */
enum hs_recorded {
    HS_RECORDED_NOT,  /* nothing yet */
    HS_RECORDED_OPEN, /* everything so far */
    HS_RECORDED_LOST, /* not everything */
    HS_RECORDED_ENDED /* not everything, and it says so */
};

/* Records of a match up to `position` in the journal: they contain its first `payments`. */
struct hs_written {
    uint64_t position;
    uint32_t payments;
};

struct hs_match_slot {
    struct hs_name name, tenant;      /* tenant: its owner; "": there are no tenants */
    struct hs_ruleset_entry *ruleset; /* held for the life of the match */
    struct hs_map_entry *map;         /* likewise; NULL: none */
    struct hs_match_limits limits;
    pthread_mutex_t turn; /* held by the thread that gets `lock` next */
    atomic_uint waiting;  /* threads that wait for `turn` or `lock` */
    pthread_mutex_t lock; /* guards the fields from `match` to `closed` */
    struct hs_match *match;
    uint32_t players, movers; /* as counted in the registry's totals, like counted_held */
    bool counted_held;
    enum hs_recorded recorded;
    int64_t used_us;       /* when something was last posted to it, monotonic */
    bool held;             /* memory was refused to it, and there is little still */
    unsigned logged_hints; /* bits of enum hs_hint_code; guarded by the lock */
    /* Restored without its map, which is not there: it waits for it. Guarded by the lock. */
    struct hs_name awaited_map; /* empty: it does not */
    char awaited_revision[HS_REVISION_MAX];
    uint64_t opening; /* identifies it among all matches that ever had this name */
    bool is_kept;     /* the journal or the checkpoint has its opening; guarded by the lock */
    struct hs_bytes journal; /* records that are not in a file yet; guarded by the lock */
    bool pays_nothing;       /* the journal cannot be written now; guarded by the lock */
    /* The newest records in a file, and older ones that were not settled when last looked at. */
    struct hs_written written, written_before;
    uint32_t settled_payments; /* the first so many are settled: they are kept for sure */
    bool closed;               /* deleted while another thread waited for the lock */
    unsigned references;       /* guarded by the registry, like `next` */
    struct hs_match_slot *next;
};

/* What a match is opened with. */
struct hs_match_opening {
    struct hs_ruleset_entry *ruleset; /* the match takes a reference of its own */
    struct hs_map_entry *map;         /* likewise; NULL: none */
    struct hs_match_limits limits;
    struct hs_str tenant; /* the owner of the match; ptr NULL: there are no tenants */
    uint64_t number;      /* number of a recorded or restored opening; 0: the next one */
    struct hs_match
        *match; /* restored, of this ruleset: taken over with CREATED; NULL: a new one */
};

struct hs_registry;

/* The bounds of every match, as configured; what they take is taken from the registry's account. */
struct hs_match_limits hs_registry_match_limits(struct hs_registry *registry,
                                                const struct hs_options *options);

/* The stores must outlive the registry. NULL: out of memory. */
struct hs_registry *hs_registry_create(size_t max_matches, struct hs_ruleset_store *rulesets,
                                       struct hs_map_store *maps);

/* From now on matches append journal records (validators/journal.h) to their slots. The open
   matches were restored, so their openings are already on disk. */
void hs_registry_keep_journals(struct hs_registry *registry);

/* Nobody may hold a match any more. */
void hs_registry_destroy(struct hs_registry *registry);

enum hs_registry_result {
    HS_REGISTRY_FOUND,
    HS_REGISTRY_CREATED,
    HS_REGISTRY_MISSING,
    HS_REGISTRY_FOREIGN, /* another tenant's */
    HS_REGISTRY_FULL,
    HS_REGISTRY_NO_HISTORY, /* what is open nearly fills the memory there is for histories */
    HS_REGISTRY_NO_MEMORY
};

/*
 * The match of that name, locked, with FOUND or CREATED; hs_registry_release gives it back. With an
 * opening a missing match is opened, without one it is MISSING. `tenant`: who asks for it; ptr
 * NULL: anybody may have any. Another tenant's match is FOREIGN at once, without waiting for its
 * lock: the wait could reveal something about it.
 */
enum hs_registry_result hs_registry_acquire(struct hs_registry *registry, struct hs_str tenant,
                                            struct hs_str name,
                                            const struct hs_match_opening *opening,
                                            struct hs_match_slot **slot);
void hs_registry_release(struct hs_registry *registry, struct hs_match_slot *slot);

/* Lock and unlock the match of a slot that cannot be freed meanwhile. Waiting threads take
   turns. */
void hs_registry_lock(struct hs_match_slot *slot);
void hs_registry_unlock(struct hs_match_slot *slot);

/* Whether a thread waits for a locked match. */
bool hs_registry_is_awaited(struct hs_match_slot *slot);

/*
 * Lends a locked match to each waiting thread once, and locks it again. False: it was closed in
 * between; it is locked all the same.
 */
bool hs_registry_yield(struct hs_registry *registry, struct hs_match_slot *slot);

/* Takes a locked match out of the registry; the caller still releases the slot. */
void hs_registry_remove(struct hs_registry *registry, struct hs_match_slot *slot);

/* Whether a match of that name is open, and whose it is. */
bool hs_registry_owner(struct hs_registry *registry, struct hs_str name, struct hs_name *tenant);

/*
 * Bounds what matches take, in bytes: each one, and all. Neither is ever passed (match.h says what
 * gives way); beyond nine tenths of the second none is opened, but those that are restored are.
 * Before there are matches; without this call there are no bounds.
 */
void hs_registry_limit_bytes(struct hs_registry *registry, size_t match_bytes, size_t all_bytes);

/* HS_REGISTRY_CREATED when another match could be opened now, else FULL or NO_HISTORY. */
enum hs_registry_result hs_registry_room(struct hs_registry *registry);

/*
 * Something was posted to a locked match. It is held from when memory was refused to it until a
 * tenth of what bounds it is free.
 */
void hs_registry_note_posted(struct hs_match_slot *slot);

/* What matches may take in all, and what they do. */
size_t hs_registry_bytes_limit(const struct hs_registry *registry);
size_t hs_registry_bytes(const struct hs_registry *registry);

/*
 * Ends the matches to which nothing was posted since `before_us` (monotonic): `visit` sees each,
 * locked, before it is taken out. How many.
 */
size_t hs_registry_expire(struct hs_registry *registry, int64_t before_us,
                          void (*visit)(void *context, struct hs_match_slot *slot), void *context);
/*
 * Calls `visit` with each match, which cannot go but is not locked; it may have been removed, as
 * `closed` says. False: memory is out, and nobody was visited.
 */
bool hs_registry_visit(struct hs_registry *registry,
                       void (*visit)(void *context, struct hs_match_slot *slot), void *context);

/* Calls `visit` with each match, locked, in no order. */
void hs_registry_each(struct hs_registry *registry,
                      void (*visit)(void *context, struct hs_match_slot *slot), void *context);

/* The same with those of one tenant; ptr NULL: all. */
void hs_registry_each_of(struct hs_registry *registry, struct hs_str tenant,
                         void (*visit)(void *context, struct hs_match_slot *slot), void *context);

/* Sums over all open matches, each as it was when last released. Waits for no match. */
struct hs_registry_totals {
    size_t matches, players, movers;
    size_t held; /* matches that are memory-limited */
};

void hs_registry_totals(struct hs_registry *registry, struct hs_registry_totals *out);

/* What answers say first about a match. Borrowed from the slot. */
struct hs_match_head hs_match_slot_head(const struct hs_match_slot *slot);

#endif
