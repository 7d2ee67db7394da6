/* One claim, step by step: what is looked up, which checks run in which order, what decides. */
#include "hit.h"

#include "connection.h"
#include "digest.h"
#include "hit_context.h"
#include "player_moves.h"
#include "suspicion.h"
#include "volley.h"

/* Clocks of client and server round the moments of a flight differently. */
#define FLIGHT_TOLERANCE_US 50000

/* ---- looking up ---- */

void hs_look(const struct hs_hit_context *c, struct hs_str name, int64_t time_us,
             struct hs_view *out)
{
    out->player = hs_players_find(&c->match->players, name);
    out->status = HS_REWIND_NO_HISTORY;
    if (out->player != NULL)
        out->status = hs_rewind_find(out->player->history, c->ruleset, time_us, &out->bracket);
}

/*
 * The posted shot a hit belongs to. A hit that names another weapon belongs to no shot: the number
 * was used for something else.
 */
static void find_posted_shot(struct hs_hit_context *c)
{
    if (c->ledger == NULL || c->is_shot)
        return;
    const struct hs_ledger_entry *entry = hs_ledger_find(&c->ledger->shots, c->claim->shot);
    if (entry == NULL || entry->shot == NULL)
        return;
    struct hs_str named = c->claim->weapon;
    const struct hs_weapon *weapon = c->ruleset->weapons[entry->shot->weapon];
    if (named.ptr != NULL && !hs_str_equal(named, hs_name_str(&weapon->name)))
        return;
    c->posted = entry;
    c->fire_time_us = entry->fire_time_us;
}

/* By the older sample, unless frames name a weapon only from the newer one on. */
static const struct hs_state *who_held(const struct hs_history *history,
                                       const struct hs_bracket *bracket)
{
    const struct hs_state *from = hs_history_state(history, bracket->from);
    return from->weapon != HS_NONE ? from : hs_history_state(history, bracket->to);
}

/* The weapon of the posted shot, the one named in the claim, or the one the shooter held. */
static void find_weapon(struct hs_hit_context *c)
{
    uint16_t index = HS_NONE;
    c->is_weapon_unsure = false;
    if (c->posted != NULL) {
        index = c->posted->shot->weapon;
    } else if (c->claim->weapon.ptr != NULL) {
        index = hs_ruleset_find_weapon(c->ruleset, c->claim->weapon);
    } else if (c->shooter.status == HS_REWIND_OK) {
        const struct hs_state *state = who_held(c->shooter.player->history, &c->shooter.bracket);
        c->is_weapon_unsure = state->weapon != HS_NONE && (state->unsure & HS_UNSURE_WEAPON) != 0;
        index = c->is_weapon_unsure ? (uint16_t)HS_NONE : state->weapon;
    }
    if (index < c->ruleset->weapon_count) {
        c->weapon = c->ruleset->weapons[index];
        c->weapon_index = index;
    }
}

static bool is_projectile(const struct hs_hit_context *c)
{
    return c->weapon != NULL && c->weapon->type == HS_WEAPON_PROJECTILE;
}

/*
 * Games that predict by ping rewind the others by what both sides agreed on: the claim has no say
 * in it. What flies is met along its flight, which the claim's times tell.
 */
static void predict_hit_time(struct hs_hit_context *c)
{
    struct hs_connection connection;
    if (c->ruleset->rewind.source != HS_REWIND_BY_PREDICTION || c->is_shot || is_projectile(c))
        return;
    hs_connection_read(c->shooter.player, c->now_us, &connection);
    c->is_predicted = connection.is_known;
    c->has_no_prediction = !connection.is_known;
    if (connection.is_known)
        c->hit_time_us =
            c->now_us - hs_connection_prediction(&connection, &c->ruleset->moves.prediction);
}

/* How far a chord of the flight may leave the curve: far less than the ball is wide. */
static double chord_error(const struct hs_hit_context *c)
{
    return fmax(c->weapon->radius / 10, c->weapon->range * 1e-6);
}

