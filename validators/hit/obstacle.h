/*
 * What of the world stands on a path or in a line of sight: the static map, and the movers where
 * they were. Internal to validators/.
 */
#ifndef HS_OBSTACLE_H
#define HS_OBSTACLE_H

#include "validators/hit/context.h"

struct hs_obstacle {
    bool touched;
    struct hs_sweep_contact contact; /* in the world; its distance along the path */
    const struct hs_mover *mover;    /* touched; NULL: the static map */
    double radius;                   /* of the sphere that was cast along a path */

    /* A mover without a place at that time, which would be touched first as it stands now; or one
       that is touched where it is, and perhaps is not solid any more. */
    bool is_doubtful;
    double doubt_distance; /* along the path */
    enum hs_rewind_status doubt;
    const struct hs_mover *doubt_mover;
};

/*
 * First contact of a path with the map and the movers, each mover where it is when the path passes
 * it. Movers without a place then are flagged in the answer and not tested. The sphere that is cast
 * has that radius, which may be smaller than the path's.
 *
 * A sphere that already touches something where it starts is cast as a ray: a shooter leaning on a
 * wall can shoot along it. Bodies that only the path's wider sphere touches need not be in sight of
 * the path.
 */
void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* The same for the straight line between two places, at one time; distances count from `from`.
   Ends that lie in a surface are touched. */
void hs_obstacle_between(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, struct hs_obstacle *out);

/* The same, but any obstacle will do: the first found, not the nearest. */
void hs_obstacle_hides(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                       int64_t time_us, struct hs_obstacle *out);

/* The same, of the map alone: for times whose movers are forgotten. */
void hs_obstacle_of_map(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                        struct hs_obstacle *out);

/* Names the mover in a row of the report; nothing for the map. */
void hs_report_mover(struct hs_check_row *row, const struct hs_mover *mover);

/* The reason for a verdict that hangs on a mover without a place. */
enum hs_reason hs_doubt_reason(const struct hs_obstacle *obstacle);

#endif
