/* trajectory: is this the same shot again under another number? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"

/* Ends that differ by less than this share of the trace are the same. */
#define SAME_PLACE 1e-6

static int64_t window(const struct hs_hit_context *c)
{
    int64_t us = c->ruleset->hit.trajectory_window_us;
    int64_t half = c->weapon != NULL ? c->weapon->min_interval_us / 2 : 0;
    return half > 0 && half < us ? half : us;
}

static bool is_same_way(const struct hs_hit_context *c, const struct hs_ledger_entry *entry)
{
    double slack = SAME_PLACE * c->trace_length;
    return hs_vec_distance(c->claim->start, entry->start) <= slack &&
           hs_vec_distance(c->claim->end, entry->end) <= slack;
}

void hs_check_trajectory(struct hs_hit_context *c)
{
    int64_t limit = window(c);
    if (c->ledger != NULL)
        hs_work_spend(&c->work, (uint64_t)c->ledger->hits.count * HS_WORK_PASS);
    for (uint32_t i = 0; c->ledger != NULL && i < c->ledger->hits.count; i++) {
        const struct hs_ledger_entry *entry = &c->ledger->hits.entries[i];
        int64_t apart = c->fire_time_us - entry->fire_time_us;
        apart = apart < 0 ? -apart : apart;
        if (!entry->accepted || entry->number == c->claim->shot || apart > limit ||
            !is_same_way(c, entry))
            continue;
        hs_report_measure(hs_report_fail(c, HS_CHECK_TRAJECTORY, HS_REASON_DUPLICATE_TRAJECTORY),
                          HS_UNIT_SECONDS, hs_seconds(apart), hs_seconds(limit));
        return;
    }
    hs_report_pass(c, HS_CHECK_TRAJECTORY);
}
