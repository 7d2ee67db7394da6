/*
 * Estimates the cost of a claim before its evaluation, in the work units of validators/work.h.
 *
 * The estimate assumes that at most `near` players are close to a path, and that each of these
 * players is close to HS_WORK_NEAR_LEGS legs of the path. Hostile maps and bodies can cost more. So
 * the work is also counted during the evaluation (struct hs_work), and a claim that exceeds its
 * limit is stopped. No request costs more than its budget plus one step of its last claim.
 *
 * `build/release/tests/bench/bench_work -v` measures expensive claims. In this benchmark a unit
 * took 1.7 to 8.8 ns of processor time. Triangles that only the exact test rejects took the most
 * time per unit.
 */
#ifndef HS_HIT_WORK_H
#define HS_HIT_WORK_H

#include "validators/ruleset.h"
#include "validators/work.h"

/* The assumed number of bodies near a path: HS_WORK_NEAR_BODIES for ordinary claims,
   HS_WORK_NEAR_BODIES_MAX for the most expensive claim of a ruleset. Lower values would let too
   many expensive claims start. Higher values would refuse claims that fit. */
enum { HS_WORK_NEAR_BODIES = 16, HS_WORK_NEAR_BODIES_MAX = 64 };

/* The assumed number of legs of a flight that are near one body; 32 legs last half a second. */
enum { HS_WORK_NEAR_LEGS = 32 };

/* Costs that do not depend on the bodies on a path: lookups, writing and recording the answer. */
enum {
    HS_WORK_REPLAY = 200,  /* a claim that was answered before */
    HS_WORK_CLAIM = 1500,  /* any other claim or shot */
    HS_WORK_PELLET = 150,  /* each pellet of a claim */
    HS_WORK_VICTIM = 150,  /* each claimed victim */
    HS_WORK_FLIGHT_LEG = 6 /* each leg of a flight */
};

/* The size of a claim. */
struct hs_hit_size {
    uint64_t bodies;    /* players in the match */
    uint64_t near;      /* bodies assumed near each path */
    uint64_t hitboxes;  /* hitboxes of the largest rig */
    uint64_t legs;      /* legs of the flight; 0: instant */
    uint64_t pellets;   /* swept paths; 0: a claim without pellets, which has one path */
    uint64_t victims;   /* players claimed in addition to the target */
    uint64_t triangles; /* triangles and boxes of the map */
    uint64_t movers;
    bool sweeps_twice; /* each path is swept twice, because the first sweep finds the body that is
                          touched first */
    bool has_blast;
};

/* Estimated work units of a claim of that size. Pure. */
uint64_t hs_hit_work(const struct hs_hit_size *size);

#endif
