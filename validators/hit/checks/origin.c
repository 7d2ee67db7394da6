/* origin: does the trace start where the shooter's eye was when he fired, with no wall between? */
#include "validators/hit/checks.h"
#include "validators/hit/obstacle.h"

static void judge(struct hs_hit_context *c, double measured, double limit)
{
    struct hs_check_row *row = measured <= limit
                                   ? hs_report_pass(c, HS_CHECK_ORIGIN)
                                   : hs_report_fail(c, HS_CHECK_ORIGIN, HS_REASON_ORIGIN_MISMATCH);
    hs_report_measure(row, HS_UNIT_LENGTH, measured, limit);
}

/* The muzzle must not be poked through a wall. True when the row is written. */
static bool is_occluded(struct hs_hit_context *c, struct hs_vec from,
                        const struct hs_obstacle *wall)
{
    if (!wall->touched && !wall->is_doubtful)
        return false;
    struct hs_check_row *row = wall->touched
                                   ? hs_report_fail(c, HS_CHECK_ORIGIN, HS_REASON_ORIGIN_OCCLUDED)
                                   : hs_report_unknown(c, HS_CHECK_ORIGIN, hs_doubt_reason(wall));
    hs_report_measure(row, HS_UNIT_LENGTH,
                      wall->touched ? wall->contact.distance : wall->doubt_distance,
                      hs_vec_distance(from, c->claim->start));
    hs_report_mover(row, wall->touched ? wall->mover : wall->doubt_mover);
    return true;
}

/*
 * What the posted shot said of its origin does not hold for a hit that starts elsewhere. Where the
 * shooter's history is gone, the movers' is as well, and only the map can stand between the two.
 */
static void judge_by_posted(struct hs_hit_context *c, double tolerance)
{
    struct hs_obstacle wall = {0};
    struct hs_vec from = c->posted->start;
    double off = hs_vec_distance(c->claim->start, from);
    if (off <= tolerance && hs_hit_mode(c, HS_CHECK_ORIGIN) != HS_MODE_OFF)
        hs_obstacle_of_map(c, from, c->claim->start, &wall);
    if (!is_occluded(c, from, &wall))
        judge(c, off, tolerance);
}

void hs_check_origin(struct hs_hit_context *c)
{
    double tolerance = c->ruleset->hit.origin_tolerance;
    if (hs_posted_failed(c, HS_CHECK_ORIGIN)) {
        hs_report_remembered(c, HS_CHECK_ORIGIN);
        return;
    }
    if (c->posted != NULL && c->shooter.status != HS_REWIND_OK) {
        judge_by_posted(c, tolerance);
        return;
    }
    if (c->launch_forgotten)
        return;
    if (c->shooter.status != HS_REWIND_OK) {
        hs_report_missing(c, HS_CHECK_ORIGIN, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
        return;
    }
    const struct hs_bracket *bracket = &c->shooter.bracket;
    struct hs_vec eye = hs_rewind_eye(c->shooter.player->history, c->ruleset, bracket);
    /* Between two samples he may have been anywhere on the way from one to the other. */
    double moved =
        bracket->held ? 0 : hs_vec_distance(bracket->from->position, bracket->to->position);
    double off = hs_vec_distance(c->claim->start, eye);
    struct hs_obstacle wall = {0};
    if (off <= tolerance + moved && hs_hit_mode(c, HS_CHECK_ORIGIN) != HS_MODE_OFF)
        hs_obstacle_between(c, eye, c->claim->start, c->eye_time_us, &wall);
    if (!is_occluded(c, eye, &wall))
        judge(c, off, tolerance + moved);
}
