/* Looks up the shooter, weapon, posted shot, times and path of a claim before its checks run. */
#include "validators/hit/context.h"

#include <float.h>

#include "validators/base/units.h"
#include "validators/geometry/angle.h"
#include "validators/match/connection.h"
#include "validators/match/player_moves.h"
#include "validators/spread.h"

void hs_find_view(const struct hs_hit_context *c, struct hs_str name, int64_t time_us,
                  struct hs_view *out)
{
    out->player = hs_players_find(&c->match->players, name);
    out->status = HS_REWIND_NO_HISTORY;
    out->time_us = time_us;
    if (out->player != NULL)
        out->status = hs_rewind_find(out->player->history, c->ruleset, time_us, &out->bracket);
}

/* Finds the posted shot of a hit. If the hit names another weapon than the shot, or the number is
   free again, the hit and the shot do not belong together. */
static void find_posted_shot(struct hs_hit_context *c)
{
    if (c->ledger == NULL || c->is_shot)
        return;
    const struct hs_ledger_entry *entry = hs_ledger_find(&c->ledger->shots, c->claim->shot);
    if (entry == NULL || entry->shot == NULL ||
        entry->fire_time_us < c->match->players.evict_before_us)
        return;
    struct hs_str named = c->claim->weapon;
    const struct hs_weapon *weapon = c->ruleset->weapons[entry->shot->weapon];
    if (named.ptr != NULL && !hs_str_equal(named, hs_name_str(&weapon->name)))
        return;
    c->posted = entry;
    c->fire_time_us = entry->fire_time_us;
}

/* Returns the state of the older sample, or of the newer sample if the older sample names no
   weapon. */
static const struct hs_state *weapon_state(const struct hs_history *history,
                                           const struct hs_bracket *bracket)
{
    const struct hs_state *from = hs_history_state(history, bracket->from);
    return from->weapon != HS_NONE ? from : hs_history_state(history, bracket->to);
}

/* Finds the weapon. The posted shot's weapon counts first, then the weapon named in the claim,
   then the weapon in the shooter's hand. */
static void find_weapon(struct hs_hit_context *c)
{
    uint16_t index = HS_NONE;
    c->is_weapon_stale = false;
    if (c->posted != NULL) {
        index = c->posted->shot->weapon;
    } else if (c->claim->weapon.ptr != NULL) {
        index = hs_ruleset_find_weapon(c->ruleset, c->claim->weapon);
    } else if (c->shooter.status == HS_REWIND_OK) {
        const struct hs_state *state =
            weapon_state(c->shooter.player->history, &c->shooter.bracket);
        c->is_weapon_stale = state->weapon != HS_NONE && (state->stale & HS_STALE_WEAPON) != 0;
        index = c->is_weapon_stale ? (uint16_t)HS_NONE : state->weapon;
        c->lacks_weapon = !c->is_weapon_stale && index >= c->ruleset->weapon_count;
    }
    if (index < c->ruleset->weapon_count) {
        c->weapon = c->ruleset->weapons[index];
        c->weapon_index = index;
    }
}

/* Computes the hit time in games that predict by ping. In these games, client and server agree on
   how far other players are rewound. So the claimed hit time is not used, except for hits of
   projectiles. */
static void predict_hit_time(struct hs_hit_context *c)
{
    struct hs_connection connection;
    if (c->ruleset->rewind.source != HS_REWIND_BY_PREDICTION || c->is_shot || hs_hit_flies(c))
        return;
    hs_connection_read(c->shooter.player, c->now_us, &connection);
    c->is_predicted = hs_connection_predicts(&connection, &c->ruleset->moves.prediction);
    c->has_no_prediction = !c->is_predicted;
    if (c->is_predicted)
        c->hit_time_us =
            c->now_us - hs_connection_prediction(&connection, &c->ruleset->moves.prediction);
}

static struct hs_vec gravity_of(const struct hs_hit_context *c)
{
    return hs_vec_scale(hs_up_direction(c->ruleset->up), -c->weapon->gravity);
}

double hs_hit_chord_error(const struct hs_hit_context *c)
{
    return fmax(hs_world_radius(c) / 10, c->weapon->range * 1e-6);
}

bool hs_hit_flight_times(const struct hs_hit_context *c, double speed, double *low, double *high,
                         double *needed)
{
    return hs_flight_times(c->claim->start, c->claim->end, gravity_of(c), speed, low, high, needed);
}

struct hs_vec hs_hit_launch(const struct hs_hit_context *c, double seconds)
{
    struct hs_vec along = hs_vec_sub(c->claim->end, c->claim->start);
    along = hs_vec_add_scaled(along, gravity_of(c), -seconds * seconds / 2);
    return hs_vec_scale(along, 1 / hs_vec_length(along));
}

