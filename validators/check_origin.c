/* origin: does the trace start where the shooter's eye was when he fired? */
#include "hit_context.h"

static void judge(struct hs_hit_context *c, double measured, double limit)
{
    struct hs_check_row *row = measured <= limit
                                   ? hs_report_pass(c, HS_CHECK_ORIGIN)
                                   : hs_report_fail(c, HS_CHECK_ORIGIN, HS_REASON_ORIGIN_MISMATCH);
    hs_report_measure(row, HS_UNIT_LENGTH, measured, limit);
}

void hs_check_origin(struct hs_hit_context *c)
{
    double tolerance = c->ruleset->hit.origin_tolerance;
    if (hs_posted_failed(c, HS_CHECK_ORIGIN)) {
        hs_report_remembered(c, HS_CHECK_ORIGIN);
        return;
    }
    /* What the posted shot said of its origin does not hold for a hit that starts elsewhere. */
    if (c->posted != NULL && c->shooter.status != HS_REWIND_OK) {
        judge(c, hs_vec_distance(c->claim->start, c->posted->start), tolerance);
        return;
    }
    if (c->launch_forgotten)
        return;
    if (c->shooter.status != HS_REWIND_OK) {
        hs_report_unknown(
            c, HS_CHECK_ORIGIN,
            hs_missing_pose_reason(c->shooter.status, HS_REASON_UNKNOWN_SHOOTER_HISTORY));
        return;
    }
    const struct hs_bracket *bracket = &c->shooter.bracket;
    struct hs_vec eye = hs_rewind_eye(c->shooter.player->history, c->ruleset, bracket);
    /* Between two samples he may have been anywhere on the way from one to the other. */
    double moved =
        bracket->held ? 0 : hs_vec_distance(bracket->from->position, bracket->to->position);
    judge(c, hs_vec_distance(c->claim->start, eye), tolerance + moved);
}
