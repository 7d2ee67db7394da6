/* rewind: is the time of the claim too far in the past or in the future? */
#include "validators/hit/checks.h"

/* Returns the age of the contact or of the fire time, whichever is larger. A projectile may be
   fired up to max_flight before its hit, so max_flight is subtracted from the age of its fire
   time. */
static int64_t oldest_age(const struct hs_hit_context *c)
{
    int64_t hit_age = c->now_us - c->contact_us;
    int64_t fire_age = c->now_us - c->fire_time_us;
    if (hs_hit_flies(c))
        fire_age -= c->weapon->max_flight_us;
    return fire_age > hit_age ? fire_age : hit_age;
}

enum hs_reason hs_check_rewind(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_rewind_rules *rules = &c->ruleset->rewind;
    if (c->has_no_prediction)
        return HS_REASON_UNKNOWN_SHOOTER_HISTORY;
    int64_t latest = c->hit_time_us > c->fire_time_us ? c->hit_time_us : c->fire_time_us;
    int64_t ahead = latest - c->now_us;
    if (ahead > rules->future_slack_us)
        return hs_report_time_limit(row, ahead, rules->future_slack_us, HS_REASON_TIME_IN_FUTURE);
    return hs_report_time_limit(row, oldest_age(c), rules->limit_us, HS_REASON_REWIND_LIMIT);
}
