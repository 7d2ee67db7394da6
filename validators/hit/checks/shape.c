/* shape: is the trace long enough and inside the world, and is the number of victims allowed? */
#include "validators/hit/checks.h"

enum hs_reason hs_check_shape(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_hit_claim *claim = c->claim;
    double largest = fmax(hs_vec_largest(claim->start), hs_vec_largest(claim->end));
    double shortest = c->trace_length, limit = c->ruleset->hit.min_trace;
    for (size_t i = 0; i < claim->pellet_count; i++) {
        largest = fmax(largest, hs_vec_largest(claim->pellets[i].end));
        shortest = fmin(shortest, hs_vec_distance(claim->start, claim->pellets[i].end));
    }
    double bound = c->ruleset->history.world_bound;
    uint64_t victims = (uint64_t)c->ruleset->hit.max_victims;
    if (largest > bound)
        return hs_report_limit(row, HS_UNIT_LENGTH, largest, bound,
                               HS_REASON_COORDINATE_OUT_OF_WORLD);
    if (c->is_shot) /* a posted shot has no trace */
        return HS_REASON_OK;
    /* A projectile that the server moved may hit where it was launched, so its trace may be
       short. */
    bool is_long = shortest > limit || hs_hit_is_driven(c);
    if (is_long && claim->victim_count > victims)
        return hs_report_limit(row, HS_UNIT_COUNTED, (double)claim->victim_count, (double)victims,
                               HS_REASON_TOO_MANY_VICTIMS);
    hs_report_measure(row, HS_UNIT_LENGTH, shortest, limit);
    return is_long ? HS_REASON_OK : HS_REASON_DEGENERATE_TRACE;
}
