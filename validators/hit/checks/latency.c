/* latency: does the time of the claim fit the shooter's connection and their earlier shots? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"
#include "validators/match/connection.h"

/* Whether fire times run forward. */
static enum hs_reason check_order(const struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_ledger_entry *before =
        c->used_numbers != NULL ? hs_ledger_accepted_before(c->used_numbers, c->claim->shot) : NULL;
    int64_t back = before != NULL ? before->fire_time_us - c->fire_time_us : 0;
    int64_t limit = c->ruleset->rewind.backstep_us;
    return back <= limit ? HS_REASON_OK
                         : hs_report_time_limit(row, back, limit, HS_REASON_TIME_BACKWARDS);
}

/*
 * How far the time of a claim is from the expected one. For a posted shot any time fits from what
 * the shooter saw to when the server simulated the shooter.
 */
static int64_t time_off(const struct hs_hit_context *c, int64_t expected)
{
    if (c->hit_time_us < expected)
        return expected - c->hit_time_us;
    int64_t latest = c->is_shot && c->now_us > expected ? c->now_us : expected;
    return c->hit_time_us > latest ? c->hit_time_us - latest : 0;
}

enum hs_reason hs_check_latency(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_rewind_rules *rules = &c->ruleset->rewind;
    struct hs_connection connection;
    if (hs_posted_failed(c, row))
        return hs_report_posted(c, row);
    hs_connection_read(c->shooter.player, c->now_us, &connection);
    if (connection.spread_us > rules->ping_spread_us)
        c->out->flags |= 1u << HS_FLAG_UNSTABLE_LATENCY;
    if (!connection.is_known || c->is_predicted || hs_hit_is_driven(c))
        return check_order(c, row);
    int64_t interp =
        connection.interp_us < rules->max_interp_us ? connection.interp_us : rules->max_interp_us;
    int64_t share = hs_seconds_to_us(rules->rtt_share * (double)connection.rtt_us / 1e6);
    int64_t off = time_off(c, c->now_us - share - interp), slack = rules->latency_slack_us;
    if (off <= slack && check_order(c, row) != HS_REASON_OK)
        return HS_REASON_TIME_BACKWARDS;
    return hs_report_time_limit(row, off, slack,
                                connection.is_stale ? HS_REASON_HISTORY_TOO_SHORT
                                                    : HS_REASON_TIME_MISMATCH);
}
