/* latency: does the time of the claim fit the shooter's connection, and his earlier shots? */
#include "hit_context.h"

/* Round trips are taken from this many samples that told one: the smallest is nearest the truth,
   delay only ever adds. */
enum { ROUND_TRIPS = 4 };

struct connection {
    bool is_known;
    int64_t rtt_us;    /* smallest */
    int64_t spread_us; /* largest minus smallest */
    int64_t interp_us; /* 0 where it was never told */
};

static void read_connection(const struct hs_hit_context *c, struct connection *out)
{
    *out = (struct connection){0};
    if (c->shooter.player == NULL)
        return;
    const struct hs_history *history = c->shooter.player->history;
    int64_t newest = hs_history_find(history, c->now_us), largest = 0;
    int found = 0;
    for (int64_t i = newest; i >= 0 && found < ROUND_TRIPS; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        if (i == newest && sample->interp_us >= 0)
            out->interp_us = sample->interp_us;
        if (!sample->rtt_posted)
            continue;
        if (found == 0 || sample->rtt_us < out->rtt_us)
            out->rtt_us = sample->rtt_us;
        if (sample->rtt_us > largest)
            largest = sample->rtt_us;
        found++;
    }
    if (found == 0 && newest >= 0 && hs_history_at(history, (uint32_t)newest)->rtt_us >= 0) {
        out->rtt_us = largest = hs_history_at(history, (uint32_t)newest)->rtt_us;
        found = 1;
    }
    out->is_known = found > 0;
    out->spread_us = largest - out->rtt_us;
}

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
                      HS_UNIT_SECONDS, (double)back / 1e6, (double)limit / 1e6);
    return false;
}

void hs_check_latency(struct hs_hit_context *c)
{
    const struct hs_rewind_rules *rules = &c->ruleset->rewind;
    struct connection connection;
    read_connection(c, &connection);
    if (connection.spread_us > rules->ping_spread_us)
        c->out->flags |= 1u << HS_FLAG_UNSTABLE_LATENCY;
    if (!connection.is_known) {
        if (runs_forward(c))
            hs_report_pass(c, HS_CHECK_LATENCY);
        return;
    }
    int64_t interp =
        connection.interp_us < rules->max_interp_us ? connection.interp_us : rules->max_interp_us;
    int64_t share = hs_seconds_to_us(rules->rtt_share * (double)connection.rtt_us / 1e6);
    int64_t expected = c->now_us - share - interp;
    int64_t off = c->hit_time_us > expected ? c->hit_time_us - expected : expected - c->hit_time_us;
    if (off <= rules->latency_slack_us && !runs_forward(c))
        return;
    struct hs_check_row *row = off <= rules->latency_slack_us
                                   ? hs_report_pass(c, HS_CHECK_LATENCY)
                                   : hs_report_fail(c, HS_CHECK_LATENCY, HS_REASON_TIME_MISMATCH);
    hs_report_measure(row, HS_UNIT_SECONDS, (double)off / 1e6,
                      (double)rules->latency_slack_us / 1e6);
}
