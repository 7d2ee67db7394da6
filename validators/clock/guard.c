#include "validators/clock/guard.h"

#include <math.h>
#include <string.h>

#include "validators/base/units.h"

/* Stored as the highest lead of a block that has no moves. */
#define NO_LEAD INT32_MIN

/* Stored as the ceiling (the upper bound of the lead, from acks) until an ack arrives. */
#define NO_CEILING INT32_MAX

/* Leads are stored in 32 bits, relative to a base. A lead further than this from the base becomes
   the new base. */
#define REBASE_US INT64_C(1000000000)

/* If an arrival is earlier than the newest arrival by more than this, the server's clock was set
   back. A smaller difference may come from moves of one tick that are not posted in order of
   arrival. */
#define SET_BACK_US 50000

/* If the ceiling falls by more than this, the clock paused. A smaller fall may come from a better
   connection. */
#define PAUSE_SLACK_US 60000

/* After a pause longer than this, R (the reference lead, guard.h) is corrected SETTLING_BLOCKS
   blocks later. */
#define PAUSE_SETTLES_US 240000
enum { SETTLING_BLOCKS = 10 };

/*
 * The limit of made_up_us, the third account in guard.h. No honest clock reached this limit in
 * simulations of all connection types.
 */
#define MADE_UP_US 1000000

/* Noise is stored in units of NOISE_UNIT_US, and is NOISE_FIRST_US until there is data. If the
   highest lead M is more than NOISE_MAX_US below the reference lead R (guard.h), the cause is a
   stall, not noise. */
enum { NOISE_UNIT_US = 2000, NOISE_MAX_US = 500000, NOISE_FIRST_US = 100000 };

/* Returns the ack of a move. The client cannot have a snapshot that was sent after the move
   arrived, so a later ack counts as the arrival. If a later ack were ignored, a client could use
   such acks to prevent every proof. */
static int64_t ack_of(const struct hs_timing_move *step)
{
    return step->ack_us < step->received_us ? step->ack_us : step->received_us;
}

void hs_clock_guard_begin(struct hs_clock_guard *guard, const struct hs_timing_move *step)
{
    memset(guard, 0, sizeof *guard);
    guard->base_us = step->timestamp_us - step->received_us;
    guard->received_us = guard->block_from_us = step->received_us;
    guard->change_us = INT64_MIN;
    guard->dilation = step->dilation;
    if (step->has_ack)
        guard->known = HS_GUARD_ARRIVING_ACK;
    guard->arriving_ack_us = ack_of(step);
    guard->highest_us = 0; /* the first move has the lead 0, because its x is the base */
    guard->reference_us = guard->highest_before_us = NO_LEAD;
    guard->lowest_us = guard->lowest_before_us = NO_CEILING;
    for (int i = 0; i < 2; i++)
        guard->ceilings_us[i] = guard->round_trips_us[i] = NO_CEILING;
    guard->noise_us = NOISE_FIRST_US;
    for (int i = 0; i < HS_LEAD_CELLS; i++) {
        guard->cell_highest_us[i] = NO_LEAD;
        guard->cell_noise[i] = NOISE_FIRST_US / NOISE_UNIT_US;
    }
    guard->speed = 1;
}

static int32_t smaller(int32_t a, int32_t b)
{
    return a < b ? a : b;
}

/* ---- the lead ---- */

static int32_t to_lead(int64_t value)
{
    /* NO_LEAD and NO_CEILING mean that there is no value, so a lead must not be equal to one of
       these values. */
    return value <= NO_LEAD ? NO_LEAD + 1 : value >= NO_CEILING ? NO_CEILING - 1 : (int32_t)value;
}

static void shift(int32_t *lead, int64_t by)
{
    if (*lead != NO_LEAD && *lead != NO_CEILING)
        *lead = to_lead(*lead - by);
}

static void rebase(struct hs_clock_guard *guard, int64_t by)
{
    guard->base_us += by;
    guard->bound_us -= (double)by;
    shift(&guard->highest_us, by);
    shift(&guard->highest_before_us, by);
    shift(&guard->reference_us, by);
    shift(&guard->lowest_us, by);
    shift(&guard->lowest_before_us, by);
    for (int i = 0; i < 2; i++)
        shift(&guard->ceilings_us[i], by);
    for (int i = 0; i < HS_LEAD_CELLS; i++)
        shift(&guard->cell_highest_us[i], by);
}

