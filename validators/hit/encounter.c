#include "validators/hit/encounter.h"

#include "validators/hit/report.h"

static void record_ignored(struct hs_hit_result *out, const struct hs_player *player)
{
    for (uint16_t i = 0; i < out->rewind.ignored_count; i++)
        if (hs_str_equal(hs_name_str(&out->rewind.ignored[i]), hs_name_str(&player->name)))
            return;
    if (out->rewind.ignored_count < HS_MAX_IGNORED)
        out->rewind.ignored[out->rewind.ignored_count++] = player->name;
}

/* Inserts a body in order of contact. A full list drops its furthest body. */
static void insert_met(const struct hs_path *path, const struct hs_met *met, struct hs_work *work,
                       struct hs_encounter *out)
{
    uint32_t i = HS_MAX_MET - 1;
    hs_work_spend(work, (uint64_t)out->met_count * HS_WORK_SAMPLE);
    if (out->met_count < HS_MAX_MET)
        i = out->met_count++;
    else if (!hs_contact_is_before(path, &met->contact, &out->met[i].contact))
        return;
    for (; i > 0 && hs_contact_is_before(path, &met->contact, &out->met[i - 1].contact); i--)
        out->met[i] = out->met[i - 1];
    out->met[i] = *met;
}

static bool reaches(const struct hs_hit_context *c, const struct hs_contact *target)
{
    double padding = c->ruleset->hit.claim_padding;
    return target->touched || (target->has_pose && padding > 0 && target->nearest.gap <= padding);
}

/*
 * Returns whether the world hides, or may hide, the touched point from the path. Sets *aside to the
 * obstacle between the path and the touched point. Without this test, a path whose radius exceeds
 * world_radius would touch bodies through thin walls. The last part of the line to the body is not
 * tested, because a body may touch a wall.
 *
 * If the touched point is hidden but a sphere of radius world_radius touches the body, the result
 * is false. If the world check is enforced, the touch by this sphere becomes the contact.
 */
static bool is_hidden(struct hs_hit_context *c, const struct hs_path *path,
                      const struct hs_encounter *e, const struct hs_player *player, bool is_target,
                      struct hs_contact *contact, struct hs_obstacle *aside)
{
    const double drawn_in = 0.01;
    const struct hs_sweep_contact *touch = &contact->detail;
    if (e->world_radius >= path->radius)
        return false;
    hs_obstacle_between(c, touch->center, hs_vec_lerp(touch->point, touch->center, drawn_in),
                        hs_path_time(path, touch->distance), HS_NEAREST, aside);
    if (!aside->touched && !aside->is_unknown)
        return false;
    struct hs_path thin = *path;
    struct hs_contact direct;
    thin.radius = e->world_radius;
    thin.reach = fmin(path->reach, e->free);
    hs_contact_find(&thin, c->ruleset, player->history, is_target, c->passed_team, &c->work,
                    &direct);
    if (!direct.touched)
        return true;
    if (hs_world_is_enforced(c))
        *contact = direct;
    return false;
}

/* Sets the distance to the target, and whether the world stops the path before the target. */
static void measure_target(const struct hs_path *path, struct hs_encounter *e)
{
    const struct hs_obstacle *obstacle = &e->obstacle;
    double tie = HS_CONTACT_TIE * (path->length + path->radius);
    e->needed = e->target.touched ? e->target.distance : e->target.nearest.gap_distance;
    e->is_occluded = obstacle->touched && obstacle->contact.distance < e->needed - tie;
    e->is_unknown = obstacle->is_unknown && obstacle->unknown_distance < e->needed - tie;
}

/* If the target is beside the path, tests whether the world is between path and target. A target is
   beside the path if only the path's full radius touches it, or if the path misses the target by at
   most claim_padding. */
static void test_beside_path(struct hs_hit_context *c, const struct hs_path *path,
                             const struct hs_player *target, struct hs_encounter *e)
{
    struct hs_vec from = e->target.nearest.center, to = e->target.nearest.point;
    struct hs_obstacle aside;
    if (hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_OFF || e->is_occluded)
        return;
    if (!e->target.touched) {
        hs_obstacle_between(c, from, to, hs_path_time(path, e->needed), HS_NEAREST, &aside);
    } else if (is_hidden(c, path, e, target, true, &e->target, &aside)) {
        from = e->target.detail.center;
        to = e->target.detail.point;
    } else {
        measure_target(path, e);
        return;
    }
    if (!aside.touched && !aside.is_unknown)
        return;
    e->is_beside = true;
    e->is_occluded = aside.touched;
    e->is_unknown = !aside.touched;
    e->clips = e->clips || (aside.touched && hs_world_is_enforced(c));
    e->obstacle = aside;
    e->obstacle.contact.distance += e->needed;
    e->obstacle.unknown_distance += e->needed;
    e->needed += hs_vec_distance(from, to);
}

