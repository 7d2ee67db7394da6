/* One claim, step by step: what is looked up, which checks run in which order, what decides. */
#include "hit.h"

#include "hit_context.h"
#include "suspicion.h"

/* ---- looking up ---- */

static void look(const struct hs_hit_context *c, struct hs_str name, int64_t time_us,
                 struct hs_view *out)
{
    out->player = hs_players_find(&c->match->players, name);
    out->status = HS_REWIND_NO_HISTORY;
    if (out->player != NULL)
        out->status = hs_rewind_find(out->player->history, c->ruleset, time_us, &out->bracket);
}

/* By the older sample, unless frames name a weapon only from the newer one on. */
static uint16_t held_weapon(const struct hs_history *history, const struct hs_bracket *bracket)
{
    uint16_t weapon = hs_history_state(history, bracket->from)->weapon;
    return weapon != HS_NONE ? weapon : hs_history_state(history, bracket->to)->weapon;
}

/* The weapon named in the claim, else the one the shooter held. */
static void find_weapon(struct hs_hit_context *c)
{
    uint16_t index = HS_NONE;
    if (c->claim->weapon.ptr != NULL)
        index = hs_ruleset_find_weapon(c->ruleset, c->claim->weapon);
    else if (c->shooter.status == HS_REWIND_OK)
        index = held_weapon(c->shooter.player->history, &c->shooter.bracket);
    if (index < c->ruleset->weapon_count)
        c->weapon = c->ruleset->weapons[index];
}

static bool is_projectile(const struct hs_hit_context *c)
{
    return c->weapon != NULL && c->weapon->type == HS_WEAPON_PROJECTILE;
}

static void lay_path(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    struct hs_vec along = hs_vec_sub(claim->end, claim->start);
    c->trace_length = hs_vec_length(along);
    c->has_path = isfinite(c->trace_length);
    /* A trace without a direction is still a place: the sphere is tested where it stands. */
    c->direction =
        c->trace_length > 0 ? hs_vec_scale(along, 1 / c->trace_length) : (struct hs_vec){1, 0, 0};
    c->path =
        (struct hs_path){.start = claim->start,
                         .direction = c->direction,
                         .length = c->trace_length,
                         .extension = c->trace_length > 0 ? c->ruleset->hit.sweep_extension : 0,
                         .radius = c->weapon != NULL ? c->weapon->radius : 0,
                         .start_us = c->hit_time_us,
                         .end_us = c->hit_time_us};
    if (!is_projectile(c) || !c->has_path)
        return;
    if (claim->has_fire_time) {
        c->path.start_us = c->fire_time_us;
    } else if (c->weapon->speed > 0) {
        double flight = c->trace_length / c->weapon->speed;
        double longest = (double)c->weapon->max_flight_us / 1e6;
        c->path.start_us -= hs_seconds_to_us(flight < longest ? flight : longest);
        c->fire_time_us = c->path.start_us;
    }
    if (c->path.start_us > c->path.end_us)
        c->path.start_us = c->path.end_us;
}

/* Clocks of client and server round the moments of a flight differently. */
#define FLIGHT_TOLERANCE_US 50000

/*
 * A projectile may have been in the air for longer than history is kept. Nothing can then be said
 * about the shooter at the launch, and nothing is held against him.
 */
static void waive_old_launch(struct hs_hit_context *c)
{
    if (!is_projectile(c) || c->shooter.status != HS_REWIND_TOO_SHORT)
        return;
    /* Only a path that takes so long to fly: an old launch must not hide a start near the target.
     */
    int64_t flight = c->hit_time_us - c->fire_time_us;
    double needed = c->trace_length / c->weapon->speed * 1e6 + FLIGHT_TOLERANCE_US;
    c->launch_forgotten = flight <= c->weapon->max_flight_us && (double)flight <= needed;
}

static void prepare(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    c->hit_time_us = claim->hit_time_us;
    c->fire_time_us = claim->has_fire_time ? claim->fire_time_us : claim->hit_time_us;
    look(c, claim->shooter, c->fire_time_us, &c->shooter);
    find_weapon(c);
    lay_path(c);
    if (is_projectile(c) && !claim->has_fire_time)
        look(c, claim->shooter, c->fire_time_us, &c->shooter);
    waive_old_launch(c);
    c->shooter_not_needed = hs_hit_mode(c, HS_CHECK_WEAPON) == HS_MODE_OFF &&
                            hs_hit_mode(c, HS_CHECK_LIFE) == HS_MODE_OFF &&
                            hs_hit_mode(c, HS_CHECK_ORIGIN) == HS_MODE_OFF;
    c->zone = HS_NONE;
    c->claims_self = claim->target.ptr != NULL && hs_str_equal(claim->target, claim->shooter);
    c->claims_target = claim->target.ptr != NULL && !c->claims_self;
    c->target.status = HS_REWIND_NO_HISTORY;
    if (c->claims_target)
        look(c, claim->target, c->hit_time_us, &c->target);
}

