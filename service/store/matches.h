/*
 * Matches in the store, where other replicas find them. docs/state.md describes the keys for
 * operators. This module only transfers bytes; sharing/ encodes and decodes them. Thread-safe.
 *
 * A match has three keys: its owner, its state, and the journal of the payments since this state
 * was captured. At any time, at most one replica owns the match. To become the owner, a replica
 * takes the match. This increases the epoch of the match. Scripts in the store refuse the writes of
 * former owners. A refused write shows the former owner that the match has moved.
 *
 * If the store loses its data, the epochs are lost, too. So a match also has a birth: the time at
 * which the store got its first entry for the match. The scripts also refuse the writes of an owner
 * whose birth differs from the birth in the store.
 */
#ifndef HS_SERVICE_STORE_MATCHES_H
#define HS_SERVICE_STORE_MATCHES_H

#include "service/store/store.h"

struct hs_shared_matches;
struct hs_shared_match;

/* How long requests wait for the store. `take_us` limits the wait for the ownership of a match.
   `take_us` also limits each pause while the store sends the match's state. `payment_us` limits the
   wait for the acknowledgement of payments. */
struct hs_shared_budgets {
    int64_t take_us;
    int64_t payment_us;
};

/* `store` and `metrics` must outlive the returned object. Returns NULL if memory runs out or
   getrandom fails. */
struct hs_shared_matches *hs_shared_matches_create(struct hs_store *store,
                                                   struct hs_metrics *metrics,
                                                   const struct hs_shared_budgets *budgets);
/* Call this function after all matches were destroyed and the store was stopped. Does nothing for
   NULL. */
void hs_shared_matches_destroy(struct hs_shared_matches *matches);

/* ---- becoming the owner ---- */

enum hs_taken_result {
    HS_TAKEN,         /* this replica is the owner now */
    HS_TAKEN_FOREIGN, /* another tenant has a match with this name */
    HS_TAKEN_LATE,    /* the store did not answer in time */
    HS_TAKEN_DOWN,    /* the store is down, or the store refused the command */
};

/* Identifies one owner of a match. {0, 0}: the match was not taken; the first write of the match
   tries to make this replica the owner. */
struct hs_ownership {
    uint64_t epoch, birth;
};

struct hs_taken {
    struct hs_ownership ownership;
    bool was_released; /* the newest state is COMPLETE or FINAL (enum hs_shared_state) */
    /* The wall-clock time of the store at which a match with this name ended. 0: more than an hour
       ago, or a newer match has written a state since then. */
    uint64_t ended_us;
    struct hs_str state; /* ptr NULL: the store has no state of the match */
    struct hs_str *journal;
    size_t journal_count;
    struct redisReply *replies[2]; /* own the bytes of `journal` and `state` */
};

/* Takes a match: makes this replica the owner of the match, and reads the state of the match. Waits
   up to `take_us` for the ownership. Then waits up to HS_STORE_PATIENCE_US for the state, but gives
   up if the store sends nothing for `take_us`. This function waits, so workers must not call it.
   After HS_TAKEN, call hs_taken_free. */
enum hs_taken_result hs_shared_match_take(struct hs_shared_matches *matches, struct hs_str tenant,
                                          struct hs_str name, struct hs_taken *taken);
void hs_taken_free(struct hs_taken *taken);

/* Releases a match that was just taken. The match then has no owner in the store, but keeps its
   state and the new epoch. */
void hs_shared_match_give_back(struct hs_shared_matches *matches, struct hs_str tenant,
                               struct hs_str name, const struct hs_taken *taken);

/* ---- one match ---- */

/* Returns an object for a match, with one reference. NULL: out of memory. */
struct hs_shared_match *hs_shared_match_create(struct hs_shared_matches *matches,
                                               struct hs_str tenant, struct hs_str name,
                                               struct hs_ownership ownership);
struct hs_shared_match *hs_shared_match_retain(struct hs_shared_match *match);
/* Does nothing for NULL. */
void hs_shared_match_release(struct hs_shared_match *match);

/* Returns whether this replica knows that another replica owns the match. The result never changes
   from true to false. */
bool hs_shared_match_is_lost(struct hs_shared_match *match);

/* Returns true if the ownership is uncertain: the store has not confirmed the ownership for a
   second, or lost the match after a second without confirmation. */
bool hs_shared_match_is_doubtful(struct hs_shared_match *match);