/* Returns whether the eye sees a point of the body: its centre, top or bottom. */
static bool sees_body(struct hs_hit_context *c, const struct hs_player *player, int64_t time_us)
{
    struct hs_bracket bracket;
    struct hs_body body;
    if (hs_rewind_find(player->history, c->ruleset, time_us, &bracket) != HS_REWIND_OK)
        return false;
    hs_rewind_body(player->history, c->ruleset, &bracket, &body);
    hs_work_spend(&c->work, HS_WORK_LEG + (uint64_t)body.count * 2 * HS_WORK_BALL);
    return hs_sight_of_body(c, c->near_eye, &body, time_us) == HS_REASON_OK;
}

bool hs_is_hidden_from_eye(struct hs_hit_context *c, const struct hs_path *path,
                           const struct hs_player *body, struct hs_vec center, double distance,
                           struct hs_obstacle *out)
{
    /* Test a point a little before the contact, so that the touched surface itself does not hide
       the point. */
    const double drawn_in = 0.005;
    bool is_slight = c->lean == HS_LEAN_SLIGHT;
    out->touched = out->is_unknown = false;
    if (c->lean == HS_LEAN_NONE || (is_slight && body == NULL) ||
        hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_OFF)
        return false;
    int64_t time_us = hs_path_time(path, distance);
    struct hs_vec to = hs_vec_lerp(center, c->near_eye, drawn_in);
    if (path->flight_legs > 0 && time_us > path->start_us) {
        struct hs_path arc;
        hs_path_flight(c->near_eye, to, path->gravity, 0, 0, hs_hit_chord_error(c), path->start_us,
                       time_us, &arc);
        hs_obstacle_find(c, &arc, 0, out);
    } else {
        hs_obstacle_between(c, c->near_eye, to, time_us, HS_NEAREST, out);
    }
    if (is_slight && (out->touched || out->is_unknown) && sees_body(c, body, time_us))
        out->touched = out->is_unknown = false;
    return out->touched || out->is_unknown;
}

/* Tests whether the eye sees the contact with the target, or the nearest approach. */
static void test_sight(struct hs_hit_context *c, const struct hs_path *path,
                       const struct hs_player *target, struct hs_encounter *e)
{
    const struct hs_sweep_contact *at = e->target.touched ? &e->target.detail : &e->target.nearest;
    struct hs_obstacle wall;
    if (e->is_occluded || e->is_unknown ||
        !hs_is_hidden_from_eye(c, path, target, at->center, e->needed, &wall))
        return;
    e->is_unseen = true;
    e->is_occluded = wall.touched;
    e->is_unknown = !wall.touched;
    e->clips = e->clips || (wall.touched && hs_world_is_enforced(c));
    e->obstacle = wall;
    e->needed = hs_vec_distance(c->near_eye, at->center);
}

/* Looks for the target on the path up to the obstacle that ends the path. If the target is not on
   this part of the path, looks for the target on the whole path. */
static void find_target(struct hs_hit_context *c, struct hs_path *path,
                        const struct hs_player *target, double whole, struct hs_encounter *out)
{
    hs_contact_find(path, c->ruleset, target->history, true, HS_NONE, &c->work, &out->target);
    if (out->clips && !reaches(c, &out->target)) {
        double clipped = path->reach;
        path->reach = whole;
        hs_contact_find(path, c->ruleset, target->history, true, HS_NONE, &c->work, &out->target);
        path->reach = clipped;
    }
    out->reaches = reaches(c, &out->target);
    if (!out->reaches)
        return;
    measure_target(path, out);
    test_beside_path(c, path, target, out);
    test_sight(c, path, target, out);
}

/* Finds the first obstacle on the path, unless the world check is off. */
static void find_obstacle(struct hs_hit_context *c, struct hs_path *path, struct hs_encounter *out)
{
    out->obstacle.touched = out->obstacle.is_unknown = out->clips = false;
    out->end.touched = out->end.is_unknown = false;
    out->world_radius = path->radius;
    out->free = path->reach;
    if (hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_OFF)
        return;
    hs_obstacle_find(c, path, hs_world_radius(c), &out->obstacle);
    out->end = out->obstacle;
    out->world_radius = out->obstacle.radius;
    if (out->obstacle.touched)
        out->free = out->obstacle.contact.distance;
    out->clips = out->obstacle.touched && hs_world_is_enforced(c);
    if (!out->clips)
        return;
    out->ends = true;
    path->reach = out->obstacle.contact.distance;
}

