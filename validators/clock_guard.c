#include "clock_guard.h"

#include <math.h>
#include <string.h>

/* Nothing arrived in that time. */
#define NO_LEAD INT32_MIN

/* Leads are kept in 32 bits; further from the base than this, the base moves. */
#define REBASE_US INT64_C(1000000000)

static void clear_leads(int32_t *leads, int count)
{
    for (int i = 0; i < count; i++)
        leads[i] = NO_LEAD;
}

void hs_clock_guard_begin(struct hs_clock_guard *guard, const struct hs_clock_step *step)
{
    memset(guard, 0, sizeof *guard);
    guard->base_us = step->client_us - step->received_us;
    guard->first_us = guard->received_us = step->received_us;
    guard->change_us = INT64_MIN;
    guard->dilation = step->dilation;
    guard->has_arriving_ack = step->has_ack && step->ack_us <= step->received_us;
    guard->arriving_ack_us = step->ack_us;
    clear_leads(guard->cell_highest_us, HS_LEAD_CELLS);
    clear_leads(guard->speed_highest_us, HS_SPEED_BLOCKS);
    guard->cell_highest_us[0] = guard->speed_highest_us[0] = guard->highest_us = 0;
    guard->speed = 1;
}

/* ---- the lead ---- */

static int32_t shifted(int32_t lead, int64_t by)
{
    int64_t value = lead - by;
    return lead == NO_LEAD || value <= NO_LEAD ? NO_LEAD
           : value > INT32_MAX                 ? INT32_MAX
                                               : (int32_t)value;
}

static void rebase(struct hs_clock_guard *guard, int64_t by)
{
    guard->base_us += by;
    guard->bound_us -= (double)by;
    guard->highest_us = shifted(guard->highest_us, by);
    guard->reference_us = shifted(guard->reference_us, by);
    for (int i = 0; i < HS_LEAD_CELLS; i++)
        guard->cell_highest_us[i] = shifted(guard->cell_highest_us[i], by);
    for (int i = 0; i < HS_SPEED_BLOCKS; i++)
        guard->speed_highest_us[i] = shifted(guard->speed_highest_us[i], by);
}

/* x of a move, relative to the base; fits 32 bits. */
static int32_t lead_of(struct hs_clock_guard *guard, const struct hs_clock_step *step)
{
    int64_t lead = step->client_us - (guard->received_us + guard->shift_us) - guard->base_us;
    if (lead <= REBASE_US && lead >= -REBASE_US)
        return (int32_t)lead;
    rebase(guard, lead);
    return 0;
}

/* Server time goes on, faster or slower as announced. */
static void advance(struct hs_clock_guard *guard, const struct hs_clock_step *step)
{
    if (step->received_us > guard->received_us) {
        double elapsed = (double)(step->received_us - guard->received_us);
        guard->shift_us += (int64_t)floor(elapsed * (step->dilation - 1) + 0.5);
        guard->received_us = step->received_us;
        /* A new packet: what the last one had seen counts from now on. */
        guard->ack_us = guard->arriving_ack_us;
        guard->has_ack = guard->has_arriving_ack;
    }
    if (step->dilation != guard->dilation) {
        guard->dilation = step->dilation;
        guard->change_us = guard->received_us;
    }
}

/* ---- the proof ---- */

static void note_ack(struct hs_clock_guard *guard, const struct hs_clock_step *step)
{
    if (!step->has_ack || step->ack_us > step->received_us)
        return;
    if (!guard->has_arriving_ack || step->ack_us > guard->arriving_ack_us)
        guard->arriving_ack_us = step->ack_us;
    guard->has_arriving_ack = true;
}

static bool prove(struct hs_clock_guard *guard, const struct hs_moves_rules *rules,
                  const struct hs_clock_step *step, int32_t lead, double elapsed_us, double *by_us)
{
    guard->bound_us += elapsed_us * rules->ack_skew_ppm * 1e-6;
    /* What was sent before the last change of dilation is of another time scale. */
    if (guard->has_ack && guard->ack_us >= guard->change_us) {
        int64_t seen = step->client_us - (guard->ack_us + guard->shift_us) - guard->base_us;
        if (!guard->has_bound || (double)seen < guard->bound_us)
            guard->bound_us = (double)seen;
        guard->has_bound = true;
    }
    note_ack(guard, step);
    bool proven = guard->has_bound && (double)lead > guard->bound_us + (double)rules->ack_slack_us;
    if (!proven)
        return false;
    *by_us = (double)lead - guard->bound_us;
    guard->bound_us = (double)lead;
    return true;
}

/* ---- the suspicion ---- */

static int32_t highest_cell(const struct hs_clock_guard *guard)
{
    int32_t highest = NO_LEAD;
    for (int i = 0; i < HS_LEAD_CELLS; i++)
        if (guard->cell_highest_us[i] > highest)
            highest = guard->cell_highest_us[i];
    return highest;
}

/* Cells passed since the last move are empty. */
static void move_to_cell(struct hs_clock_guard *guard, int64_t cell)
{
    int64_t passed = cell - guard->cell;
    for (int64_t i = 1; i <= passed && i <= HS_LEAD_CELLS; i++)
        guard->cell_highest_us[(guard->cell + i) % HS_LEAD_CELLS] = NO_LEAD;
    guard->cell = cell;
}

