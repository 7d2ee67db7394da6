/*
 * Matches in the store, where other replicas find them. docs/state.md describes the keys for
 * operators.
 *
 * A match has three keys: its owner, its state, and the journal of payments since this state. One
 * replica owns a match at a time. A replica becomes the owner when it takes a match, which gives
 * the match a new, higher epoch. Scripts in the store refuse the writes of former owners. So a
 * former owner learns that the match has moved. A store that loses its data loses the epochs too.
 * So each match also has a birth: the time at which the store first had the match. The scripts
 * refuse an owner with another birth. This module only transfers bytes; sharing/ encodes and
 * decodes them. Thread-safe.
 */
#ifndef HS_SERVICE_STORE_MATCHES_H
#define HS_SERVICE_STORE_MATCHES_H

#include "service/store/store.h"

struct hs_shared_matches;
struct hs_shared_match;

/* How long requests wait for the store, in microseconds. */
struct hs_shared_budgets {
    int64_t take_us;    /* max wait to take a match, while the store sends nothing */
    int64_t payment_us; /* max wait for the acknowledgement of payments */
};

/* `store` and `metrics` must outlive the result. NULL: out of memory, or no random numbers. */
struct hs_shared_matches *hs_shared_matches_create(struct hs_store *store,
                                                   struct hs_metrics *metrics,
                                                   const struct hs_shared_budgets *budgets);
/* Call it after all matches were destroyed and the store has ended. Does nothing for NULL. */
void hs_shared_matches_destroy(struct hs_shared_matches *matches);

/* ---- becoming the owner ---- */

enum hs_taken_result {
    HS_TAKEN,         /* this replica is the owner now */
    HS_TAKEN_FOREIGN, /* another tenant has a match with this name */
    HS_TAKEN_LATE,    /* the store did not answer in time */
    HS_TAKEN_DOWN,    /* the store is down, or refused the command; the call did not wait */
};

/* Identifies one owner of a match. All 0: the match was not taken, and the first write tries to
   make this replica the owner. */
struct hs_ownership {
    uint64_t epoch, birth;
};

struct hs_taken {
    struct hs_ownership ownership;
    bool was_released;   /* the newest state is COMPLETE or FINAL */
    struct hs_str state; /* ptr NULL: the store does not know the match */
    struct hs_str *journal;
    size_t journal_count;
    struct redisReply *replies[2]; /* the replies own the bytes of `journal` and `state` */
};

/* Takes a match: makes this replica its owner and reads its state. Waits up to `take_us` for the
   ownership. After that, waits up to HS_STORE_PATIENCE_US for the state, but gives up if the store
   sends nothing for `take_us`. Workers must not call it, because it waits. After HS_TAKEN, call
   hs_taken_free. */
enum hs_taken_result hs_shared_match_take(struct hs_shared_matches *matches, struct hs_str tenant,
                                          struct hs_str name, struct hs_taken *taken);
void hs_taken_free(struct hs_taken *taken);

/* Gives up the ownership of a match that was just taken. In the store, only the higher epoch of the
   match remains. */
void hs_shared_match_give_back(struct hs_shared_matches *matches, struct hs_str tenant,
                               struct hs_str name, const struct hs_taken *taken);

/* ---- one match ---- */

/* Creates the object for a match with one reference. NULL: out of memory. */
struct hs_shared_match *hs_shared_match_create(struct hs_shared_matches *matches,
                                               struct hs_str tenant, struct hs_str name,
                                               struct hs_ownership ownership);
struct hs_shared_match *hs_shared_match_retain(struct hs_shared_match *match);
/* Does nothing for NULL. */
void hs_shared_match_release(struct hs_shared_match *match);

/* Returns whether another replica has become the owner of the match. Once true, it stays true. */
bool hs_shared_match_is_lost(struct hs_shared_match *match);

/* Returns whether it is uncertain that this replica still owns the match: the store has not
   confirmed the ownership for a second, or has lost the match after a second without confirmation.
 */
bool hs_shared_match_is_doubtful(struct hs_shared_match *match);

