#include "validators/clock/compat.h"

#include <string.h>

#include "validators/base/units.h"

void hs_compat_begin(struct hs_compat *compat, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *step)
{
    int64_t since_zero =
        step->timestamp_us < rules->reset_period_us ? step->timestamp_us : rules->reset_period_us;
    bool is_owed = rules->prevention == HS_PREVENTION_RESOLUTION && compat->ahead_us > 0;
    *compat = (struct hs_compat){.ahead_us = is_owed ? compat->ahead_us : 0,
                                 .is_resolving = is_owed && compat->is_resolving,
                                 .current_us = step->timestamp_us,
                                 .stamp_us = step->received_us,
                                 .arrived_us = step->timestamp_us,
                                 /* Assume that the last reset set the clock to 0, and was at most
                                    one period ago. */
                                 .reset_us = step->received_us - since_zero};
}

enum hs_move_reason hs_compat_examine(const struct hs_compat *compat,
                                      const struct hs_moves_rules *rules,
                                      const struct hs_timing_move *step)
{
    if (step->timestamp_us <= 0)
        return HS_MOVE_BAD_TIMESTAMP;
    int64_t delta = step->timestamp_us - compat->current_us;
    int64_t half = rules->reset_period_us / 2;
    if (delta > half)
        return HS_MOVE_STALE; /* made before a reset of the clock, but arrived after it */
    if (delta < -half)
        return step->received_us - compat->reset_us >= half ? HS_MOVE_RESET
                                                            : HS_MOVE_RESET_TOO_SOON;
    if (delta == 0)
        return HS_MOVE_DUPLICATE;
    if (delta < 0)
        return HS_MOVE_STALE;
    return delta < rules->min_delta_us ? HS_MOVE_TOO_SMALL : HS_MOVE_OK;
}

bool hs_compat_refuse(struct hs_compat *compat, enum hs_move_reason reason,
                      const struct hs_timing_move *step)
{
    if (reason == HS_MOVE_BAD_TIMESTAMP)
        return false;
    bool nothing_newer = reason == HS_MOVE_STALE && step->timestamp_us <= compat->arrived_us;
    compat->arrived_us = step->timestamp_us;
    return nothing_newer;
}

/* Moves the value towards 0 by at most `pull`, and never past 0. */
static double pull_to_zero(double value, double pull)
{
    if (value > 0)
        return value > pull ? value - pull : 0;
    return value < -pull ? value + pull : 0;
}

/* Adds the move's client time minus its server time to the discrepancy. Returns whether the
   discrepancy exceeds the margin; always false during a payback. */
static bool book_discrepancy(struct hs_compat *compat, const struct hs_moves_rules *rules,
                             double server_us, double client_us, double *ahead_us)
{
    double error = client_us - server_us;
    double raw = compat->ahead_us + error, next = raw;
    double lifetime_us = compat->lifetime_us + error, most = (double)HS_MOVES_LONGEST_US;
    if (lifetime_us > -most && lifetime_us < most)
        compat->lifetime_us = lifetime_us;
    if (rules->drift_allowance > 0)
        next = pull_to_zero(next, server_us * rules->drift_allowance);
    next = hs_larger(next, (double)rules->min_margin_us);
    *ahead_us = next;
    double effective = raw != 0 ? error * next / raw : error;
    compat->is_resolving = compat->is_resolving && compat->ahead_us > 0;
    bool flagged = next > (double)rules->max_margin_us;
    if (compat->is_resolving)
        return false; /* the discrepancy does not grow during a payback */
    if (!flagged) {
        compat->ahead_us = next;
    } else if (rules->prevention == HS_PREVENTION_RESOLUTION) {
        compat->is_resolving = true;
        compat->ahead_us = next - effective;
    } else {
        compat->ahead_us = 0;
    }
    return flagged;
}

/* Uses part of this move's time to pay back the discrepancy. The rest of the time may be
   simulated. */
static void resolve(struct hs_compat *compat, const struct hs_moves_rules *rules, double base_us,
                    double since_us)
{
    bool first = since_us > 0; /* first move of this server tick */
    if (!first)
        compat->gathered_us += base_us;
    double bound = hs_larger(0, hs_smaller(base_us + compat->gathered_us, since_us));
    if (first)
        compat->gathered_us = 0;
    double pay = hs_larger(0, hs_smaller(bound * rules->resolution_rate, compat->ahead_us));
    double after = bound - pay, least = (double)rules->min_delta_us;
    /* After a full payback the discrepancy must be exactly 0, so subtract `pay` itself and not
       `bound - after`. */
    compat->ahead_us -= after >= least ? pay : hs_larger(0, bound - least);
    compat->override_us = hs_larger(after, least);
}

void hs_compat_accept(struct hs_compat *compat, const struct hs_moves_rules *rules,
                      enum hs_move_reason reason, const struct hs_timing_move *step,
                      struct hs_compat_result *out)
{
    *out = (struct hs_compat_result){0};
    bool is_reset = reason == HS_MOVE_RESET;
    if (is_reset) {
        compat->reset_us = step->received_us;
        compat->current_us -= rules->reset_period_us;
    }
    double client_us = (double)(step->timestamp_us - compat->current_us);
    double since_us = hs_larger(0, (double)(step->received_us - compat->stamp_us));
    double longest = (double)rules->max_delta_us * step->dilation;
    out->error_us = is_reset ? 0 : client_us - since_us * step->dilation;
    if (rules->detection && !is_reset)
        out->flagged =
            book_discrepancy(compat, rules, since_us * step->dilation, client_us, &out->ahead_us);
    out->delta_us = hs_larger(0, hs_smaller(longest, client_us)); /* client_us is negative after a
                                                                     late reset */
    if (compat->is_resolving && !is_reset)
        resolve(compat, rules, out->delta_us, since_us);
    /* During a payback, a move that resets the clock gets as much time as the previous move. */
    if (compat->is_resolving)
        out->delta_us = hs_smaller(compat->override_us, longest);
    out->force_update = compat->is_resolving && rules->force_corrections;
    compat->current_us = compat->arrived_us = step->timestamp_us;
    if (step->received_us > compat->stamp_us)
        compat->stamp_us = step->received_us;
}
