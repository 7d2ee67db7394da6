/* identity: is the shot number new, and was the shot posted if the hit needs a posted shot? */
#include "validators/hit/checks.h"

static int64_t oldest_shot(const struct hs_hit_context *c)
{
    int64_t flight_us = hs_hit_flies(c) ? c->weapon->max_flight_us : 0;
    int64_t limit = c->ruleset->rewind.limit_us + flight_us;
    return limit > HS_PAIRING_US ? limit : HS_PAIRING_US;
}

/* Returns whether the shot may have been posted but lost in a restore. */
static bool may_be_lost(const struct hs_hit_context *c)
{
    const struct hs_match *match = c->match;
    return match->has_lost_shots && c->fire_time_us >= match->lost_from_us &&
           (!match->has_frames || c->fire_time_us <= match->lost_until_us) &&
           c->now_us - c->fire_time_us <= oldest_shot(c);
}

/* Returns whether another process may have accepted the shot (hs_match_lost_payments). */
static bool may_be_paid(const struct hs_hit_context *c)
{
    const struct hs_match *match = c->match;
    return match->has_lost_payments && c->fire_time_us <= match->lost_until_us;
}

/* Returns whether a hit needs a posted shot. A hit needs a posted shot if the rules require it, if
   some shots could not be recorded, or if a posted shot with another weapon uses the number. A hit
   also needs a posted shot if the shooter posts the shots of this weapon. If the weapon is unknown,
   it is enough that the shooter posts any shots. */
static bool needs_shot(struct hs_hit_context *c, const struct hs_ledger_numbers *shots)
{
    if (c->ruleset->hit.require_shot || (c->weapon != NULL && c->weapon->require_shot))
        return true;
    if (shots == NULL || (shots->count == 0 && !shots->lacks_some))
        return false;
    if (shots->lacks_some || c->weapon == NULL ||
        hs_ledger_is_used(shots, c->claim->shot, c->match->players.evict_before_us))
        return true;
    hs_work_spend(&c->work, (uint64_t)shots->count * HS_WORK_PASS);
    for (uint32_t i = 0; i < shots->count; i++)
        if (shots->entries[i].shot != NULL && shots->entries[i].shot->weapon == c->weapon_index)
            return true;
    return false;
}

/* Returns the reason for a hit without its required posted shot. `shots` are the shooter's
   posted shots, or NULL. */
static enum hs_reason check_unposted(const struct hs_hit_context *c,
                                     const struct hs_ledger_numbers *shots)
{
    /* Perhaps the shot was posted but could not be recorded. Then the game server must send the
       shot again, and the hit after it. */
    bool was_lacked = shots != NULL && shots->lacks_some &&
                      c->fire_time_us >= shots->lacked_from_us &&
                      c->fire_time_us <= shots->lacked_until_us;
    /* Perhaps the shot was posted, but its number was forgotten too early. */
    bool may_be_cut =
        shots != NULL && shots->was_cut && c->now_us - shots->paid_us <= oldest_shot(c);
    if (was_lacked)
        return HS_REASON_NOT_RECORDED;
    if (c->lacks_weapon) /* a shot without a weapon is never found */
        return HS_REASON_NO_WEAPON;
    return c->is_weapon_stale || may_be_lost(c) || may_be_cut ? HS_REASON_HISTORY_TOO_SHORT
                                                              : HS_REASON_NO_MATCHING_SHOT;
}

/* Returns whether the posted shot was rejected by a check whose result is not used for the hits,
   for example because of the shot's time. */
static bool posted_was_refused(const struct hs_hit_context *c)
{
    bool refused = !c->posted->accepted;
    for (uint16_t i = 0; i < c->posted->shot->check_count; i++)
        if (c->posted->shot->checks[i].outcome != HS_OUTCOME_PASS)
            refused = false;
    return refused;
}

enum hs_reason hs_check_identity(struct hs_hit_context *c, struct hs_check_row *row)
{
    const struct hs_ledger_numbers *used = c->used_numbers;
    const struct hs_ledger_numbers *shots = c->ledger != NULL ? &c->ledger->shots : NULL;
    if (used != NULL && hs_ledger_is_used(used, c->claim->shot, c->match->players.evict_before_us))
        return HS_REASON_DUPLICATE;
    if (may_be_paid(c) ||
        (c->paid_numbers != NULL && hs_ledger_is_forgotten(c->paid_numbers, c->fire_time_us)))
        return HS_REASON_NUMBER_FORGOTTEN;
    if (c->is_shot || (c->posted == NULL && !needs_shot(c, shots)))
        return HS_REASON_OK;
    if (c->posted == NULL)
        return check_unposted(c, shots);
    if (c->posted->is_cancelled || posted_was_refused(c))
        return HS_REASON_NO_MATCHING_SHOT;
    return hs_report_time_limit(row, c->now_us - c->posted->fire_time_us, oldest_shot(c),
                                HS_REASON_NO_MATCHING_SHOT);
}
