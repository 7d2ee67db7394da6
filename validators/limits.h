/* The limits of a match. */
#ifndef HS_LIMITS_H
#define HS_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct hs_budget;

struct hs_match_limits {
    uint32_t players;
    uint32_t samples; /* maximum number of samples in one history; 2 .. 16384. Each player and each
                         mover has a history. */
    uint32_t movers;
    size_t bytes; /* memory of the whole match; 0: no limit */
    /* A budget that several matches share (budget.h), or NULL. Borrowed; must outlive the
       matches. */
    struct hs_budget *shared;
};

#endif