/* When the flight began: as told, else as long before the impact as the weapon's speed takes. */
static int64_t launch_time(struct hs_hit_context *c, struct hs_vec gravity)
{
    const struct hs_hit_claim *claim = c->claim;
    if (claim->has_fire_time || c->posted != NULL)
        return c->fire_time_us < c->hit_time_us ? c->fire_time_us : c->hit_time_us;
    double low, high, needed, longest = (double)c->weapon->max_flight_us / 1e6;
    if (!hs_flight_times(claim->start, claim->end, gravity, c->weapon->speed, &low, &high, &needed))
        low = longest;
    return c->hit_time_us - hs_seconds_to_us(low < longest ? low : longest);
}

/* The axis the pellets of a claim lie around, as far as they tell. */
static struct hs_vec middle_of_pellets(const struct hs_hit_context *c)
{
    struct hs_vec sum = {0, 0, 0};
    for (size_t i = 0; i < c->claim->pellet_count; i++) {
        struct hs_vec along = hs_vec_sub(c->claim->pellets[i].end, c->claim->start);
        double length = hs_vec_length(along);
        if (length > 0)
            sum = hs_vec_add_scaled(sum, along, 1 / length);
    }
    double length = hs_vec_length(sum);
    return length > 0 ? hs_vec_scale(sum, 1 / length) : c->path.direction;
}

/*
 * A world bound is never larger than this. Beyond it double has no digits left for what a body
 * measures, and what later checks would report of such a way means nothing.
 */
static bool is_in_reach(const struct hs_hit_claim *claim)
{
    const double reach = HS_WORLD_COORDINATE_MAX;
    bool in_reach = hs_vec_is_within(claim->start, reach) && hs_vec_is_within(claim->end, reach);
    for (size_t i = 0; i < claim->pellet_count; i++)
        in_reach = in_reach && hs_vec_is_within(claim->pellets[i].end, reach);
    return in_reach;
}

static void lay_path(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    double extension = c->ruleset->hit.sweep_extension;
    double radius = c->weapon != NULL ? c->weapon->radius : 0;
    c->trace_length = hs_vec_distance(claim->start, claim->end);
    c->has_path = is_in_reach(claim);
    hs_path_trace(claim->start, claim->end, radius, extension, c->hit_time_us, &c->path);
    if (c->has_path && is_projectile(c)) {
        struct hs_vec gravity = hs_vec_scale(hs_up_direction(c->ruleset->up), -c->weapon->gravity);
        int64_t launch_us = launch_time(c, gravity);
        c->fire_time_us = launch_us;
        /* A claim may tell a flight of an age, which is refused. Its way would only be rounding. */
        if (launch_us < c->hit_time_us - c->weapon->max_flight_us)
            launch_us = c->hit_time_us - c->weapon->max_flight_us;
        if (launch_us < c->hit_time_us)
            hs_path_flight(claim->start, claim->end, gravity, radius, extension, chord_error(c),
                           launch_us, c->hit_time_us, &c->path);
    }
    c->direction = c->claim->pellet_count > 0 ? middle_of_pellets(c) : c->path.direction;
}

/*
 * A projectile may have been in the air for longer than history is kept. Nothing can then be said
 * about the shooter at the launch, and nothing is held against him.
 */
static void waive_old_launch(struct hs_hit_context *c)
{
    if (!is_projectile(c) || c->shooter.status != HS_REWIND_TOO_SHORT)
        return;
    /* Only a way that takes so long to fly: an old launch must not hide a start near the target. */
    int64_t flight = c->hit_time_us - c->fire_time_us;
    struct hs_vec gravity = hs_vec_scale(hs_up_direction(c->ruleset->up), -c->weapon->gravity);
    double low, high, needed;
    bool reaches = hs_flight_times(c->claim->start, c->claim->end, gravity, c->weapon->speed, &low,
                                   &high, &needed);
    c->launch_forgotten = reaches && flight <= c->weapon->max_flight_us &&
                          (double)flight <= high * 1e6 + FLIGHT_TOLERANCE_US;
}