/* Returns the lead of a move relative to the base. Moves the base if the lead needs more than 32
   bits. */
static int32_t lead_of(struct hs_clock_guard *guard, const struct hs_timing_move *step)
{
    int64_t lead = step->timestamp_us - (guard->received_us + guard->shift_us) - guard->base_us;
    if (lead <= REBASE_US && lead >= -REBASE_US)
        return (int32_t)lead;
    rebase(guard, lead);
    return 0;
}

/* Forgets the bound Y (guard.h). From now on, acks of snapshots that were sent before `time_us` do
   not count. */
static void restart_bound(struct hs_clock_guard *guard, int64_t time_us)
{
    if (time_us > guard->change_us)
        guard->change_us = time_us;
    guard->known &= (uint8_t)~HS_GUARD_BOUND;
}

/* Keeps the leads unchanged after the server's clock was set back. Until the clock passes its old
   time, an ack does not show whether its snapshot was sent before or after the clock was set back.
   So no ack counts until the clock has passed its old time. */
static void set_back(struct hs_clock_guard *guard, int64_t by_us)
{
    restart_bound(guard, guard->received_us);
    guard->known = 0;
    guard->received_us -= by_us;
    guard->block_from_us -= by_us;
    guard->base_us += by_us;
}

/* Advances to the arrival of this move, and applies the dilation to the elapsed time. */
static void advance(struct hs_clock_guard *guard, const struct hs_timing_move *step)
{
    if (guard->received_us - step->received_us > SET_BACK_US)
        set_back(guard, guard->received_us - step->received_us);
    if (step->received_us > guard->received_us) {
        double elapsed = (double)(step->received_us - guard->received_us);
        double most = (double)HS_MOVES_LONGEST_US;
        double shift_us = (double)guard->shift_us + floor(elapsed * (step->dilation - 1) + 0.5);
        if (shift_us > -most && shift_us < most)
            guard->shift_us += (int64_t)floor(elapsed * (step->dilation - 1) + 0.5);
        guard->received_us = step->received_us;
        /* This is a new packet, so the acks from all earlier packets now count. */
        guard->ack_us = guard->arriving_ack_us;
        if ((guard->known & HS_GUARD_ARRIVING_ACK) != 0)
            guard->known |= HS_GUARD_ACK;
    }
    if (step->dilation != guard->dilation) {
        guard->dilation = step->dilation;
        /* The client learns of the new dilation later, at an unknown time. Until then, the client's
           clock runs at the old speed, so Y (guard.h) is not an upper bound of the lead. */
        restart_bound(guard, guard->received_us);
    }
}

void hs_clock_guard_pause(struct hs_clock_guard *guard, const struct hs_timing_move *step)
{
    advance(guard, step);
}

/* ---- the proof ---- */

static void record_ack(struct hs_clock_guard *guard, const struct hs_timing_move *step)
{
    bool is_old = step->has_ack && (guard->known & HS_GUARD_ARRIVING_ACK) != 0 &&
                  ack_of(step) <= guard->arriving_ack_us;
    if (!is_old)
        guard->made_up_us = smaller(guard->made_up_us, 0);
    if (!step->has_ack || is_old)
        return;
    guard->arriving_ack_us = ack_of(step);
    guard->known |= HS_GUARD_ARRIVING_ACK;
}