/*
 * Asks the store for the owner, and waits up to `take_us`. Workers must not call it, because it
 * waits. After the answer, either hs_shared_match_is_lost returns true, or
 * hs_shared_match_is_doubtful returns false for the next second. A missing answer counts as a
 * confirmation. Returns false if the store lost the match while the ownership was uncertain. If
 * this replica also received no requests for the match in that time, another replica may have paid
 * for shots of the match.
 */
bool hs_shared_match_confirm(struct hs_shared_match *match);

/* Returns whether the caller must write a state before payments can be appended. Also returns false
   while a state is being written, or while the store is down. */
bool hs_shared_match_needs_state(struct hs_shared_match *match);

/* Appends a record of payments to the journal. `ptr` NULL: memory ran out for the record, and the
   payments are not durable. The caller makes sure that calls of this function and of
   hs_shared_match_mark for the same match do not overlap. */
void hs_shared_match_append(struct hs_shared_match *match, struct hs_str record);

/* Returns the number of the newest record. A state that is captured now contains all records up to
   this number. */
uint64_t hs_shared_match_mark(struct hs_shared_match *match);

/* The kind of a state. The kind shows a later owner of the match whether the state may lack
   moves. */
enum hs_shared_state {
    HS_SHARED_PARTIAL, /* the owner may have checked moves since the capture */
    /* Every answer about later moves waits for a state with these moves, for at most `payment_us`.
     */
    HS_SHARED_COMPLETE,
    HS_SHARED_FINAL /* complete; after this state, the match has no owner */
};

/* Writes a state, and then drops the records up to `mark` from the journal. Returns false if the
   state cannot be sent, or if a newer state was sent. */
bool hs_shared_match_write(struct hs_shared_match *match, enum hs_store_lane lane,
                           struct hs_str state, uint64_t mark, enum hs_shared_state kind);

/* Writes a complete state of a match whose moves have changed. hs_shared_match_await then waits for
   this state. `ptr` NULL: memory ran out for the state, and the moves are not durable. Calls must
   not overlap with hs_shared_match_append. `state` must be captured under
   the lock that prevents such an overlap. */
void hs_shared_match_hand_off(struct hs_shared_match *match, struct hs_str state);

/* Removes an ended match. Requests that wait for its payments get a result other than MOVED. */
void hs_shared_match_close(struct hs_shared_match *match);

/* Sends closings again if the store may have missed them. If a closing were lost, a new match with
   the name of an ended match would get the old state. */
void hs_shared_matches_close_again(struct hs_shared_matches *matches);

/* ---- when to write ---- */

/* Call it when the store may have lost all states: all matches are then due. */
void hs_shared_matches_rewrite(struct hs_shared_matches *matches);

/* Returns whether a state must be written: the match has changed since its newest state, an earlier
   write failed, or the store has lost the state. `used_us`: when the match last changed. `now_us`:
   monotonic. `hurries`: large states are due as often as small ones. */
bool hs_shared_match_is_due(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                            bool hurries);
/* Records that a state of `bytes` bytes was captured. */
void hs_shared_match_captured(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                              size_t bytes);

/* ---- waiting for payments ---- */

enum hs_payments {
    HS_PAYMENTS_DURABLE,
    HS_PAYMENTS_PENDING,
    HS_PAYMENTS_NOT_DURABLE, /* the store lacks some payments; the next write adds them */
    HS_PAYMENTS_MOVED,       /* another replica owns the match */
};

/* A request that waits for the acknowledgement of all payments so far. The wait must stay valid
   until `done` has been called. Any thread may call `done`. */
struct hs_payments_wait {
    void (*done)(struct hs_payments_wait *wait);
    enum hs_payments result; /* set before `done`; never PENDING */
    uint64_t mark;           /* used by the match */
    struct hs_payments_wait *next;
};

/* Returns whether all payments so far are durable. PENDING: `done` will be called within
   `payment_us`. */
enum hs_payments hs_shared_match_await(struct hs_shared_match *match,
                                       struct hs_payments_wait *wait);

#endif
