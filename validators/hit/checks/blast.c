/* blast: which players does the blast at the impact reach? */
#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"

/* If the projectile is a point, the centre of its blast can be exactly on a surface. So
   line-of-sight tests start at this share of the blast's radius away from the surface. */
#define OFF_SURFACE 1e-5

struct explosion {
    struct hs_vec center;
    struct hs_vec eye; /* origin of the line-of-sight tests */
    /* If the centre may be on either side of a surface: an origin on the other side. */
    bool has_other_eye;
    struct hs_vec other_eye;
    int64_t time_us;
    const struct hs_blast *blast;
};

/* Returns the origin of the line-of-sight tests if no contact was found. The origin is the claimed
   end. If a surface is near this end, the origin is a little off the surface, on the shooter's
   side. */
static struct hs_vec eye_of_unverified(struct hs_hit_context *c, const struct hs_blast *blast)
{
    struct hs_obstacle wall;
    struct hs_path path = c->path;
    if (!blast->occlusion)
        return c->claim->end;
    double near = path.extension + hs_world_radius(c);
    path.reach = path.length + path.extension;
    hs_obstacle_find(c, &path, 0, &wall);
    if (!wall.touched || hs_vec_distance(wall.contact.center, c->claim->end) > near)
        return c->claim->end;
    return hs_vec_add_scaled(wall.contact.center, wall.contact.normal, OFF_SURFACE * blast->radius);
}

/* A projectile that the game server moved can explode exactly on a surface. Its claim has no path,
   so it is unknown on which side of the surface the projectile was. So a body is shielded only if
   it is hidden from both sides. */
static void look_from_both_sides(struct hs_hit_context *c, struct explosion *x)
{
    struct hs_obstacle wall;
    double off = OFF_SURFACE * x->blast->radius;
    if (!hs_hit_is_driven(c) || !x->blast->occlusion || c->out->impact.player.text[0] != '\0')
        return;
    hs_obstacle_at(c, x->center, off, &wall);
    if (!wall.touched)
        return;
    x->eye = hs_vec_add_scaled(wall.contact.point, wall.contact.normal, off);
    x->other_eye = hs_vec_add_scaled(wall.contact.point, wall.contact.normal, -off);
    x->has_other_eye = true;
}

/* Finds the centre of the blast. If there is an impact, the blast is centred on the projectile's
   sphere, not on the touched point. Otherwise the blast is centred on the claimed end. */
static struct explosion find_explosion(struct hs_hit_context *c)
{
    const struct hs_blast *blast = &c->weapon->blast;
    const struct hs_impact *impact = &c->out->impact;
    struct explosion x = {.blast = blast, .center = c->claim->end};
    x.time_us = hs_contact_time(c, impact->present ? impact->distance : c->path.length);
    if (impact->present) {
        x.center = impact->center;
        x.eye = hs_vec_add_scaled(x.center, impact->normal, OFF_SURFACE * blast->radius);
    } else {
        x.eye = eye_of_unverified(c, blast);
        if (!hs_hit_is_driven(c))
            c->out->flags |= 1u << HS_FLAG_UNVERIFIED_IMPACT;
    }
    look_from_both_sides(c, &x);
    return x;
}

/* Returns the share of the damage at a distance. The share is 1 up to inner_radius. Beyond
   inner_radius, it falls linearly to min_scale at the blast's radius. */
static double share_at(const struct hs_blast *blast, double distance)
{
    if (distance <= blast->inner_radius || blast->radius <= blast->inner_radius)
        return 1;
    double out = (distance - blast->inner_radius) / (blast->radius - blast->inner_radius);
    return 1 + (blast->min_scale - 1) * (out < 1 ? out : 1);
}

/* Returns HS_REASON_OK if the body is within the blast and the world does not shield the body. Sets
   `*distance` to the distance from the centre to the nearest hitbox; 0 inside a hitbox. */
