/* flight: does the projectile leave as fast, and fly as long, as the weapon lets it? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"

/* Launch speeds may be off by this share: games round velocities on the wire. */
#define SPEED_TOLERANCE 0.02

/* Flight times may be off by this, or by a fiftieth: what the tolerance of speed makes of them. */
#define TIME_TOLERANCE_US INT64_C(50000)
#define TIME_SHARE        50

static struct hs_check_row *fail(struct hs_hit_context *c, enum hs_reason reason, enum hs_unit unit,
                                 double measured, double limit)
{
    struct hs_check_row *row = hs_report_fail(c, HS_CHECK_FLIGHT, reason);
    hs_report_measure(row, unit, measured, limit);
    return row;
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

static int64_t apart(int64_t flown_us, double seconds)
{
    int64_t off = flown_us - hs_seconds_to_us(seconds);
    return off < 0 ? -off : off;
}

void hs_check_flight(struct hs_hit_context *c)
{
    if (c->weapon == NULL || c->weapon->type != HS_WEAPON_PROJECTILE || !c->has_path ||
        !claimed_speed_fits(c))
        return;
    double speed = c->weapon->speed, low = (double)INFINITY, high = (double)INFINITY, needed;
    int64_t flown = c->hit_time_us - c->fire_time_us;
    struct hs_vec gravity = hs_vec_scale(hs_up_direction(c->ruleset->up), -c->weapon->gravity);
    double fastest = speed * (1 + SPEED_TOLERANCE);
    if (!hs_flight_times(c->claim->start, c->claim->end, gravity, speed, &low, &high, &needed)) {
        if (needed > fastest) {
            fail(c, HS_REASON_MUZZLE_VELOCITY, HS_UNIT_SPEED, needed, fastest);
            return;
        }
        /* Just out of reach, within the tolerance: the arc that the fastest launch would take. */
        hs_flight_times(c->claim->start, c->claim->end, gravity, fastest, &low, &high, &needed);
    }
    if (flown > c->weapon->max_flight_us) {
        fail(c, HS_REASON_FLIGHT_TIME, HS_UNIT_SECONDS, hs_seconds(flown),
             hs_seconds(c->weapon->max_flight_us))
            ->of_whole_flight = true;
        return;
    }
    /* More than a time can hold is far off too. */
    double beyond = 2 * (hs_seconds(c->weapon->max_flight_us) + 1);
    int64_t off = apart(flown, fmin(low, beyond)), lobbed = apart(flown, fmin(high, beyond));
    off = lobbed < off ? lobbed : off;
    int64_t limit = flown / TIME_SHARE > TIME_TOLERANCE_US ? flown / TIME_SHARE : TIME_TOLERANCE_US;
    struct hs_check_row *row = off <= limit
                                   ? hs_report_pass(c, HS_CHECK_FLIGHT)
                                   : hs_report_fail(c, HS_CHECK_FLIGHT, HS_REASON_FLIGHT_TIME);
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(off), hs_seconds(limit));
}
