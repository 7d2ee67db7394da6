#include "validators/hit/encounter.h"

#include "validators/hit/report.h"

static void note_ignored(struct hs_hit_result *out, const struct hs_player *player)
{
    for (uint16_t i = 0; i < out->rewind.ignored_count; i++)
        if (hs_str_equal(hs_name_str(&out->rewind.ignored[i]), hs_name_str(&player->name)))
            return;
    if (out->rewind.ignored_count < HS_MAX_IGNORED)
        out->rewind.ignored[out->rewind.ignored_count++] = player->name;
}

/* Keeps the nearest ones when there is no room. */
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

/* The target is touched, or missed by no more than the padding. */
static bool reaches(const struct hs_hit_context *c, const struct hs_contact *target)
{
    double padding = c->ruleset->hit.claim_padding;
    return target->touched || (target->has_pose && padding > 0 && target->gap <= padding);
}

/*
 * Whether the world hides a touch: then `aside` tells what stands, or perhaps stands, between the
 * path and the touched point. A sphere that is cast at the world thinner than it is would otherwise
 * reach through thin walls. Bodies lean on walls as well, so the last of the line is not tested.
 *
 * A body whose nearest point is hidden may still stand on the path: the thinner sphere's own touch
 * is in sight, and becomes the contact where the world is enforced.
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
                        hs_path_time(path, touch->distance), aside);
    if (!aside->touched && !aside->is_doubtful)
        return false;
    struct hs_path thin = *path;
    struct hs_contact direct;
    thin.radius = e->world_radius;
    thin.reach = fmin(path->reach, e->free);
    hs_contact_find(&thin, c->ruleset, player->history, is_target, is_target, &c->work, &direct);
    if (!direct.touched)
        return true;
    if (hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE)
        *contact = direct;
    return false;
}

/* How far the path travels to the target, and whether the world stops it before. */
static void measure_target(const struct hs_path *path, struct hs_encounter *e)
{
    const struct hs_obstacle *obstacle = &e->obstacle;
    double tie = HS_CONTACT_TIE * (path->length + path->radius);
    e->needed = e->target.touched ? e->target.distance : e->target.gap_distance;
    e->is_occluded = obstacle->touched && obstacle->contact.distance < e->needed - tie;
    e->is_doubtful = obstacle->is_doubtful && obstacle->doubt_distance < e->needed - tie;
}

/* A touch of a sphere that is thinner at the world needs sight from the path to the body; so does
   a miss that the padding forgives. */
static void look_beside_path(struct hs_hit_context *c, const struct hs_path *path,
                             const struct hs_player *target, struct hs_encounter *e)
{
    struct hs_vec from = e->target.gap_center, to = e->target.gap_point;
    struct hs_obstacle aside;
    if (hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_OFF || e->is_occluded)
        return;
    if (!e->target.touched) {
        hs_obstacle_between(c, from, to, hs_path_time(path, e->needed), &aside);
    } else if (is_hidden(c, path, e, target, true, &e->target, &aside)) {
        from = e->target.detail.center;
        to = e->target.detail.point;
    } else {
        measure_target(path, e);
        return;
    }
    if (!aside.touched && !aside.is_doubtful)
        return;
    e->is_occluded = aside.touched;
    e->is_doubtful = !aside.touched;
    e->clips = e->clips || (aside.touched && hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE);
    e->obstacle = aside;
    e->obstacle.contact.distance += e->needed;
    e->obstacle.doubt_distance += e->needed;
    e->needed += hs_vec_distance(from, to);
}

/* The target on the path as far as it reaches; where he is not there, on the whole of it. */
static void find_target(struct hs_hit_context *c, struct hs_path *path,
                        const struct hs_player *target, double whole, struct hs_encounter *out)
{
    hs_contact_find(path, c->ruleset, target->history, true, true, &c->work, &out->target);
    if (out->clips && !reaches(c, &out->target)) {
        double clipped = path->reach;
        path->reach = whole;
        hs_contact_find(path, c->ruleset, target->history, true, true, &c->work, &out->target);
        path->reach = clipped;
    }
    out->reaches = reaches(c, &out->target);
    if (!out->reaches)
        return;
    measure_target(path, out);
    look_beside_path(c, path, target, out);
}

/* Nothing of the world is looked at while its check is off. */
static void find_obstacle(struct hs_hit_context *c, struct hs_path *path, struct hs_encounter *out)
{
    out->obstacle.touched = out->obstacle.is_doubtful = out->clips = false;
    out->world_radius = path->radius;
    out->free = path->reach;
    if (hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_OFF)
        return;
    hs_obstacle_find(c, path, hs_world_radius(c), &out->obstacle);
    out->world_radius = out->obstacle.radius;
    if (out->obstacle.touched)
        out->free = out->obstacle.contact.distance;
    out->clips = out->obstacle.touched && hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE;
    if (out->clips)
        path->reach = out->obstacle.contact.distance;
}

/* One body that is not the target. One that the world hides is not on the path. */
static void meet(struct hs_hit_context *c, const struct hs_path *path,
                 const struct hs_player *player, struct hs_encounter *out)
{
    struct hs_met met = {.player = player, .doubt = HS_REASON_OK};
    struct hs_obstacle aside;
    hs_contact_find(path, c->ruleset, player->history, false, false, &c->work, &met.contact);
    if (!met.contact.has_pose)
        note_ignored(c->out, met.player);
    if (!met.contact.touched)
        return;
    if (hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE &&
        is_hidden(c, path, out, player, false, &met.contact, &aside)) {
        if (aside.touched)
            return;
        met.doubt = hs_doubt_reason(&aside);
    }
    if (out->target.touched && hs_contact_is_before(path, &met.contact, &out->target))
        out->before_target++;
    insert_met(path, &met, &c->work, out);
}

