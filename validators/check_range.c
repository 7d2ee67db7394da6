/* range: is the trace no longer than the weapon carries? */
#include "hit_context.h"

void hs_check_range(struct hs_hit_context *c)
{
    if (c->weapon == NULL)
        return;
    /* Clients that end their trace behind the target by the extension are within range too. */
    double limit = c->weapon->range + c->ruleset->hit.sweep_extension;
    struct hs_check_row *row = c->trace_length <= limit
                                   ? hs_report_pass(c, HS_CHECK_RANGE)
                                   : hs_report_fail(c, HS_CHECK_RANGE, HS_REASON_OUT_OF_RANGE);
    hs_report_measure(row, HS_UNIT_LENGTH, c->trace_length, limit);
}
