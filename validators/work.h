/*
 * Counts the work that the evaluation of a claim takes. The count depends only on the inputs, so it
 * is the same on every machine.
 *
 * One work unit takes at most about 10 ns on one core of a server from 2020. hit/work.h describes
 * the measurement.
 */
#ifndef HS_WORK_H
#define HS_WORK_H

#include <stdbool.h>
#include <stdint.h>

#include "linkage.h"

HS_PUBLIC_BEGIN

/* Work units in a millisecond, at 10 ns per unit. */
#define HS_WORK_UNITS_A_MS 100000

/* The cost of each step of an evaluation, in work units. */
enum hs_work_cost {
    HS_WORK_PASS = 1,      /* skip one body or mover that is far from the path */
    HS_WORK_LOOK = 12,     /* look up one player by name and time */
    HS_WORK_LEG = 12,      /* place one body or mover for one leg of a path */
    HS_WORK_SAMPLE = 2,    /* read one sample from a history */
    HS_WORK_BALL = 4,      /* test one hitbox's bounding sphere against a path */
    HS_WORK_SWEEP = 30,    /* test one swept sphere against one placed hitbox or box */
    HS_WORK_CAST = 10,     /* prepare one leg of a path for the test against the map */
    HS_WORK_NODE = 4,      /* visit one node of a map's hierarchy */
    HS_WORK_TRIANGLE = 12, /* test one triangle or box of a map exactly */
};

/* The work of one claim. {0} has no limit. */
struct hs_work {
    uint64_t spent; /* units */
    uint64_t limit; /* units; 0: no limit */
};

static inline void hs_work_spend(struct hs_work *work, uint64_t units)
{
    work->spent += units;
}

/* Spends HS_WORK_PASS for each of `count` bodies. If the sum exceeds the limit, sets `spent` to the
   limit plus one unit. */
static inline void hs_work_pass(struct hs_work *work, uint64_t count)
{
    uint64_t spent = work->spent + count * HS_WORK_PASS;
    if (work->limit == 0 || spent <= work->limit)
        work->spent = spent;
    else if (work->spent <= work->limit)
        work->spent = work->limit + HS_WORK_PASS;
}

/* Returns whether the limit is exceeded. If so, the results of the evaluation must not be used. */
static inline bool hs_work_is_over(const struct hs_work *work)
{
    return work->limit != 0 && work->spent > work->limit;
}

HS_PUBLIC_END

#endif
