/* life: was the shooter alive? Was the target alive, in their newest life, and not protected? */
#include "validators/hit/checks.h"

/* Returns the time when the player died. If this time is unknown, returns the time of the oldest
   sample after the death. */
static int64_t death_time(const struct hs_view *view, bool *is_known)
{
    const struct hs_history *history = view->player->history;
    const struct hs_sample *from = view->bracket.from;
    int64_t life = hs_history_state(history, from)->life, died_us = from->time_us;
    *is_known = false;
    for (int64_t i = hs_history_find(history, from->time_us); i >= 0; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        const struct hs_state *state = hs_history_state(history, sample);
        *is_known = state->alive || state->life != life;
        if (*is_known)
            break;
        *is_known = sample->event == HS_EVENT_DEATH;
        died_us = sample->time_us;
    }
    return died_us;
}

/* Checks that the shooter was alive, or dead for at most death_grace. The outcome is unknown if the
   shooter may have been dead for longer, because the sample of the death is missing. The outcome is
   also unknown if the death is from before a restore. */
static enum hs_reason check_shooter(const struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_view *view = &c->shooter;
    const struct hs_state *state = hs_rewind_state(view->player->history, &view->bracket);
    int64_t grace = c->ruleset->hit.death_grace_us;
    if (state->alive)
        return HS_REASON_OK;
    if ((state->stale & HS_STALE_LIFE) != 0)
        return HS_REASON_HISTORY_TOO_SHORT;
    bool is_known;
    int64_t dead_for = c->eye_time_us - death_time(view, &is_known);
    if (dead_for <= grace)
        return is_known ? HS_REASON_OK : HS_REASON_HISTORY_TOO_SHORT;
    hs_report_player(row, view->player);
    return hs_report_time_limit(row, dead_for, grace, HS_REASON_SHOOTER_DEAD);
}

enum hs_reason hs_verify_life(const struct hs_view *view)
{
    const struct hs_history *history = view->player->history;
    const struct hs_state *then = hs_rewind_state(history, &view->bracket);
    bool is_life_stale = (then->stale & HS_STALE_LIFE) != 0;
    if (!then->alive)
        return is_life_stale ? HS_REASON_HISTORY_TOO_SHORT : HS_REASON_TARGET_DEAD;
    if (then->life != hs_newest_state(history)->life)
        return is_life_stale ? HS_REASON_HISTORY_TOO_SHORT : HS_REASON_STALE_LIFE;
    if (!then->is_protected)
        return HS_REASON_OK;
    return (then->stale & HS_STALE_PROTECTED) != 0 ? HS_REASON_HISTORY_TOO_SHORT
                                                   : HS_REASON_TARGET_PROTECTED;
}

/* For a dead target, reports the time since the death, or since the oldest sample after the death.
   For an earlier life, reports the number of spawns since that life. The limit is 0. */
static void measure_target(const struct hs_hit_context *c, enum hs_reason reason,
                           struct hs_check_row *row)
{
    const struct hs_history *history = c->target.player->history;
    bool is_known;
    if (reason == HS_REASON_TARGET_DEAD) {
        int64_t died_us = death_time(&c->target, &is_known);
        hs_report_time_limit(row, c->target.time_us - died_us, 0, reason);
    } else if (reason == HS_REASON_STALE_LIFE) {
        int64_t lives =
            hs_newest_state(history)->life - hs_rewind_state(history, &c->target.bracket)->life;
        hs_report_measure(row, HS_UNIT_COUNTED, (double)(lives < 0 ? -lives : lives), 0);
    }
}

enum hs_reason hs_check_life(struct hs_hit_context *c, struct hs_check_row *row)
{
    /* If the hit has a posted shot, this check already ran for the shot, and tested whether the
       shooter was alive. */
    bool knows_shooter = c->shooter.status == HS_REWIND_OK && c->posted == NULL;
    bool has_target = c->claims_target && !hs_hit_aims_at_others(c);
    bool knows_target = c->target.status == HS_REWIND_OK;
    enum hs_reason shooter = knows_shooter ? check_shooter(c, row) : HS_REASON_OK;
    if (shooter == HS_REASON_SHOOTER_DEAD)
        return shooter;
    if (hs_posted_failed(c, row))
        return hs_report_posted(c, row);
    enum hs_reason target = has_target && knows_target ? hs_verify_life(&c->target) : HS_REASON_OK;
    bool is_rejected = hs_reason_verdict(target) == HS_VERDICT_REJECTED;
    if (!is_rejected && !knows_shooter && c->posted == NULL)
        return hs_report_missing(c, row, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    if (has_target && !knows_target)
        return hs_report_missing(c, row, &c->target, HS_REASON_UNKNOWN_TARGET_HISTORY);
    if (target != HS_REASON_OK) {
        hs_report_player(row, c->target.player);
        measure_target(c, target, row);
        return target;
    }
    if (shooter != HS_REASON_OK)
        hs_report_player(row, c->shooter.player);
    return shooter;
}
