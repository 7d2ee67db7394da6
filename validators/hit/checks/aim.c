/* aim: did the shooter look where he shot? */
#include "validators/base/glm.h"
#include "validators/geometry/angle.h"
#include "validators/hit/checks.h"

static bool look_of(const struct hs_sample *sample, struct hs_vec *out)
{
    *out = hs_vec_from_floats(sample->aim);
    return out->x != 0 || out->y != 0 || out->z != 0;
}

static void judge(struct hs_hit_context *c, struct hs_vec from, struct hs_vec to)
{
    double measured = hs_degrees(hs_angle_to_arc(c->direction, from, to));
    double limit = c->ruleset->hit.aim_tolerance_deg;
    struct hs_check_row *row = measured <= limit
                                   ? hs_report_pass(c, HS_CHECK_AIM)
                                   : hs_report_fail(c, HS_CHECK_AIM, HS_REASON_AIM_MISMATCH);
    hs_report_measure(row, HS_UNIT_DEGREES, measured, limit);
}

void hs_check_aim(struct hs_hit_context *c)
{
    if (hs_posted_failed(c, HS_CHECK_AIM)) {
        hs_report_remembered(c, HS_CHECK_AIM);
        return;
    }
    if (!c->has_path || !(c->trace_length > 0))
        return; /* no direction: too short, or too long to be held */
    /* What the posted shot said of its direction does not hold for a hit that goes elsewhere. */
    if (c->posted != NULL && c->shooter.status != HS_REWIND_OK) {
        if (c->posted->shot->has_direction)
            judge(c, c->posted->shot->direction, c->posted->shot->direction);
        return;
    }
    if (c->launch_forgotten)
        return;
    if (c->shooter.status != HS_REWIND_OK) {
        hs_report_missing(c, HS_CHECK_AIM, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
        return;
    }
    /* He may have looked anywhere on the way from one sample's look to the other's. */
    struct hs_vec from, to;
    bool knows_from = look_of(c->shooter.bracket.from, &from);
    bool knows_to = look_of(c->shooter.bracket.to, &to);
    if (!knows_from && !knows_to)
        return;
    judge(c, knows_from ? from : to, knows_to ? to : from);
}