static enum hs_reason reach_body(struct hs_hit_context *c, const struct explosion *x,
                                 const struct hs_view *view, double *distance)
{
    struct hs_body body;
    hs_rewind_body(view->player->history, c->ruleset, &view->bracket, &body);
    hs_work_spend(&c->work, HS_WORK_LEG + (uint64_t)body.count * 2 * HS_WORK_BALL);
    *distance = (double)INFINITY;
    for (uint16_t i = 0; i < body.count; i++)
        *distance = fmin(*distance, hs_solid_distance(&body.solids[i], x->center));
    if (*distance > x->blast->radius + HS_TOUCH_SLACK * x->blast->radius)
        return HS_REASON_OUTSIDE_BLAST;
    bool is_touched = c->out->impact.present && hs_str_equal(hs_name_str(&c->out->impact.player),
                                                             hs_name_str(&view->player->name));
    if (!x->blast->occlusion || is_touched)
        return HS_REASON_OK;
    hs_work_spend(&c->work, (uint64_t)body.count * 2 * HS_WORK_BALL);
    enum hs_reason reason = hs_sight_of_body(c, x->eye, &body, x->time_us);
    if (reason != HS_REASON_OK && x->has_other_eye) {
        enum hs_reason other = hs_sight_of_body(c, x->other_eye, &body, x->time_us);
        if (other == HS_REASON_OK || reason == HS_REASON_BLAST_OCCLUDED)
            return other;
    }
    return reason;
}

/* Returns HS_REASON_OK if the blast damages a player. The blast damages the shooter only if
   self_scale is not 0. */
static enum hs_reason check_player(struct hs_hit_context *c, const struct explosion *x,
                                   const struct hs_view *view, struct hs_str name, double *distance)
{
    *distance = 0;
    enum hs_reason reason = hs_verify_victim(c, view, name, x->blast->self_scale != 0);
    return reason == HS_REASON_OK ? reach_body(c, x, view, distance) : reason;
}

static void land_blast(struct hs_hit_context *c, const struct explosion *x,
                       const struct hs_view *view, double distance)
{
    double scale = view->player == c->shooter.player ? x->blast->self_scale : 1;
    hs_land(c, &(struct hs_landed){.player = view->player,
                                   .cause = HS_CAUSE_BLAST,
                                   .zone = HS_NONE,
                                   .distance = distance,
                                   .share = share_at(x->blast, distance) * scale});
}

/* Checks a claimed victim. Adds the damage and returns true, or lists the victim as refused and
   returns false. */
static bool check_claimed(struct hs_hit_context *c, const struct explosion *x, struct hs_str name)
{
    struct hs_view view;
    double distance;
    hs_work_spend(&c->work, HS_WORK_LOOK + c->claim->victim_count * HS_WORK_PASS);
    hs_find_view(c, name, x->time_us, &view);
    enum hs_reason reason = check_player(c, x, &view, name, &distance);
    if (reason == HS_REASON_OK)
        land_blast(c, x, &view, distance);
    else if (!hs_hit_refuses(c, name)) /* the direct target may already be listed */
        hs_refuse_victim(c, name, reason, distance, x->blast->radius);
    return reason == HS_REASON_OK;
}

bool hs_hit_lists(const struct hs_hit_context *c, struct hs_str name)
{
    for (size_t i = 0; i < c->claim->victim_count; i++)
        if (hs_str_equal(c->claim->victims[i], name))
            return true;
    return false;
}

/* Returns whether one of the first `count` pellets names a player. */
static bool is_named(const struct hs_hit_context *c, const struct hs_player *player, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (c->volley->named[i] == player)
            return true;
    return false;
}

/* Damages the players who are named only by pellets. If such a player is not damaged, the list of
   pellets contains the reason. Returns whether anyone is damaged. */
static bool hurt_named(struct hs_hit_context *c, const struct explosion *x)
{
    bool hurts = false;
    for (size_t i = 0; i < c->claim->pellet_count && !hs_work_is_over(&c->work); i++) {
        const struct hs_player *player = c->volley->named[i];
        struct hs_view view;
        double distance;
        if (player == NULL || (c->claims_target && player == c->target.player) ||
            is_named(c, player, i))
            continue;
        struct hs_str name = hs_name_str(&player->name);
        hs_work_spend(&c->work, HS_WORK_LOOK + c->claim->victim_count * HS_WORK_PASS);
        if (hs_hit_lists(c, name))
            continue;
        hs_find_view(c, name, x->time_us, &view);
        if (check_player(c, x, &view, name, &distance) != HS_REASON_OK)
            continue;
        land_blast(c, x, &view, distance);
        hurts = true;
    }
    return hurts;
}

/* Lists the players in the blast whom the claim does not name, and damages them if the weapon's
   `unclaimed` is `damage`. */