static bool prove(struct hs_clock_guard *guard, const struct hs_moves_rules *rules,
                  const struct hs_timing_move *step, int32_t lead, double elapsed_us, double *by_us)
{
    guard->bound_us += elapsed_us * rules->ack_skew_ppm * 1e-6;
    /* Game time ran at another speed before the dilation changed, so older acks cannot be used. */
    if ((guard->known & HS_GUARD_ACK) != 0 && guard->ack_us >= guard->change_us) {
        double age = (double)(guard->received_us - guard->ack_us) * guard->dilation;
        int64_t later = (int64_t)floor(hs_smaller(age, (double)HS_MOVES_LONGEST_US) + 0.5);
        /* `later` is the game time since the snapshot. */
        int64_t seen =
            step->timestamp_us - (guard->received_us + guard->shift_us - later) - guard->base_us;
        if ((guard->known & HS_GUARD_BOUND) == 0 || (double)seen < guard->bound_us)
            guard->bound_us = (double)seen;
        guard->known |= HS_GUARD_BOUND;
        if (seen < guard->lowest_us) {
            guard->lowest_us = to_lead(seen);
            guard->lowest_trip_us = to_lead(later);
        }
    }
    record_ack(guard, step);
    bool proven = (guard->known & HS_GUARD_BOUND) != 0 &&
                  (double)lead > guard->bound_us + (double)rules->ack_slack_us;
    if (!proven)
        return false;
    *by_us = (double)lead - guard->bound_us;
    guard->bound_us = (double)lead;
    return true;
}

/* ---- the suspicion ---- */

static int cells_of(const struct hs_moves_rules *rules)
{
    int64_t cells = (rules->lead_window_us + HS_LEAD_CELL_US - 1) / HS_LEAD_CELL_US;
    return cells < HS_LEAD_CELLS ? (int)cells : HS_LEAD_CELLS - 1;
}

static int32_t larger(int32_t a, int32_t b)
{
    return a > b ? a : b;
}

/* Returns the lowest upper bound of the lead from recent acks. */
static int32_t ceiling_of(const struct hs_clock_guard *guard)
{
    return smaller(guard->ceilings_us[0], guard->ceilings_us[1]);
}

static int32_t highest_of_window(const struct hs_clock_guard *guard,
                                 const struct hs_moves_rules *rules)
{
    int32_t highest = NO_LEAD;
    for (int i = 0; i <= cells_of(rules); i++) {
        int32_t lead = guard->cell_highest_us[(guard->cell + HS_LEAD_CELLS - i) % HS_LEAD_CELLS];
        if (lead > highest)
            highest = lead;
    }
    return highest;
}

/*
 * Detects a pause of the clock: the ceiling fell, but the round trip did not become shorter by the
 * same amount. Lowers the reference lead R by the length of the pause. Otherwise the clock could
 * catch up after the pause without being detected.
 */
static void forget_pause(struct hs_clock_guard *guard)
{
    int32_t before = ceiling_of(guard);
    if (guard->lowest_us == NO_CEILING || before == NO_CEILING)
        return;
    int64_t round_trip = smaller(guard->round_trips_us[0], guard->round_trips_us[1]);
    int64_t shorter = round_trip > guard->lowest_trip_us ? round_trip - guard->lowest_trip_us : 0;
    int64_t paused = (int64_t)before - guard->lowest_us - shorter;
    if (paused <= PAUSE_SLACK_US)
        return;
    /* A fast clock raises the bound from block to block. In this case, the bound of the previous
       block is above the ceiling. So the fall below that bound shows more of the pause than the
       fall below the ceiling. */
    if (guard->lowest_before_us != NO_CEILING) {
        int64_t trip = guard->trip_before_us;
        shorter = trip > guard->lowest_trip_us ? trip - guard->lowest_trip_us : 0;
        int64_t by_block = (int64_t)guard->lowest_before_us - guard->lowest_us - shorter;
        if (by_block > paused)
            paused = by_block;
    }
    for (int i = 0; i < HS_LEAD_CELLS; i++)
        shift(&guard->cell_highest_us[i], paused);
    shift(&guard->reference_us, paused);
    if (guard->highest_us > guard->reference_us)
        guard->highest_us = guard->reference_us;
    if (paused <= PAUSE_SETTLES_US)
        return;
    /* Start a new cell, so that no cell contains moves from before and after the pause. */
    int32_t *before_it = &guard->cell_highest_us[(guard->cell + HS_LEAD_CELLS - 1) % HS_LEAD_CELLS];
    int32_t *current = &guard->cell_highest_us[guard->cell];
    *before_it = larger(larger(*before_it, *current), guard->highest_us);
    *current = guard->highest_us = NO_LEAD;
    guard->settling = SETTLING_BLOCKS;
    guard->settling_cell = guard->cell;
}

