/* weapon: is the weapon in the ruleset, and could the shooter fire it at the fire time? */
#include "validators/hit/checks.h"

/* The server updates ammunition and weapon at a tick. The client's fire time may be later than
   that tick. So a state from up to 20 ms before the fire time also counts. */
#define TOLERANCE_US INT64_C(20000)

enum readiness { NOT_READY, MAY_BE_READY, READY };

/* Returns READY if no value in the state prevents the shot, and MAY_BE_READY if every value that
   prevents the shot is stale. */
static enum readiness readiness_of(const struct hs_state *state, uint16_t weapon, bool is_unnamed)
{
    unsigned against = 0;
    if (!is_unnamed && state->weapon != weapon)
        against |= HS_STALE_WEAPON;
    if (state->reloading)
        against |= HS_STALE_RELOADING;
    if (state->ammo == 0)
        against |= HS_STALE_AMMO;
    if (!state->any_weapon && (state->owned[weapon / 64] >> (weapon % 64) & 1) == 0)
        against |= HS_STALE_OWNED;
    if (against == 0)
        return READY;
    return (against & ~(unsigned)state->stale) == 0 ? MAY_BE_READY : NOT_READY;
}

static enum readiness readier(enum readiness a, enum readiness b)
{
    return a > b ? a : b;
}

/* Returns the best readiness of the weapon around the fire time. Reads the samples before and after
   the fire time, and the states during TOLERANCE_US before the fire time. If no frame ever named a
   weapon, any weapon counts as held. */
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

/* Checks that the magazine had a round left. Rounds are counted only if frames do not post
   `ammo`. */
static enum hs_reason check_rounds(const struct hs_hit_context *c, struct hs_check_row *row)
{
    int64_t magazine = c->weapon->magazine;
    bool posts_ammo = c->shooter.status == HS_REWIND_OK &&
                      hs_rewind_state(c->shooter.player->history, &c->shooter.bracket)->ammo >= 0;
    const struct hs_cadence *cadence = hs_hit_cadence(c);
    if (magazine == 0 || posts_ammo || cadence == NULL)
        return HS_REASON_OK;
    uint32_t rounds = hs_cadence_rounds(cadence, c->fire_time_us, c->weapon->reload_us);
    if (rounds <= (uint64_t)magazine)
        return HS_REASON_OK;
    hs_report_measure(row, HS_UNIT_COUNTED, (double)rounds, (double)magazine);
    return HS_REASON_WEAPON_NOT_AVAILABLE;
}

enum hs_reason hs_check_weapon(struct hs_hit_context *c, struct hs_check_row *row)
{
    if (c->posted != NULL)
        return hs_report_posted(c, row);
    if (c->shooter.status != HS_REWIND_OK && (c->weapon != NULL || c->claim->weapon.ptr == NULL))
        return hs_report_missing(c, row, &c->shooter, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    if (c->is_weapon_stale)
        return HS_REASON_HISTORY_TOO_SHORT;
    if (c->weapon == NULL)
        return c->lacks_weapon ? HS_REASON_NO_WEAPON : HS_REASON_UNKNOWN_WEAPON;
    enum readiness readiness =
        could_fire(c->shooter.player->history, &c->shooter.bracket, c->weapon_index);
    if (readiness == NOT_READY)
        return HS_REASON_WEAPON_NOT_AVAILABLE;
    return readiness == MAY_BE_READY ? HS_REASON_HISTORY_TOO_SHORT : check_rounds(c, row);
}
