#include "service/evidence/scene.h"

#include <stdlib.h>

#include "validators/base/units.h"

/* A posted shot has no end point. The length of the drawn path is SHOT_REACHES times the reach of a
   body, or the range of the weapon if the range is shorter. */
enum { SHOT_REACHES = 20 };

const char *hs_scene_length_unit(const struct hs_ruleset *ruleset)
{
    for (size_t i = 0; i < HS_BUILTIN_RULESETS; i++) {
        const struct hs_builtin_ruleset *builtin = &hs_builtin_rulesets[i];
        if (strcmp(builtin->name, ruleset->name.text) == 0)
            return builtin->cm_per_unit == 1 ? "cm" : builtin->cm_per_unit == 100 ? "m" : "in";
    }
    return NULL;
}

const struct hs_check_row *hs_scene_deciding(const struct hs_hit_result *result)
{
    for (uint16_t i = 0; i < result->check_count; i++) {
        const struct hs_check_row *row = &result->checks[i];
        if (row->outcome != HS_OUTCOME_PASS && row->mode == HS_MODE_ENFORCE &&
            row->reason == result->reason)
            return row;
    }
    return NULL;
}

void hs_scene_sentence(const struct hs_recomputed *of, const struct hs_check_row *row,
                       char out[HS_SENTENCE_MAX])
{
    struct hs_detail_claim about = {.is_shot = of->hit == NULL};
    if (of->hit != NULL) {
        about.shot = of->hit->shot;
        about.shooter = of->hit->shooter;
        about.target = of->hit->target;
        about.weapon = of->hit->weapon;
    } else {
        about.shot = of->shot->shot;
        about.shooter = of->shot->shooter;
        about.weapon = of->shot->weapon;
    }
    hs_check_detail(&about, &of->result, row, out);
}

/* ---- the shot ---- */

static struct hs_hit_claim claim_of(const struct hs_recomputed *of)
{
    const struct hs_shot_claim *shot = of->shot;
    struct hs_vec ahead = shot->has_direction ? shot->direction : (struct hs_vec){0, 0, 0};
    double length = SHOT_REACHES * of->ruleset->reach;
    if (of->result.weapon != HS_NONE)
        length = hs_smaller(length, of->ruleset->weapons[of->result.weapon]->range);
    return (struct hs_hit_claim){.shot = shot->shot,
                                 .shooter = shot->shooter,
                                 .weapon = shot->weapon,
                                 .hit_time_us = shot->time_us,
                                 .fire_time_us = shot->time_us,
                                 .has_fire_time = true,
                                 .start = shot->origin,
                                 .end = hs_vec_add_scaled(shot->origin, ahead, length)};
}

/* Returns the player whose distance from the path is shown: the claimed target. If a hit was
   claimed without a target, returns the player that the shot hit. */
static struct hs_str target_of(const struct hs_recomputed *of)
{
    const struct hs_impact *impact = &of->result.impact;
    if (of->hit == NULL || of->hit->target.ptr != NULL)
        return of->hit != NULL ? of->hit->target : (struct hs_str){0};
    return impact->present && impact->player.text[0] != '\0' ? hs_name_str(&impact->player)
                                                             : (struct hs_str){0};
}

static void find_shot(struct hs_verdict_scene *scene)
{
    const struct hs_recomputed *of = scene->of;
    if (of->hit != NULL) {
        hs_hit_scene_find(of->match, of->hit, false, target_of(of), of->now_us, &scene->shot);
        return;
    }
    struct hs_hit_claim claim = claim_of(of);
    hs_hit_scene_find(of->match, &claim, true, (struct hs_str){0}, of->now_us, &scene->shot);
    scene->shot.has_path = scene->shot.has_path && of->shot->has_direction;
}

/* Returns whether the shot touched something before the point where the shot is closest to its
   target. Also returns true if this point is unknown, or if the world check decided the verdict,
   because the world check may find an obstacle beside the path. */
static bool is_before_target(const struct hs_verdict_scene *scene)
{
    const struct hs_hit_result *result = &scene->of->result;
    const struct hs_check_row *deciding = hs_scene_deciding(result);
    return !scene->shot.has_closest || result->impact.distance < scene->shot.closest.gap_distance ||
           (deciding != NULL && deciding->check == HS_CHECK_WORLD);
}

/* Returns what stopped the shot before its target. Returns NONE if the shot was accepted, or if the
   shot would have missed its target even without an obstacle. */
static enum hs_scene_stop stop_of(const struct hs_verdict_scene *scene)
{
    const struct hs_impact *impact = &scene->of->result.impact;
    const struct hs_player *target = scene->shot.target;
    bool is_miss = scene->of->result.reason == HS_REASON_NO_INTERSECTION;
    if (!impact->present || scene->of->result.verdict == HS_VERDICT_ACCEPTED || is_miss ||
        !is_before_target(scene))
        return HS_SCENE_STOP_NONE;
    if (impact->mover.text[0] != '\0')
        return HS_SCENE_STOP_MOVER;
    if (impact->player.text[0] == '\0')
        return HS_SCENE_STOP_WALL;
    return target != NULL && strcmp(target->name.text, impact->player.text) == 0
               ? HS_SCENE_STOP_NONE
               : HS_SCENE_STOP_PLAYER;
}