bool hs_hit_aims_at_others(const struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    if (claim->pellet_count > 0 && c->ruleset->hit.resolve == HS_RESOLVE_TOUCHED)
        return true;
    for (size_t i = 0; i < claim->pellet_count; i++)
        if (claim->pellets[i].target.ptr != NULL &&
            !hs_str_equal(claim->pellets[i].target, claim->target))
            return true;
    return false;
}

bool hs_pellet_direction(const struct hs_hit_context *c, size_t pellet, struct hs_vec *out)
{
    struct hs_vec along = hs_vec_sub(c->claim->pellets[pellet].end, c->claim->start);
    double length = hs_vec_length(along);
    *out = hs_vec_scale(along, length > 0 ? 1 / length : 0);
    return length > 0;
}

size_t hs_posted_directions(const struct hs_hit_context *c, struct hs_vec out[HS_MAX_PELLETS])
{
    const struct hs_posted_shot *shot = c->posted != NULL ? c->posted->shot : NULL;
    if (shot == NULL)
        return 0;
    if (shot->direction_count > 0) {
        memcpy(out, shot->directions, shot->direction_count * sizeof out[0]);
        return shot->direction_count;
    }
    if (!shot->has_seed || !shot->has_direction)
        return 0;
    double spread = c->weapon->spread_deg * (HS_PI / 180);
    for (uint32_t i = 0; i < (uint32_t)c->weapon->pellets; i++)
        out[i] = hs_spread_direction(shot->direction, spread, shot->seed, i);
    return (size_t)c->weapon->pellets;
}

/* Returns the claimed or posted launch time. If there is no such time, computes the launch time
   from the weapon's speed. */
static int64_t launch_time(const struct hs_hit_context *c)
{
    if (hs_hit_knows_fire_time(c))
        return c->fire_time_us < c->hit_time_us ? c->fire_time_us : c->hit_time_us;
    double low, high, needed, longest = hs_seconds(c->weapon->max_flight_us);
    if (!hs_hit_flight_times(c, c->weapon->speed, &low, &high, &needed))
        low = longest;
    return c->hit_time_us - hs_seconds_to_us(low < longest ? low : longest);
}

/* Returns whether the start and all ends are within the largest world bound (see has_path). */
static bool is_in_reach(const struct hs_hit_claim *claim)
{
    const double reach = HS_WORLD_COORDINATE_MAX;
    bool in_reach = hs_vec_is_within(claim->start, reach) && hs_vec_is_within(claim->end, reach);
    for (size_t i = 0; i < claim->pellet_count; i++)
        in_reach = in_reach && hs_vec_is_within(claim->pellets[i].end, reach);
    return in_reach;
}

static double finite_of(double x)
{
    return fmin(fmax(x, -DBL_MAX), DBL_MAX);
}

/* If the claim has no end, computes where the projectile is at the hit time. If this place is
   unknown, the trace has length 0, and the check `shape` rejects the claim. */
static void complete_end(struct hs_hit_context *c)
{
    if (!c->claim->has_no_end)
        return;
    c->completed = *c->claim;
    c->completed.end = c->claim->start;
    int64_t flown_us = c->hit_time_us - c->fire_time_us;
    if (hs_hit_flies(c) && hs_hit_knows_fire_time(c) && flown_us > 0) {
        double t = hs_seconds(flown_us);
        struct hs_vec end = hs_vec_add_scaled(c->claim->start, c->claim->velocity, t);
        end = hs_vec_add_scaled(end, gravity_of(c), t * t / 2);
        c->completed.end = (struct hs_vec){finite_of(end.x), finite_of(end.y), finite_of(end.z)};
    }
    c->claim = &c->completed;
}

/* Returns whether the shot has only one path, although the claim lists pellets. The path of a
   projectile is always a single path, even if the claim lists several pellets. */
static bool has_one_path(const struct hs_hit_context *c)
{
    return hs_hit_flies(c) ||
           (c->weapon != NULL && c->weapon->pellets == 1 && c->listed_pellets == 1);
}

/* Sets the end of a claim with pellets to the end of its first pellet. If the shot has only one
   path, the claim is evaluated like a claim without pellets. */
static void complete_pellets(struct hs_hit_context *c)
{
    const struct hs_pellet_claim *first = c->claim->pellets;
    c->listed_pellets = c->claim->pellet_count;
    if (c->listed_pellets == 0)
        return;
    c->completed = *c->claim;
    c->completed.end = first->end;
    c->completed.has_no_end = false;
    if (has_one_path(c)) {
        c->completed.pellet_count = 0;
        if (first->target.ptr != NULL)
            c->completed.target = first->target;
    }
    c->claim = &c->completed;
}

