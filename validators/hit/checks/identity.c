/* identity: was this number used before, and was the shot posted that the hit belongs to? */
#include "validators/base/units.h"
#include "validators/hit/checks.h"

/* A posted shot is remembered this long at least, however short its flight. */
#define PAIRING_US INT64_C(1500000)

static bool needs_shot(const struct hs_hit_context *c)
{
    const struct hs_ledger_numbers *shots = c->ledger != NULL ? &c->ledger->shots : NULL;
    return c->ruleset->hit.require_shot ||
           (shots != NULL && (shots->count > 0 || shots->lacks_some));
}

static int64_t oldest_shot(const struct hs_hit_context *c)
{
    bool flies = c->weapon != NULL && c->weapon->type == HS_WEAPON_PROJECTILE;
    int64_t limit = c->ruleset->rewind.limit_us + (flies ? c->weapon->max_flight_us : 0);
    return limit > PAIRING_US ? limit : PAIRING_US;
}

/* The process ended and began anew around that time: the shot may have been posted in between. */
static bool may_be_lost(const struct hs_hit_context *c)
{
    const struct hs_match *match = c->match;
    return match->has_lost_shots && c->fire_time_us >= match->lost_from_us &&
           (!match->has_frames || c->fire_time_us <= match->lost_until_us) &&
           c->now_us - c->fire_time_us <= oldest_shot(c);
}

/* The shot may have been posted and forgotten early because memory was short. */
static bool may_be_cut(const struct hs_hit_context *c)
{
    return c->ledger != NULL && c->ledger->shots.was_cut &&
           hs_ledger_is_forgotten(&c->ledger->shots, c->claim->shot, c->fire_time_us);
}

/* The shot may have been posted but not remembered: the client must send it again, and its hit
   too. */
static bool was_lacked(const struct hs_hit_context *c)
{
    const struct hs_ledger_numbers *shots = c->ledger != NULL ? &c->ledger->shots : NULL;
    return shots != NULL && shots->lacks_some && c->fire_time_us >= shots->lacked_from_us &&
           c->fire_time_us <= shots->lacked_until_us;
}

void hs_check_identity(struct hs_hit_context *c)
{
    const struct hs_ledger_numbers *used = c->used_numbers;
    if (used != NULL && hs_ledger_is_jump(used, c->claim->shot))
        c->out->flags |= 1u << HS_FLAG_SHOT_JUMP;
    bool was_used = (used != NULL && hs_ledger_find(used, c->claim->shot) != NULL) ||
                    (c->paid_numbers != NULL &&
                     hs_ledger_is_forgotten(c->paid_numbers, c->claim->shot, c->fire_time_us));
    if (was_used) {
        hs_report_fail(c, HS_CHECK_IDENTITY, HS_REASON_DUPLICATE);
        return;
    }
    if (c->is_shot || !needs_shot(c)) {
        hs_report_pass(c, HS_CHECK_IDENTITY);
        return;
    }
    if (c->posted == NULL && was_lacked(c)) {
        hs_report_unknown(c, HS_CHECK_IDENTITY, HS_REASON_NOT_RECORDED);
        return;
    }
    if (c->lacks_weapon) { /* a shot without a weapon is posted, but cannot be found by it */
        hs_report_unknown(c, HS_CHECK_IDENTITY, HS_REASON_NO_WEAPON);
        return;
    }
    if (c->posted == NULL && (c->is_weapon_stale || may_be_lost(c) || may_be_cut(c))) {
        hs_report_unknown(c, HS_CHECK_IDENTITY, HS_REASON_HISTORY_TOO_SHORT);
        return;
    }
    if (c->posted == NULL || hs_posted_was_refused(c)) {
        hs_report_fail(c, HS_CHECK_IDENTITY, HS_REASON_NO_MATCHING_SHOT);
        return;
    }
    int64_t age = c->now_us - c->posted->fire_time_us, oldest = oldest_shot(c);
    struct hs_check_row *row =
        age <= oldest ? hs_report_pass(c, HS_CHECK_IDENTITY)
                      : hs_report_fail(c, HS_CHECK_IDENTITY, HS_REASON_NO_MATCHING_SHOT);
    hs_report_measure(row, HS_UNIT_SECONDS, hs_seconds(age), hs_seconds(oldest));
}
