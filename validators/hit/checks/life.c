/* life: was the shooter alive to fire, and the target alive, in this life, and vulnerable? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"

/* When the life that is over at the bracket ended, as far as the history tells. */
static int64_t death_time(const struct hs_history *history, const struct hs_bracket *bracket)
{
    int64_t i = hs_history_find(history, bracket->from->time_us);
    int64_t life = hs_history_state(history, bracket->from)->life;
    int64_t died_us = bracket->from->time_us;
    for (; i >= 0; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        const struct hs_state *state = hs_history_state(history, sample);
        if (state->alive || state->life != life)
            break;
        died_us = sample->time_us;
    }
    return died_us;
}

/* The shooter was dead before a restart, and perhaps is no more. */
static bool is_shooter_stale(const struct hs_hit_context *c)
{
    const struct hs_state *state = hs_rewind_state(c->shooter.player->history, &c->shooter.bracket);
    return !state->alive && (state->stale & HS_STALE_LIFE) != 0;
}

/* False when the shooter's part has failed. */
static bool shooter_may_fire(struct hs_hit_context *c)
{
    const struct hs_history *history = c->shooter.player->history;
    const struct hs_bracket *bracket = &c->shooter.bracket;
    if (hs_rewind_state(history, bracket)->alive || is_shooter_stale(c))
        return true;
    int64_t dead_for = c->eye_time_us - death_time(history, bracket);
    int64_t grace = c->ruleset->hit.death_grace_us;
    if (dead_for <= grace)
        return true;
    struct hs_check_row *row = hs_report_fail(c, HS_CHECK_LIFE, HS_REASON_SHOOTER_DEAD);
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(dead_for), hs_seconds(grace));
    hs_report_player(row, c->shooter.player);
    return false;
}

enum hs_reason hs_judge_life(const struct hs_view *view)
{
    const struct hs_history *history = view->player->history;
    const struct hs_state *then = hs_rewind_state(history, &view->bracket);
    const struct hs_state *newest =
        hs_history_state(history, hs_history_at(history, hs_history_count(history) - 1));
    bool is_life_stale = (then->stale & HS_STALE_LIFE) != 0;
    if (!then->alive)
        return is_life_stale ? HS_REASON_HISTORY_TOO_SHORT : HS_REASON_TARGET_DEAD;
    if (then->life != newest->life)
        return is_life_stale ? HS_REASON_HISTORY_TOO_SHORT : HS_REASON_STALE_LIFE;
    if (!then->is_protected)
        return HS_REASON_OK;
    return (then->stale & HS_STALE_PROTECTED) != 0 ? HS_REASON_HISTORY_TOO_SHORT
                                                   : HS_REASON_TARGET_PROTECTED;
}

/* How long he had been dead, or how many lives ago it was: with a limit of 0, as neither may be. */
static void fail_for_target(struct hs_hit_context *c, enum hs_reason reason)
{
    const struct hs_history *history = c->target.player->history;
    const struct hs_bracket *bracket = &c->target.bracket;
    struct hs_check_row *row = hs_report_fail(c, HS_CHECK_LIFE, reason);
    hs_report_player(row, c->target.player);
    if (reason == HS_REASON_TARGET_DEAD) {
        double dead_for = (double)(c->hit_time_us - death_time(history, bracket)) / 1e6;
        hs_report_measure(row, HS_UNIT_SECONDS, dead_for, 0);
    } else if (reason == HS_REASON_STALE_LIFE) {
        const struct hs_sample *newest = hs_history_at(history, hs_history_count(history) - 1);
        int64_t lives =
            hs_history_state(history, newest)->life - hs_rewind_state(history, bracket)->life;
        hs_report_measure(row, HS_UNIT_COUNTED, (double)(lives < 0 ? -lives : lives), 0);
    }
}

void hs_check_life(struct hs_hit_context *c)
{
    /* A posted shot was fired by somebody alive, or it was refused: that stands. */
    bool knows_shooter = c->shooter.status == HS_REWIND_OK && c->posted == NULL;
    bool knows_target = c->target.status == HS_REWIND_OK;
    if (knows_shooter && !shooter_may_fire(c))
        return;
    if (hs_posted_failed(c, HS_CHECK_LIFE)) {
        hs_report_remembered(c, HS_CHECK_LIFE);
        return;
    }
    enum hs_reason reason = HS_REASON_OK;
    if (c->claims_target && knows_target) {
        reason = hs_judge_life(&c->target);
        if (hs_reason_verdict(reason) == HS_VERDICT_REJECTED) {
            fail_for_target(c, reason);
            return;
        }
    }
    if (!knows_shooter && !c->launch_forgotten && c->posted == NULL)
        hs_report_missing(c, HS_CHECK_LIFE, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    else if (c->claims_target && !knows_target)
        hs_report_missing(c, HS_CHECK_LIFE, &c->target, HS_REASON_UNKNOWN_TARGET_HISTORY);
    else if (reason != HS_REASON_OK)
        hs_report_player(hs_report_unknown(c, HS_CHECK_LIFE, reason), c->target.player);
    else if (knows_shooter && is_shooter_stale(c))
        hs_report_player(hs_report_unknown(c, HS_CHECK_LIFE, HS_REASON_HISTORY_TOO_SHORT),
                         c->shooter.player);
    else
        hs_report_pass(c, HS_CHECK_LIFE);
}
