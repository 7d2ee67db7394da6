/* What a match remembers about its claims for hints (hints.h). Internal to validators/. */
#ifndef HS_MATCH_HINTS_H
#define HS_MATCH_HINTS_H

#include <stdint.h>

#include "validators/vec.h"
#include "validators/vocabulary.h"

/* A set of shooters, one bit per hash of a name. Two generations, so that old ones are forgotten.
 */
struct hs_shooter_set {
    uint32_t now, before;
};

struct hs_finding {
    uint16_t claims, of; /* claims that show it, and that could; both are halved if `of` is full */
    struct hs_shooter_set voices; /* shooters whose claims show it */
    double measured, expected;    /* means over the last few claims that show it */
};

/* The explanation that most claims share. It is replaced when as many claims contradict it as
   agreed with it (Boyer and Moore, MJRTY: a fast majority vote algorithm, 1981). */
struct hs_majority {
    uint8_t choice, votes;
};

struct hs_hints {
    uint32_t heard, sampled; /* all claims, and those that the rules examined */
    struct hs_shooter_set shooters;
    struct hs_vec offset; /* majority: from the root to `start`, in eye heights */
    uint8_t offset_votes;
    double share_below; /* share of traces that pass the target below its root */
    struct hs_majority factor, turn;
    struct hs_finding findings[HS_HINT_COUNT];
};

#endif