/* Returns the direction at the start of a shot, or of a claim without pellets. */
static struct hs_vec first_direction(const struct hs_hit_context *c)
{
    double speed = c->claim->has_velocity ? hs_vec_length(c->claim->velocity) : 0;
    if (c->shot_direction != NULL)
        return *c->shot_direction;
    if (hs_hit_flies(c) && speed > 0)
        return hs_vec_scale(c->claim->velocity, 1 / speed);
    return c->path.direction;
}

static void lay_path(struct hs_hit_context *c)
{
    complete_pellets(c);
    complete_end(c);
    const struct hs_hit_claim *claim = c->claim;
    double extension = c->ruleset->hit.sweep_extension;
    double radius = c->weapon != NULL ? c->weapon->radius : 0;
    c->trace_length = hs_vec_distance(claim->start, claim->end);
    c->has_path = is_in_reach(claim);
    /* If the game server moved the projectile, only the contact is verified, not the flight. */
    bool is_driven = hs_hit_is_driven(c);
    hs_path_trace(is_driven ? claim->end : claim->start, claim->end, radius,
                  is_driven ? 0 : extension, c->hit_time_us, &c->path);
    if (c->has_path && hs_hit_flies(c) && !is_driven) {
        int64_t launch_us = launch_time(c);
        c->fire_time_us = launch_us;
        /* If a flight takes much longer than max_flight, rounding errors make its path useless. So
           the path is limited to max_flight; the check `flight` rejects longer flights anyway. */
        if (launch_us < c->hit_time_us - c->weapon->max_flight_us)
            launch_us = c->hit_time_us - c->weapon->max_flight_us;
        if (launch_us < c->hit_time_us)
            hs_path_flight(claim->start, claim->end, gravity_of(c), radius, extension,
                           hs_hit_chord_error(c), launch_us, c->hit_time_us, &c->path);
    }
    c->direction = first_direction(c);
}

static struct hs_vec eye_at(const struct hs_hit_context *c, const struct hs_sample *sample)
{
    struct hs_bracket alone = {.from = sample, .to = sample, .time_us = sample->time_us};
    return hs_rewind_eye(c->shooter.player->history, c->ruleset, &alone);
}

/* Returns how far the shooter leans. Leaning is not tested if the check `origin` is not enforced,
   because any start is then accepted. Leaning is also not tested if lean_share is 1: this value
   allows shots from behind a corner. */
static enum hs_lean lean_of(const struct hs_hit_context *c)
{
    double share = c->ruleset->hit.lean_share, limit = share * c->ruleset->hit.origin_tolerance;
    if (hs_hit_mode(c, HS_CHECK_ORIGIN) != HS_MODE_ENFORCE || c->is_shot || hs_hit_is_driven(c) ||
        share >= 1)
        return HS_LEAN_NONE;
    double off = hs_vec_distance(c->claim->start, c->near_eye);
    if (off > limit)
        return HS_LEAN_FAR;
    return off > 0 ? HS_LEAN_SLIGHT : HS_LEAN_NONE;
}

/* If the shot is later than the newest sample, returns how far the shooter has moved on since
   that sample. Assumes that the movement between the last two samples continued, but not after
   `now`, and for no longer than the time between these samples. */
static struct hs_vec moved_on(const struct hs_hit_context *c)
{
    const struct hs_history *history = c->shooter.player->history;
    const struct hs_sample *to = c->shooter.bracket.to;
    int64_t i = hs_history_find(history, to->time_us);
    int64_t until_us = c->eye_time_us < c->now_us ? c->eye_time_us : c->now_us;
    const struct hs_sample *before = i > 0 ? hs_history_at(history, (uint32_t)i - 1) : to;
    if (until_us <= to->time_us || before->time_us >= to->time_us || to->jumped ||
        to->event != HS_EVENT_NONE)
        return (struct hs_vec){0, 0, 0};
    double share = (double)(until_us - to->time_us) / (double)(to->time_us - before->time_us);
    return hs_vec_scale(hs_vec_sub(to->position, before->position), hs_smaller(share, 1));
}

/* The eye moved from `before` by `moved`, along a segment. Sets near_eye to the point of this
   segment that is nearest to the start. */
static void find_near_eye(struct hs_hit_context *c, struct hs_vec before, struct hs_vec moved)
{
    double squared = hs_vec_dot(moved, moved);
    double along = hs_vec_dot(hs_vec_sub(c->claim->start, before), moved);
    along = squared > 0 ? hs_clamp(along / squared, 0, 1) : 0;
    c->near_eye = hs_vec_add_scaled(before, moved, along);
}

