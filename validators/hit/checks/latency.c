/* latency: do the times of the claim fit the shooter's connection and earlier shots? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"
#include "validators/match/connection.h"

/* The difference between a time and the expected time, and the largest allowed difference (the
   slack). Older and newer times have different slacks. */
struct misfit {
    int64_t off_us, slack_us;
    /* True if off_us is larger than the slack in the ruleset. The time may still fit, because noise
       on the connection raises slack_us. */
    bool needs_noise;
};

/* Returns how far the difference is above the slack. A positive result means that the time does not
   fit. */
static int64_t excess(const struct misfit *misfit)
{
    return misfit->off_us - misfit->slack_us;
}

static int64_t smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

/* Returns whether both the fire time and the weapon of a hit are unknown, for example because a
   restart lost the posted shot. It is then unknown whether the hit is instant, and
   c->fire_time_us is a copy of the hit time. */
static bool lacks_fire_time(const struct hs_hit_context *c)
{
    return c->weapon == NULL && !c->is_shot && !hs_hit_knows_fire_time(c);
}

/* Checks that a claim is not earlier than the accepted claim before it (hs_ledger_accepted_before).
   A claim may be earlier by at most rewind.backstep. Compares the fire times, and for two instant
   hits also the hit times. If one of the two instant hits has no separate fire time, only the hit
   times are compared. */
static enum hs_reason check_order(const struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_ledger_entry *before =
        c->used_numbers != NULL ? hs_ledger_accepted_before(c->used_numbers, c->claim->shot) : NULL;
    if (before == NULL || (lacks_fire_time(c) && !before->is_instant))
        return HS_REASON_OK;
    int64_t back = before->fire_time_us - c->fire_time_us;
    if (before->is_instant && (hs_hit_is_instant(c) || lacks_fire_time(c))) {
        int64_t hit_back = before->hit_time_us - c->hit_time_us;
        bool have_fire_times =
            before->fire_time_us != before->hit_time_us && c->fire_time_us != c->hit_time_us;
        back = have_fire_times ? larger(back, hit_back) : hit_back;
    }
    int64_t limit = c->ruleset->rewind.backstep_us;
    return back <= limit ? HS_REASON_OK
                         : hs_report_time_limit(row, back, limit, HS_REASON_TIME_BACKWARDS);
}

/* The slacks for the shooter's connection. */
struct slacks {
    int64_t older_us, newer_us, jump_us;
};

/*
 * A noisy connection gets more slack. Each slack grows by the noise, but at most by older_slack.
 * The slack for newer times does not grow above older_slack.
 *
 * A quiet connection gets less slack: 85 % of the slacks for older and newer times, and 60 % of the
 * slack for jumps. These shares were chosen with `simulate hits`. A cheater can choose the hit
 * times at which the poses are most favourable. With these shares, such a cheater wins about 14 %
 * more hits than an honest player; with the full slack, 18 % more. On a LAN the shares reject 5
 * more honest claims in 10,000. A smaller share of older_slack would not reduce the cheater's gain
 * further.
 */
static struct slacks slacks_of(const struct hs_hit_context *c)
{
    const struct hs_rewind_rules *rules = &c->ruleset->rewind;
    struct slacks slacks = {rules->older_slack_us, rules->newer_slack_us, rules->jump_slack_us};
    if (hs_connection_is_quiet(c->shooter.player, c->now_us))
        return (struct slacks){slacks.older_us * 85 / 100, slacks.newer_us * 85 / 100,
                               slacks.jump_us * 3 / 5};
    int64_t growth_us = smaller(slacks.older_us, hs_connection_noise(c->shooter.player));
    slacks.newer_us += growth_us;
    if (slacks.newer_us > slacks.older_us)
        slacks.newer_us = larger(slacks.older_us, rules->newer_slack_us);
    slacks.older_us += growth_us;
    slacks.jump_us += growth_us;
    return slacks;
}

/* Checks that the hit's offset (hit_time minus the expected time) is similar to the offsets of
   other hits at about the same time. The delay of a connection does not jump back and forth within
   a short time. If a client chooses favourable hit times, the offsets jump. */
