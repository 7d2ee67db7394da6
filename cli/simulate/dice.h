/* Seeded random numbers, the same on every machine (SplitMix64, Steele et al. 2014). */
#ifndef HS_SIMULATE_DICE_H
#define HS_SIMULATE_DICE_H

#include <stdint.h>

#include "validators/base/digest.h"

struct hs_dice {
    uint64_t state;
};

static inline uint64_t hs_dice_next(struct hs_dice *dice)
{
    return hs_mix64(dice->state += UINT64_C(0x9E3779B97F4A7C15));
}

/* Returns a number x with low <= x < high. */
static inline double hs_dice_between(struct hs_dice *dice, double low, double high)
{
    return low + (high - low) * (double)(hs_dice_next(dice) >> 11) * 0x1p-53;
}

/* Returns an approximately normal random number with mean 0 and standard deviation 1, always within
   -6 .. 6. */
static inline double hs_dice_normal(struct hs_dice *dice)
{
    double sum = -6.0;
    for (int i = 0; i < 12; i++)
        sum += hs_dice_between(dice, 0.0, 1.0);
    return sum;
}

/* Returns a whole number in 0 .. count - 1. */
static inline unsigned hs_dice_pick(struct hs_dice *dice, unsigned count)
{
    return (unsigned)hs_dice_between(dice, 0.0, (double)count);
}

#endif
