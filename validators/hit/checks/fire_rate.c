/* fire_rate: does the weapon fire that fast? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"

/* The mean gap may be shorter than the weapon's interval by this: ticks and frames round fire
   times. Shots that arrive bunched do not matter; only their fire times count. */
#define TOLERANCE_US INT64_C(20000)

enum hs_reason hs_check_fire_rate(struct hs_hit_context *c, struct hs_check_row *row)
{
    int64_t mean;
    if (c->posted != NULL)
        return hs_report_posted(c, row);
    if (c->weapon == NULL || c->weapon->min_interval_us == 0)
        return HS_NO_ROW;
    const struct hs_cadence *cadence = hs_hit_cadence(c);
    if (cadence == NULL || !hs_cadence_mean_gap(cadence, c->fire_time_us, &mean))
        return HS_REASON_OK;
    int64_t limit = c->weapon->min_interval_us - (cadence->strict > 0 ? 0 : TOLERANCE_US);
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(mean), hs_seconds(limit));
    return mean >= limit ? HS_REASON_OK : HS_REASON_FIRE_RATE;
}
