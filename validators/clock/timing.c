#include "validators/clock/timing.h"

#include <math.h>

#include "validators/base/units.h"

/* A reset of the client's clock is plausible if the new value of the clock is this close to the
   expected value. */
#define RESET_SLACK_US INT64_C(1000000)

/* Only moves that arrive within this time after a stall can belong to its packet burst. */
#define BURST_US INT64_C(1000000)

/* The moves after a stall are a packet burst once they have made up for half of the delayed client
   time, or for this much of it. */
#define BURST_MIN_US 100000.0F

/* The state of timing and movement together uses at most 512 bytes per player. */
_Static_assert(sizeof(struct hs_timing) <= 360, "the state of a player's clock is small");

static const int64_t part_us = INT64_C(60000000) / HS_BURST_PARTS;

void hs_timing_restart(struct hs_timing *timing)
{
    *timing = (struct hs_timing){.compat = {.ahead_us = timing->compat.ahead_us,
                                            .is_resolving = timing->compat.is_resolving},
                                 .credit_us = timing->credit_us,
                                 .heard_us = timing->heard_us,
                                 .has_credit = timing->has_credit};
}

/* ---- stalls and packet bursts ---- */

static void move_to_part(struct hs_timing *timing, int64_t received_us)
{
    int64_t part = (received_us - timing->first_us) / part_us, newest = timing->burst_part;
    for (int64_t i = newest + 1; i <= part && i <= newest + HS_BURST_PARTS; i++)
        timing->bursts[i % HS_BURST_PARTS] = 0;
    if (part > newest)
        timing->burst_part = part < INT32_MAX ? (int32_t)part : INT32_MAX;
}

static void begin_stall(struct hs_timing *timing, int64_t received_us, double backlog_us)
{
    if (backlog_us < (double)BURST_MIN_US)
        backlog_us = 0; /* too little for a packet burst */
    timing->stall_from_us = timing->heard_us;
    timing->stall_to_us = timing->burst_to_us = received_us;
    timing->backlog_us = (float)backlog_us;
    timing->caught_us = 0;
    timing->has_burst = false;
}

/*
 * Detects a silence of at least forced_after, followed by moves that catch up faster than real
 * time. The cause may be a stalled connection or a lag switch: the times of the moves do not show
 * the cause. The delayed time and the caught-up time are game time, because the client's clock
 * shows game time.
 */
static void count_burst(struct hs_timing *timing, const struct hs_moves_rules *rules,
                        const struct hs_timing_move *move, double client_us)
{
    int64_t received_us = move->received_us;
    double silence = (double)(received_us - timing->heard_us), game = silence * move->dilation;
    move_to_part(timing, received_us);
    if (silence >= (double)rules->forced_after_us) {
        begin_stall(timing, received_us, game - client_us);
        return;
    }
    if (timing->backlog_us <= 0 || received_us - timing->stall_to_us > BURST_US)
        return;
    timing->caught_us += (float)(client_us - game);
    timing->burst_to_us = received_us;
    if (!timing->has_burst && timing->caught_us >= fminf(BURST_MIN_US, timing->backlog_us / 2)) {
        uint8_t *count = &timing->bursts[timing->burst_part % HS_BURST_PARTS];
        *count = (uint8_t)(*count + (*count < UINT8_MAX));
        timing->has_burst = true;
    }
    if (timing->caught_us >= timing->backlog_us)
        timing->backlog_us = 0;
}

bool hs_timing_was_in_burst(const struct hs_timing *timing, int64_t time_us)
{
    return timing->has_burst && time_us >= timing->stall_from_us && time_us <= timing->burst_to_us;
}

unsigned hs_timing_bursts_per_minute(const struct hs_timing *timing)
{
    unsigned count = 0;
    for (int i = 0; i < HS_BURST_PARTS; i++)
        count += timing->bursts[i];
    return count;
}

/* ---- checks ---- */

static void refill_credit(struct hs_timing *timing, const struct hs_moves_rules *rules,
                          const struct hs_timing_move *move)
{
    double most = (double)rules->credit_max_us;
    if (!timing->has_credit) {
        timing->credit_us = move->has_credit ? hs_smaller(most, (double)move->credit_us) : most;
        timing->has_credit = true;
    } else if (move->received_us > timing->heard_us) {
        double granted = (double)(move->received_us - timing->heard_us) * move->dilation;
        timing->credit_us = hs_smaller(most, timing->credit_us + granted);
    }
}

