#include "validators/hit/work.h"

#include "validators/geometry/path.h"
#include "validators/hit.h"

/* Estimates the cost of one leg through the map. In a map with four times as many triangles, a leg
   costs two nodes and one triangle more. */
static uint64_t cast_work(uint64_t triangles)
{
    uint64_t levels = 0;
    for (uint64_t left = triangles; left > 0; left /= 4)
        levels++;
    return triangles > 0 ? HS_WORK_CAST + levels * (2 * HS_WORK_NODE + HS_WORK_TRIANGLE) : 0;
}

static uint64_t path_work(const struct hs_hit_size *size)
{
    uint64_t near = size->bodies < size->near ? size->bodies : size->near;
    uint64_t legs = size->legs > 0 ? size->legs : 1, chunks = legs / 16 + 1;
    uint64_t near_legs = legs < HS_WORK_NEAR_LEGS ? legs : HS_WORK_NEAR_LEGS;
    uint64_t pass = legs > 1 ? chunks * 2 * HS_WORK_LEG : HS_WORK_PASS;
    uint64_t body = HS_WORK_LEG + size->hitboxes * (2 * HS_WORK_BALL + HS_WORK_SWEEP);
    return size->bodies * pass + near * near_legs * body + legs * cast_work(size->triangles) +
           size->movers * (3 + chunks) * HS_WORK_PASS;
}

static uint64_t blast_work(const struct hs_hit_size *size)
{
    uint64_t near = size->bodies < size->near ? size->bodies : size->near;
    uint64_t sight = 3 * (cast_work(size->triangles) + size->movers * 3 * HS_WORK_PASS);
    uint64_t body = HS_WORK_LEG + size->hitboxes * 2 * HS_WORK_BALL;
    return (size->bodies + size->victims) * (HS_WORK_LOOK + size->victims * HS_WORK_PASS + body) +
           near * (size->hitboxes * 2 * HS_WORK_BALL + sight);
}

uint64_t hs_hit_work(const struct hs_hit_size *size)
{
    uint64_t paths = (size->pellets > 0 ? size->pellets : 1) * (size->sweeps_twice ? 2 : 1);
    return HS_WORK_REPLAY + HS_WORK_CLAIM + size->pellets * HS_WORK_PELLET +
           size->victims * HS_WORK_VICTIM + size->legs * HS_WORK_FLIGHT_LEG +
           paths * path_work(size) + (size->has_blast ? blast_work(size) : 0);
}

uint64_t hs_ruleset_hitboxes(const struct hs_ruleset *ruleset)
{
    uint64_t max = 0;
    for (int i = 0; i < ruleset->rig_count; i++)
        if (ruleset->rigs[i]->hitbox_count > max)
            max = ruleset->rigs[i]->hitbox_count;
    return max;
}

uint64_t hs_weapon_work(const struct hs_ruleset *ruleset, const struct hs_weapon *weapon)
{
    bool flies = weapon->type == HS_WEAPON_PROJECTILE;
    const struct hs_hit_size size = {.bodies = HS_WORK_NEAR_BODIES_MAX,
                                     .near = HS_WORK_NEAR_BODIES_MAX,
                                     .hitboxes = hs_ruleset_hitboxes(ruleset),
                                     .legs = flies ? HS_MAX_LEGS : 0,
                                     .pellets = (uint64_t)weapon->pellets,
                                     .victims = (uint64_t)ruleset->hit.max_victims,
                                     .sweeps_twice = ruleset->hit.resolve == HS_RESOLVE_TOUCHED,
                                     .has_blast = weapon->has_blast};
    return hs_hit_work(&size);
}
