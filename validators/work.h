/*
 * Counts the cost of a claim during its evaluation. Counts depend only on the inputs, so the same
 * claim costs the same on every machine.
 *
 * One work unit takes at most about 10 ns on one core of a server from 2020. hit/work.h describes
 * how this was measured.
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
    HS_WORK_PASS = 1,      /* one body or mover that is far from the path, skipped */
    HS_WORK_LOOK = 12,     /* one player, looked up by name and time */
    HS_WORK_LEG = 12,      /* one body or mover placed for one leg of a path */
    HS_WORK_SAMPLE = 2,    /* one sample of a history, read */
    HS_WORK_BALL = 4,      /* one bounding sphere of a hitbox tested against a path */
    HS_WORK_SWEEP = 30,    /* one swept sphere against one placed hitbox or box */
    HS_WORK_CAST = 10,     /* one leg of a path, prepared for the test against the map */
    HS_WORK_NODE = 4,      /* one node of a map's hierarchy, visited */
    HS_WORK_TRIANGLE = 12, /* one triangle or box of a map, tested exactly */
};

/* The work of one claim. Start from {0} for no limit. */
struct hs_work {
    uint64_t spent; /* units */
    uint64_t limit; /* units; 0: no limit */
};

static inline void hs_work_spend(struct hs_work *work, uint64_t units)
{
    work->spent += units;
}

/* Spends HS_WORK_PASS for each of `count` bodies. Stops counting one unit above the limit. */
static inline void hs_work_pass(struct hs_work *work, uint64_t count)
{
    uint64_t spent = work->spent + count * HS_WORK_PASS;
    if (work->limit == 0 || spent <= work->limit)
        work->spent = spent;
    else if (work->spent <= work->limit)
        work->spent = work->limit + HS_WORK_PASS;
}

/* Returns whether the limit is exceeded. Results computed after the limit was exceeded must not be
   used. */
static inline bool hs_work_is_over(const struct hs_work *work)
{
    return work->limit != 0 && work->spent > work->limit;
}

HS_PUBLIC_END

#endif
