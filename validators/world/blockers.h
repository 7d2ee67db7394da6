/*
 * Finds the obstacles on a path or a line: the static map, and the movers at their positions at the
 * time of the shot. Internal to validators/.
 */
#ifndef HS_BLOCKERS_H
#define HS_BLOCKERS_H

#include "validators/geometry/path.h"
#include "validators/world.h"
#include "validators/world/movers.h"

/* The input of the queries below, and two results of all queries: the work and is_mover_unknown. */
struct hs_blockers {
    const struct hs_world *world; /* borrowed; NULL: the map is unknown */
    const struct hs_movers *movers;
    /* The ruleset with the limits for interpolation between the samples of a mover. */
    const struct hs_ruleset *ruleset;
    /* A mover to leave out, or NULL; hs_blockers_find ignores this member on a path with several
       legs. */
    const struct hs_mover *without;
    struct hs_work *work;
    /* A query sets this member if a mover has no pose at the tested time, or if a mover in the way
       may no longer be solid. */
    bool is_mover_unknown;
};

struct hs_obstacle {
    bool touched;
    struct hs_sweep_contact contact; /* in world coordinates, with distances along the path */
    const struct hs_mover *mover;    /* the touched mover; NULL: the static map was touched */
    double radius; /* radius of the sphere that hs_blockers_find swept along the path */

    /* Set if a mover may be in the way before the contact. In the first case, the mover has no pose
       at the time of the shot, but its newest pose is in the way. In the second case, the mover is
       in the way, but the last frame that posted the mover as solid came before a restart. */
    bool is_unknown;
    double unknown_distance; /* distance along the path to the unknown mover */
    enum hs_rewind_status unknown_status;
    const struct hs_mover *unknown_mover;
};

/*
 * Sweeps a sphere along a path and finds its first contact with the map or a mover. Each mover is
 * tested at its position at the time when the shot passes the mover. `radius` is the radius of the
 * sphere, and may be smaller than the radius of the path.
 *
 * If the sphere touches something at its start, a ray is tested instead. So a shooter who leans on
 * a wall can shoot along the wall. A path with a larger radius may touch bodies beside the path.
 * This function does not test whether the world hides these bodies.
 */
void hs_blockers_find(struct hs_blockers *s, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* The obstacle that hs_blockers_between finds. HS_NEAREST: the nearest obstacle. HS_ANY: any
   obstacle; this search is faster. HS_NEAREST_OF_MAP: the nearest obstacle in the map; movers are
   not tested. */
enum hs_obstacle_scope { HS_NEAREST, HS_ANY, HS_NEAREST_OF_MAP };

/* Finds an obstacle on the straight line between two points at the time `time_us`. Distances are
   measured from `from`. A line that ends on a surface touches the surface. */
void hs_blockers_between(struct hs_blockers *s, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out);

/* hs_blockers_sweep_map finds the first contact of a sweep with the map. hs_blockers_sweep_movers
   finds the first contact of a sweep with the movers at their positions at `time_us`. */
void hs_blockers_sweep_map(struct hs_blockers *s, const struct hs_sweep *sweep,
                           struct hs_obstacle *out);
void hs_blockers_sweep_movers(struct hs_blockers *s, const struct hs_sweep *sweep, int64_t time_us,
                              struct hs_obstacle *out);

#endif