/* Sweeps the path over one body that is not the target. Ignores bodies that the world hides. */
static void meet(struct hs_hit_context *c, const struct hs_path *path,
                 const struct hs_player *player, struct hs_encounter *out)
{
    struct hs_met met;
    struct hs_obstacle aside;
    hs_contact_find(path, c->ruleset, player->history, false, c->passed_team, &c->work,
                    &met.contact);
    if (!met.contact.has_pose)
        record_ignored(c->out, player);
    if (!met.contact.touched)
        return;
    met.player = player;
    met.unknown = HS_REASON_OK;
    if (hs_world_is_enforced(c) && is_hidden(c, path, out, player, false, &met.contact, &aside)) {
        if (aside.touched)
            return;
        met.unknown = hs_unknown_reason(&aside);
    }
    if (out->target.touched && hs_contact_is_before(path, &met.contact, &out->target)) {
        out->before_target++;
        out->uncertain_before += met.contact.is_uncertain ? 1 : 0;
    }
    insert_met(path, &met, &c->work, out);
}

static bool is_there(const struct hs_hit_context *c, const struct hs_player *player,
                     const struct hs_player *target)
{
    return !player->left && player != c->shooter.player && player != target &&
           hs_history_count(player->history) > 0;
}

/* Calls hs_crowd_near for the players from index `first` on (at most 64). Prefetches the histories
   of the players whose bits are set. */
static uint64_t find_near(const struct hs_players *players, uint32_t first,
                          const struct hs_passing *passing)
{
    uint32_t count = players->count - first < 64 ? players->count - first : 64;
    uint64_t near = hs_crowd_near(&players->crowd[first / 4], count, passing);
    for (uint64_t left = near; left != 0; left &= left - 1)
        hs_history_prefetch(players->all[first + (uint32_t)__builtin_ctzll(left)]->history,
                            passing->time_us);
    return near;
}

/* Tests the players near an instant path. Most players are excluded by the bounds of their history.
   Most of the remaining players are excluded by the box around their body at the time of the
   path. */
static void meet_near(struct hs_hit_context *c, const struct hs_path *path,
                      const struct hs_player *target, struct hs_encounter *out)
{
    const struct hs_players *players = &c->match->players;
    struct hs_passing passing;
    struct hs_leg leg;
    uint32_t passed = 0;
    hs_path_leg(path, 0, &leg);
    hs_passing_of(&leg.sweep, path->end_us, &passing);
    for (uint32_t first = 0; first < players->count; first += 64) {
        uint64_t near = find_near(players, first, &passing);
        for (; near != 0; near &= near - 1) {
            uint32_t i = first + (uint32_t)__builtin_ctzll(near);
            const struct hs_player *player = players->all[i];
            hs_work_pass(&c->work, i + 1 - passed);
            passed = i + 1;
            if (hs_work_is_over(&c->work))
                return;
            if (!is_there(c, player, target))
                continue;
            bool has_pose;
            if (!hs_contact_misses(&passing, c->ruleset, player->history, c->passed_team, &c->work,
                                   &has_pose))
                meet(c, path, player, out);
            else if (!has_pose)
                record_ignored(c->out, player);
        }
    }
    hs_work_pass(&c->work, players->count - passed);
}

/* Finds the bodies on the path that are not the target. */
static void meet_all(struct hs_hit_context *c, const struct hs_path *path,
                     const struct hs_player *target, struct hs_encounter *out)
{
    if (path->flight_legs == 0) {
        meet_near(c, path, target, out);
        return;
    }
    for (uint32_t i = 0; i < c->match->players.count && !hs_work_is_over(&c->work); i++) {
        hs_work_spend(&c->work, HS_WORK_PASS);
        if (is_there(c, c->match->players.all[i], target))
            meet(c, path, c->match->players.all[i], out);
    }
}

/* Returns whether no other body is on the path before the path's nearest approach to the target. */
static bool is_line_free(const struct hs_encounter *e)
{
    return e->met_count == 0 || e->met[0].contact.distance > e->target.nearest.gap_distance;
}

