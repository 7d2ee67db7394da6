/* weapon: does it exist, and could the shooter fire it at the time of the shot? */
#include "hit_context.h"

/* The last round is spent, and a weapon put away, in a tick of the server; the time of the shot is
   its client's idea of the same moment. What was true this long before still counts. */
#define TOLERANCE_US INT64_C(20000)

static bool owns(const struct hs_state *state, uint16_t weapon)
{
    return state->any_weapon || (state->owned[weapon / 64] >> (weapon % 64) & 1) != 0;
}

static bool is_ready(const struct hs_state *state, uint16_t weapon)
{
    return !state->reloading && state->ammo != 0 && owns(state, weapon);
}

/*
 * Between two samples either may already be true of the shooter, so one that allows the shot is
 * enough, as is one that was in force within the tolerance before it. Frames that never named a
 * weapon say nothing against the claim's.
 */
static bool could_fire(const struct hs_history *history, const struct hs_bracket *bracket,
                       uint16_t weapon)
{
    const struct hs_state *from = hs_history_state(history, bracket->from);
    const struct hs_state *to = hs_history_state(history, bracket->to);
    bool unnamed = from->weapon == HS_NONE && to->weapon == HS_NONE;
    if ((unnamed || to->weapon == weapon) && is_ready(to, weapon))
        return true;
    int64_t earliest = bracket->time_us - TOLERANCE_US;
    for (int64_t i = hs_history_find(history, bracket->from->time_us); i >= 0; i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        const struct hs_state *state = hs_history_state(history, sample);
        if ((unnamed || state->weapon == weapon) && is_ready(state, weapon))
            return true;
        if (sample->time_us < earliest)
            break;
    }
    return false;
}

/* Rounds are counted only where frames do not tell the ammunition. False: the magazine is empty. */
static bool has_round(struct hs_hit_context *c)
{
    int64_t magazine = c->weapon->magazine;
    bool told = c->shooter.status == HS_REWIND_OK &&
                hs_rewind_state(c->shooter.player->history, &c->shooter.bracket)->ammo >= 0;
    const struct hs_cadence *cadence =
        c->ledger != NULL ? hs_ledger_cadence(c->ledger, c->weapon_index) : NULL;
    if (magazine == 0 || told || cadence == NULL)
        return true;
    uint32_t rounds = hs_cadence_rounds(cadence, c->fire_time_us, c->weapon->reload_us);
    if (rounds <= (uint64_t)magazine)
        return true;
    hs_report_measure(hs_report_fail(c, HS_CHECK_WEAPON, HS_REASON_WEAPON_NOT_AVAILABLE),
                      HS_UNIT_COUNTED, (double)rounds, (double)magazine);
    return false;
}

void hs_check_weapon(struct hs_hit_context *c)
{
    if (hs_report_remembered(c, HS_CHECK_WEAPON))
        return;
    bool claim_names = c->claim->weapon.ptr != NULL;
    if (c->shooter.status != HS_REWIND_OK && !c->launch_forgotten &&
        (c->weapon != NULL || !claim_names)) {
        hs_report_unknown(
            c, HS_CHECK_WEAPON,
            hs_missing_pose_reason(c->shooter.status, HS_REASON_UNKNOWN_SHOOTER_HISTORY));
        return;
    }
    if (c->weapon == NULL) {
        hs_report_fail(c, HS_CHECK_WEAPON, HS_REASON_UNKNOWN_WEAPON);
        return;
    }
    if (!c->launch_forgotten &&
        !could_fire(c->shooter.player->history, &c->shooter.bracket, c->weapon_index))
        hs_report_fail(c, HS_CHECK_WEAPON, HS_REASON_WEAPON_NOT_AVAILABLE);
    else if (has_round(c))
        hs_report_pass(c, HS_CHECK_WEAPON);
}
