/* shape: is the trace a trace, inside the world? */
#include "hit_context.h"

static double largest_coordinate(struct hs_vec v)
{
    return fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
}

void hs_check_shape(struct hs_hit_context *c)
{
    double largest = fmax(largest_coordinate(c->claim->start), largest_coordinate(c->claim->end));
    double bound = c->ruleset->history.world_bound;
    if (largest > bound) {
        hs_report_measure(hs_report_fail(c, HS_CHECK_SHAPE, HS_REASON_COORDINATE_OUT_OF_WORLD),
                          HS_UNIT_LENGTH, largest, bound);
        return;
    }
    if (c->is_shot) { /* a shot is a place and perhaps a direction */
        hs_report_pass(c, HS_CHECK_SHAPE);
        return;
    }
    double shortest = c->ruleset->hit.min_trace;
    struct hs_check_row *row = c->trace_length > shortest
                                   ? hs_report_pass(c, HS_CHECK_SHAPE)
                                   : hs_report_fail(c, HS_CHECK_SHAPE, HS_REASON_DEGENERATE_TRACE);
    hs_report_measure(row, HS_UNIT_LENGTH, c->trace_length, shortest);
}
