/*
 * Finds the obstacle that blocks the path of a claim, or a line of sight (world/blockers.h), and
 * writes it into the rows of checks. Internal to validators/.
 */
#ifndef HS_OBSTACLE_H
#define HS_OBSTACLE_H

#include "validators/hit/context.h"
#include "validators/world/blockers.h"

/* Calls hs_blockers_find for a claim. If a mover has no pose, sets the flag mover_unknown. */
void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* Calls hs_blockers_between for a claim. If a mover has no pose, sets the flag mover_unknown. */
void hs_obstacle_between(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to,
                         int64_t time_us, enum hs_obstacle_scope scope, struct hs_obstacle *out);

/*
 * Returns HS_REASON_OK if at least one of three points of the rewound body is visible from `from`
 * at that time: its centre, its highest point or its lowest point (along `up`). Returns
 * HS_REASON_BLAST_OCCLUDED if the world hides all three points, and hs_unknown_reason if the answer
 * depends on an unknown mover.
 */
enum hs_reason hs_sight_of_body(struct hs_hit_context *c, struct hs_vec from,
                                const struct hs_body *body, int64_t time_us);

/* Returns the reason of a result that depends on the unknown mover of an obstacle. */
enum hs_reason hs_unknown_reason(const struct hs_obstacle *obstacle);

/*
 * Writes distance and mover of the obstacle into a row, and `needed` as the limit. Returns
 * `reason`. If `is_certain` is false, writes the unknown mover instead and returns
 * hs_unknown_reason.
 */
enum hs_reason hs_report_obstacle(struct hs_check_row *row, const struct hs_obstacle *obstacle,
                                  bool is_certain, enum hs_reason reason, double needed);

#endif
