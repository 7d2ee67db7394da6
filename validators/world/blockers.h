/*
 * Finds the parts of the world that block a path or a line: the static map, and the movers where
 * they were. Hits and moves use the same sweeps. Internal to validators/.
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
    const struct hs_ruleset *ruleset; /* says how far movers are interpolated */
    const struct hs_mover *without;   /* not tested by sweeps and lines; NULL: all are tested */
    struct hs_work *work;
    bool is_mover_unknown; /* set by a query: some mover had no place at the time */
};

struct hs_obstacle {
    bool touched;
    struct hs_sweep_contact contact; /* in the world; its distance along the path */
    const struct hs_mover *mover;    /* touched; NULL: the static map */
    double radius;                   /* of the sphere that was cast along a path */

    /* A mover may be in the way before the contact. Either it has no place at that time and is
       touched where it is now, or it is touched and its solidity is stale. */
    bool is_unknown;
    double unknown_distance; /* along the path */
    enum hs_rewind_status unknown_status;
    const struct hs_mover *unknown_mover;
};

/*
 * Finds the first contact of a path with the map and the movers. Each mover is where it is when the
 * path passes it. The sphere that is cast has this radius, which may be smaller than the path's.
 *
 * A sphere that already touches something at its start is cast as a ray: a shooter leaning on a
 * wall can shoot along it. Bodies that only the path's wider sphere touches need not be in sight of
 * the path.
 */
void hs_blockers_find(struct hs_blockers *s, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* The nearest obstacle, or any one (faster), or the nearest part of the map without the movers. */
enum hs_obstacle_scope { HS_NEAREST, HS_ANY, HS_NEAREST_OF_MAP };

/* Works like hs_blockers_find for the straight line between two points, at one time. Distances
   count from `from`. A line that ends on a surface touches it. */
void hs_blockers_between(struct hs_blockers *s, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out);

/* Find the first contact of one sweep with the map alone, or with the movers alone, which stand
   still where they are at that time. */
void hs_blockers_sweep_map(struct hs_blockers *s, const struct hs_sweep *sweep,
                           struct hs_obstacle *out);
void hs_blockers_sweep_movers(struct hs_blockers *s, const struct hs_sweep *sweep, int64_t time_us,
                              struct hs_obstacle *out);

#endif
