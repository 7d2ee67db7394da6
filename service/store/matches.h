/*
 * Matches in the store, where other replicas find them. docs/state.md describes the keys for
 * operators.
 *
 * A match has three keys: its owner, its state, and the journal of payments since this state. One
 * replica owns a match at a time. A replica becomes the owner when it takes a match, which gives
 * the match a new, higher epoch. Scripts in the store refuse the writes of former owners, who then
 * know that the match has moved. This module only carries bytes; sharing/ gives them a meaning.
 * Thread-safe.
 */
#ifndef HS_SERVICE_STORE_MATCHES_H
#define HS_SERVICE_STORE_MATCHES_H

#include "service/store/store.h"

struct hs_shared_matches;
struct hs_shared_match;

/* How long requests wait for the store, in microseconds. */
struct hs_shared_budgets {
    int64_t take_us;    /* for a match to be taken */
    int64_t payment_us; /* for the acknowledgement of payments */
};

/* `store` and `metrics` outlive it. NULL: memory or random numbers are out. */
struct hs_shared_matches *hs_shared_matches_create(struct hs_store *store,
                                                   struct hs_metrics *metrics,
                                                   const struct hs_shared_budgets *budgets);
/* No match may be left, and the store must have ended. NULL does nothing. */
void hs_shared_matches_destroy(struct hs_shared_matches *matches);

/* ---- becoming the owner ---- */

enum hs_taken_result {
    HS_TAKEN,      /* this replica is the owner now */
    HS_TAKEN_LATE, /* the store did not answer in time */
    HS_TAKEN_DOWN, /* the store is down or slow, or refused the command: it was not waited for */
};

struct hs_taken {
    uint64_t epoch;
    bool was_released;   /* the former owner wrote everything and gave the match up */
    struct hs_str state; /* ptr NULL: the store does not know the match */
    struct hs_str *journal;
    size_t journal_count;
    struct redisReply *reply; /* owns the above */
};

/* Takes a match. Waits up to `take_us`, so no worker may call it. With HS_TAKEN, call
   hs_taken_free. */
enum hs_taken_result hs_shared_match_take(struct hs_shared_matches *matches, struct hs_str tenant,
                                          struct hs_str name, struct hs_taken *taken);
void hs_taken_free(struct hs_taken *taken);

/* Gives up a match that was just taken, as if it had not been taken, apart from its epoch. */
void hs_shared_match_give_back(struct hs_shared_matches *matches, struct hs_str tenant,
                               struct hs_str name, const struct hs_taken *taken);

/* ---- one match ---- */

/* Creates the record of a match with one reference. `epoch`: from hs_shared_match_take; 0: it was
   not taken, and the first write tries to become its owner. NULL: memory is out. */
struct hs_shared_match *hs_shared_match_create(struct hs_shared_matches *matches,
                                               struct hs_str tenant, struct hs_str name,
                                               uint64_t epoch);
struct hs_shared_match *hs_shared_match_retain(struct hs_shared_match *match);
/* NULL does nothing. */
void hs_shared_match_release(struct hs_shared_match *match);

/* Returns whether another replica owns the match now. It stays so. */
bool hs_shared_match_is_lost(struct hs_shared_match *match);

/* Returns whether a state must be written before payments can be appended, and can be written. */
bool hs_shared_match_needs_state(struct hs_shared_match *match);

/* Appends a record of payments to the journal. The caller serializes calls for a match, also with
   hs_shared_match_mark. */
void hs_shared_match_append(struct hs_shared_match *match, struct hs_str record);

/* Returns the number of the newest record. A state that is captured now contains all records up to
   it. */
uint64_t hs_shared_match_mark(struct hs_shared_match *match);

/* Writes a state, and then drops the records up to `mark` from the journal. `gives_up`: this is the
   final state, and the match has no owner afterwards. Returns false if the state cannot be sent, or
   if a newer one was sent. */
bool hs_shared_match_write(struct hs_shared_match *match, enum hs_store_lane lane,
                           struct hs_str state, uint64_t mark, bool gives_up);

/* Removes an ended match. Requests that wait for its payments get an answer, never MOVED. */
void hs_shared_match_close(struct hs_shared_match *match);

/* Sends again the ends of matches that the store may have missed. Otherwise an ended match would
   come back with its name. */
void hs_shared_matches_close_again(struct hs_shared_matches *matches);

/* ---- when to write ---- */

/* The store may have lost all states, so all matches are due. */
void hs_shared_matches_rewrite(struct hs_shared_matches *matches);

/* Returns whether a state must be written: the match has changed since the newest one, an earlier
   write failed, or the store has lost it. `used_us`: when the match last changed; `now_us`:
   monotonic; `hurries`: large states are due as often as small ones. */
bool hs_shared_match_is_due(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                            bool hurries);
/* Records that a state of `bytes` bytes was captured. */
void hs_shared_match_captured(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                              size_t bytes);

/* ---- waiting for payments ---- */

enum hs_payments {
    HS_PAYMENTS_DURABLE,
    HS_PAYMENTS_PENDING,
    HS_PAYMENTS_NOT_DURABLE, /* the store does not have all of them; the next write adds them */
    HS_PAYMENTS_MOVED,       /* another replica owns the match */
};

/* A request that waits for the acknowledgement of all payments so far. It must stay valid until
   `done` was called, by any thread. */
struct hs_payments_wait {
    void (*done)(struct hs_payments_wait *wait);
    enum hs_payments result; /* set before `done`; never PENDING */
    uint64_t mark;           /* used by the match */
    struct hs_payments_wait *next;
};

/* Returns the state of all payments so far. PENDING: `done` will be called, within
   `payment_us`. */
enum hs_payments hs_shared_match_await(struct hs_shared_match *match,
                                       struct hs_payments_wait *wait);

#endif