void hs_encounter_find(struct hs_hit_context *c, struct hs_path *path,
                       const struct hs_player *target, struct hs_encounter *out)
{
    const struct hs_players *players = &c->match->players;
    double whole = path->reach;
    out->met_count = 0;
    out->before_target = 0;
    out->reaches = out->is_occluded = out->is_doubtful = false;
    memset(&out->target, 0, sizeof out->target);
    find_obstacle(c, path, out);
    if (target != NULL)
        find_target(c, path, target, whole, out);
    struct hs_passing passing;
    bool instant = path->flight_legs == 0;
    if (instant) {
        struct hs_leg way;
        hs_path_leg(path, 0, &way);
        hs_rewind_passing(&way.sweep, path->end_us, &passing);
    }
    for (uint32_t i = 0; i < players->count && !hs_work_is_over(&c->work); i++) {
        const struct hs_player *player = players->all[i];
        hs_work_spend(&c->work, HS_WORK_PASS);
        if (player->left || player == c->shooter.player || player == target ||
            (instant && hs_rewind_is_far(player->history, c->ruleset, &passing)) ||
            hs_history_count(player->history) == 0)
            continue;
        meet(c, path, player, out);
    }
}

void hs_encounter_of_claim(struct hs_hit_context *c, struct hs_encounter *out)
{
    bool has_pose = c->claims_target && c->target.status == HS_REWIND_OK;
    hs_encounter_find(c, &c->path, has_pose ? c->target.player : NULL, out);
    hs_encounter_note(c, out);
}

bool hs_encounter_is_blocked(const struct hs_hit_context *c, const struct hs_encounter *e)
{
    uint64_t through = c->weapon != NULL ? (uint64_t)c->weapon->pierce : 0;
    return e->before_target > through;
}

bool hs_encounter_is_in_doubt(const struct hs_hit_context *c, const struct hs_encounter *e,
                              double distance)
{
    double tie = HS_CONTACT_TIE * (c->path.length + c->path.radius);
    return e->obstacle.is_doubtful && hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE &&
           e->obstacle.doubt_distance < distance - tie;
}

void hs_encounter_note(struct hs_hit_context *c, const struct hs_encounter *e)
{
    const struct hs_rig *rig = e->target.rig;
    struct hs_rewind_info *info = &c->out->rewind;
    for (uint16_t i = 0; rig != NULL && i < rig->bone_count; i++)
        if (e->target.excluded[i / 64] >> (i % 64) & 1)
            info->excluded_bones[info->excluded_bone_count++] = rig->bones[i];
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

void hs_note_region(struct hs_hit_context *c, const struct hs_contact *contact)
{
    const struct hs_hitbox *box = &contact->rig->hitboxes[contact->hitbox];
    struct hs_str claimed = c->claim->claimed_bone;
    if (claimed.ptr == NULL)
        return;
    bool matches = hs_str_equal(claimed, hs_name_str(&contact->rig->bones[box->bone])) ||
                   hs_str_equal(claimed, hs_name_str(&c->ruleset->zones[box->zone].name));
    if (!matches)
        c->out->flags |= 1u << HS_FLAG_REGION_MISMATCH;
}

static void land(struct hs_hit_context *c, const struct hs_landed *landed)
{
    if (c->landed_count < HS_MAX_DAMAGE)
        c->landed[c->landed_count++] = *landed;
}

void hs_land_direct(struct hs_hit_context *c, const struct hs_view *view,
                    const struct hs_contact *contact, uint16_t pellets)
{
    const struct hs_hitbox *box = &contact->rig->hitboxes[contact->hitbox];
    land(c, &(struct hs_landed){.player = view->player,
                                .cause = HS_CAUSE_DIRECT,
                                .zone = box->zone,
                                .bone = &contact->rig->bones[box->bone],
                                .distance = contact->detail.distance,
                                .pellets = pellets});
}

void hs_land_lenient(struct hs_hit_context *c, const struct hs_view *view,
                     const struct hs_contact *contact)
{
    land(c, &(struct hs_landed){.player = view->player,
                                .cause = HS_CAUSE_DIRECT,
                                .zone = contact->rig->hitboxes[contact->gap_hitbox].zone,
                                .distance = contact->gap_distance,
                                .pellets = 1});
}

enum hs_reason hs_judge_victim(const struct hs_hit_context *c, const struct hs_view *view,
                               struct hs_str name)
{
    if (hs_str_equal(name, c->claim->shooter))
        return HS_REASON_SELF_HIT;
    if (view->status != HS_REWIND_OK)
        return hs_missing_pose_reason(view->status, HS_REASON_UNKNOWN_TARGET_HISTORY);
    enum hs_reason life = hs_judge_life(view);
    if (life != HS_REASON_OK)
        return life;
    return hs_are_team_mates(c, view) && !c->ruleset->hit.friendly_fire ? HS_REASON_FRIENDLY_FIRE
                                                                        : HS_REASON_OK;
}

bool hs_is_repeated(const struct hs_hit_context *c, size_t i)
{
    for (size_t k = 0; k < i; k++)
        if (hs_str_equal(c->claim->victims[k], c->claim->victims[i]))
            return true;
    return false;
}

bool hs_is_claimed_before(const struct hs_hit_context *c, size_t i)
{
    return hs_is_repeated(c, i) || hs_str_equal(c->claim->victims[i], c->claim->target);
}

void hs_refuse_victim(struct hs_hit_context *c, struct hs_str name, enum hs_reason reason)
{
    if (c->out->refused_count == HS_MAX_VICTIMS)
        return;
    struct hs_refused_victim *refused = &c->out->refused[c->out->refused_count++];
    *refused = (struct hs_refused_victim){.reason = reason};
    hs_name_set(&refused->player, name);
}
