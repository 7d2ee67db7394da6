/* aim: did the shooter aim in the direction of the shot? */
#include "validators/base/glm.h"
#include "validators/base/units.h"
#include "validators/geometry/angle.h"
#include "validators/hit/checks.h"

/* The client only estimates the fire time. So it is enough that the shot matches the aim at a time
   up to STAMP_ERROR_US earlier or later. At TURN_SPEED, hands turn 40 degrees in STAMP_ERROR_US. */
#define STAMP_ERROR_US 20000

/* How fast hands turn, in degrees per second. A shot fired after the newest frame is compared with
   the aim in that frame. The allowed angle then grows by the angle that hands can turn between the
   frame and the shot. */
#define TURN_SPEED 2000

static bool aim_of(const struct hs_sample *sample, struct hs_vec *out)
{
    *out = hs_vec_from_floats(sample->aim);
    return out->x != 0 || out->y != 0 || out->z != 0;
}

/* Returns the angle from the shot to the arc between two aims, in radians. For a claim with
   pellets, returns the largest of the pellets' angles. */
static double off_aim(const struct hs_hit_context *c, struct hs_vec from, struct hs_vec to)
{
    struct hs_vec pellet;
    double off = 0;
    if (c->claim->pellet_count == 0)
        return hs_angle_to_arc(c->direction, from, to);
    for (size_t i = 0; i < c->claim->pellet_count; i++)
        if (hs_pellet_direction(c, i, &pellet))
            off = fmax(off, hs_angle_to_arc(pellet, from, to));
    return off;
}

/* Computes the angle from the shot to the arc between the aims of two samples. If only one sample
   has an aim, computes the angle to this aim. Returns false if neither sample has an aim. */
static bool off_samples(const struct hs_hit_context *c, const struct hs_sample *first,
                        const struct hs_sample *second, double *off)
{
    struct hs_vec from, to;
    bool has_from = aim_of(first, &from), has_to = aim_of(second, &to);
    if (has_from || has_to)
        *off = off_aim(c, has_from ? from : to, has_to ? to : from);
    return has_from || has_to;
}

/* Calls off_samples for each pair of neighbouring samples near the fire time. Returns the smallest
   of these angles, or `nearest` if no angle is smaller than `nearest`. */
static double off_nearby(struct hs_hit_context *c, double nearest)
{
    const struct hs_history *history = c->shooter.player->history;
    int64_t until_us = c->eye_time_us + STAMP_ERROR_US;
    int64_t first = hs_history_find(history, c->eye_time_us - STAMP_ERROR_US);
    for (uint32_t i = first > 0 ? (uint32_t)first : 0; i + 1 < hs_history_count(history); i++) {
        const struct hs_sample *from = hs_history_at(history, i);
        double off;
        if (from->time_us > until_us)
            break;
        hs_work_spend(&c->work, HS_WORK_SAMPLE);
        if (off_samples(c, from, hs_history_at(history, i + 1), &off))
            nearest = fmin(nearest, off);
    }
    return nearest;
}

/* Returns the longest possible time from the shooter's newest frame to the shot. A fire time
   after `now` counts as `now`, so a client gains nothing from a time in the future. */
static int64_t lag_of(const struct hs_hit_context *c)
{
    const struct hs_player *shooter = c->shooter.player;
    bool is_stamped = c->claim->has_fire_time || c->posted != NULL || hs_hit_flies(c);
    int64_t fired_us = is_stamped ? c->eye_time_us + STAMP_ERROR_US : c->now_us;
    uint32_t count = c->shooter.status == HS_REWIND_OK ? hs_history_count(shooter->history) : 0;
    if (count == 0)
        return 0;
    fired_us = fired_us < c->now_us ? fired_us : c->now_us;
    int64_t lag_us = fired_us - hs_history_at(shooter->history, count - 1)->time_us;
    return lag_us > 0 ? lag_us : 0;
}

/* Returns the allowed angle in degrees. The direction of a bullet may differ from the aim by up to
   the spread, so the spread is added. If the shot has a seed or directions, the middle of the
   pellets is compared with the aim, so the spread is not added. */
static double tolerance(const struct hs_hit_context *c)
{
    double spread = c->weapon != NULL && !c->shot_spreads ? c->weapon->spread_deg : 0;
    double turned = TURN_SPEED * hs_seconds(lag_of(c));
    return fmin(c->ruleset->hit.aim_tolerance_deg + spread + turned, 180);
}

/* Sets the flag aim_unknown: neither the frames nor the posted shot contain the aim, so nothing was
   compared. */
static enum hs_reason report_unknown(struct hs_hit_context *c, const struct hs_check_row *row)
{
    const struct hs_posted_shot *shot = c->posted != NULL ? c->posted->shot : NULL;
    bool is_bound = shot != NULL && (shot->has_direction || shot->direction_count > 0);
    if (!c->is_shot && !is_bound && row->mode != HS_MODE_OFF)
        c->out->flags |= 1u << HS_FLAG_AIM_UNKNOWN;
    return HS_NO_ROW;
}

enum hs_reason hs_check_aim(struct hs_hit_context *c, struct hs_check_row *row)
{
    double off, limit = tolerance(c);
    if (hs_posted_failed(c, row))
        return hs_report_posted(c, row);
    if (!c->has_path || !(c->trace_length > 0) || hs_hit_is_driven(c))
        return HS_NO_ROW; /* the trace has no direction, or the server moved the projectile */
    if (c->shooter.status == HS_REWIND_OK) {
        /* Between two samples, the shooter may have aimed anywhere between the two aims. */
        const struct hs_bracket *bracket = &c->shooter.bracket;
        if (!off_samples(c, bracket->from, bracket->to, &off))
            return report_unknown(c, row);
        if (hs_degrees(off) > limit)
            off = off_nearby(c, off);
    } else if (c->posted != NULL) {
        /* Compare the direction of the hit with the direction of its posted shot, because the two
           directions may differ. */
        if (!c->posted->shot->has_direction)
            return report_unknown(c, row);
        off = off_aim(c, c->posted->shot->direction, c->posted->shot->direction);
    } else {
        return hs_report_missing(c, row, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    }
    return hs_report_limit(row, HS_UNIT_DEGREES, hs_degrees(off), limit, HS_REASON_AIM_MISMATCH);
}
