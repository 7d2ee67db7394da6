/*
 * Finds the parts of the world that block a path or a line: the static map, and movers at the
 * places where they were. Hits and moves use the same sweeps. Internal to validators/.
 */
#ifndef HS_BLOCKERS_H
#define HS_BLOCKERS_H

#include "validators/geometry/path.h"
#include "validators/world.h"
#include "validators/world/movers.h"

/* The map and the movers of a match, as queries see them. */
struct hs_blockers {
    const struct hs_world *world; /* borrowed; NULL: the map is unknown */
    const struct hs_movers *movers;
    const struct hs_ruleset *ruleset; /* contains the limits for the interpolation of movers */
    const struct hs_mover *without;   /* the mover that sweeps and lines do not test; NULL to test
                                         all movers */
    struct hs_work *work;
    bool is_mover_unknown; /* set by a query: a mover had no place at the tested time */
};

struct hs_obstacle {
    bool touched;
    struct hs_sweep_contact contact; /* in the world; `distance` is along the path */
    const struct hs_mover *mover;    /* the touched mover; NULL: the path touched the static map */
    double radius;                   /* radius of the sphere that was swept along a path */

    /* A mover may be in the way before the contact. There are two cases: the mover has no place at
       that time and its newest place is in the way, or the mover is in the way but may no longer be
       solid after a restart. */
    bool is_unknown;
    double unknown_distance; /* along the path */
    enum hs_rewind_status unknown_status;
    const struct hs_mover *unknown_mover;
};

/*
 * Finds the first contact of a path with the map and the movers. Each mover is tested at the time
 * when the path passes it. The swept sphere has `radius`, which may be smaller than the radius of
 * the path.
 *
 * If a sphere touches something at its start, a ray is cast instead. So a shooter who leans on a
 * wall can shoot along the wall. A sphere with the path's own, larger radius may touch bodies
 * beside the path. This function does not test whether the world hides such bodies.
 */
void hs_blockers_find(struct hs_blockers *s, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* Selects what a query finds: the nearest obstacle, any obstacle (faster), or the nearest obstacle
   of the map alone. */
enum hs_obstacle_scope { HS_NEAREST, HS_ANY, HS_NEAREST_OF_MAP };

/* Like hs_blockers_find, for the straight line between two points at one time. Distances are
   measured from `from`. A line that ends on a surface touches that surface. */
void hs_blockers_between(struct hs_blockers *s, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out);

/* Find the first contact of one sweep with the map alone, or with the movers alone. Movers stay at
   their places of that time. */
void hs_blockers_sweep_map(struct hs_blockers *s, const struct hs_sweep *sweep,
                           struct hs_obstacle *out);
void hs_blockers_sweep_movers(struct hs_blockers *s, const struct hs_sweep *sweep, int64_t time_us,
                              struct hs_obstacle *out);

#endif
