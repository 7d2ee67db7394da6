/* fire_rate: does the weapon fire that fast? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"

/* The mean gap may be shorter than the weapon's interval by this: ticks and frames round the times
   of firing. Shots that bunch up on their way do not matter, only when they were fired. */
#define TOLERANCE_US INT64_C(20000)

void hs_check_fire_rate(struct hs_hit_context *c)
{
    if (hs_report_remembered(c, HS_CHECK_FIRE_RATE) || c->weapon == NULL ||
        c->weapon->min_interval_us == 0)
        return;
    const struct hs_cadence *cadence =
        c->ledger != NULL ? hs_ledger_cadence(c->ledger, c->weapon_index) : NULL;
    int64_t mean;
    if (cadence == NULL || !hs_cadence_mean_gap(cadence, c->fire_time_us, &mean)) {
        hs_report_pass(c, HS_CHECK_FIRE_RATE);
        return;
    }
    int64_t limit = c->weapon->min_interval_us - (cadence->strict > 0 ? 0 : TOLERANCE_US);
    struct hs_check_row *row = mean >= limit
                                   ? hs_report_pass(c, HS_CHECK_FIRE_RATE)
                                   : hs_report_fail(c, HS_CHECK_FIRE_RATE, HS_REASON_FIRE_RATE);
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(mean), hs_seconds(limit));
}