static void begin(struct hs_timing *timing, const struct hs_moves_rules *rules,
                  const struct hs_timing_move *move, struct hs_timing_result *out)
{
    out->reason = move->timestamp_us > 0 ? HS_MOVE_OK : HS_MOVE_BAD_TIMESTAMP;
    if (out->reason != HS_MOVE_OK)
        return;
    refill_credit(timing, rules, move);
    hs_compat_begin(&timing->compat, rules, move);
    hs_clock_guard_begin(&timing->guard, move);
    timing->first_us = timing->heard_us = move->received_us;
    timing->has_begun = true;
    out->client_us = HUGE_VAL;
}

/*
 * Examines a move that is not the first of its epoch, like hs_compat_examine. After a silence of at
 * least half a reset period, an honest clock may show any value: a player who waits for the next
 * round sends no moves. No connection delays a move by half a reset period. So with the prevention
 * `credit`, a move after such a silence is never stale: a clock that is behind counts as reset.
 */
static enum hs_move_reason examine(const struct hs_timing *timing,
                                   const struct hs_moves_rules *rules,
                                   const struct hs_timing_move *move)
{
    const struct hs_compat *compat = &timing->compat;
    enum hs_move_reason reason = hs_compat_examine(compat, rules, move);
    bool was_silent = move->received_us - compat->stamp_us >= rules->reset_period_us / 2;
    if (reason != HS_MOVE_STALE || rules->prevention != HS_PREVENTION_CREDIT || !was_silent)
        return reason;
    return move->timestamp_us > compat->current_us ? HS_MOVE_OK : HS_MOVE_RESET;
}

/* Returns the number of reset periods to add to the client's clock. This is the smallest number, at
   least 1, with which the clock is at most RESET_SLACK_US behind its last value. */
static int64_t periods_reset(const struct hs_timing *timing, const struct hs_moves_rules *rules,
                             const struct hs_timing_move *move)
{
    int64_t behind = timing->compat.current_us - RESET_SLACK_US - move->timestamp_us;
    int64_t periods = (behind + rules->reset_period_us - 1) / rules->reset_period_us;
    return periods > 1 ? periods : 1;
}

/*
 * Returns the time to add to the client's clock after a reset, in microseconds: normally a whole
 * number of reset periods. A reset is implausible if whole periods would advance the clock by more
 * than the server time since its last value. (An honest clock may advance by less, because a client
 * in the background may stop its clock.) After an implausible reset with the prevention `credit`,
 * the clock continues from its last value, and advances by at most this server time.
 */
static int64_t time_reset(const struct hs_timing *timing, const struct hs_moves_rules *rules,
                          const struct hs_timing_move *move)
{
    int64_t wrapped_us = periods_reset(timing, rules, move) * rules->reset_period_us;
    double client_us = (double)(move->timestamp_us + wrapped_us - timing->compat.current_us);
    double since =
        hs_larger(0, (double)(move->received_us - timing->compat.stamp_us) * move->dilation);
    bool is_plausible =
        client_us > -(double)RESET_SLACK_US && client_us < since + (double)RESET_SLACK_US;
    if (rules->prevention != HS_PREVENTION_CREDIT || is_plausible)
        return wrapped_us;
    int64_t clipped_us = (int64_t)hs_smaller(hs_larger(0, client_us), since);
    return timing->compat.current_us + clipped_us - move->timestamp_us;
}

/* Records a fall of the dilation. Call this before the guard advances. */
static void note_dilation(const struct hs_timing *timing, const struct hs_timing_move *move,
                          struct hs_timing_result *out)
{
    out->slowed_by = hs_larger(0, timing->guard.dilation - move->dilation);
    out->slowed_after_us =
        hs_larger(0, (double)move->received_us - (double)timing->guard.change_us);
}

/* Handles a refused move in a paused game. While the game is paused, an honest clock stands still,
   so the time of the pause gives no credit, and is neither a stall nor a lag of the clock. */