/* Finds the eye and near_eye. Between two samples, the eye may have been anywhere between its
   positions in the two samples, for example while the shooter crouched. */
static void find_eye(struct hs_hit_context *c)
{
    const struct hs_bracket *bracket = &c->shooter.bracket;
    if (c->shooter.status != HS_REWIND_OK || hs_hit_mode(c, HS_CHECK_ORIGIN) == HS_MODE_OFF)
        return;
    c->eye = hs_rewind_eye(c->shooter.player->history, c->ruleset, bracket);
    if (!bracket->held && bracket->from != bracket->to) {
        struct hs_vec before = eye_at(c, bracket->from);
        struct hs_vec moved = hs_vec_sub(eye_at(c, bracket->to), before);
        find_near_eye(c, before, moved);
        c->eye_moved = hs_vec_length(moved);
    } else {
        find_near_eye(c, c->eye, moved_on(c));
    }
    c->lean = lean_of(c);
}

static void find_passed_team(struct hs_hit_context *c)
{
    c->passed_team = HS_NONE;
    if (c->ruleset->hit.teammates_block || c->shooter.player == NULL)
        return;
    const struct hs_history *history = c->shooter.player->history;
    if (c->shooter.status == HS_REWIND_OK)
        c->passed_team = hs_rewind_state(history, &c->shooter.bracket)->team;
    else if (hs_history_count(history) > 0)
        c->passed_team = hs_newest_state(history)->team;
}

static void find_ledger(struct hs_hit_context *c)
{
    const struct hs_player *player = c->shooter.player;
    if (player == NULL)
        return;
    c->paid_numbers = c->is_shot ? &player->ledger.shots : &player->ledger.hits;
    /* The current session's numbers do not apply to a claim from an earlier session. */
    if (hs_player_is_back_since(player, c->fire_time_us))
        return;
    c->ledger = &player->ledger;
    c->used_numbers = c->paid_numbers;
}

/*
 * Returns the time of the shooter's pose. Without a fire time, the claim counts as fired at `now`,
 * because the game server simulates shots when they arrive. If the newest frame is only a little
 * older than `now`, the time of the frame is used, because the server had the pose of this frame
 * when the claim arrived. A claim from an earlier session never uses the pose of a later session.
 */
static int64_t eye_time(const struct hs_hit_context *c)
{
    const struct hs_player *player = c->shooter.player;
    if (hs_hit_knows_fire_time(c) || player == NULL ||
        hs_player_is_back_since(player, c->fire_time_us))
        return c->fire_time_us;
    uint32_t count = hs_history_count(player->history);
    if (count == 0)
        return c->now_us;
    int64_t newest_us = hs_history_at(player->history, count - 1)->time_us;
    bool lags = c->now_us > newest_us && c->now_us - newest_us <= c->ruleset->history.max_gap_us;
    return lags ? newest_us : c->now_us;
}

/* Finds the weapon, the path, and the shooter at the fire time. The fire time of a projectile is
   its launch time. */
static void find_shooter(struct hs_hit_context *c)
{
    c->eye_time_us = eye_time(c);
    hs_find_view(c, c->claim->shooter, c->eye_time_us, &c->shooter);
    find_weapon(c);
    predict_hit_time(c);
    lay_path(c);
    if (!hs_hit_flies(c))
        return;
    c->eye_time_us = c->fire_time_us;
    if (!hs_hit_knows_fire_time(c))
        hs_find_view(c, c->claim->shooter, c->eye_time_us, &c->shooter);
}

void hs_hit_prepare(struct hs_hit_context *c)
{
    const struct hs_hit_claim *claim = c->claim;
    c->hit_time_us = claim->hit_time_us;
    c->fire_time_us = claim->has_fire_time ? claim->fire_time_us : claim->hit_time_us;
    find_ledger(c);
    find_posted_shot(c);
    find_shooter(c);
    find_eye(c);
    find_passed_team(c);
    claim = c->claim; /* find_shooter may have replaced c->claim */
    c->claims_self = claim->target.ptr != NULL && hs_str_equal(claim->target, claim->shooter);
    c->claims_target = claim->target.ptr != NULL && !c->claims_self;
    c->contact_us = c->hit_time_us;
    c->target.status = HS_REWIND_NO_HISTORY;
    if (c->claims_target)
        hs_find_view(c, claim->target, c->hit_time_us, &c->target);
    if (c->target.status == HS_REWIND_OK)
        hs_rewind_prefetch(c->target.player->history, &c->target.bracket);
}
