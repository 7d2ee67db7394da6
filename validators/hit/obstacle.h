/*
 * What of the world blocks the path or the sight of a claim (world/blockers.h), and how the checks
 * report it. Internal to validators/.
 */
#ifndef HS_OBSTACLE_H
#define HS_OBSTACLE_H

#include "validators/hit/context.h"
#include "validators/world/blockers.h"

/* hs_blockers_find for a claim. A mover without a place then sets a flag of the answer. */
void hs_obstacle_find(struct hs_hit_context *c, const struct hs_path *path, double radius,
                      struct hs_obstacle *out);

/* hs_blockers_between for a claim, with the same flag. */
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