static void find_ledger(struct hs_hit_context *c)
{
    const struct hs_player *player = hs_players_find(&c->match->players, c->claim->shooter);
    if (player == NULL)
        return;
    c->paid_numbers = c->is_shot ? &player->ledger.shots : &player->ledger.hits;
    /* Numbers of his session now say nothing of one before. */
    if (hs_player_is_back_since(player, c->fire_time_us))
        return;
    c->ledger = &player->ledger;
    c->used_numbers = c->paid_numbers;
}

void hs_hit_prepare(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    c->hit_time_us = claim->hit_time_us;
    c->fire_time_us = claim->has_fire_time ? claim->fire_time_us : claim->hit_time_us;
    find_ledger(c);
    find_posted_shot(c);
    hs_look(c, claim->shooter, c->fire_time_us, &c->shooter);
    find_weapon(c);
    predict_hit_time(c);
    lay_path(c);
    if (is_projectile(c) && !claim->has_fire_time && c->posted == NULL)
        hs_look(c, claim->shooter, c->fire_time_us, &c->shooter);
    waive_old_launch(c);
    c->shooter_not_needed = c->posted != NULL || (hs_hit_mode(c, HS_CHECK_WEAPON) == HS_MODE_OFF &&
                                                  hs_hit_mode(c, HS_CHECK_LIFE) == HS_MODE_OFF &&
                                                  hs_hit_mode(c, HS_CHECK_ORIGIN) == HS_MODE_OFF &&
                                                  hs_hit_mode(c, HS_CHECK_AIM) == HS_MODE_OFF);
    c->claims_self = claim->target.ptr != NULL && hs_str_equal(claim->target, claim->shooter);
    c->claims_target = claim->target.ptr != NULL && !c->claims_self;
    c->target.status = HS_REWIND_NO_HISTORY;
    if (c->claims_target)
        hs_look(c, claim->target, c->hit_time_us, &c->target);
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
    double most = c->weapon->damage * factor * falloff * (double)c->weapon->pellets;
    if (c->weapon->has_blast)
        most += c->weapon->blast.damage;
    most *= scale;
    if (claim->claimed_damage > most * (1 + 1e-9))
        c->out->flags |= 1u << HS_FLAG_DAMAGE_FORGED;
}

/* ---- the verdict ---- */

/* Checks may share a reason, as that of a missing pose: it is listed once. */
static void note_would_reject(struct hs_hit_result *out, enum hs_reason reason)
{
    for (uint16_t i = 0; i < out->would_reject_count; i++)
        if (out->would_reject[i] == reason)
            return;
    out->would_reject[out->would_reject_count++] = reason;
}