/*
 * Corrects the reference lead R (guard.h) some blocks after a pause. Delays are usually longer in
 * the block that shows the pause, so the pause seems too short. R would then be too high for half a
 * minute. The highest lead in the first seconds after the pause is a better value. The correction
 * never raises R.
 */
static void settle(struct hs_clock_guard *guard)
{
    if (guard->settling == 0 || guard->highest_us == NO_LEAD || --guard->settling > 0)
        return;
    int32_t settled = NO_LEAD;
    int since = (guard->cell + HS_LEAD_CELLS - guard->settling_cell) % HS_LEAD_CELLS;
    for (int i = 0; i <= since; i++)
        settled =
            larger(settled, guard->cell_highest_us[(guard->settling_cell + i) % HS_LEAD_CELLS]);
    if (settled == NO_LEAD)
        return;
    for (int i = 0; i < HS_LEAD_CELLS; i++)
        guard->cell_highest_us[i] = smaller(guard->cell_highest_us[i], settled);
}

/*
 * Handles the first move after a silence. Delayed moves may now catch up by the amount by which the
 * lead fell. Any further gain counts for the third account (guard.h).
 */
static void record_silence(struct hs_clock_guard *guard, int32_t lead)
{
    int64_t held_up = (int64_t)larger(guard->reference_us, guard->highest_before_us) - lead;
    guard->made_up_us = to_lead(held_up > 0 ? -held_up : 0);
    guard->highest_before_us = lead;
}

static void make_up(struct hs_clock_guard *guard, int64_t length_us)
{
    if (guard->highest_us == NO_LEAD)
        return;
    if (guard->highest_before_us != NO_LEAD) {
        int64_t gain = (int64_t)guard->highest_us - guard->highest_before_us;
        /* Many delayed moves can arrive in one block. So when the account is not negative, the
           account grows by at most the length of the block. */
        guard->made_up_us =
            guard->made_up_us < 0
                ? smaller(0, to_lead(guard->made_up_us + gain + length_us))
                : larger(0, to_lead(guard->made_up_us + (gain < length_us ? gain : length_us)));
    }
    guard->highest_before_us = guard->highest_us;
}

/* Returns how far the highest lead M rose above the reference lead R, but at most how far the bound
   from acks rose. A fast clock raises both M and the bound. A better connection raises only M. */
static double rise_of(const struct hs_clock_guard *guard)
{
    if (guard->reference_us == NO_LEAD || guard->highest_us <= guard->reference_us)
        return 0;
    double rise = (double)guard->highest_us - (double)guard->reference_us;
    int32_t before = ceiling_of(guard), now = smaller(guard->lowest_us, guard->lowest_before_us);
    if (guard->lowest_us == NO_CEILING || before == NO_CEILING)
        return rise;
    return hs_smaller(rise, hs_larger(0, (double)now - (double)before));
}

static void next_cell(struct hs_clock_guard *guard, const struct hs_moves_rules *rules)
{
    if (guard->cell_below_count > 0)
        guard->cell_noise[guard->cell] = (uint8_t)(guard->cell_below / guard->cell_below_count);
    guard->cell = (uint8_t)((guard->cell + 1) % HS_LEAD_CELLS);
    guard->cell_highest_us[guard->cell] = NO_LEAD;
    guard->cell_noise[guard->cell] = NOISE_FIRST_US / NOISE_UNIT_US;
    guard->cell_below = guard->cell_below_count = 0;
    if (++guard->half_cells < cells_of(rules))
        return;
    guard->half_cells = 0;
    guard->ceilings_us[1] = guard->ceilings_us[0];
    guard->round_trips_us[1] = guard->round_trips_us[0];
    guard->ceilings_us[0] = guard->round_trips_us[0] = NO_CEILING;
}