void hs_encounter_find(struct hs_hit_context *c, struct hs_path *path,
                       const struct hs_player *target, struct hs_encounter *out)
{
    double whole = path->reach;
    out->met_count = 0;
    out->before_target = out->uncertain_before = 0;
    out->reaches = out->is_occluded = out->is_unknown = false;
    out->is_beside = out->is_unseen = out->ends = false;
    hs_contact_clear(&out->target);
    find_obstacle(c, path, out);
    if (target != NULL)
        find_target(c, path, target, whole, out);
    meet_all(c, path, target, out);
    if (!out->reaches || out->target.touched || is_line_free(out))
        return;
    /* A body stops the shot before the shot is near the target, so it does not matter what hides
       the target. */
    out->obstacle = out->end;
    out->clips = out->ends;
    out->reaches = out->is_occluded = out->is_unknown = out->is_beside = out->is_unseen = false;
}

void hs_encounter_of_claim(struct hs_hit_context *c, struct hs_encounter *out)
{
    bool has_pose = c->claims_target && c->target.status == HS_REWIND_OK;
    hs_encounter_find(c, &c->path, has_pose ? c->target.player : NULL, out);
    const struct hs_rig *rig = out->target.rig;
    struct hs_rewind_info *info = &c->out->rewind;
    if (rig == NULL)
        return;
    for (unsigned i = 0; i < HS_MAX_BONES; i += 64)
        for (uint64_t left = out->target.excluded[i / 64]; left != 0; left &= left - 1)
            info->excluded_bones[info->excluded_bone_count++] =
                rig->bones[i + (unsigned)__builtin_ctzll(left)];
}

static uint64_t pierced(const struct hs_hit_context *c)
{
    return c->weapon != NULL ? (uint64_t)c->weapon->pierce : 0;
}

bool hs_encounter_is_blocked(const struct hs_hit_context *c, const struct hs_encounter *e)
{
    return e->before_target - e->uncertain_before > pierced(c);
}

bool hs_encounter_may_be_blocked(const struct hs_hit_context *c, const struct hs_encounter *e)
{
    return e->before_target > pierced(c);
}

int64_t hs_contact_time(const struct hs_hit_context *c, double distance)
{
    const struct hs_path *path = &c->path;
    if (path->flight_legs == 0)
        return c->hit_time_us;
    int64_t latest_us =
        hs_path_time(path, distance) + hs_flight_tolerance(path->end_us - path->start_us);
    int64_t early_us = latest_us < c->hit_time_us ? c->hit_time_us - latest_us : 0;
    return c->hit_time_us - early_us / 1000 * 1000;
}

/* Returns the distance to the target or to the last body that the projectile pierces, whichever is
   further. If the path touches neither the target nor a pierced body, returns the length of the
   path. */
static double last_contact(const struct hs_hit_context *c, const struct hs_encounter *e,
                           double target)
{
    double last = e->reaches ? target : -1;
    for (uint32_t i = 0; pierced(c) > 0 && i < e->met_count; i++) {
        const struct hs_contact *met = &e->met[i].contact;
        bool is_behind = e->target.touched && hs_contact_is_before(&c->path, &e->target, met);
        if (i + (is_behind ? 1 : 0) <= pierced(c))
            last = fmax(last, met->distance);
    }
    return last >= 0 ? last : c->path.length;
}

/* Returns the distance at which the projectile explodes: at the target, at the first other body, or
   where the world ends the path. Without any of these, returns the length of the path. */
static double burst_distance(const struct hs_hit_context *c, const struct hs_encounter *e,
                             double target)
{
    bool is_stopped = (e->is_occluded && e->clips) || hs_encounter_is_blocked(c, e);
    if (e->reaches && !is_stopped)
        return target;
    if (e->met_count > 0)
        return e->met[0].contact.distance;
    return e->ends ? e->end.contact.distance : c->path.length;
}

void hs_encounter_settle(struct hs_hit_context *c, const struct hs_encounter *e)
{
    double target = 0;
    if (e->reaches)
        target = e->target.touched ? e->target.distance : e->target.nearest.gap_distance;
    double last = last_contact(c, e, target);
    if (c->weapon != NULL && c->weapon->has_blast)
        last = fmin(last, burst_distance(c, e, target));
    c->contact_us = hs_contact_time(c, last);
    int64_t target_us = e->reaches ? hs_contact_time(c, target) : c->hit_time_us;
    if (target_us != c->hit_time_us)
        hs_find_view(c, hs_hit_target(c), target_us, &c->target);
}

/* Returns whether the named player is the first body on the path that stops shots. */
static bool is_first(const struct hs_hit_context *c, const struct hs_path *path,
                     const struct hs_encounter *e, const struct hs_view *view)
{
    const struct hs_contact *first = &e->met[0].contact;
    bool may_miss = c->claim->pellet_count == 0; /* claim_padding does not apply to pellets */
    if (!e->reaches || e->is_occluded || (!e->target.touched && !may_miss))
        return false;
    const struct hs_state *state = hs_rewind_state(view->player->history, &view->bracket);
    if (!state->alive || !state->is_solid ||
        (state->team == c->passed_team && state->team != HS_NONE))
        return false;
    return e->target.touched ? !hs_contact_is_before(path, first, &e->target)
                             : first->distance > e->target.nearest.gap_distance;
}

