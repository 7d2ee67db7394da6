/*
 * Finds what blocks a path or a line: the static map, and movers at the places where they were when
 * the shot passed. Internal to validators/.
 */
#ifndef HS_BLOCKERS_H
#define HS_BLOCKERS_H

#include "validators/geometry/path.h"
#include "validators/world.h"
#include "validators/world/movers.h"

/* What queries test, and what they report besides the obstacle. */
struct hs_blockers {
    const struct hs_world *world; /* borrowed; NULL: the map is unknown */
    const struct hs_movers *movers;
    const struct hs_ruleset *ruleset; /* contains the limits for the interpolation of movers */
    const struct hs_mover *without;   /* a mover that is not tested, or NULL; on a path with several
                                         legs it is tested anyway */
    struct hs_work *work;
    bool is_mover_unknown; /* a query sets this if a mover had no place at the tested time, or may
                              no longer be solid */
};

struct hs_obstacle {
    bool touched;
    struct hs_sweep_contact contact; /* in world coordinates, with distances along the path */
    const struct hs_mover *mover;    /* the touched mover; NULL: the path touched the static map */
    double radius;                   /* radius of the sphere that was swept along a path */

    /* True if it is unknown whether a mover is in the way before the contact. Either the mover has
       no place at the time of the shot, and its newest place is in the way. Or the mover is in the
       way, but was last known to be solid before a restart. */
    bool is_unknown;
    double unknown_distance; /* along the path */
    enum hs_rewind_status unknown_status;
    const struct hs_mover *unknown_mover;
};

/*
 * Finds the first contact of a path with the map or a mover. Movers are tested where they are when
 * the shot passes. The swept sphere has `radius`, which may be smaller than the radius of the path.
 *
 * If the sphere touches something at its start, a ray is tested instead. So a shooter who leans on
 * a wall can shoot along the wall. The path's own, larger sphere may touch bodies beside the path;
 * this function does not test whether the world hides them.
 */
void hs_blockers_find(struct hs_blockers *s, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* What hs_blockers_between finds. HS_NEAREST: the nearest obstacle. HS_ANY: any obstacle, which is
   faster. HS_NEAREST_OF_MAP: the nearest obstacle in the map; movers are not tested. */
enum hs_obstacle_scope { HS_NEAREST, HS_ANY, HS_NEAREST_OF_MAP };

/* Finds an obstacle on the straight line between two points at one time. Distances are measured
   from `from`. A line that ends on a surface touches this surface. */
void hs_blockers_between(struct hs_blockers *s, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out);

/* hs_blockers_sweep_map finds the first contact of a sweep with the map. hs_blockers_sweep_movers
   finds the first contact with a mover at `time_us`. */
void hs_blockers_sweep_map(struct hs_blockers *s, const struct hs_sweep *sweep,
                           struct hs_obstacle *out);
void hs_blockers_sweep_movers(struct hs_blockers *s, const struct hs_sweep *sweep, int64_t time_us,
                              struct hs_obstacle *out);

#endif