static void find_unclaimed(struct hs_hit_context *c, const struct explosion *x)
{
    const struct hs_players *players = &c->match->players;
    for (uint32_t i = 0; i < players->count && !hs_work_is_over(&c->work); i++) {
        const struct hs_player *player = players->all[i];
        struct hs_str name = hs_name_str(&player->name);
        struct hs_view view;
        double distance;
        hs_work_spend(&c->work, HS_WORK_LOOK + c->claim->victim_count * HS_WORK_PASS);
        if (player->left || hs_hit_lists(c, name) ||
            (c->claims_target && player == c->target.player) ||
            is_named(c, player, c->claim->pellet_count))
            continue;
        hs_find_view(c, name, x->time_us, &view);
        if (check_player(c, x, &view, name, &distance) != HS_REASON_OK)
            continue;
        if (c->out->unclaimed_count < HS_MAX_VICTIMS)
            c->out->unclaimed[c->out->unclaimed_count++] = player->name;
        if (x->blast->unclaimed == HS_UNCLAIMED_DAMAGE)
            land_blast(c, x, &view, distance);
    }
}

/* Returns the first refusal that is a rejection. If no refusal is a rejection, returns the first
   refusal. */
static const struct hs_refused_victim *deciding_refusal(const struct hs_hit_result *out)
{
    for (uint16_t i = 0; i < out->refused_count; i++)
        if (hs_reason_verdict(out->refused[i].reason) == HS_VERDICT_REJECTED)
            return &out->refused[i];
    return &out->refused[0];
}

bool hs_reason_is_about_target(enum hs_reason reason)
{
    switch (reason) {
    case HS_REASON_TARGET_DEAD:
    case HS_REASON_STALE_LIFE:
    case HS_REASON_TARGET_PROTECTED:
    case HS_REASON_FRIENDLY_FIRE:
    case HS_REASON_OCCLUDED_WORLD:
    case HS_REASON_NO_INTERSECTION:
    case HS_REASON_WRONG_TARGET:
    case HS_REASON_BLOCKED_BY_PLAYER:
        return true;
    default:
        return false;
    }
}

/* Returns whether a blast may count although the direct hit does not count. The claim or a pellet
   must name a player, no pellet may hit, and nothing may hide the place of the hit from the
   shooter's eye. */
static bool may_miss(const struct hs_hit_context *c)
{
    const struct hs_volley *volley = c->volley;
    if (volley != NULL)
        return volley->has_names && volley->landed == 0 && !volley->is_unseen;
    return c->claims_target && c->encounter != NULL && !c->encounter->is_unseen;
}

/*
 * Looks at the rows of enforced checks that failed or had an unknown outcome. If all these rows
 * concern only the direct target, returns the first of them. Returns NULL if there is no such row,
 * or if the blast cannot replace the direct hit. A blast can replace the direct hit if the
 * projectile struck something and no enforced check of shooter, weapon, times, origin or flight
 * failed.
 */
static const struct hs_check_row *find_refusal(const struct hs_hit_context *c)
{
    const struct hs_check_row *first = NULL;
    if (!may_miss(c) || !(c->out->impact.present || hs_hit_is_driven(c)))
        return NULL;
    for (uint16_t i = 0; i < c->out->check_count; i++) {
        const struct hs_check_row *row = &c->out->checks[i];
        if (row->mode != HS_MODE_ENFORCE || row->outcome == HS_OUTCOME_PASS)
            continue;
        if (!hs_reason_is_about_target(row->reason))
            return NULL;
        first = first == NULL ? row : first;
    }
    return first;
}

/* For a target that counts as hit because of claim_padding: sets the impact to the path's nearest
   approach to this target. */
static void burst_at_target(struct hs_hit_context *c, const struct hs_contact *target)
{
    const struct hs_hitbox *box = &target->rig->hitboxes[target->nearest_hitbox];
    const struct hs_sweep_contact *at = &target->nearest;
    c->out->impact = (struct hs_impact){.present = true,
                                        .point = at->point,
                                        .normal = at->normal,
                                        .center = at->center,
                                        .distance = at->gap_distance,
                                        .player = c->target.player->name,
                                        .bone = target->rig->bones[box->bone],
                                        .zone = c->ruleset->zones[box->zone].name};
}

/* Corrects the impact in two cases. If the target counts as hit because of claim_padding, the
   projectile explodes at the target, unless the world stops the projectile earlier. If an obstacle
   beside the path hides the target, the projectile flies past this obstacle, and explodes further
   along its path. */