void hs_find_touched(struct hs_hit_context *c, const struct hs_path *path, struct hs_view *view)
{
    struct hs_path whole = *path;
    struct hs_encounter e;
    bool is_named = view->player != NULL && view->status == HS_REWIND_OK;
    if (view->player != NULL && view->player == c->shooter.player)
        return; /* the reason is self_hit, whatever the path touches */
    hs_encounter_find(c, &whole, is_named ? view->player : NULL, &e);
    if (e.met_count > 0 && !(is_named && is_first(c, &whole, &e, view)))
        hs_find_view(c, hs_name_str(&e.met[0].player->name), c->hit_time_us, view);
}

void hs_describe_impact(struct hs_hit_context *c, const struct hs_player *player,
                        const struct hs_contact *contact)
{
    const struct hs_hitbox *box = &contact->rig->hitboxes[contact->hitbox];
    c->out->impact = (struct hs_impact){.present = true,
                                        .point = contact->detail.point,
                                        .normal = contact->detail.normal,
                                        .center = contact->detail.center,
                                        .distance = contact->detail.distance,
                                        .player = player->name,
                                        .bone = contact->rig->bones[box->bone],
                                        .zone = c->ruleset->zones[box->zone].name};
}

void hs_describe_obstacle(struct hs_hit_context *c, const struct hs_obstacle *obstacle)
{
    c->out->impact = (struct hs_impact){.present = true,
                                        .point = obstacle->contact.point,
                                        .normal = obstacle->contact.normal,
                                        .center = obstacle->contact.center,
                                        .distance = obstacle->contact.distance};
    if (obstacle->mover != NULL)
        c->out->impact.mover = obstacle->mover->name;
}

void hs_describe_first(struct hs_hit_context *c, const struct hs_encounter *e)
{
    if (e->met_count > 0)
        hs_describe_impact(c, e->met[0].player, &e->met[0].contact);
    else if (e->clips)
        hs_describe_obstacle(c, &e->obstacle);
}

void hs_land_direct(struct hs_hit_context *c, const struct hs_view *view,
                    const struct hs_contact *contact)
{
    const struct hs_hitbox *box = &contact->rig->hitboxes[contact->hitbox];
    hs_land(c, &(struct hs_landed){.player = view->player,
                                   .cause = HS_CAUSE_DIRECT,
                                   .zone = box->zone,
                                   .bone = &contact->rig->bones[box->bone],
                                   .distance = contact->detail.distance,
                                   .pellets = 1});
}

enum hs_reason hs_verify_victim(const struct hs_hit_context *c, const struct hs_view *view,
                                struct hs_str name, bool may_be_self)
{
    bool is_self = hs_str_equal(name, c->claim->shooter);
    if (is_self && !may_be_self)
        return HS_REASON_SELF_HIT;
    if (view->status != HS_REWIND_OK)
        return hs_missing_pose_reason(view->status, HS_REASON_UNKNOWN_TARGET_HISTORY);
    enum hs_reason life = hs_verify_life(view);
    bool is_friend = !is_self && !c->ruleset->hit.friendly_fire && hs_are_team_mates(c, view);
    return life == HS_REASON_OK && is_friend ? HS_REASON_FRIENDLY_FIRE : life;
}

bool hs_is_repeated(const struct hs_hit_context *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (hs_str_equal(c->claim->victims[k], c->claim->victims[i]))
            return true;
    return false;
}

bool hs_hit_refuses(const struct hs_hit_context *c, struct hs_str name)
{
    for (uint16_t i = 0; i < c->out->refused_count; i++)
        if (hs_str_equal(hs_name_str(&c->out->refused[i].player), name))
            return true;
    return false;
}

void hs_refuse_victim(struct hs_hit_context *c, struct hs_str name, enum hs_reason reason,
                      double measured, double limit)
{
    if (c->out->refused_count == HS_MAX_VICTIMS)
        return;
    struct hs_refused_victim *refused = &c->out->refused[c->out->refused_count++];
    *refused = (struct hs_refused_victim){.reason = reason,
                                          .has_measure = reason == HS_REASON_OUTSIDE_BLAST,
                                          .measured = measured,
                                          .limit = limit};
    hs_name_set(&refused->player, name);
}
