/*
 * What differs between the answers of a recorded stream and those computed again: claim by claim
 * and move by move, counted by reason, with those whose verdict or reason is another one now.
 */
#ifndef HS_RECHECK_DIFFERENCES_H
#define HS_RECHECK_DIFFERENCES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/routes.h"
#include "validators/str.h"
#include "validators/vocabulary.h"

enum {
    HS_OTHER_REASONS = 16,
    HS_DIFFERENCES_REASONS = HS_REASON_COUNT + HS_OTHER_REASONS,
    HS_DIFFERENCES_MOVE_REASONS = HS_MOVE_REASON_COUNT + HS_OTHER_REASONS
};

/* Names are those of the stream: another version may have reasons this program does not know. */
struct hs_reason_count {
    struct hs_name reason, verdict;
    size_t before, after;
};

/* One side of a changed claim: the verdict, and the check that decides over the change. */
struct hs_changed_side {
    struct hs_name verdict, reason, check; /* check empty: no measure is known */
    double measured, limit;
};

/* A claim or a move that is judged otherwise. */
struct hs_changed_claim {
    size_t line;                         /* of the stream */
    struct hs_name match, shooter, kind; /* of a move: its player */
    uint64_t shot;                       /* of a move: its `seq`, or 0 */
    bool flips;                          /* verdict or reason; else something else in the result */
    struct hs_changed_side before, after;
};

struct hs_differences {
    bool other_rules; /* verdict, reason and damage are compared; else every byte */
    size_t limit;     /* of the changed claims that are kept */
    size_t requests;
    size_t hits, shots, moves, replayed; /* those that were answered before count as replayed */
    /* Hits, shots and moves. Damaged: only the damage differs, or the time that may be simulated.
     */
    size_t same, flipped, damaged, otherwise;
    size_t replayed_otherwise;
    size_t answers_otherwise; /* requests whose answer differs beside its claims */
    size_t answers_line;      /* the first of them */
    size_t first_line;        /* of anything that differs; 0: nothing does */
    struct hs_reason_count reasons[HS_DIFFERENCES_REASONS];           /* of claims */
    struct hs_reason_count move_reasons[HS_DIFFERENCES_MOVE_REASONS]; /* of moves */
    struct hs_changed_claim *changed; /* in order; at most `limit` */
    size_t changed_count, changed_room, changed_left_out;
};

/* hs_differences_free frees what it keeps. */
void hs_differences_init(struct hs_differences *differences, bool other_rules, size_t limit);
void hs_differences_free(struct hs_differences *differences);

struct hs_compared {
    struct hs_str match;
    enum hs_route route;
    size_t line;
};

/*
 * Compares the answers to one request. False: they are not answers to the same request, or memory
 * is out.
 */
bool hs_differences_add(struct hs_differences *differences, const struct hs_compared *request,
                        struct hs_str before, struct hs_str after);

#endif
