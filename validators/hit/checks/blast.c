/* blast: who is within the burst at the verified impact? */
#include "validators/hit/checks.h"
#include "validators/hit/encounter.h"
#include "validators/hit/sight.h"

/* The burst lies in a surface where its projectile is a mere point; it looks from this share of
   its radius off it. */
#define OFF_SURFACE 1e-5

/* The burst, where it is. */
struct burst {
    struct hs_vec center;
    struct hs_vec eye; /* from where it is looked whom the world shields */
    const struct hs_blast *blast;
};

/*
 * Where the way was not cast at the world, or nothing stopped it, the burst lies at the claimed
 * end: often in a surface, from where nothing is in sight. It looks from this side of that.
 */
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

static bool find_burst(struct hs_hit_context *c, struct burst *out)
{
    if (c->weapon == NULL || !c->weapon->has_blast || !c->has_path)
        return false;
    out->blast = &c->weapon->blast;
    if (c->out->impact.present) {
        out->center = c->out->impact.center;
        out->eye =
            hs_vec_add_scaled(out->center, c->out->impact.normal, OFF_SURFACE * out->blast->radius);
        return true;
    }
    out->center = c->claim->end;
    out->eye = eye_of_unverified(c, out->blast);
    c->out->flags |= 1u << HS_FLAG_UNVERIFIED_IMPACT;
    return true;
}

/* From the centre to the nearest hitbox surface of a body; 0 inside. */
static double distance_to(const struct burst *burst, const struct hs_body *body)
{
    double nearest = (double)INFINITY;
    for (uint16_t i = 0; i < body->count; i++)
        nearest = fmin(nearest, hs_solid_distance(&body->solids[i], burst->center));
    return nearest;
}

/* Whole up to inner_radius, then linear to min_scale at the radius. */
static double share_at(const struct hs_blast *blast, double distance)
{
    if (distance <= blast->inner_radius || blast->radius <= blast->inner_radius)
        return 1;
    double out = (distance - blast->inner_radius) / (blast->radius - blast->inner_radius);
    return 1 + (blast->min_scale - 1) * (out < 1 ? out : 1);
}

static double touch_slack(const struct burst *burst)
{
    return HS_TOUCH_SLACK * burst->blast->radius;
}

static void land_blast(struct hs_hit_context *c, const struct burst *burst,
                       const struct hs_view *view, double distance)
{
    bool self = view->player == c->shooter.player;
    if (c->landed_count == HS_MAX_DAMAGE)
        return;
    c->landed[c->landed_count++] = (struct hs_landed){
        .player = view->player,
        .cause = HS_CAUSE_BLAST,
        .zone = HS_NONE,
        .distance = distance,
        .share = share_at(burst->blast, distance) * (self ? burst->blast->self_scale : 1)};
}

/* Team and life of a victim; the shooter may hurt himself where the weapon says so. */
static enum hs_reason may_hurt(const struct hs_hit_context *c, const struct burst *burst,
                               const struct hs_view *view, struct hs_str name)
{
    bool self = hs_str_equal(name, c->claim->shooter);
    if (!self || burst->blast->self_scale == 0)
        return hs_judge_victim(c, view, name);
    return view->status == HS_REWIND_OK
               ? hs_judge_life(view)
               : hs_missing_pose_reason(view->status, HS_REASON_UNKNOWN_TARGET_HISTORY);
}

/* Whether the burst reaches a body: near enough, and nothing shields it. */
static enum hs_reason reach_body(struct hs_hit_context *c, const struct burst *burst,
                                 const struct hs_view *view, double *distance)
{
    struct hs_body body;
    hs_rewind_body(view->player->history, c->ruleset, &view->bracket, &body);
    hs_work_spend(&c->work, HS_WORK_LEG + (uint64_t)body.count * 2 * HS_WORK_BALL);
    *distance = distance_to(burst, &body);
    if (*distance > burst->blast->radius + touch_slack(burst))
        return HS_REASON_OUTSIDE_BLAST;
    bool is_touched = c->out->impact.present && hs_str_equal(hs_name_str(&c->out->impact.player),
                                                             hs_name_str(&view->player->name));
    if (!burst->blast->occlusion || is_touched)
        return HS_REASON_OK;
    hs_work_spend(&c->work, (uint64_t)body.count * 2 * HS_WORK_BALL);
    return hs_sight_of_body(c, burst->eye, &body, c->hit_time_us);
}