static void move_window(struct hs_clock_guard *guard, const struct hs_moves_rules *rules,
                        int64_t by_us)
{
    int64_t so_far = guard->cell_so_far_us + by_us;
    guard->block_from_us += by_us;
    guard->cell_so_far_us = (int32_t)(so_far % HS_LEAD_CELL_US);
    int64_t steps = so_far / HS_LEAD_CELL_US;
    /* After a long silence all cells are empty, so whole rounds through the ring of cells can be
       skipped. */
    int64_t round = (int64_t)HS_LEAD_CELLS * cells_of(rules);
    if (steps > 2 * round)
        steps = round + steps % round;
    for (; steps > 0; steps--)
        next_cell(guard, rules);
}

static void record_noise(struct hs_clock_guard *guard)
{
    if (guard->highest_us == NO_LEAD || guard->reference_us == NO_LEAD)
        return;
    int64_t below = (int64_t)guard->reference_us - guard->highest_us;
    if (below > NOISE_MAX_US || guard->cell_below_count == UINT8_MAX)
        return;
    guard->cell_below = (uint16_t)(guard->cell_below + (below > 0 ? below / NOISE_UNIT_US : 0));
    guard->cell_below_count++;
}

int64_t hs_clock_guard_noise(const struct hs_clock_guard *guard)
{
    int64_t sum = 0, count = 0;
    for (int i = 0; i < HS_LEAD_CELLS; i++) {
        /* Skip cells without moves, and the current cell, which is not complete. */
        if (i == guard->cell || guard->cell_highest_us[i] == NO_LEAD)
            continue;
        sum += guard->cell_noise[i];
        count++;
    }
    if (guard->cell_below_count > 0) {
        sum += guard->cell_below / guard->cell_below_count;
        count++;
    }
    return count > 0 ? sum * NOISE_UNIT_US / count : 0;
}

static float noise_of_window(const struct hs_clock_guard *guard, const struct hs_moves_rules *rules)
{
    int cells = cells_of(rules);
    uint32_t sum = 0;
    for (int i = 1; i <= cells; i++)
        sum += guard->cell_noise[(guard->cell + HS_LEAD_CELLS - i) % HS_LEAD_CELLS];
    if (guard->cell_below_count == 0)
        return (float)(sum * NOISE_UNIT_US) / (float)cells;
    sum += (uint32_t)guard->cell_below / guard->cell_below_count;
    return (float)(sum * NOISE_UNIT_US) / (float)(cells + 1);
}

/* Returns the factor by which noise raises the limits; at least 1. */
static double scale_of(const struct hs_clock_guard *guard, const struct hs_moves_rules *rules)
{
    return 1 + (double)guard->noise_us / hs_larger(1, (double)rules->lead_noise_us);
}

static double limit_of(const struct hs_clock_guard *guard, const struct hs_moves_rules *rules)
{
    int64_t threshold = (guard->known & HS_GUARD_BOUND) != 0 ? rules->lead_threshold_us
                                                             : rules->lead_threshold_without_rtt_us;
    return (double)threshold * scale_of(guard, rules);
}

static double clip_of(const struct hs_clock_guard *guard, const struct hs_moves_rules *rules)
{
    return (double)rules->lead_clip_us * scale_of(guard, rules);
}

/* Adds the block to the accounts and to the window, and starts a new block. */
static void end_block(struct hs_clock_guard *guard, const struct hs_moves_rules *rules,
                      int64_t blocks)
{
    double rise = rise_of(guard);
    double length = (double)blocks * (double)rules->lead_block_us;
    double leak = length * rules->lead_leak;
    guard->gathered_us = (float)hs_larger(0, (double)guard->gathered_us +
                                                 hs_smaller(rise, clip_of(guard, rules)) - leak);
    guard->jumped_us = (float)hs_larger(0, (double)guard->jumped_us + rise - leak);
    make_up(guard, blocks * rules->lead_block_us);
    forget_pause(guard);
    int32_t *cell = &guard->cell_highest_us[guard->cell];
    *cell = larger(*cell, guard->highest_us);
    /* After a pause, the reference lead R is too high until it is corrected. Until then, the
       distance of the highest lead M below R is not noise. */
    if (guard->settling == 0)
        record_noise(guard);
    settle(guard);
    if (guard->lowest_us != NO_CEILING) {
        guard->ceilings_us[0] = smaller(guard->ceilings_us[0], guard->lowest_us);
        guard->round_trips_us[0] = smaller(guard->round_trips_us[0], guard->lowest_trip_us);
    }
    guard->lowest_before_us = guard->lowest_us;
    guard->trip_before_us = guard->lowest_trip_us;
    move_window(guard, rules, blocks * rules->lead_block_us);
    guard->noise_us = noise_of_window(guard, rules);
    guard->reference_us = highest_of_window(guard, rules);
    guard->highest_us = NO_LEAD;
    guard->lowest_us = NO_CEILING;
}

