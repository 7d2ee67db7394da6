/*
 * Checks the answers to the shots and hits that tests send to a service which may be killed at any
 * moment. The follower remembers the first payment and the verdict id of each item, compares every
 * later answer with them, and counts the differences. All counts except the totals must be 0 at the
 * end of a run.
 */
#ifndef HS_TESTS_FOLLOWER_H
#define HS_TESTS_FOLLOWER_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

/* X(field, text): the faults. An accepted posted shot counts as paid too. */
#define HS_FOLLOW_FAULTS(X)                                                                        \
    X(paid_twice, "paid twice")                                                                    \
    X(paid_again_as_other, "paid again under another number")                                      \
    X(ids_changed, "verdict ids changed")                                                          \
    X(ids_shared, "verdict ids that two items have")                                               \
    X(lost, "paid, and later answered with another verdict")                                       \
    X(changed, "paid, and later answered with other values")                                       \
    X(refused, "honest items refused")                                                             \
    X(inconclusive, "honest items inconclusive although their poses were posted")                  \
    X(forged, "dishonest items paid")                                                              \
    X(states, "matches or players whose state differs from the last answer")                       \
    X(unexpected, "answers that should never come")

struct hs_follow_counts {
#define X(field, text) long field;
    HS_FOLLOW_FAULTS(X)
#undef X
    /* totals */
    long paid, replayed, answered, paid_again; /* paid_again: repeated payments of items with
                                                  may_be_lost */
};

/* An item and the answers about it so far. Owned by the caller. */
struct hs_followed {
    uint64_t key;   /* made of opening, session, shooter, kind and number; unique in a run */
    char *text;     /* the item as it is sent, JSON */
    double now;     /* `now` of the first request that sent it */
    bool is_honest; /* the item must be accepted */
    bool is_answered, is_paid;
    bool may_be_lost; /* the payment is not durable yet, so the item may be paid again; set by the
                         test */
    char id[40];      /* verdict id of the first answer */
    uint64_t answer;  /* hash of the first answer that paid, except its member `replayed` */
};

/* What the answer to an item must be. The expected answer depends on the moment at which the item
   was sent. */
enum hs_follow_moment {
    HS_FOLLOW_NOW,   /* sent in the player's newest session: it must get its first answer again */
    HS_FOLLOW_MOVED, /* the same, while poses are missing: an unpaid item may be inconclusive */
    HS_FOLLOW_ENDED, /* sent after its session: it must not be paid, but its reason may change */
    HS_FOLLOW_COPY   /* a paid item with another number: it must never be paid */
};

struct hs_follower;

struct hs_follower *hs_follower_create(void);
void hs_follower_destroy(struct hs_follower *follower);

/* Checks the answer to an item, an entry of `results`, `shots` or `hits`. Thread-safe; the item and
   the counts belong to the calling thread. */
void hs_follower_note(struct hs_follower *follower, struct hs_follow_counts *counts,
                      struct hs_followed *item, const json_t *result, enum hs_follow_moment moment);

/* Counts a fault and prints the first few. Thread-safe. */
void hs_follower_fault(struct hs_follower *follower, long *count, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

void hs_follow_counts_add(struct hs_follow_counts *sum, const struct hs_follow_counts *counts);

/* Prints all counts in one line each, and returns the sum of the faults. */
long hs_follow_counts_print(const struct hs_follow_counts *counts);

#endif
