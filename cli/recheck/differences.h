/*
 * Compares recorded answers with recomputed answers, claim by claim and move by move. Counts claims
 * and moves by reason, and stores the claims and moves that have different results.
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
    HS_OTHER_REASONS = 16, /* capacity for reasons that are unknown to this program */
    HS_DIFFERENCES_REASONS = HS_REASON_COUNT + HS_OTHER_REASONS,
    HS_DIFFERENCES_MOVE_REASONS = HS_MOVE_REASON_COUNT + HS_OTHER_REASONS
};

/* How often a reason occurred. The reason is stored by name, because a stream from another version
   may contain reasons that are unknown to this program. */
struct hs_reason_count {
    struct hs_name reason, verdict;
    size_t before, after;
};

/* The recorded or the recomputed side of a changed claim, with the measurement that explains the
   change. */
struct hs_changed_side {
    struct hs_name verdict, reason, check; /* `check` empty: no measurement */
    double measured, limit;
};

/* A claim or a move with a result that differs. */
struct hs_changed_claim {
    size_t line;                         /* line in the stream */
    struct hs_name match, shooter, kind; /* for a move, `shooter` is the player */
    uint64_t shot;                       /* for a move: the `seq` of the move, or 0 if the move has
                                            no `seq` */
    bool flips; /* true: the verdict or the reason differs; false: only other parts differ */
    struct hs_changed_side before, after;
};

struct hs_differences {
    bool other_rules; /* true: the answers were recomputed under other rules, so only verdict,
                         reason and damage are compared; false: every byte is compared */
    size_t limit;     /* stores at most this many changed claims */
    size_t requests;
    size_t hits, shots, moves, replayed; /* a replayed result counts only as `replayed` */
    /* How many hits, shots and moves differ, and how. `flipped`: verdict or reason differs.
       `damaged`: the damage (for a move, `delta_time`) differs, but not verdict and reason.
       `otherwise`: only other bytes differ. */
    size_t same, flipped, damaged, otherwise;
    size_t replayed_otherwise; /* replayed results that differ in any byte */
    size_t answers_otherwise;  /* answers that differ outside their results */
    size_t answers_line;       /* line of the first answer that differs outside its results */
    size_t first_line;         /* line of the first difference of any kind; 0: no difference */
    struct hs_reason_count reasons[HS_DIFFERENCES_REASONS]; /* counts for hits and shots */
    struct hs_reason_count move_reasons[HS_DIFFERENCES_MOVE_REASONS];
    struct hs_changed_claim *changed; /* in the order of the stream; at most `limit` */
    size_t changed_count, changed_capacity, changed_left_out;
};

/* Starts a comparison. The caller must call hs_differences_free at the end. */
void hs_differences_init(struct hs_differences *differences, bool other_rules, size_t limit);
void hs_differences_free(struct hs_differences *differences);

struct hs_compared {
    struct hs_str match;
    enum hs_route route;
    size_t line;
};

/*
 * Compares the recorded answer to a request (`before`) with the recomputed answer (`after`).
 * Returns false if the two answers do not belong to the same request, or if memory runs out.
 */
bool hs_differences_add(struct hs_differences *differences, const struct hs_compared *request,
                        struct hs_str before, struct hs_str after);

#endif