/* True when the victim is hurt; else he is listed among the refused. */
static bool judge_claimed(struct hs_hit_context *c, const struct burst *burst, struct hs_str name)
{
    struct hs_view view;
    hs_work_spend(&c->work, HS_WORK_LOOK + c->claim->victim_count * HS_WORK_PASS);
    hs_look(c, name, c->hit_time_us, &view);
    enum hs_reason reason = may_hurt(c, burst, &view, name);
    double distance = 0;
    if (reason == HS_REASON_OK)
        reason = reach_body(c, burst, &view, &distance);
    if (reason == HS_REASON_OK) {
        land_blast(c, burst, &view, distance);
        return true;
    }
    hs_refuse_victim(c, name, reason);
    struct hs_refused_victim *refused = &c->out->refused[c->out->refused_count - 1];
    refused->has_measure = reason == HS_REASON_OUTSIDE_BLAST;
    refused->measured = distance;
    refused->limit = burst->blast->radius;
    return false;
}

static bool is_among_victims(const struct hs_hit_context *c, struct hs_str name)
{
    for (size_t i = 0; i < c->claim->victim_count; i++)
        if (hs_str_equal(c->claim->victims[i], name))
            return true;
    return false;
}

/* Those within the burst that nobody claimed: reported, or hurt where the weapon says so. */
static void find_unclaimed(struct hs_hit_context *c, const struct burst *burst)
{
    const struct hs_players *players = &c->match->players;
    for (uint32_t i = 0; i < players->count && !hs_work_is_over(&c->work); i++) {
        const struct hs_player *player = players->all[i];
        hs_work_spend(&c->work, HS_WORK_LOOK + c->claim->victim_count * HS_WORK_PASS);
        struct hs_str name = hs_name_str(&player->name);
        struct hs_view view;
        if (player->left || is_among_victims(c, name) ||
            (c->claims_target && player == c->target.player))
            continue;
        hs_look(c, name, c->hit_time_us, &view);
        if (may_hurt(c, burst, &view, name) != HS_REASON_OK)
            continue;
        double distance;
        if (reach_body(c, burst, &view, &distance) != HS_REASON_OK)
            continue;
        if (c->out->unclaimed_count < HS_MAX_VICTIMS)
            c->out->unclaimed[c->out->unclaimed_count++] = player->name;
        if (burst->blast->unclaimed == HS_UNCLAIMED_DAMAGE)
            land_blast(c, burst, &view, distance);
    }
}

/* A refusal that is certain wins over one that data is missing for, as everywhere. */
static const struct hs_refused_victim *first_refusal(const struct hs_hit_result *out)
{
    for (uint16_t i = 0; i < out->refused_count; i++)
        if (hs_reason_verdict(out->refused[i].reason) == HS_VERDICT_REJECTED)
            return &out->refused[i];
    return &out->refused[0];
}

void hs_check_blast(struct hs_hit_context *c)
{
    struct burst burst;
    if (!find_burst(c, &burst))
        return;
    bool direct = c->landed_count > 0, hurt = false;
    if (direct && !is_among_victims(c, c->claim->target))
        hurt = judge_claimed(c, &burst, c->claim->target);
    for (size_t i = 0; i < c->claim->victim_count && !hs_work_is_over(&c->work); i++)
        if (!hs_is_repeated(c, i))
            hurt = judge_claimed(c, &burst, c->claim->victims[i]) || hurt;
    find_unclaimed(c, &burst);
    if (direct || hurt || c->out->refused_count == 0) {
        hs_report_pass(c, HS_CHECK_BLAST);
        return;
    }
    const struct hs_refused_victim *first = first_refusal(c->out);
    struct hs_check_row *row = hs_reason_verdict(first->reason) == HS_VERDICT_INCONCLUSIVE
                                   ? hs_report_unknown(c, HS_CHECK_BLAST, first->reason)
                                   : hs_report_fail(c, HS_CHECK_BLAST, first->reason);
    if (first->has_measure)
        hs_report_measure(row, HS_UNIT_LENGTH, first->measured, first->limit);
    row->player = first->player;
    if (row->outcome == HS_OUTCOME_UNKNOWN) {
        struct hs_view view;
        hs_look(c, hs_name_str(&first->player), c->hit_time_us, &view);
        hs_report_lack(row, c, &view);
    }
}
