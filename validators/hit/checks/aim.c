/* aim: did the shooter aim where the shot went? */
#include "validators/base/glm.h"
#include "validators/geometry/angle.h"
#include "validators/hit/checks.h"

static bool aim_of(const struct hs_sample *sample, struct hs_vec *out)
{
    *out = hs_vec_from_floats(sample->aim);
    return out->x != 0 || out->y != 0 || out->z != 0;
}

enum hs_reason hs_check_aim(struct hs_hit_context *c, struct hs_check_row *row)
{
    struct hs_vec from, to;
    bool has_from, has_to;
    if (hs_posted_failed(c, row))
        return hs_report_posted(c, row);
    if (!c->has_path || !(c->trace_length > 0) || hs_hit_is_driven(c))
        return HS_NO_ROW; /* the trace is too short or too long to have a direction */
    if (c->shooter.status == HS_REWIND_OK) {
        /* Between two samples the shooter may have aimed anywhere between the two aims. */
        has_from = aim_of(c->shooter.bracket.from, &from);
        has_to = aim_of(c->shooter.bracket.to, &to);
    } else if (c->posted != NULL) {
        /* The hit may go elsewhere than the posted shot, so its own direction is compared. */
        has_from = has_to = c->posted->shot->has_direction;
        from = to = c->posted->shot->direction;
    } else {
        return hs_report_no_shooter(c, row);
    }
    if (!has_from && !has_to)
        return HS_NO_ROW;
    double off = hs_angle_to_arc(c->direction, has_from ? from : to, has_to ? to : from);
    return hs_report_limit(row, HS_UNIT_DEGREES, hs_degrees(off), c->ruleset->hit.aim_tolerance_deg,
                           HS_REASON_AIM_MISMATCH);
}
