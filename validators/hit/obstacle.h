/* Finds the obstacle that blocks a path or a line of sight (world/blockers.h), and reports it in
   the rows of checks. An unknown mover is a mover without a pose, or a mover that may no longer be
   solid after a restore. Internal to validators/. */
#ifndef HS_OBSTACLE_H
#define HS_OBSTACLE_H

#include "validators/hit/context.h"
#include "validators/world/blockers.h"

/* Calls hs_blockers_find, and sets the flag mover_unknown if a mover is unknown. */
void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* Calls hs_blockers_between, and sets the flag mover_unknown if a mover is unknown. */
void hs_obstacle_between(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out);

/* Finds the surface of the map that a sphere touches. */
void hs_obstacle_at(struct hs_hit_context *c, struct hs_vec center, double radius,
                    struct hs_obstacle *out);

/*
 * Returns whether a rewound body is visible from `from` at `time_us`. Three points of the body are
 * tested: its centre, its highest and its lowest point along `up`. Returns HS_REASON_OK if at least
 * one point is visible, HS_REASON_BLAST_OCCLUDED if the world hides all three points, and
 * hs_unknown_reason if the result depends on an unknown mover.
 */
enum hs_reason hs_sight_of_body(struct hs_hit_context *c, struct hs_vec from,
                                const struct hs_body *body, int64_t time_us);

/* Returns the reason for an unknown outcome that depends on the obstacle's unknown mover. */
enum hs_reason hs_unknown_reason(const struct hs_obstacle *obstacle);

/* Writes the distance and the mover of the obstacle into a row, with `needed` as the limit, and
   returns `reason`. If `is_certain` is false, writes the distance and the name of the unknown mover
   instead, and returns hs_unknown_reason. */
enum hs_reason hs_report_obstacle(struct hs_check_row *row, const struct hs_obstacle *obstacle,
                                  bool is_certain, enum hs_reason reason, double needed);

#endif
