/* flight: do the projectile's launch speed and flight time fit the weapon? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"
#include "validators/match/connection.h"

/* Checks the claimed launch speed. */
static enum hs_reason check_claimed_speed(const struct hs_hit_context *c, struct hs_check_row *row)
{
    if (!c->claim->has_velocity)
        return HS_REASON_OK;
    double speed = c->weapon->speed, claimed = hs_vec_length(c->claim->velocity);
    double slowest = speed * (1 - HS_SPEED_TOLERANCE), fastest = speed * (1 + HS_SPEED_TOLERANCE);
    if (claimed >= slowest && claimed <= fastest)
        return HS_REASON_OK;
    hs_report_measure(row, HS_UNIT_SPEED, claimed, claimed < slowest ? slowest : fastest);
    return HS_REASON_MUZZLE_VELOCITY;
}

/* Returns the claimed or posted flight time. If the hit is before the shot, the result is negative.
   But a game server may use the arrival time of a shot as its fire time. Such a fire time may be
   later than the hit time, by up to the delay of the connection. So if the hit is before the shot
   by at most this delay, the result is 0. */
static int64_t flight_time(const struct hs_hit_context *c)
{
    struct hs_connection connection;
    int64_t flown_us = c->hit_time_us - c->fire_time_us;
    if (flown_us > 0 || !hs_hit_knows_fire_time(c))
        return flown_us;
    int64_t fired_us = c->posted != NULL ? c->posted->fire_time_us : c->claim->fire_time_us;
    hs_connection_read(c->shooter.player, c->now_us, &connection);
    int64_t early_us =
        fired_us - c->hit_time_us - hs_connection_delay(&connection, &c->ruleset->rewind);
    return early_us > 0 ? -early_us : 0;
}

static int64_t apart(int64_t flown_us, double seconds)
{
    int64_t off = flown_us - hs_seconds_to_us(seconds);
    return off < 0 ? -off : off;
}

enum hs_reason hs_check_flight(struct hs_hit_context *c, struct hs_check_row *row)
{
    if (!hs_hit_flies(c) || !c->has_path || hs_hit_is_driven(c))
        return HS_NO_ROW;
    if (check_claimed_speed(c, row) != HS_REASON_OK)
        return HS_REASON_MUZZLE_VELOCITY;
    double speed = c->weapon->speed, low = (double)INFINITY, high = (double)INFINITY, needed;
    int64_t flown = flight_time(c), longest = c->weapon->max_flight_us;
    double fastest = speed * (1 + HS_SPEED_TOLERANCE);
    if (!hs_hit_flight_times(c, speed, &low, &high, &needed)) {
        if (needed > fastest) {
            hs_report_measure(row, HS_UNIT_SPEED, needed, fastest);
            return HS_REASON_MUZZLE_VELOCITY;
        }
        /* At the weapon's own speed the projectile does not reach the end. At a higher speed within
           the tolerance, the projectile reaches the end. Use the highest allowed speed. */
        hs_hit_flight_times(c, fastest, &low, &high, &needed);
    }
    if (flown > longest) {
        row->of_whole_flight = true;
        return hs_report_time_limit(row, flown, longest, HS_REASON_FLIGHT_TIME);
    }
    /* Cap times that an int64_t cannot hold. The cap is still far from any valid time. */
    double beyond = 2 * (hs_seconds(longest) + 1);
    int64_t off = apart(flown, fmin(low, beyond)), lobbed = apart(flown, fmin(high, beyond));
    return hs_report_time_limit(row, lobbed < off ? lobbed : off, hs_flight_tolerance(flown),
                                HS_REASON_FLIGHT_TIME);
}