static void find_target(struct hs_verdict_scene *scene)
{
    struct hs_bracket bracket;
    const struct hs_match *match = scene->of->match;
    const struct hs_player *target = scene->shot.target;
    if (target == NULL)
        return;
    scene->has_then =
        hs_scene_body(match, target, scene->shot.hit_time_us, &bracket, &scene->then) &&
        scene->then.count > 0;
    scene->has_now = hs_scene_body(match, target, scene->of->now_us, &bracket, &scene->now);
}

/* ---- the world around the shot ---- */

struct bounds {
    struct hs_vec low, high;
};

static void include(struct bounds *bounds, struct hs_vec point, double around)
{
    struct hs_vec reach = {around, around, around};
    bounds->low = hs_vec_min(bounds->low, hs_vec_sub(point, reach));
    bounds->high = hs_vec_max(bounds->high, hs_vec_add(point, reach));
}

static void include_body(struct bounds *bounds, const struct hs_body *body, double around)
{
    for (uint16_t i = 0; i < body->count; i++)
        include(bounds, body->solids[i].center, around);
}

/* Returns bounds around the target and the first contact of the shot. If `is_whole` is true, the
   bounds also contain the whole path and the shooter. `around`: extra space on all sides. */
static struct bounds bounds_of(const struct hs_verdict_scene *scene, bool is_whole, double around)
{
    const struct hs_impact *impact = &scene->of->result.impact;
    const struct hs_hit_scene *shot = &scene->shot;
    struct hs_vec middle = scene->has_then ? scene->then.solids[0].center : shot->start;
    struct bounds bounds = {middle, middle};
    include(&bounds, middle, around);
    if (impact->present)
        include(&bounds, impact->point, around);
    if (scene->has_then)
        include_body(&bounds, &scene->then, around);
    if (scene->has_now)
        include_body(&bounds, &scene->now, around);
    if (!is_whole)
        return bounds;
    include(&bounds, shot->start, around);
    for (uint32_t i = 0; shot->has_path && i < shot->point_count; i++)
        include(&bounds, shot->points[i], around);
    if (shot->has_eye)
        include(&bounds, shot->eye, around);
    return bounds;
}

/* Finds the walls near the shot. While the bounds contain too many walls, tries smaller bounds. */
static bool find_walls(struct hs_verdict_scene *scene)
{
    struct hs_world_parts *walls = &scene->walls;
    double reach = scene->of->ruleset->reach;
    const struct {
        bool is_whole;
        double around;
    } tries[] = {{true, 2 * reach}, {true, reach / 4}, {false, 2 * reach}, {false, reach / 2}};
    if (scene->of->match->world == NULL)
        return true;
    walls->triangles = calloc(HS_SCENE_TRIANGLES_MAX, sizeof *walls->triangles);
    walls->boxes = calloc(HS_SCENE_BOXES_MAX, sizeof *walls->boxes);
    if (walls->triangles == NULL || walls->boxes == NULL)
        return false;
    walls->triangle_capacity = HS_SCENE_TRIANGLES_MAX;
    walls->box_capacity = HS_SCENE_BOXES_MAX;
    for (size_t i = 0; i < sizeof tries / sizeof tries[0]; i++) {
        struct bounds bounds = bounds_of(scene, tries[i].is_whole, tries[i].around);
        hs_world_near(scene->of->match->world, bounds.low, bounds.high, walls);
        if (walls->left_out == 0)
            break;
    }
    return true;
}

static bool find_movers(struct hs_verdict_scene *scene)
{
    const struct hs_movers *movers = &scene->of->match->movers;
    struct hs_bracket bracket;
    scene->movers = calloc(movers->count + 1, sizeof *scene->movers);
    if (scene->movers == NULL)
        return false;
    for (uint32_t i = 0; i < movers->count && scene->mover_count < HS_SCENE_MOVERS_MAX; i++) {
        const struct hs_mover *mover = &movers->all[i];
        if (hs_rewind_find(mover->history, scene->of->ruleset, scene->shot.hit_time_us, &bracket) !=
                HS_REWIND_OK ||
            !hs_mover_state_at(mover, &bracket)->has_box)
            continue;
        struct hs_placed_mover *found = &scene->movers[scene->mover_count++];
        found->name = &mover->name;
        hs_mover_place(mover, &bracket, &found->pose);
    }
    return true;
}

bool hs_verdict_scene_find(const struct hs_recomputed *of, struct hs_verdict_scene *out)
{
    *out = (struct hs_verdict_scene){.of = of};
    find_shot(out);
    out->stop = stop_of(out);
    find_target(out);
    return find_walls(out) && find_movers(out);
}

void hs_verdict_scene_free(struct hs_verdict_scene *scene)
{
    free(scene->movers);
    free(scene->walls.triangles);
    free(scene->walls.boxes);
}
