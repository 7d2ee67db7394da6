/* range: is the trace no longer than the weapon carries? */
#include "validators/hit/checks.h"

void hs_check_range(struct hs_hit_context *c)
{
    if (c->weapon == NULL)
        return;
    /* Clients that end their trace behind the target by the extension are within range too. */
    double limit = c->weapon->range + c->ruleset->hit.sweep_extension;
    double longest = c->trace_length;
    for (size_t i = 0; i < c->claim->pellet_count; i++)
        longest = fmax(longest, hs_vec_distance(c->claim->start, c->claim->pellets[i].end));
    struct hs_check_row *row = longest <= limit
                                   ? hs_report_pass(c, HS_CHECK_RANGE)
                                   : hs_report_fail(c, HS_CHECK_RANGE, HS_REASON_OUT_OF_RANGE);
    hs_report_measure(row, HS_UNIT_LENGTH, longest, limit);
}