void hs_hit_decide(struct hs_hit_context *c)
{
    struct hs_hit_result *out = c->out;
    const struct hs_check_row *missing = NULL, *failed = NULL;
    for (int i = 0; i < out->check_count; i++) {
        const struct hs_check_row *row = &out->checks[i];
        if (row->outcome == HS_OUTCOME_PASS)
            continue;
        if (row->mode == HS_MODE_SHADOW)
            note_would_reject(out, row->reason);
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

struct hs_digest hs_hit_digest(const struct hs_hit_claim *claim)
{
    struct hs_digest digest = {{1, 2}};
    hs_digest_word(&digest, claim->shot);
    hs_digest_str(&digest, claim->shooter);
    hs_digest_str(&digest, claim->weapon);
    hs_digest_str(&digest, claim->target);
    hs_digest_str(&digest, claim->claimed_bone);
    hs_digest_word(&digest, (uint64_t)claim->hit_time_us);
    hs_digest_word(&digest, claim->has_fire_time ? (uint64_t)claim->fire_time_us : UINT64_MAX);
    hs_digest_vec(&digest, claim->start);
    hs_digest_vec(&digest, claim->end);
    hs_digest_word(&digest, (uint64_t)claim->has_radius * 2 + claim->has_claimed_damage);
    hs_digest_real(&digest, claim->radius);
    hs_digest_real(&digest, claim->claimed_damage);
    hs_digest_word(&digest, (uint64_t)claim->has_velocity * 4 + claim->fuse);
    hs_digest_vec(&digest, claim->velocity);
    hs_digest_word(&digest, claim->pellet_count);
    for (size_t i = 0; i < claim->pellet_count; i++) {
        hs_digest_vec(&digest, claim->pellets[i].end);
        hs_digest_str(&digest, claim->pellets[i].target);
    }
    hs_digest_word(&digest, claim->victim_count);
    for (size_t i = 0; i < claim->victim_count; i++)
        hs_digest_str(&digest, claim->victims[i]);
    return digest;
}

void hs_hit_clear(struct hs_hit_result *out)
{
    memset(out, 0, offsetof(struct hs_hit_result, checks));
    memset(&out->rewind, 0, offsetof(struct hs_rewind_info, excluded_bones));
}

/* The answer to the same claim sent before, or NULL. */
static const struct hs_ledger_entry *find_replay(const struct hs_hit_context *c)
{
    const struct hs_player *shooter = hs_players_find(&c->match->players, c->claim->shooter);
    if (shooter == NULL)
        return NULL;
    const struct hs_ledger_entry *entry = hs_ledger_find(&shooter->ledger.hits, c->claim->shot);
    struct hs_digest digest = hs_hit_digest(c->claim);
    bool same = entry != NULL && entry->digest.word[0] == digest.word[0] &&
                entry->digest.word[1] == digest.word[1];
    return same ? entry : NULL;
}

/* World, contact and bystander: what stands on the way, for one path or for each pellet's. */
static void judge_way(struct hs_hit_context *c)
{
    if (!c->has_path)
        return;
    if (c->claim->pellet_count > 0) {
        struct hs_volley volley;
        hs_volley_find(c, &volley);
        hs_check_pellet_world(c, &volley);
        hs_check_pellet_contact(c, &volley);
    } else {
        struct hs_encounter e;
        hs_encounter_of_claim(c, &e);
        hs_check_world(c, &e);
        hs_check_contact(c, &e);
    }
}

/* His moves of the shot's time were held back and came at once: bad luck, or a switch. */
static void note_burst(struct hs_hit_context *c)
{
    const struct hs_player *shooter = c->shooter.player;
    if (shooter == NULL || shooter->moves == NULL)
        return;
    const struct hs_timing *timing = &shooter->moves->judges.timing;
    if (hs_timing_was_in_burst(timing, c->fire_time_us) ||
        hs_timing_was_in_burst(timing, c->now_us))
        c->out->flags |= 1u << HS_FLAG_DURING_BURST;
}

void hs_hit_verify(const struct hs_match *match, const struct hs_hit_claim *claim, int64_t now_us,
                   struct hs_hit_result *out)
{
    struct hs_hit_context c = {
        .match = match, .ruleset = match->ruleset, .claim = claim, .now_us = now_us, .out = out};
    hs_hit_clear(out);
    out->replay = find_replay(&c);
    if (out->replay != NULL)
        return;
    hs_hit_prepare(&c);
    describe_rewind(&c);
    compare_claim(&c);
    note_burst(&c);
    hs_check_shape(&c);
    hs_check_identity(&c);
    hs_check_trajectory(&c);
    hs_check_weapon(&c);
    hs_check_fire_rate(&c);
    hs_check_rewind(&c);
    hs_check_latency(&c);
    hs_check_life(&c);
    hs_check_team(&c);
    hs_check_origin(&c);
    hs_check_aim(&c);
    hs_check_range(&c);
    judge_way(&c);
    hs_check_pellets(&c);
    hs_check_flight(&c);
    hs_check_blast(&c);
    hs_hit_decide(&c);
    hs_hit_damage(&c);
    if (c.weapon != NULL)
        out->weapon = c.weapon_index;
    else
        out->weapon = HS_NONE;
    out->fire_time_us = c.fire_time_us;
    out->shot_was_posted = c.posted != NULL;
}

/* ---- booking ---- */

/* The player an entry is booked on, made where frames never named him. NULL: no room. */
struct hs_player *hs_hit_shooter(struct hs_match *match, struct hs_str name)
{
    struct hs_player *player = hs_players_find(&match->players, name);
    if (player == NULL &&
        hs_players_add(&match->players, name, match->limits.samples, &player) != HS_PLAYERS_ADDED)
        return NULL;
    return player;
}

bool hs_hit_note_cadence(const struct hs_match *match, struct hs_player *shooter,
                         const struct hs_hit_result *result)
{
    if (result->weapon == HS_NONE || result->shot_was_posted)
        return true;
    const struct hs_weapon *weapon = match->ruleset->weapons[result->weapon];
    if (result->reason == HS_REASON_FIRE_RATE)
        return hs_ledger_note_too_fast(&shooter->ledger, result->weapon);
    if (result->verdict != HS_VERDICT_ACCEPTED)
        return true;
    return hs_ledger_note_shot(&shooter->ledger, result->weapon, result->fire_time_us,
                               weapon->reload_us);
}

static void note_suspicion(struct hs_match *match, struct hs_player *shooter,
                           const struct hs_hit_result *result)
{
    bool unstable = (result->flags & 1u << HS_FLAG_UNSTABLE_LATENCY) != 0;
    if (result->verdict == HS_VERDICT_REJECTED)
        hs_suspicion_add(shooter, result->reason, unstable, match->newest_us);
    if (result->verdict != HS_VERDICT_ACCEPTED || result->would_reject_count == 0)
        return;
    shooter->would_reject++;
    for (int i = 0; i < result->would_reject_count; i++)
        if (hs_reason_verdict(result->would_reject[i]) == HS_VERDICT_REJECTED)
            hs_suspicion_add(shooter, result->would_reject[i], unstable, match->newest_us);
}

bool hs_hit_note(struct hs_match *match, const struct hs_hit_claim *claim,
                 const struct hs_hit_result *result, struct hs_str answer)
{
    struct hs_player *shooter = hs_hit_shooter(match, claim->shooter);
    match->totals.reasons[result->reason]++;
    match->totals.damage += result->damage_total;
    if (shooter == NULL)
        return false;
    shooter->reasons[result->reason]++;
    shooter->damage_dealt += result->damage_total;
    note_suspicion(match, shooter, result);
    if (hs_player_is_back_since(shooter, result->fire_time_us)) {
        if (result->verdict == HS_VERDICT_ACCEPTED)
            hs_ledger_note_ended(&shooter->ledger.hits, claim->shot, result->fire_time_us);
        return true;
    }
    /* A number that was used already keeps its first item and answer. */
    if (hs_ledger_find(&shooter->ledger.hits, claim->shot) != NULL ||
        hs_ledger_is_forgotten(&shooter->ledger.hits, claim->shot, result->fire_time_us))
        return true;
    struct hs_ledger_entry entry = {.number = claim->shot,
                                    .digest = hs_hit_digest(claim),
                                    .fire_time_us = result->fire_time_us,
                                    .accepted = result->verdict == HS_VERDICT_ACCEPTED,
                                    .start = claim->start,
                                    .end = claim->end,
                                    .answer = (char *)(uintptr_t)answer.ptr,
                                    .answer_size = answer.len};
    return hs_ledger_note(&shooter->ledger.hits, &entry) &&
           hs_hit_note_cadence(match, shooter, result);
}