static double rise_of(const struct hs_clock_guard *guard)
{
    if (!guard->has_reference || guard->highest_us <= guard->reference_us)
        return 0;
    return (double)guard->highest_us - (double)guard->reference_us;
}

/* The block that ends goes into the accounts and into the window; a new one begins. */
static void end_block(struct hs_clock_guard *guard, const struct hs_moves_rules *rules,
                      int64_t block)
{
    double rise = rise_of(guard);
    double leak = (double)(block - guard->block) * (double)rules->lead_block_us * rules->lead_leak;
    guard->gathered_us =
        fmax(0, guard->gathered_us + fmin(rise, (double)rules->lead_clip_us) - leak);
    guard->jumped_us = fmax(0, guard->jumped_us + rise - leak);
    int32_t *cell = &guard->cell_highest_us[guard->cell % HS_LEAD_CELLS];
    if (guard->highest_us > *cell)
        *cell = guard->highest_us;
    int64_t cell_us = rules->lead_window_us / HS_LEAD_CELLS;
    move_to_cell(guard, block * rules->lead_block_us / cell_us);
    guard->reference_us = highest_cell(guard);
    guard->has_reference = guard->reference_us != NO_LEAD;
    guard->highest_us = NO_LEAD;
    guard->block = block;
}

static bool suspect(struct hs_clock_guard *guard, const struct hs_moves_rules *rules,
                    const struct hs_clock_step *step, int32_t lead, struct hs_clock_verdict *out)
{
    int64_t half_trip = step->rtt_us > 0 ? step->rtt_us / 2 : 0;
    int64_t level = lead + half_trip;
    int64_t block = (guard->received_us - guard->first_us) / rules->lead_block_us;
    if (block > guard->block)
        end_block(guard, rules, block);
    if (level > guard->highest_us)
        guard->highest_us = (int32_t)(level < INT32_MAX ? level : INT32_MAX);
    double rise = rise_of(guard);
    int64_t threshold =
        step->rtt_us >= 0 ? rules->lead_threshold_us : rules->lead_threshold_without_rtt_us;
    double gathered = guard->gathered_us + fmin(rise, (double)rules->lead_clip_us);
    double jumped = guard->jumped_us + rise;
    bool has_gathered = gathered > (double)threshold;
    if (!has_gathered && jumped <= (double)rules->lead_jump_us)
        return false;
    out->suspected_us = has_gathered ? gathered : jumped;
    out->suspected_limit_us = has_gathered ? (double)threshold : (double)rules->lead_jump_us;
    guard->gathered_us = guard->jumped_us = 0;
    guard->reference_us = guard->highest_us;
    guard->has_reference = true;
    return true;
}

/* ---- speed ---- */

/* The median slope between the highest leads of any two blocks (Theil 1950, Sen 1968): a few blocks
   with nothing but delayed moves do not bend it. */
static double median_slope(const struct hs_clock_guard *guard)
{
    double slopes[HS_SPEED_BLOCKS * (HS_SPEED_BLOCKS - 1) / 2];
    int count = 0;
    for (int i = 0; i < HS_SPEED_BLOCKS; i++) {
        for (int k = i + 1; k < HS_SPEED_BLOCKS; k++) {
            /* Blocks by age: the oldest kept is the one after the newest. */
            int64_t a = (guard->speed_block + 1 + i) % HS_SPEED_BLOCKS;
            int64_t b = (guard->speed_block + 1 + k) % HS_SPEED_BLOCKS;
            if (guard->speed_highest_us[a] == NO_LEAD || guard->speed_highest_us[b] == NO_LEAD)
                continue;
            double rise = (double)guard->speed_highest_us[b] - (double)guard->speed_highest_us[a];
            double slope = rise / ((double)(k - i) * (double)HS_SPEED_BLOCK_US);
            int at = count++;
            for (; at > 0 && slopes[at - 1] > slope; at--)
                slopes[at] = slopes[at - 1];
            slopes[at] = slope;
        }
    }
    return count > 0 ? (slopes[(count - 1) / 2] + slopes[count / 2]) / 2 : 0;
}

static void estimate_speed(struct hs_clock_guard *guard, int32_t lead)
{
    int64_t block = (guard->received_us - guard->first_us) / HS_SPEED_BLOCK_US;
    if (block > guard->speed_block) {
        guard->speed = 1 + median_slope(guard);
        for (int64_t i = guard->speed_block + 1;
             i <= block && i <= guard->speed_block + HS_SPEED_BLOCKS; i++)
            guard->speed_highest_us[i % HS_SPEED_BLOCKS] = NO_LEAD;
        guard->speed_block = block;
    }
    int32_t *highest = &guard->speed_highest_us[block % HS_SPEED_BLOCKS];
    if (lead > *highest)
        *highest = lead;
}

struct hs_clock_verdict hs_clock_guard_step(struct hs_clock_guard *guard,
                                            const struct hs_moves_rules *rules,
                                            const struct hs_clock_step *step)
{
    int64_t before = guard->received_us;
    advance(guard, step);
    int32_t lead = lead_of(guard, step);
    struct hs_clock_verdict verdict = {0};
    verdict.proven = prove(guard, rules, step, lead, (double)(guard->received_us - before),
                           &verdict.proven_by_us);
    verdict.suspected = suspect(guard, rules, step, lead, &verdict);
    estimate_speed(guard, lead);
    return verdict;
}