static bool suspect(struct hs_clock_guard *guard, const struct hs_moves_rules *rules, int32_t lead,
                    struct hs_clock_verdict *out)
{
    if (lead > guard->highest_us)
        guard->highest_us = lead;
    double rise = rise_of(guard);
    double limit = limit_of(guard, rules);
    double jump_limit = (double)rules->lead_jump_us * scale_of(guard, rules);
    double gathered = (double)guard->gathered_us + hs_smaller(rise, clip_of(guard, rules));
    double jumped = (double)guard->jumped_us + rise;
    if (gathered > limit) {
        out->suspected_us = gathered;
        out->suspected_limit_us = limit;
    } else if (jumped > jump_limit) {
        out->suspected_us = jumped;
        out->suspected_limit_us = jump_limit;
    } else if (guard->made_up_us > MADE_UP_US) {
        out->suspected_us = guard->made_up_us;
        out->suspected_limit_us = MADE_UP_US;
        guard->made_up_us = 0;
        return true; /* the reference lead R stays, because the clock is not ahead of R */
    } else {
        return false;
    }
    guard->gathered_us = guard->jumped_us = 0;
    guard->reference_us = guard->highest_us;
    return true;
}

/* ---- speed ---- */

/* Returns the median slope between the highest leads of any two cells (Theil-Sen estimator: Theil
   1950, Sen 1968). A median changes little if some cells have only delayed moves. */
static double median_slope(const struct hs_clock_guard *guard)
{
    double slopes[HS_LEAD_CELLS * (HS_LEAD_CELLS - 1) / 2];
    int count = 0;
    for (int i = 0; i < HS_LEAD_CELLS; i++) {
        for (int k = i + 1; k < HS_LEAD_CELLS; k++) {
            /* The cells form a ring: the oldest cell follows the newest cell. */
            int32_t a = guard->cell_highest_us[(guard->cell + 1 + i) % HS_LEAD_CELLS];
            int32_t b = guard->cell_highest_us[(guard->cell + 1 + k) % HS_LEAD_CELLS];
            if (a == NO_LEAD || b == NO_LEAD)
                continue;
            double slope = ((double)b - (double)a) / ((double)(k - i) * (double)HS_LEAD_CELL_US);
            int at = count++;
            for (; at > 0 && slopes[at - 1] > slope; at--)
                slopes[at] = slopes[at - 1];
            slopes[at] = slope;
        }
    }
    return count > 0 ? (slopes[(count - 1) / 2] + slopes[count / 2]) / 2 : 0;
}

struct hs_clock_verdict hs_clock_guard_step(struct hs_clock_guard *guard,
                                            const struct hs_moves_rules *rules,
                                            const struct hs_timing_move *step)
{
    int64_t before = guard->received_us;
    advance(guard, step);
    int64_t blocks = (guard->received_us - guard->block_from_us) / rules->lead_block_us;
    if (blocks > 0) {
        uint8_t cell = guard->cell;
        end_block(guard, rules, blocks);
        if (guard->cell != cell)
            guard->speed = (float)(1 + median_slope(guard));
    }
    int32_t lead = lead_of(guard, step);
    if (blocks > 1)
        record_silence(guard, lead);
    struct hs_clock_verdict verdict = {0};
    verdict.proven = prove(guard, rules, step, lead, (double)(guard->received_us - before),
                           &verdict.proven_by_us);
    verdict.suspected = suspect(guard, rules, lead, &verdict);
    return verdict;
}
