/* trajectory: is the claim a copy of an earlier accepted claim, sent with another number? */
#include "validators/hit/booking.h"
#include "validators/hit/checks.h"

static int64_t window(const struct hs_hit_context *c)
{
    int64_t us = c->ruleset->hit.trajectory_window_us;
    int64_t half = c->weapon != NULL ? c->weapon->min_interval_us / 2 : 0;
    return half > 0 && half < us ? half : us;
}

enum hs_reason hs_check_trajectory(struct hs_hit_context *c, struct hs_check_row *row)
{
    int64_t limit = window(c);
    uint32_t count = c->ledger != NULL ? c->ledger->hits.count : 0;
    hs_work_spend(&c->work, (uint64_t)count * HS_WORK_PASS);
    for (uint32_t i = 0; i < count; i++) {
        const struct hs_ledger_entry *entry = &c->ledger->hits.entries[i];
        int64_t apart = c->fire_time_us - entry->fire_time_us;
        apart = apart < 0 ? -apart : apart;
        if (!entry->accepted || entry->number == c->claim->shot || apart > limit)
            continue;
        hs_work_spend(&c->work, c->claim->pellet_count * HS_WORK_PASS);
        if (!hs_hit_repeats_trace(c->claim, entry))
            continue;
        hs_report_time_limit(row, apart, limit, HS_REASON_OK);
        return HS_REASON_DUPLICATE_TRAJECTORY;
    }
    return HS_REASON_OK;
}