/* ---- what the answer says about the rewind ---- */

static void describe_rewind(struct hs_hit_context *c)
{
    struct hs_rewind_info *info = &c->out->rewind;
    info->time_us = c->hit_time_us;
    info->by_us = c->now_us - c->hit_time_us;
    if (!c->claims_target || c->target.status != HS_REWIND_OK)
        return;
    const struct hs_bracket *bracket = &c->target.bracket;
    info->present = true;
    info->time_us = bracket->time_us;
    info->from_us = bracket->from->time_us;
    info->to_us = bracket->to->time_us;
    info->alpha = bracket->alpha;
    info->clamped = bracket->clamped;
    info->held = bracket->held;
    if (bracket->clamped)
        c->out->flags |= 1u << HS_FLAG_CLAMPED_TO_NEWEST;
}

static void compare_claim(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    if (c->weapon == NULL)
        return;
    if (claim->has_radius && fabs(claim->radius - c->weapon->radius) > 0.01 * c->weapon->radius)
        c->out->flags |= 1u << HS_FLAG_RADIUS_FORGED;
    if (!claim->has_claimed_damage)
        return;
    double factor = 1, falloff = 1, scale = 1;
    for (int i = 0; i < c->ruleset->zone_count; i++)
        factor = fmax(factor, c->weapon->zone_factor[i]);
    for (int i = 0; i < c->weapon->falloff_count; i++)
        falloff = fmax(falloff, c->weapon->falloff[i].factor);
    if (c->shooter.status == HS_REWIND_OK)
        scale = hs_rewind_state(c->shooter.player->history, &c->shooter.bracket)->damage_scale;
    double most = c->weapon->damage * factor * falloff * scale;
    if (claim->claimed_damage > most * (1 + 1e-9))
        c->out->flags |= 1u << HS_FLAG_DAMAGE_FORGED;
}

/* ---- the verdict ---- */

static void decide(struct hs_hit_context *c)
{
    struct hs_hit_result *out = c->out;
    const struct hs_check_row *missing = NULL, *failed = NULL;
    for (int i = 0; i < out->check_count; i++) {
        const struct hs_check_row *row = &out->checks[i];
        if (row->outcome == HS_OUTCOME_PASS)
            continue;
        if (row->mode == HS_MODE_SHADOW)
            out->would_reject[out->would_reject_count++] = row->reason;
        else if (row->outcome == HS_OUTCOME_FAIL && failed == NULL)
            failed = row;
        else if (row->outcome == HS_OUTCOME_UNKNOWN && missing == NULL)
            missing = row;
    }
    const struct hs_check_row *decides = failed != NULL ? failed : missing;
    if (decides != NULL) {
        out->verdict = failed != NULL ? HS_VERDICT_REJECTED : HS_VERDICT_INCONCLUSIVE;
        out->reason = decides->reason;
        return;
    }
    out->verdict = HS_VERDICT_ACCEPTED;
    out->reason = c->is_lenient ? HS_REASON_OK_LENIENT : HS_REASON_OK;
    if (c->is_lenient)
        out->flags |= 1u << HS_FLAG_LENIENT;
}

void hs_hit_verify(const struct hs_match *match, const struct hs_hit_claim *claim, int64_t now_us,
                   struct hs_hit_result *out)
{
    struct hs_hit_context c = {
        .match = match, .ruleset = match->ruleset, .claim = claim, .now_us = now_us, .out = out};
    memset(out, 0, sizeof *out);
    prepare(&c);
    describe_rewind(&c);
    compare_claim(&c);
    hs_check_shape(&c);
    hs_check_weapon(&c);
    hs_check_rewind(&c);
    hs_check_life(&c);
    hs_check_team(&c);
    hs_check_origin(&c);
    hs_check_range(&c);
    hs_check_contact(&c);
    decide(&c);
    hs_hit_damage(&c);
}

void hs_hit_note(struct hs_match *match, const struct hs_hit_claim *claim,
                 const struct hs_hit_result *result)
{
    struct hs_player *shooter = hs_players_find(&match->players, claim->shooter);
    match->totals.reasons[result->reason]++;
    match->totals.damage += result->damage_total;
    if (shooter == NULL)
        return;
    shooter->reasons[result->reason]++;
    shooter->damage_dealt += result->damage_total;
    if (result->verdict == HS_VERDICT_REJECTED)
        hs_suspicion_add(shooter, result->reason, match->newest_us);
    if (result->verdict != HS_VERDICT_ACCEPTED || result->would_reject_count == 0)
        return;
    shooter->would_reject++;
    for (int i = 0; i < result->would_reject_count; i++)
        if (hs_reason_verdict(result->would_reject[i]) == HS_VERDICT_REJECTED)
            hs_suspicion_add(shooter, result->would_reject[i], match->newest_us);
}
