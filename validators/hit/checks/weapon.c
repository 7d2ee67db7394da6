/* weapon: does it exist, and could the shooter fire it at the time of the shot? */
#include "validators/hit/checks.h"

/* The last round is spent, and a weapon put away, in a tick of the server; the time of the shot is
   its client's idea of the same moment. What was true this long before still counts. */
#define TOLERANCE_US INT64_C(20000)

static bool owns(const struct hs_state *state, uint16_t weapon)
{
    return state->any_weapon || (state->owned[weapon / 64] >> (weapon % 64) & 1) != 0;
}

enum readiness { NOT_READY, MAY_BE_READY, READY };

/* What stands against a shot but was last said before a restart leaves it open. */
static enum readiness readiness_of(const struct hs_state *state, uint16_t weapon, bool is_unnamed)
{
    unsigned against = 0;
    if (!is_unnamed && state->weapon != weapon)
        against |= HS_STALE_WEAPON;
    if (state->reloading)
        against |= HS_STALE_RELOADING;
    if (state->ammo == 0)
        against |= HS_STALE_AMMO;
    if (!owns(state, weapon))
        against |= HS_STALE_OWNED;
    if (against == 0)
        return READY;
    return (against & ~(unsigned)state->stale) == 0 ? MAY_BE_READY : NOT_READY;
}

static enum readiness readier(enum readiness a, enum readiness b)
{
    return a > b ? a : b;
}

/*
 * Between two samples either may already be true of the shooter, so one that allows the shot is
 * enough, as is one that was in force within the tolerance before it. Frames that never named a
 * weapon say nothing against the claim's.
 */
static enum readiness could_fire(const struct hs_history *history, const struct hs_bracket *bracket,
                                 uint16_t weapon)
{
    const struct hs_state *from = hs_history_state(history, bracket->from);
    const struct hs_state *to = hs_history_state(history, bracket->to);
    bool unnamed = from->weapon == HS_NONE && to->weapon == HS_NONE;
    enum readiness best = readiness_of(to, weapon, unnamed);
    int64_t earliest = bracket->time_us - TOLERANCE_US;
    for (int64_t i = hs_history_find(history, bracket->from->time_us); i >= 0 && best != READY;
         i--) {
        const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
        best = readier(best, readiness_of(hs_history_state(history, sample), weapon, unnamed));
        if (sample->time_us < earliest)
            break;
    }
    return best;
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
        hs_report_missing(c, HS_CHECK_WEAPON, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
        return;
    }
    if (c->is_weapon_stale) {
        hs_report_unknown(c, HS_CHECK_WEAPON, HS_REASON_HISTORY_TOO_SHORT);
        return;
    }
    if (c->lacks_weapon) {
        hs_report_unknown(c, HS_CHECK_WEAPON, HS_REASON_NO_WEAPON);
        return;
    }
    if (c->weapon == NULL) {
        hs_report_fail(c, HS_CHECK_WEAPON, HS_REASON_UNKNOWN_WEAPON);
        return;
    }
    enum readiness readiness = READY;
    if (!c->launch_forgotten)
        readiness = could_fire(c->shooter.player->history, &c->shooter.bracket, c->weapon_index);
    if (readiness == NOT_READY)
        hs_report_fail(c, HS_CHECK_WEAPON, HS_REASON_WEAPON_NOT_AVAILABLE);
    else if (readiness == MAY_BE_READY)
        hs_report_unknown(c, HS_CHECK_WEAPON, HS_REASON_HISTORY_TOO_SHORT);
    else if (has_round(c))
        hs_report_pass(c, HS_CHECK_WEAPON);
}
