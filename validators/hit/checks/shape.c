/* shape: is the trace a trace, inside the world? */
#include "validators/hit/checks.h"

static double largest_coordinate(struct hs_vec v)
{
    return fmax(fmax(fabs(v.x), fabs(v.y)), fabs(v.z));
}

/* Of start, end and every pellet's end. */
static double furthest_coordinate(const struct hs_hit_claim *claim)
{
    double largest = fmax(largest_coordinate(claim->start), largest_coordinate(claim->end));
    for (size_t i = 0; i < claim->pellet_count; i++)
        largest = fmax(largest, largest_coordinate(claim->pellets[i].end));
    return largest;
}

static double shortest_trace(const struct hs_hit_context *c)
{
    double shortest = c->trace_length;
    for (size_t i = 0; i < c->claim->pellet_count; i++)
        shortest = fmin(shortest, hs_vec_distance(c->claim->start, c->claim->pellets[i].end));
    return shortest;
}

static void fail(struct hs_hit_context *c, enum hs_reason reason, enum hs_unit unit,
                 double measured, double limit)
{
    hs_report_measure(hs_report_fail(c, HS_CHECK_SHAPE, reason), unit, measured, limit);
}

void hs_check_shape(struct hs_hit_context *c)
{
    double largest = furthest_coordinate(c->claim), bound = c->ruleset->history.world_bound;
    double shortest = shortest_trace(c), limit = c->ruleset->hit.min_trace;
    uint64_t victims = (uint64_t)c->ruleset->hit.max_victims;
    if (largest > bound) {
        fail(c, HS_REASON_COORDINATE_OUT_OF_WORLD, HS_UNIT_LENGTH, largest, bound);
    } else if (c->is_shot) { /* a shot is a place and perhaps a direction */
        hs_report_pass(c, HS_CHECK_SHAPE);
    } else if (!(shortest > limit)) {
        fail(c, HS_REASON_DEGENERATE_TRACE, HS_UNIT_LENGTH, shortest, limit);
    } else if (c->claim->victim_count > victims) {
        fail(c, HS_REASON_TOO_MANY_VICTIMS, HS_UNIT_COUNTED, (double)c->claim->victim_count,
             (double)victims);
    } else {
        hs_report_measure(hs_report_pass(c, HS_CHECK_SHAPE), HS_UNIT_LENGTH, shortest, limit);
    }
}
