/*
 * Compares recorded answers with recomputed answers, claim by claim and move by move. Counts claims
 * and moves by reason, and keeps those whose result changes.
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

/* The count of a reason. The reason is stored by name, because a stream from another version may
   contain reasons that this program does not know. */
struct hs_reason_count {
    struct hs_name reason, verdict;
    size_t before, after;
};

/* One side of a changed claim: the verdict, and the measurement of the check that explains the
   change. */
struct hs_changed_side {
    struct hs_name verdict, reason, check; /* `check` empty: no measurement is known */
    double measured, limit;
};

/* A claim or a move whose result changes. */
struct hs_changed_claim {
    size_t line;                         /* line in the stream */
    struct hs_name match, shooter, kind; /* for a move `shooter` is the player */
    uint64_t shot;                       /* for a move the `seq`, or 0 if the move has no `seq` */
    bool flips; /* true: verdict or reason changes; false: another part of the result */
    struct hs_changed_side before, after;
};

struct hs_differences {
    bool other_rules; /* true: verdict, reason and damage are compared, because the rules differ;
                         false: every byte is compared */
    size_t limit;     /* max number of changed claims to keep */
    size_t requests;
    size_t hits, shots, moves, replayed; /* replayed: repeated answers, not counted elsewhere */
    /* Numbers of hits, shots and moves by the kind of difference. `flipped`: verdict or reason
       differs. `damaged`: only the damage (for a move: delta_time) differs. `otherwise`: only other
       bytes differ. */
    size_t same, flipped, damaged, otherwise;
    size_t replayed_otherwise;
    size_t answers_otherwise; /* number of answers that differ outside their results */
    size_t answers_line;      /* line of the first such answer */
    size_t first_line;        /* line of the first difference of any kind; 0: no difference */
    struct hs_reason_count reasons[HS_DIFFERENCES_REASONS];           /* counts for hits and
                                                                         shots */
    struct hs_reason_count move_reasons[HS_DIFFERENCES_MOVE_REASONS]; /* counts for moves */
    struct hs_changed_claim *changed; /* in order; at most `limit` */
    size_t changed_count, changed_capacity, changed_left_out;
};

/* Starts an empty comparison. Call hs_differences_free at the end. */
void hs_differences_init(struct hs_differences *differences, bool other_rules, size_t limit);
void hs_differences_free(struct hs_differences *differences);

struct hs_compared {
    struct hs_str match;
    enum hs_route route;
    size_t line;
};

/*
 * Compares two answers to one request. Returns false if they do not answer the same request, or if
 * memory runs out.
 */
bool hs_differences_add(struct hs_differences *differences, const struct hs_compared *request,
                        struct hs_str before, struct hs_str after);

#endif
