/* How much a match may hold. */
#ifndef HS_LIMITS_H
#define HS_LIMITS_H

#include <stddef.h>
#include <stdint.h>

struct hs_account;

struct hs_match_limits {
    uint32_t players; /* in a match */
    uint32_t samples; /* of history, per player and mover; 2 .. 16384 */
    uint32_t movers;  /* in a match */
    size_t bytes;     /* of all there is of a match; 0: no bound */
    /* What many matches take together is taken from it (account.h); NULL: from nowhere. Borrowed;
       must outlive them. */
    struct hs_account *shared;
};

#endif
