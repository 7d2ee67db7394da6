#include "service/evidence/geometry.h"

#include <float.h>

#include "validators/base/glm.h"
#include "validators/hit/contact.h"
#include "validators/hit/context.h"

bool hs_scene_body(const struct hs_match *match, const struct hs_player *player, int64_t time_us,
                   struct hs_bracket *bracket, struct hs_body *out)
{
    if (hs_rewind_find(player->history, match->ruleset, time_us, bracket) != HS_REWIND_OK)
        return false;
    hs_rewind_body(player->history, match->ruleset, bracket, out);
    return true;
}

static void find_shooter(const struct hs_hit_context *c, struct hs_hit_scene *out)
{
    const struct hs_bracket *bracket = &c->shooter.bracket;
    out->shooter = c->shooter.player;
    out->eye_time_us = c->eye_time_us;
    out->has_eye = c->shooter.status == HS_REWIND_OK;
    if (!out->has_eye)
        return;
    out->eye = hs_rewind_eye(c->shooter.player->history, c->ruleset, bracket);
    out->aim = hs_vec_from_floats(bracket->from->aim);
    if (hs_vec_length(out->aim) == 0)
        out->aim = hs_vec_from_floats(bracket->to->aim);
    out->has_aim = hs_vec_length(out->aim) > 0;
}

static void lay_points(const struct hs_path *path, struct hs_hit_scene *out)
{
    struct hs_leg leg;
    out->points[out->point_count++] = path->start;
    for (uint32_t i = 0; i < hs_path_legs(path); i++) {
        hs_path_leg(path, i, &leg);
        out->points[out->point_count++] =
            hs_vec_add_scaled(leg.sweep.start, leg.sweep.direction, leg.sweep.length);
    }
}

static void find_closest(struct hs_hit_context *c, struct hs_hit_scene *out)
{
    struct hs_contact contact;
    if (out->target == NULL)
        return;
    hs_contact_clear(&contact);
    hs_contact_find(&c->path, c->ruleset, out->target->history, true, HS_NONE, &c->work, &contact);
    out->has_closest = contact.has_pose && contact.nearest.gap < DBL_MAX;
    out->closest = contact.touched ? contact.detail : contact.nearest;
    if (contact.touched)
        out->closest.gap = contact.nearest.gap;
    out->closest_hitbox = contact.touched ? contact.hitbox : contact.nearest_hitbox;
    out->closest_rig = contact.rig;
}

void hs_hit_scene_find(const struct hs_match *match, const struct hs_hit_claim *claim, bool is_shot,
                       struct hs_str target, int64_t now_us, struct hs_hit_scene *out)
{
    struct hs_hit_result unused;
    struct hs_hit_context c;
    hs_hit_clear(&unused);
    hs_hit_begin(&c, match, now_us, 0, &unused);
    c.claim = claim;
    c.is_shot = is_shot;
    hs_hit_find_earlier(&c); /* sets the shooter */
    hs_hit_prepare(&c);
    out->hit_time_us = c.hit_time_us;
    out->target = target.ptr != NULL ? hs_players_find(&match->players, target) : NULL;
    out->has_path = c.has_path && claim->pellet_count == 0;
    out->start = c.claim->start;
    out->end = c.claim->end;
    out->radius = c.weapon != NULL ? c.weapon->radius : 0;
    out->point_count = 0;
    out->has_closest = false;
    find_shooter(&c, out);
    if (!out->has_path)
        return;
    lay_points(&c.path, out);
    if (!is_shot)
        find_closest(&c, out);
}