static void find_burst(struct hs_hit_context *c)
{
    const struct hs_encounter *e = c->encounter;
    if (e != NULL && c->is_lenient &&
        !(e->ends && e->end.contact.distance < e->target.nearest.gap_distance))
        burst_at_target(c, &e->target);
    if (e == NULL || !e->is_beside)
        return;
    c->out->impact = (struct hs_impact){.present = false};
    if (e->met_count > 0)
        hs_describe_impact(c, e->met[0].player, &e->met[0].contact);
    else if (e->ends)
        hs_describe_obstacle(c, &e->end);
}

/* Removes the direct hit, and lists its target as the first refused victim. If the direct hit is a
   miss, the entry contains the gap. If only pellets name players, no victim is listed, because the
   list of pellets contains the reasons. */
static void refuse_direct(struct hs_hit_context *c, const struct hs_check_row *direct)
{
    bool has_length = direct->unit == HS_UNIT_LENGTH;
    c->landed_count = 0;
    if (!c->claims_target)
        return;
    hs_refuse_victim(c, hs_hit_target(c), direct->reason, direct->measured, direct->limit);
    c->out->refused[0].has_measure = has_length;
}

/* If the blast damages anyone, the refusal of the direct target does not decide the verdict.
   Otherwise the refusal decides, and the target is removed from the refused victims. */
static void settle_direct(struct hs_hit_context *c)
{
    struct hs_hit_result *out = c->out;
    c->bursts = c->landed_count > 0;
    if (c->bursts)
        c->is_lenient = false;
    if (c->bursts || !c->claims_target)
        return;
    for (uint16_t i = 1; i < out->refused_count; i++)
        out->refused[i - 1] = out->refused[i];
    out->refused_count--;
}

/* Damages the claimed victims and, if `has_target`, the direct target. Returns whether anyone is
   damaged. */
static bool hurt_claimed(struct hs_hit_context *c, const struct explosion *x, bool has_target)
{
    bool hurts = false;
    if (has_target && !hs_hit_lists(c, hs_hit_target(c)))
        hurts = check_claimed(c, x, hs_hit_target(c));
    for (size_t i = 0; i < c->claim->victim_count && !hs_work_is_over(&c->work); i++)
        if (!hs_is_repeated(c, i))
            hurts = check_claimed(c, x, c->claim->victims[i]) || hurts;
    return hurts;
}

enum hs_reason hs_check_blast(struct hs_hit_context *c, struct hs_check_row *row)
{
    struct hs_obstacle wall;
    if (c->weapon == NULL || !c->weapon->has_blast || !c->has_path)
        return HS_NO_ROW;
    find_burst(c);
    const struct explosion x = find_explosion(c);
    const struct hs_check_row *direct = find_refusal(c);
    double travelled = c->out->impact.present ? c->out->impact.distance : c->path.length;
    if (hs_world_is_enforced(c) &&
        hs_is_hidden_from_eye(c, &c->path, NULL, x.center, travelled, &wall))
        return hs_report_obstacle(row, &wall, wall.touched, HS_REASON_OCCLUDED_WORLD,
                                  hs_vec_distance(c->near_eye, x.center));
    if (direct != NULL)
        refuse_direct(c, direct);
    bool is_direct = c->landed_count > 0;
    bool is_at_target = is_direct || direct != NULL;
    bool hurts = hurt_claimed(c, &x, is_at_target && c->claims_target) || is_direct;
    if (is_at_target)
        hurts = hurt_named(c, &x) || hurts;
    find_unclaimed(c, &x);
    if (direct != NULL)
        settle_direct(c);
    if (hurts || c->bursts)
        return HS_REASON_OK;
    if (c->out->refused_count == 0)
        return hs_volley_report_spared(c, row);
    const struct hs_refused_victim *refused = deciding_refusal(c->out);
    if (hs_reason_verdict(refused->reason) == HS_VERDICT_INCONCLUSIVE) {
        struct hs_view view;
        hs_find_view(c, hs_name_str(&refused->player), x.time_us, &view);
        hs_report_lack(c, row, &view);
    }
    if (refused->has_measure)
        hs_report_measure(row, HS_UNIT_LENGTH, refused->measured, refused->limit);
    row->player = refused->player;
    return refused->reason;
}
