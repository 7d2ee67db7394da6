/* rewind: how far into the past or the future does the claim ask to look? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"

/*
 * The limit holds for the moment of the hit and, where the shot is instant, for the moment of
 * firing. A projectile may have been launched max_flight earlier.
 */
static int64_t oldest_age(const struct hs_hit_context *c)
{
    int64_t hit_age = c->now_us - c->hit_time_us;
    int64_t fire_age = c->now_us - c->fire_time_us;
    if (c->weapon != NULL && c->weapon->type == HS_WEAPON_PROJECTILE)
        fire_age -= c->weapon->max_flight_us;
    return fire_age > hit_age ? fire_age : hit_age;
}

void hs_check_rewind(struct hs_hit_context *c)
{
    const struct hs_rewind_rules *rules = &c->ruleset->rewind;
    if (c->has_no_prediction) {
        hs_report_unknown(c, HS_CHECK_REWIND, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
        return;
    }
    int64_t latest = c->hit_time_us > c->fire_time_us ? c->hit_time_us : c->fire_time_us;
    int64_t ahead = latest - c->now_us;
    if (ahead > rules->future_slack_us) {
        hs_report_measure(hs_report_fail(c, HS_CHECK_REWIND, HS_REASON_TIME_IN_FUTURE),
                          HS_UNIT_SECONDS, hs_seconds(ahead), hs_seconds(rules->future_slack_us));
        return;
    }
    int64_t age = oldest_age(c);
    struct hs_check_row *row = age <= rules->limit_us
                                   ? hs_report_pass(c, HS_CHECK_REWIND)
                                   : hs_report_fail(c, HS_CHECK_REWIND, HS_REASON_REWIND_LIMIT);
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(age), hs_seconds(rules->limit_us));
}
