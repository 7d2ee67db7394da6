/* life: was the shooter alive to fire, and the target alive, in this life, and vulnerable? */
#include "hit_context.h"

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

/* False when the shooter's part has failed. */
static bool shooter_may_fire(struct hs_hit_context *c)
{
    const struct hs_history *history = c->shooter.player->history;
    const struct hs_bracket *bracket = &c->shooter.bracket;
    if (hs_rewind_state(history, bracket)->alive)
        return true;
    int64_t dead_for = c->fire_time_us - death_time(history, bracket);
    int64_t grace = c->ruleset->hit.death_grace_us;
    if (dead_for <= grace)
        return true;
    struct hs_check_row *row = hs_report_fail(c, HS_CHECK_LIFE, HS_REASON_SHOOTER_DEAD);
    hs_report_measure(row, HS_UNIT_SECONDS, (double)dead_for / 1e6, (double)grace / 1e6);
    hs_report_player(row, c->shooter.player);
    return false;
}

static enum hs_reason judge_target(struct hs_hit_context *c)
{
    const struct hs_history *history = c->target.player->history;
    const struct hs_state *then = hs_rewind_state(history, &c->target.bracket);
    const struct hs_state *newest =
        hs_history_state(history, hs_history_at(history, hs_history_count(history) - 1));
    if (!then->alive)
        return HS_REASON_TARGET_DEAD;
    if (then->life != newest->life)
        return HS_REASON_STALE_LIFE;
    if (!newest->alive)
        c->out->flags |= 1u << HS_FLAG_TARGET_DEAD_NOW;
    return then->is_protected ? HS_REASON_TARGET_PROTECTED : HS_REASON_OK;
}

void hs_check_life(struct hs_hit_context *c)
{
    bool knows_shooter = c->shooter.status == HS_REWIND_OK;
    bool knows_target = c->target.status == HS_REWIND_OK;
    /* The target is looked at even where the shooter fails: in shadow its flag still counts. */
    enum hs_reason target = c->claims_target && knows_target ? judge_target(c) : HS_REASON_OK;
    if (knows_shooter && !shooter_may_fire(c))
        return;
    if (target != HS_REASON_OK) {
        hs_report_player(hs_report_fail(c, HS_CHECK_LIFE, target), c->target.player);
        return;
    }
    if (!knows_shooter && !c->launch_forgotten)
        hs_report_unknown(
            c, HS_CHECK_LIFE,
            hs_missing_pose_reason(c->shooter.status, HS_REASON_UNKNOWN_SHOOTER_HISTORY));
    else if (c->claims_target && !knows_target)
        hs_report_unknown(
            c, HS_CHECK_LIFE,
            hs_missing_pose_reason(c->target.status, HS_REASON_UNKNOWN_TARGET_HISTORY));
    else
        hs_report_pass(c, HS_CHECK_LIFE);
}