/*
 * Asks the store for the owner, and waits up to `take_us`. This function waits, so workers must not
 * call it. If another replica owns the match, hs_shared_match_is_lost returns true from then on.
 * Otherwise the ownership is confirmed, and the match is not doubtful for the next second. If the
 * store does not answer, the ownership counts as confirmed, too.
 *
 * Returns false if the store has lost the match while the ownership was uncertain. In this case,
 * another replica may have paid for shots of this match, if requests for the match stopped arriving
 * here during that time.
 */
bool hs_shared_match_confirm(struct hs_shared_match *match);

/* Returns true if the store has no state of the match. The caller must then write a state, because
   payments can only be appended to a state. Returns false while a state is being written, and while
   the store is down. */
bool hs_shared_match_needs_state(struct hs_shared_match *match);

/* Appends a record of payments to the journal. `record.ptr` NULL: memory ran out for the record, so
   the payments are not durable. For one match, calls of this function and of hs_shared_match_mark
   must not overlap. */
void hs_shared_match_append(struct hs_shared_match *match, struct hs_str record);

/* Returns the number of the newest record. A state that is captured now includes this record and
   all earlier records. */
uint64_t hs_shared_match_mark(struct hs_shared_match *match);

/* The kind of a state. The kind tells the next owner of the match whether the state may lack
   moves. */
enum hs_shared_state {
    HS_SHARED_PARTIAL, /* the owner may have checked moves after the capture */
    /* The owner answers later moves only after the owner has stored these moves in a newer state,
       or after `payment_us`. */
    HS_SHARED_COMPLETE,
    HS_SHARED_FINAL /* like COMPLETE; after this write the match has no owner */
};

/* Writes a state, and removes the records up to `mark` from the journal. Returns false if the state
   cannot be sent, or a newer state was already sent. */
bool hs_shared_match_write(struct hs_shared_match *match, enum hs_store_lane lane,
                           struct hs_str state, uint64_t mark, enum hs_shared_state kind);

/* Writes a COMPLETE state after moves were checked. hs_shared_match_await then waits for this
   state. `state.ptr` NULL: memory ran out for the state, so the moves are not durable. For one
   match, calls of this function and of hs_shared_match_append must not overlap. The caller must
   hold the lock that prevents such overlaps, from the capture of `state` until this function
   returns. */
void hs_shared_match_hand_off(struct hs_shared_match *match, struct hs_str state);

/* Removes an ended match. If the store then refuses a write, requests that wait for the payments of
   this match get the result NOT_DURABLE instead of MOVED. */
void hs_shared_match_close(struct hs_shared_match *match);

/* Sends again each closing that the store may have missed. After a missed closing, a new match with
   the same name would start with the old state. */
void hs_shared_matches_close_again(struct hs_shared_matches *matches);

/* ---- when to write ---- */

/* Call this function when the store may have lost all states. After the call, the states of all
   matches must be written. */
void hs_shared_matches_rewrite(struct hs_shared_matches *matches);

/* Returns whether a state must be written: the match has changed since its newest state, a write
   failed, or the store has lost the state. `used_us`: when the match last changed. `now_us`:
   hs_clock_us. `hurries`: true: do not wait for the interval between two writes. */
bool hs_shared_match_is_due(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                            bool hurries);
/* Call this function after a state of `bytes` bytes was captured. */
void hs_shared_match_captured(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                              size_t bytes);

/* ---- waiting for payments ---- */

enum hs_payments {
    HS_PAYMENTS_DURABLE,
    HS_PAYMENTS_PENDING,
    HS_PAYMENTS_NOT_DURABLE, /* some payments are not in the store yet; the next write adds them */
    HS_PAYMENTS_MOVED,       /* another replica owns the match */
};

/* A request that waits until the store has acknowledged all payments so far. The structure must
   stay valid until `done` was called. `done` may run on any thread. */
struct hs_payments_wait {
    void (*done)(struct hs_payments_wait *wait);
    enum hs_payments result; /* set before `done`; never PENDING */
    /* Only the match uses the following members. */
    uint64_t mark;
    struct hs_payments_wait *next;
};

/* Returns whether all payments so far are durable. After PENDING, `done` is called within
   `payment_us`. */
enum hs_payments hs_shared_match_await(struct hs_shared_match *match,
                                       struct hs_payments_wait *wait);

#endif
