/*
 * What a claim will cost, estimated before it is judged, in the work units of work.h.
 *
 * The estimate assumes players who stand as players stand: at most `near` of them close to a path,
 * and each close to HS_WORK_NEAR_LEGS of its legs. Maps and bodies can be made to cost more, so the
 * work is also counted while a claim is judged (struct hs_work), and a claim that passes its limit
 * is given up. No request can cost more than its budget and one step of its last claim.
 *
 * Measured by `build/release/tests/bench/bench_work -v` with claims made to be dear: a unit took
 * 1.7 to 8.8 ns of processor time, most for triangles that only the exact test rules out.
 */
#ifndef HS_HIT_WORK_H
#define HS_HIT_WORK_H

#include "ruleset.h"
#include "work.h"

/* Bodies near one path: of a claim as players stand, and of the dearest claim a ruleset must allow
   for. Fewer let too many dear claims begin; more refuse claims that would fit. */
enum { HS_WORK_NEAR_BODIES = 16, HS_WORK_NEAR_BODIES_MAX = 64 };

/* Legs of a flight near one body: half a second. */
enum { HS_WORK_NEAR_LEGS = 32 };

/* Costs that do not depend on what a path meets: naming, writing and recording the answer. */
enum {
    HS_WORK_REPLAY = 200,  /* a claim that was answered before */
    HS_WORK_CLAIM = 1500,  /* any other claim or shot */
    HS_WORK_PELLET = 150,  /* of its pellets, each */
    HS_WORK_VICTIM = 150,  /* of its claimed victims, each */
    HS_WORK_FLIGHT_LEG = 6 /* of a flight, each leg that is laid */
};

/* The size of a claim. */
struct hs_hit_size {
    uint64_t bodies;    /* in the match */
    uint64_t near;      /* of these, assumed near each path */
    uint64_t hitboxes;  /* of the largest rig */
    uint64_t legs;      /* of a flight; 0: instant */
    uint64_t pellets;   /* paths that are swept; 0: not a claim by pellets, one path */
    uint64_t victims;   /* claimed besides the target */
    uint64_t triangles; /* and boxes of the map */
    uint64_t movers;
    bool has_blast;
};

/* Work units of a claim of that size. Pure. */
uint64_t hs_hit_work(const struct hs_hit_size *size);

/* Hitboxes of the largest rig. */
uint64_t hs_ruleset_hitboxes(const struct hs_ruleset *ruleset);

/* Work units of the dearest claim with a weapon, with HS_WORK_NEAR_BODIES_MAX players and no map.
 */
uint64_t hs_weapon_work(const struct hs_ruleset *ruleset, const struct hs_weapon *weapon);

#endif
