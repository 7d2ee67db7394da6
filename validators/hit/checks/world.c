/* world: is the path blocked by the map, or by a mover at its position when the shot passed? Did a
   projectile with a contact fuse explode on a surface? */
#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"

/* Returns whether the projectile must have exploded on a surface, because its fuse is `contact`.
   Returns false if the claim names a target and does not itself claim the fuse `contact`. The check
   `contact` then verifies where the path ends. */
static bool claims_surface(const struct hs_hit_context *c)
{
    return c->match->world != NULL && c->weapon != NULL && !hs_hit_is_driven(c) &&
           (c->weapon->has_blast || c->weapon->type == HS_WEAPON_PROJECTILE) &&
           hs_hit_fuse(c) == HS_FUSE_CONTACT &&
           (c->claim->fuse == HS_FUSE_CONTACT || !c->claims_target);
}

/* Reports the distance from the claimed end to the next surface along the path. */
static enum hs_reason report_no_surface(struct hs_hit_context *c, struct hs_check_row *row)
{
    double radius = hs_world_radius(c), beyond = c->weapon->range + c->path.extension;
    struct hs_vec far = hs_vec_add_scaled(c->claim->end, c->path.end_direction, beyond);
    struct hs_path onward;
    struct hs_obstacle next;
    hs_path_trace(c->claim->end, far, radius, 0, c->hit_time_us, &onward);
    hs_obstacle_find(c, &onward, radius, &next);
    hs_report_measure(row, HS_UNIT_LENGTH, (next.touched ? next.contact.distance : beyond) + radius,
                      c->path.extension + radius);
    return HS_REASON_IMPACT_NOT_ON_SURFACE;
}

/* Checks that a body or the world is within sweep_extension of the claimed end. */
static enum hs_reason check_surface(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_encounter *e = c->encounter;
    if (!claims_surface(c) || e->obstacle.touched || e->obstacle.is_unknown || e->reaches ||
        e->met_count > 0)
        return HS_REASON_OK;
    return report_no_surface(c, row);
}

static enum hs_reason check_pellets(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_volley *volley = c->volley;
    /* If an unknown mover (obstacle.h) may be in the way of one pellet, the outcome is unknown,
       even if a certain obstacle stops another pellet. */
    if (volley->free == 0 && (volley->is_unknown || (volley->is_occluded && !volley->is_missing)))
        return hs_report_obstacle(row, &volley->obstacle, !volley->is_unknown,
                                  HS_REASON_OCCLUDED_WORLD, volley->needed);
    /* If a pellet names a player, the check `contact` decides. */
    if (!volley->has_names && claims_surface(c) && !c->out->impact.present)
        return report_no_surface(c, row);
    return HS_REASON_OK;
}

enum hs_reason hs_check_world(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_encounter *e = c->encounter;
    if (c->match->world == NULL && c->match->movers.count == 0)
        return HS_NO_ROW;
    if (c->volley != NULL)
        return check_pellets(c, row);
    if (c->claims_target && c->target.status != HS_REWIND_OK)
        return HS_NO_ROW;
    /* If no target is claimed, an unknown mover (obstacle.h) may change where the explosion is, and
       whether the explosion is on a surface. */
    bool has_blast = c->weapon != NULL && c->weapon->has_blast;
    bool is_end_unknown =
        !c->claims_target && e->obstacle.is_unknown && (has_blast || claims_surface(c));
    if (e->is_occluded || e->is_unknown || is_end_unknown)
        return hs_report_obstacle(row, &e->obstacle, e->is_occluded, HS_REASON_OCCLUDED_WORLD,
                                  e->is_occluded || e->is_unknown ? e->needed : c->path.length);
    if (e->reaches && e->obstacle.touched)
        hs_report_measure(row, HS_UNIT_LENGTH, e->obstacle.contact.distance, e->needed);
    return check_surface(c, row);
}