static enum hs_reason check_jump(struct hs_hit_context *c, struct hs_check_row *row)
{
    if (!c->out->has_offset || c->used_numbers == NULL)
        return HS_REASON_OK;
    int64_t slack = slacks_of(c).jump_us;
    hs_work_spend(&c->work, (uint64_t)c->used_numbers->count * HS_WORK_PASS);
    int64_t jump = hs_ledger_offset_jump(c->used_numbers, c->hit_time_us, c->out->offset_us);
    if (jump > smaller(slack, c->ruleset->rewind.jump_slack_us))
        c->out->flags |= 1u << HS_FLAG_UNSTABLE_LATENCY;
    return jump <= slack ? HS_REASON_OK
                         : hs_report_time_limit(row, jump, slack, HS_REASON_LATENCY_JUMP);
}

/*
 * Compares hit_time with the expected time. Delays can only make a round trip longer than the
 * smallest round trip. So the time of an honest claim is often older than expected, and seldom
 * newer. The time of a posted shot may be anywhere between the time of the picture that the shooter
 * saw and `now`. The check `rewind` rejects times that are too far after `now`.
 */
static struct misfit compare(const struct hs_hit_context *c, int64_t expected_us,
                             const struct slacks *slacks)
{
    const struct hs_rewind_rules *rules = &c->ruleset->rewind;
    int64_t older_us = expected_us - c->contact_us;
    if (older_us >= 0)
        return (struct misfit){older_us, slacks->older_us, older_us > rules->older_slack_us};
    int64_t off_us = c->is_shot ? 0 : -older_us;
    return (struct misfit){off_us, slacks->newer_us, off_us > rules->newer_slack_us};
}

/* Compares hit_time with the posted shot. The shooter may have fired long after the time of the
   picture that they saw. But the time of the picture cannot be after the shot. */
static struct misfit compare_shot(const struct hs_hit_context *c, const struct slacks *slacks)
{
    int64_t off_us = larger(c->hit_time_us - c->fire_time_us, 0);
    return (struct misfit){off_us, slacks->newer_us, off_us > c->ruleset->rewind.newer_slack_us};
}

/* For an instant shot, the server may have simulated the shooter either when the claim arrived
   or at the claim's fire time. Computes a misfit for each of these two times, and returns the
   larger misfit. If the fire time is unknown, only the arrival counts. */
static struct misfit worst_misfit(const struct hs_hit_context *c, int64_t delay_us,
                                  struct hs_check_row *row)
{
    const struct slacks slacks = slacks_of(c);
    struct misfit arrived = compare(c, c->now_us - delay_us, &slacks);
    if (!hs_hit_is_instant(c) || !hs_hit_knows_fire_time(c))
        return arrived;
    struct misfit fired = c->posted != NULL ? compare_shot(c, &slacks)
                                            : compare(c, c->fire_time_us - delay_us, &slacks);
    bool needs_noise = arrived.needs_noise || fired.needs_noise;
    row->of_fire_time = excess(&fired) > 0 && excess(&fired) > excess(&arrived);
    struct misfit worst = row->of_fire_time ? fired : arrived;
    worst.needs_noise = needs_noise;
    return worst;
}

/* Compares hit_time with the connection. */
static enum hs_reason check_times(struct hs_hit_context *c, const struct hs_connection *connection,
                                  struct hs_check_row *row)
{
    int64_t delay = hs_connection_delay(connection, &c->ruleset->rewind);
    struct misfit misfit = worst_misfit(c, delay, row);
    if (excess(&misfit) <= 0 && misfit.needs_noise)
        c->out->flags |= 1u << HS_FLAG_UNSTABLE_LATENCY;
    c->out->has_offset = hs_hit_is_instant(c) && !connection->is_stale;
    c->out->offset_us = c->hit_time_us - (c->now_us - delay);
    return hs_report_time_limit(row, misfit.off_us, misfit.slack_us,
                                connection->is_stale ? HS_REASON_HISTORY_TOO_SHORT
                                                     : HS_REASON_TIME_MISMATCH);
}

enum hs_reason hs_check_latency(struct hs_hit_context *c, struct hs_check_row *row)
{
    struct hs_connection connection;
    enum hs_reason reason = HS_REASON_OK;
    if (hs_posted_failed(c, row))
        return hs_report_posted(c, row);
    hs_connection_read(c->shooter.player, c->now_us, &connection);
    if (connection.spread_us > c->ruleset->rewind.ping_spread_us)
        c->out->flags |= 1u << HS_FLAG_UNSTABLE_LATENCY;
    if (connection.is_known && !c->is_predicted && !hs_hit_is_driven(c))
        reason = check_times(c, &connection, row);
    if (reason == HS_REASON_OK)
        reason = check_order(c, row);
    return reason == HS_REASON_OK ? check_jump(c, row) : reason;
}
