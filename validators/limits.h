/* The limits of a match. */
#ifndef HS_LIMITS_H
#define HS_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct hs_budget;

struct hs_match_limits {
    uint32_t players; /* per match */
    uint32_t samples; /* samples of history for each player and each mover; 2 .. 16384 */
    uint32_t movers;  /* per match */
    size_t bytes;     /* memory of the whole match; 0: no limit */
    /* The budget that many matches share (budget.h); NULL: no shared budget. Borrowed; must outlive
       the matches. */
    struct hs_budget *shared;
};

#endif