static void pass_pause(struct hs_timing *timing, const struct hs_timing_move *move,
                       struct hs_timing_result *out)
{
    if (move->received_us > timing->compat.stamp_us)
        timing->compat.stamp_us = move->received_us;
    if (move->received_us <= timing->heard_us)
        return;
    note_dilation(timing, move, out);
    hs_clock_guard_pause(&timing->guard, move);
    timing->heard_us = move->received_us;
}

/* Handles a move that is not simulated. After a silence, asks the game server to move the player by
   itself. Otherwise a player whose clock stands still would hang in the air. */
static void refuse(struct hs_timing *timing, const struct hs_moves_rules *rules,
                   const struct hs_timing_move *move, struct hs_timing_result *out)
{
    struct hs_compat *compat = &timing->compat;
    out->force_update = hs_compat_refuse(compat, out->reason, move);
    if (out->reason == HS_MOVE_BAD_TIMESTAMP)
        return;
    if (move->dilation <= 0)
        pass_pause(timing, move, out);
    int64_t silence_us = move->received_us - compat->stamp_us;
    if (silence_us >= rules->forced_after_us) {
        out->force_update = true;
        out->forced_us =
            (double)(silence_us < rules->forced_for_us ? silence_us : rules->forced_for_us);
    }
    if (out->reason != HS_MOVE_STALE)
        return;
    out->late_us = compat->current_us - move->timestamp_us;
    if (out->late_us < 0)
        out->late_us += rules->reset_period_us; /* the move was made before a reset */
}

void hs_timing_spend(struct hs_timing *timing, double time_us)
{
    timing->credit_us -= hs_smaller(time_us, timing->credit_us);
}

void hs_timing_check(struct hs_timing *timing, const struct hs_moves_rules *rules,
                     const struct hs_timing_move *move, struct hs_timing_result *out)
{
    *out = (struct hs_timing_result){0};
    if (!timing->has_begun) {
        begin(timing, rules, move, out);
        return;
    }
    out->reason = examine(timing, rules, move);
    if (out->reason != HS_MOVE_OK && out->reason != HS_MOVE_RESET) {
        refuse(timing, rules, move, out);
        return;
    }
    int64_t wrapped_us = out->reason == HS_MOVE_RESET ? time_reset(timing, rules, move) : 0;
    double client_us = (double)(move->timestamp_us + wrapped_us - timing->compat.current_us);
    /* A clock that was reset late may have gone back a little. In this case, no time is
       simulated. */
    out->client_us = client_us = hs_larger(0, client_us);
    if (wrapped_us <= HS_MOVES_LONGEST_US - timing->wrapped_us)
        timing->wrapped_us += wrapped_us;
    struct hs_compat_result compat;
    hs_compat_accept(&timing->compat, rules, out->reason, move, &compat);
    note_dilation(timing, move, out);
    struct hs_timing_move unwrapped = *move;
    unwrapped.timestamp_us += timing->wrapped_us;
    struct hs_clock_verdict verdict = hs_clock_guard_step(&timing->guard, rules, &unwrapped);
    refill_credit(timing, rules, move);
    count_burst(timing, rules, move, client_us);
    if (move->received_us > timing->heard_us)
        timing->heard_us = move->received_us;

    out->flags = (compat.flagged ? (unsigned)HS_TIMING_DISCREPANCY : 0) |
                 (verdict.proven ? (unsigned)HS_TIMING_FAST_PROVEN : 0) |
                 (verdict.suspected ? (unsigned)HS_TIMING_FAST_SUSPECTED : 0);
    out->ahead_us = compat.ahead_us;
    out->error_us = compat.error_us;
    out->proven_by_us = verdict.proven_by_us;
    out->suspected_us = verdict.suspected_us;
    out->suspected_limit_us = verdict.suspected_limit_us;
    out->force_update = compat.force_update;
    double longest = (double)rules->max_delta_us * move->dilation;
    out->delta_us = rules->prevention == HS_PREVENTION_RESOLUTION
                        ? compat.delta_us
                        : hs_smaller(hs_smaller(client_us, longest), timing->credit_us);
    hs_timing_spend(timing, out->delta_us);
}
