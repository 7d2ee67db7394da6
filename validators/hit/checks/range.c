/* range: is the trace at most as long as the weapon's range? */
#include "validators/hit/checks.h"

enum hs_reason hs_check_range(struct hs_hit_context *c, struct hs_check_row *row)
{
    if (c->weapon == NULL || hs_hit_is_driven(c))
        return HS_NO_ROW;
    /* Some clients let a trace end behind the target, at most sweep_extension further. Such a trace
       is allowed if the target is in range. */
    double limit = c->weapon->range + c->ruleset->hit.sweep_extension;
    double longest = c->trace_length;
    for (size_t i = 0; i < c->claim->pellet_count; i++)
        longest = fmax(longest, hs_vec_distance(c->claim->start, c->claim->pellets[i].end));
    return hs_report_limit(row, HS_UNIT_LENGTH, longest, limit, HS_REASON_OUT_OF_RANGE);
}
