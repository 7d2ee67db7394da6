/* latency: does the time of the claim fit the shooter's connection, and his earlier shots? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"
#include "validators/match/connection.h"

/* False when fire times run back; the row is then written. */
static bool runs_forward(struct hs_hit_context *c)
{
    const struct hs_ledger_entry *before =
        c->used_numbers != NULL ? hs_ledger_accepted_before(c->used_numbers, c->claim->shot) : NULL;
    int64_t back = before != NULL ? before->fire_time_us - c->fire_time_us : 0;
    int64_t limit = c->ruleset->rewind.backstep_us;
    if (back <= limit)
        return true;
    hs_report_measure(hs_report_fail(c, HS_CHECK_LATENCY, HS_REASON_TIME_BACKWARDS),
                      HS_UNIT_SECONDS, hs_seconds(back), hs_seconds(limit));
    return false;
}

/*
 * How far the time of a claim is from the expected one. A posted shot is the shooter's own doing:
 * its time is the one he saw, or the later one at which the server simulated him, or any between.
 */
static int64_t time_off(const struct hs_hit_context *c, int64_t expected)
{
    if (c->hit_time_us < expected)
        return expected - c->hit_time_us;
    int64_t latest = c->is_shot && c->now_us > expected ? c->now_us : expected;
    return c->hit_time_us > latest ? c->hit_time_us - latest : 0;
}

void hs_check_latency(struct hs_hit_context *c)
{
    const struct hs_rewind_rules *rules = &c->ruleset->rewind;
    struct hs_connection connection;
    if (hs_posted_failed(c, HS_CHECK_LATENCY)) {
        hs_report_remembered(c, HS_CHECK_LATENCY);
        return;
    }
    hs_connection_read(c->shooter.player, c->now_us, &connection);
    if (connection.spread_us > rules->ping_spread_us)
        c->out->flags |= 1u << HS_FLAG_UNSTABLE_LATENCY;
    if (!connection.is_known || c->is_predicted) {
        if (runs_forward(c))
            hs_report_pass(c, HS_CHECK_LATENCY);
        return;
    }
    int64_t interp =
        connection.interp_us < rules->max_interp_us ? connection.interp_us : rules->max_interp_us;
    int64_t share = hs_seconds_to_us(rules->rtt_share * (double)connection.rtt_us / 1e6);
    int64_t expected = c->now_us - share - interp;
    int64_t off = time_off(c, expected);
    if (off <= rules->latency_slack_us && !runs_forward(c))
        return;
    struct hs_check_row *row;
    if (off <= rules->latency_slack_us)
        row = hs_report_pass(c, HS_CHECK_LATENCY);
    else if (connection.is_stale)
        row = hs_report_unknown(c, HS_CHECK_LATENCY, HS_REASON_HISTORY_TOO_SHORT);
    else
        row = hs_report_fail(c, HS_CHECK_LATENCY, HS_REASON_TIME_MISMATCH);
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(off), hs_seconds(rules->latency_slack_us));
}
