/*
 * What of the world blocks a path or a line of sight: the static map, and the movers where they
 * were. Internal to validators/.
 */
#ifndef HS_OBSTACLE_H
#define HS_OBSTACLE_H

#include "validators/hit/context.h"

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
 * First contact of a path with the map and the movers, each mover where it is when the path passes
 * it. A mover without a place then sets a flag of the answer. The sphere that is cast has this
 * radius, which may be smaller than the path's.
 *
 * A sphere that already touches something at its start is cast as a ray: a shooter leaning on a
 * wall can shoot along it. Bodies that only the path's wider sphere touches need not be in sight of
 * the path.
 */
void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* The nearest obstacle, or any one (faster), or the nearest part of the map without the movers. */
enum hs_obstacle_scope { HS_NEAREST, HS_ANY, HS_NEAREST_OF_MAP };

/* The same for the straight line between two points, at one time; distances count from `from`.
   A line that ends on a surface touches it. */
void hs_obstacle_between(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out);

/*
 * HS_REASON_OK if the centre, the highest or the lowest point (along up) of the rewound hitboxes is
 * visible from `from` at that time. HS_REASON_BLAST_OCCLUDED if the world hides all three, or
 * hs_unknown_reason if an unknown mover decides.
 */
enum hs_reason hs_sight_of_body(struct hs_hit_context *c, struct hs_vec from,
                                const struct hs_body *body, int64_t time_us);

/* The reason for a result that depends on the unknown mover. */
enum hs_reason hs_unknown_reason(const struct hs_obstacle *obstacle);

/*
 * Writes distance and mover of the obstacle into a row, with the distance that was `needed`, and
 * returns `reason`. If not `is_certain`, it writes the unknown mover and returns hs_unknown_reason.
 */
enum hs_reason hs_report_obstacle(struct hs_check_row *row, const struct hs_obstacle *obstacle,
                                  bool is_certain, enum hs_reason reason, double needed);

#endif
