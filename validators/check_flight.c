/* flight: does the projectile leave as fast, and fly as long, as the weapon lets it? */
#include "hit_context.h"

/* Launch speeds may be off by this share: games round velocities on the wire. */
#define SPEED_TOLERANCE 0.02

/* Flight times may be off by this, or by as much as the tolerance of speed makes of them. */
#define TIME_TOLERANCE 0.05

static void fail(struct hs_hit_context *c, enum hs_reason reason, enum hs_unit unit,
                 double measured, double limit)
{
    hs_report_measure(hs_report_fail(c, HS_CHECK_FLIGHT, reason), unit, measured, limit);
}

/* The speed the client claims to have launched with. False when the row is written. */
static bool claimed_speed_fits(struct hs_hit_context *c)
{
    if (!c->claim->has_velocity)
        return true;
    double speed = c->weapon->speed, claimed = hs_vec_length(c->claim->velocity);
    bool slow = claimed < speed * (1 - SPEED_TOLERANCE);
    if (!slow && claimed <= speed * (1 + SPEED_TOLERANCE))
        return true;
    fail(c, HS_REASON_MUZZLE_VELOCITY, HS_UNIT_SPEED, claimed,
         speed * (slow ? 1 - SPEED_TOLERANCE : 1 + SPEED_TOLERANCE));
    return false;
}

void hs_check_flight(struct hs_hit_context *c)
{
    if (c->weapon == NULL || c->weapon->type != HS_WEAPON_PROJECTILE || !c->has_path ||
        !claimed_speed_fits(c))
        return;
    double speed = c->weapon->speed, low = INFINITY, high = INFINITY, needed;
    double flown = (double)(c->hit_time_us - c->fire_time_us) / 1e6;
    double longest = (double)c->weapon->max_flight_us / 1e6;
    struct hs_vec gravity = hs_vec_scale(hs_up_direction(c->ruleset->up), -c->weapon->gravity);
    double fastest = speed * (1 + SPEED_TOLERANCE);
    if (!hs_flight_times(c->claim->start, c->claim->end, gravity, speed, &low, &high, &needed)) {
        if (needed > fastest) {
            fail(c, HS_REASON_MUZZLE_VELOCITY, HS_UNIT_SPEED, needed, fastest);
            return;
        }
        /* Just out of reach, within the tolerance: the one arc that speed would take. */
        hs_flight_times(c->claim->start, c->claim->end, gravity, fastest, &low, &high, &needed);
    }
    if (flown > longest) {
        fail(c, HS_REASON_FLIGHT_TIME, HS_UNIT_SECONDS, flown, longest);
        return;
    }
    double off = fmin(fabs(flown - low), fabs(flown - high));
    double limit = fmax(TIME_TOLERANCE, SPEED_TOLERANCE * flown);
    if (!(off <= limit)) {
        fail(c, HS_REASON_FLIGHT_TIME, HS_UNIT_SECONDS, off, limit);
        return;
    }
    hs_report_measure(hs_report_pass(c, HS_CHECK_FLIGHT), HS_UNIT_SECONDS, off, limit);
}
