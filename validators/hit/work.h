/*
 * Estimates the cost of a claim before its evaluation, in the work units of validators/work.h.
 *
 * The estimate assumes that at most `near` players are close to a path. The estimate also assumes
 * that each of these players is close to at most HS_WORK_NEAR_LEGS legs of the path. Maps and
 * bodies that an attacker designs can cost more. So the work is also counted during the evaluation
 * (struct hs_work), and a claim that exceeds its limit is stopped. A request then costs at most its
 * budget plus one step of its last claim.
 *
 * `build/release/tests/bench/bench_work -v` measures expensive claims. In these measurements, a
 * unit took 1.7 to 8.8 ns of processor time. Units were slowest in tests of triangles that only the
 * exact test excludes.
 */
#ifndef HS_HIT_WORK_H
#define HS_HIT_WORK_H

#include "validators/ruleset.h"
#include "validators/work.h"

/* The assumed number of bodies near a path: for ordinary claims, and for a ruleset's most expensive
   claim. With lower values, too many expensive claims would start. With higher values, claims that
   fit into the limit would be refused. */
enum { HS_WORK_NEAR_BODIES = 16, HS_WORK_NEAR_BODIES_MAX = 64 };

/* The assumed number of legs of a flight near one body: half a second of flight. */
enum { HS_WORK_NEAR_LEGS = 32 };

/* Costs that do not depend on bodies: lookups, and writing and recording the answer. */
enum {
    HS_WORK_REPLAY = 200,  /* a claim that was answered before */
    HS_WORK_CLAIM = 1500,  /* any other claim or shot */
    HS_WORK_PELLET = 150,  /* each pellet of a claim */
    HS_WORK_VICTIM = 150,  /* each claimed victim */
    HS_WORK_FLIGHT_LEG = 6 /* each leg of a flight */
};

/* The numbers that the cost of a claim depends on. */
struct hs_hit_size {
    uint64_t bodies;   /* players in the match */
    uint64_t near;     /* bodies that are assumed to be near each path */
    uint64_t hitboxes; /* number of hitboxes in the largest rig */
    uint64_t legs;     /* number of legs of the flight; 0 for an instant weapon */
    /* Claimed pellets, each with its own path; 0 if the claim has a single path. */
    uint64_t pellets;
    uint64_t victims;   /* number of players claimed in addition to the target */
    uint64_t triangles; /* triangles and boxes in the map */
    uint64_t movers;
    bool sweeps_twice; /* each path is swept once more, to find the first body on it */
    bool has_blast;
};

/* Returns the estimated work units of a claim with these numbers. Pure. */
uint64_t hs_hit_work(const struct hs_hit_size *size);

#endif
