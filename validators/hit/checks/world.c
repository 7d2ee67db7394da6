/*
 * world: is a wall, or a door as it stood then, in the way? Did what bursts on contact burst on
 * something?
 */
#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"
#include "validators/hit/volley.h"

static void report_occluded(struct hs_hit_context *c, const struct hs_obstacle *obstacle,
                            double needed)
{
    struct hs_check_row *row = hs_report_fail(c, HS_CHECK_WORLD, HS_REASON_OCCLUDED_WORLD);
    hs_report_measure(row, HS_UNIT_LENGTH, obstacle->contact.distance, needed);
    hs_report_mover(row, obstacle->mover);
}

/* Only a mover whose place then is not known would be in the way. */
static void report_doubt(struct hs_hit_context *c, const struct hs_obstacle *obstacle,
                         double needed)
{
    struct hs_check_row *row = hs_report_unknown(c, HS_CHECK_WORLD, hs_doubt_reason(obstacle));
    hs_report_measure(row, HS_UNIT_LENGTH, obstacle->doubt_distance, needed);
    hs_report_mover(row, obstacle->doubt_mover);
}

static bool bursts(const struct hs_hit_context *c)
{
    return c->weapon != NULL && (c->weapon->has_blast || c->weapon->type == HS_WEAPON_PROJECTILE);
}

/*
 * A contact fuse needs a surface, body or world, no further from the claimed end than the sweep
 * goes beyond it. True when the row is written.
 */
static bool burst_in_the_air(struct hs_hit_context *c, const struct hs_encounter *e)
{
    if (c->claim->fuse != HS_FUSE_CONTACT || c->match->world == NULL || !bursts(c) ||
        e->obstacle.touched || e->obstacle.is_doubtful || e->reaches || e->met_count > 0)
        return false;
    double radius = hs_world_radius(c), beyond = c->weapon->range + c->path.extension;
    struct hs_vec far = hs_vec_add_scaled(c->claim->end, c->path.end_direction, beyond);
    struct hs_path onward;
    struct hs_obstacle next;
    hs_path_trace(c->claim->end, far, radius, 0, c->hit_time_us, &onward);
    hs_obstacle_find(c, &onward, radius, &next);
    hs_report_measure(hs_report_fail(c, HS_CHECK_WORLD, HS_REASON_IMPACT_NOT_ON_SURFACE),
                      HS_UNIT_LENGTH, (next.touched ? next.contact.distance : beyond) + radius,
                      c->path.extension + radius);
    return true;
}

/* There is no world to judge by. */
static bool knows_nothing(const struct hs_hit_context *c)
{
    return c->match->world == NULL && c->match->movers.count == 0;
}

static void check_path(struct hs_hit_context *c, const struct hs_encounter *e)
{
    if (knows_nothing(c) || (c->claims_target && c->target.status != HS_REWIND_OK))
        return;
    if (e->is_occluded) {
        report_occluded(c, &e->obstacle, e->needed);
        return;
    }
    /* Where a burst lies that nobody stopped, and whether it lies on anything, hangs on the mover
       as well. */
    bool needs_place = c->weapon != NULL && c->weapon->has_blast;
    if (c->claim->fuse == HS_FUSE_CONTACT && c->match->world != NULL && bursts(c))
        needs_place = true;
    bool hangs = !c->claims_target && e->obstacle.is_doubtful && needs_place;
    if (e->is_doubtful || hangs) {
        report_doubt(c, &e->obstacle, e->is_doubtful ? e->needed : c->path.length);
        return;
    }
    if (burst_in_the_air(c, e))
        return;
    struct hs_check_row *row = hs_report_pass(c, HS_CHECK_WORLD);
    if (e->reaches && e->obstacle.touched)
        hs_report_measure(row, HS_UNIT_LENGTH, e->obstacle.contact.distance, e->needed);
}

static void check_pellets(struct hs_hit_context *c, const struct hs_volley *volley)
{
    if (knows_nothing(c))
        return;
    /* What one pellet lacks, another's wall does not make up for. */
    if (volley->free == 0 && volley->is_doubtful)
        report_doubt(c, &volley->obstacle, volley->needed);
    else if (volley->free == 0 && volley->is_occluded && !volley->is_missing)
        report_occluded(c, &volley->obstacle, volley->needed);
    else
        hs_report_pass(c, HS_CHECK_WORLD);
}

void hs_check_world(struct hs_hit_context *c)
{
    if (c->volley != NULL)
        check_pellets(c, c->volley);
    else
        check_path(c, c->encounter);
}
