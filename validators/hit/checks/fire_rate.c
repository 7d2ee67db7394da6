/* fire_rate: can the weapon fire as fast as the shooter fired it? */
#include "validators/hit/checks.h"

enum hs_reason hs_check_fire_rate(struct hs_hit_context *c, struct hs_check_row *row)
{
    if (c->posted != NULL)
        return hs_report_posted(c, row);
    if (row->mode == HS_MODE_OFF || c->weapon == NULL || c->weapon->min_interval_us == 0)
        return HS_NO_ROW;
    int64_t interval_us = c->weapon->min_interval_us;
    const struct hs_cadence *cadence = hs_hit_cadence(c);
    if (cadence == NULL)
        return HS_REASON_OK;
    int64_t debt = hs_cadence_debt(cadence, c->fire_time_us, interval_us);
    return hs_report_time_limit(row, debt, hs_cadence_max_debt(interval_us), HS_REASON_FIRE_RATE);
}
