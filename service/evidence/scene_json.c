#include <math.h>

#include "service/evidence/scene.h"

struct writing {
    const struct hs_verdict_scene *scene;
    struct hs_writer *writer;
    uint16_t rigs[HS_MAX_RIGS];
    uint16_t rig_count;
};

static void write_vec_or_null(struct hs_writer *writer, const char *key, bool is_there,
                              struct hs_vec v)
{
    hs_write_key(writer, key);
    if (is_there)
        hs_write_vec(writer, v);
    else
        hs_write_null(writer);
}

static void write_name(struct hs_writer *writer, const char *key, const struct hs_name *name)
{
    if (name->text[0] != '\0')
        hs_write_text_field(writer, key, name->text);
}

/* ---- solids ---- */

/* Computes the quaternion that rotates the world axes onto `axes`. Computes the largest component
   of the quaternion first (Shepperd, Quaternion from rotation matrix, 1978). */
static void rotation_of(const struct hs_vec axes[3], double q[4])
{
    const double m[3][3] = {{axes[0].x, axes[1].x, axes[2].x},
                            {axes[0].y, axes[1].y, axes[2].y},
                            {axes[0].z, axes[1].z, axes[2].z}};
    double trace = m[0][0] + m[1][1] + m[2][2];
    int i = m[1][1] > m[0][0] ? 1 : 0;
    i = m[2][2] > m[i][i] ? 2 : i;
    int j = (i + 1) % 3, k = (i + 2) % 3;
    if (trace > m[i][i]) {
        double s = sqrt(1 + trace) * 2;
        q[0] = (m[2][1] - m[1][2]) / s;
        q[1] = (m[0][2] - m[2][0]) / s;
        q[2] = (m[1][0] - m[0][1]) / s;
        q[3] = s / 4;
        return;
    }
    double s = sqrt(1 + m[i][i] - m[j][j] - m[k][k]) * 2;
    q[i] = s / 4;
    q[j] = (m[j][i] + m[i][j]) / s;
    q[k] = (m[k][i] + m[i][k]) / s;
    q[3] = (m[k][j] - m[j][k]) / s;
}

static void write_numbers(struct hs_writer *writer, const struct hs_vec *v)
{
    hs_write_real(writer, v->x);
    hs_write_real(writer, v->y);
    hs_write_real(writer, v->z);
}

/* Writes a solid as eleven numbers: centre, rotation, half extents, radius. */
static void write_solid(struct hs_writer *writer, const struct hs_solid *solid)
{
    double q[4];
    rotation_of(solid->axes, q);
    write_numbers(writer, &solid->center);
    for (int i = 0; i < 4; i++)
        hs_write_real(writer, q[i]);
    write_numbers(writer, &solid->half_extents);
    hs_write_real(writer, solid->radius);
}

/* ---- bodies ---- */

/* Returns the index of a rig in `rigs`. Adds the rig to `rigs` if it is missing. */
static int64_t rig_place(struct writing *w, uint16_t rig)
{
    uint16_t i = 0;
    while (i < w->rig_count && w->rigs[i] != rig)
        i++;
    if (i == w->rig_count)
        w->rigs[w->rig_count++] = rig;
    return i;
}

const char *hs_scene_role(const struct hs_verdict_scene *scene, const struct hs_player *player)
{
    return player == scene->shot.shooter  ? "shooter"
           : player == scene->shot.target ? "target"
                                          : "bystander";
}

/* Begins an object with the body of a player. The caller ends the object. Returns false, and writes
   nothing, if the player has no pose at `time_us`. */
static bool begin_body(struct writing *w, const struct hs_player *player, int64_t time_us)
{
    const struct hs_match *match = w->scene->of->match;
    struct hs_writer *writer = w->writer;
    struct hs_bracket bracket;
    struct hs_body body;
    if (!hs_scene_body(match, player, time_us, &bracket, &body))
        return false;
    const struct hs_state *state = hs_rewind_state(player->history, &bracket);
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "player", player->name.text);
    hs_write_text_field(writer, "role", hs_scene_role(w->scene, player));
    hs_write_key(writer, "team");
    if (state->team != HS_NONE)
        hs_write_text(writer, match->teams[state->team].text);
    else
        hs_write_null(writer);
    hs_write_bool_field(writer, "alive", state->alive);
    hs_write_int_field(writer, "rig", rig_place(w, state->rig));
    hs_write_vec_field(writer, "root", hs_rewind_position(&bracket));
    hs_write_vec_field(writer, "eye", hs_rewind_eye(player->history, match->ruleset, &bracket));
    hs_write_begin_field(writer, "hitboxes", '[');
    for (uint16_t i = 0; i < body.count; i++)
        hs_write_int(writer, body.hitbox[i]);
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "solids", '[');
    for (uint16_t i = 0; i < body.count; i++)
        write_solid(writer, &body.solids[i]);
    hs_write_end(writer, ']');
    return true;
}

static void write_body_at(struct writing *w, const struct hs_player *player, const char *when,
                          int64_t time_us)
{
    if (player == NULL || !begin_body(w, player, time_us))
        return;
    hs_write_text_field(w->writer, "when", when);
    hs_write_time_field(w->writer, "time", time_us);
    hs_write_end(w->writer, '}');
}

/* Calls `use` for each bystander, at most HS_SCENE_BYSTANDERS_MAX times. */
static void each_bystander(struct writing *w, int64_t time_us,
                           void (*use)(struct writing *w, const struct hs_player *player,
                                       int64_t time_us))
{
    const struct hs_players *players = &w->scene->of->match->players;
    const struct hs_hit_scene *shot = &w->scene->shot;
    int left = HS_SCENE_BYSTANDERS_MAX;
    for (uint32_t i = 0; i < players->count && left > 0; i++) {
        const struct hs_player *player = players->all[i];
        if (player == shot->shooter || player == shot->target)
            continue;
        use(w, player, time_us);
        left--;
    }
}

static void use_at_hit(struct writing *w, const struct hs_player *player, int64_t time_us)
{
    write_body_at(w, player, "hit_time", time_us);
}

static void use_in_frame(struct writing *w, const struct hs_player *player, int64_t time_us)
{
    if (player != NULL && begin_body(w, player, time_us))
        hs_write_end(w->writer, '}');
}

static void write_bodies(struct writing *w)
{
    const struct hs_hit_scene *shot = &w->scene->shot;
    hs_write_begin_field(w->writer, "bodies", '[');
    write_body_at(w, shot->target, "hit_time", shot->hit_time_us);
    write_body_at(w, shot->target, "arrival", w->scene->of->now_us);
    if (shot->shooter != shot->target)
        write_body_at(w, shot->shooter, "eye_time", shot->eye_time_us);
    each_bystander(w, shot->hit_time_us, use_at_hit);
    hs_write_end(w->writer, ']');
}

/* For each sample of the target, writes a frame with all bodies at the time of the sample. If there
   is no target, uses the samples of the shooter. If there are too many samples, uses only the
   samples around hit_time. */
static void write_frames(struct writing *w)
{
    const struct hs_hit_scene *shot = &w->scene->shot;
    const struct hs_player *clock = shot->target != NULL ? shot->target : shot->shooter;
    int64_t count = clock != NULL ? hs_history_count(clock->history) : 0, first = 0;
    if (count > HS_SCENE_FRAMES_MAX) {
        first = hs_history_find(clock->history, shot->hit_time_us) - HS_SCENE_FRAMES_MAX / 2;
        first = first < 0 ? 0 : first;
        first = first > count - HS_SCENE_FRAMES_MAX ? count - HS_SCENE_FRAMES_MAX : first;
        count = first + HS_SCENE_FRAMES_MAX;
    }
    hs_write_begin_field(w->writer, "frames", '[');
    for (int64_t i = first; i < count; i++) {
        int64_t time_us = hs_history_at(clock->history, (uint32_t)i)->time_us;
        hs_write_begin(w->writer, '{');
        hs_write_time_field(w->writer, "time", time_us);
        hs_write_begin_field(w->writer, "bodies", '[');
        use_in_frame(w, shot->target, time_us);
        if (shot->shooter != shot->target)
            use_in_frame(w, shot->shooter, time_us);
        each_bystander(w, time_us, use_in_frame);
        hs_write_end(w->writer, ']');
        hs_write_end(w->writer, '}');
    }
    hs_write_end(w->writer, ']');
}

static void write_rigs(struct writing *w)
{
    const struct hs_ruleset *ruleset = w->scene->of->ruleset;
    struct hs_writer *writer = w->writer;
    hs_write_begin_field(writer, "rigs", '[');
    for (uint16_t i = 0; i < w->rig_count; i++) {
        const struct hs_rig *rig = ruleset->rigs[w->rigs[i]];
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "name", rig->name.text);
        hs_write_begin_field(writer, "hitboxes", '[');
        for (uint16_t k = 0; k < rig->hitbox_count; k++) {
            const struct hs_hitbox *hitbox = &rig->hitboxes[k];
            hs_write_begin(writer, '{');
            hs_write_text_field(writer, "bone", rig->bones[hitbox->bone].text);
            hs_write_text_field(writer, "zone", ruleset->zones[hitbox->zone].name.text);
            hs_write_text_field(writer, "shape", hs_shape_name(hitbox->shape));
            hs_write_end(writer, '}');
        }
        hs_write_end(writer, ']');
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

/* ---- the shot ---- */

static void write_impact(struct hs_writer *writer, const struct hs_impact *impact)
{
    if (impact->present) {
        hs_impact_encode(writer, impact);
        return;
    }
    hs_write_key(writer, "impact");
    hs_write_null(writer);
}

static void write_closest(struct hs_writer *writer, const struct hs_hit_scene *shot)
{
    hs_write_key(writer, "closest");
    if (!shot->has_closest) {
        hs_write_null(writer);
        return;
    }
    uint16_t bone = shot->closest_rig->hitboxes[shot->closest_hitbox].bone;
    hs_write_begin(writer, '{');
    hs_write_vec_field(writer, "on_shot", shot->closest.center);
    hs_write_vec_field(writer, "on_body", shot->closest.point);
    hs_write_real_field(writer, "distance", shot->closest.gap);
    hs_write_text_field(writer, "bone", shot->closest_rig->bones[bone].text);
    hs_write_end(writer, '}');
}

static void write_stop(struct writing *w)
{
    static const char *const names[] = {NULL, "wall", "mover", "player"};
    const struct hs_impact *impact = &w->scene->of->result.impact;
    hs_write_key(w->writer, "stopped");
    if (w->scene->stop == HS_SCENE_STOP_NONE) {
        hs_write_null(w->writer);
        return;
    }
    hs_write_begin(w->writer, '{');
    hs_write_text_field(w->writer, "by", names[w->scene->stop]);
    write_name(w->writer, "name",
               w->scene->stop == HS_SCENE_STOP_PLAYER ? &impact->player : &impact->mover);
    hs_write_vec_field(w->writer, "point", impact->point);
    hs_write_real_field(w->writer, "distance", impact->distance);
    hs_write_end(w->writer, '}');
}

static void write_pellets(struct writing *w)
{
    const struct hs_recomputed *of = w->scene->of;
    struct hs_writer *writer = w->writer;
    if (of->hit == NULL || of->hit->pellet_count == 0)
        return;
    hs_write_begin_field(writer, "pellets", '[');
    for (size_t i = 0; i < of->hit->pellet_count; i++) {
        hs_write_begin(writer, '{');
        hs_write_vec_field(writer, "end", of->hit->pellets[i].end);
        if (i < of->result.pellet_count) {
            const struct hs_pellet_result *pellet = &of->result.pellets[i];
            hs_write_text_field(writer, "outcome", hs_pellet_outcome_name(pellet->outcome));
            write_name(writer, "player", &pellet->player);
        }
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void write_blast(struct writing *w)
{
    const struct hs_recomputed *of = w->scene->of;
    const struct hs_weapon *weapon =
        of->result.weapon != HS_NONE ? of->ruleset->weapons[of->result.weapon] : NULL;
    if (weapon == NULL || !weapon->has_blast || !of->result.impact.present)
        return;
    hs_write_begin_field(w->writer, "blast", '{');
    hs_write_vec_field(w->writer, "center", of->result.impact.center);
    hs_write_real_field(w->writer, "radius", weapon->blast.radius);
    hs_write_end(w->writer, '}');
}

static void write_shot(struct writing *w)
{
    const struct hs_hit_scene *shot = &w->scene->shot;
    struct hs_writer *writer = w->writer;
    hs_write_begin_field(writer, "shot", '{');
    hs_write_vec_field(writer, "start", shot->start);
    write_vec_or_null(writer, "end", shot->has_path, shot->end);
    hs_write_real_field(writer, "radius", shot->radius);
    hs_write_begin_field(writer, "path", '[');
    for (uint32_t i = 0; shot->has_path && i < shot->point_count; i++)
        hs_write_vec(writer, shot->points[i]);
    hs_write_end(writer, ']');
    write_impact(writer, &w->scene->of->result.impact);
    write_closest(writer, shot);
    write_stop(w);
    write_pellets(w);
    write_blast(w);
    hs_write_end(writer, '}');
}

static void write_shooter(struct writing *w)
{
    const struct hs_hit_scene *shot = &w->scene->shot;
    const struct hs_recomputed *of = w->scene->of;
    struct hs_writer *writer = w->writer;
    hs_write_begin_field(writer, "shooter", '{');
    hs_write_str_field(writer, "player", of->hit != NULL ? of->hit->shooter : of->shot->shooter);
    write_vec_or_null(writer, "eye", shot->has_eye, shot->eye);
    write_vec_or_null(writer, "aim", shot->has_aim, shot->aim);
    if (shot->has_eye)
        hs_write_real_field(writer, "start_offset", hs_vec_distance(shot->eye, shot->start));
    hs_write_end(writer, '}');
}

/* ---- the world ---- */

static void write_movers(struct writing *w)
{
    struct hs_writer *writer = w->writer;
    hs_write_begin_field(writer, "movers", '[');
    for (size_t i = 0; i < w->scene->mover_count; i++) {
        const struct hs_placed_mover *mover = &w->scene->movers[i];
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "name", mover->name->text);
        hs_write_bool_field(writer, "solid", mover->pose.is_solid);
        hs_write_begin_field(writer, "at", '[');
        write_solid(writer, &mover->pose.solid);
        hs_write_end(writer, ']');
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
}

static void write_walls(struct writing *w)
{
    const struct hs_world_parts *walls = &w->scene->walls;
    struct hs_writer *writer = w->writer;
    hs_write_begin_field(writer, "walls", '{');
    hs_write_begin_field(writer, "triangles", '[');
    for (size_t i = 0; i < walls->triangle_count; i++)
        for (int k = 0; k < 3; k++)
            write_numbers(writer, &walls->triangles[i][k]);
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "boxes", '[');
    for (size_t i = 0; i < walls->box_count; i++) {
        write_numbers(writer, &walls->boxes[i].min);
        write_numbers(writer, &walls->boxes[i].max);
    }
    hs_write_end(writer, ']');
    hs_write_int_field(writer, "left_out", (int64_t)walls->left_out);
    hs_write_end(writer, '}');
}

/* ---- all ---- */

static void write_revision(struct hs_writer *writer, const char *key, struct hs_str name,
                           struct hs_str revision)
{
    hs_write_key(writer, key);
    if (name.ptr == NULL) {
        hs_write_null(writer);
        return;
    }
    hs_write_begin(writer, '{');
    hs_write_str_field(writer, "name", name);
    hs_write_str_field(writer, "revision", revision);
    hs_write_end(writer, '}');
}

static void write_times(struct writing *w)
{
    const struct hs_recomputed *of = w->scene->of;
    const struct hs_hit_scene *shot = &w->scene->shot;
    struct hs_writer *writer = w->writer;
    hs_write_begin_field(writer, "times", '{');
    hs_write_time_field(writer, "now", of->now_us);
    hs_write_time_field(writer, "hit_time", shot->hit_time_us);
    hs_write_time_field(writer, "fire_time", of->result.fire_time_us);
    hs_write_time_field(writer, "eye_time", shot->eye_time_us);
    hs_write_time_field(writer, "rewound_by", of->now_us - shot->hit_time_us);
    hs_write_end(writer, '}');
}

static void write_head(struct writing *w, const struct hs_evidence_parts *parts)
{
    const struct hs_recomputed *of = w->scene->of;
    const struct hs_check_row *deciding = hs_scene_deciding(&of->result);
    const char *unit = hs_scene_length_unit(of->ruleset);
    struct hs_writer *writer = w->writer;
    hs_write_text_field(writer, "kind", of->hit != NULL ? "hit" : "shot");
    hs_write_key(writer, "request");
    hs_write_raw(writer, of->item);
    hs_write_key(writer, "answer");
    hs_write_raw(writer, of->recorded);
    hs_write_bool_field(writer, "identical", of->is_identical);
    hs_write_key(writer, "sentence");
    if (deciding != NULL) {
        char sentence[HS_SENTENCE_MAX];
        hs_scene_sentence(of, deciding, sentence);
        hs_write_text(writer, sentence);
    } else {
        hs_write_null(writer);
    }
    write_revision(writer, "ruleset", parts->ruleset, parts->revision);
    write_revision(writer, "map", parts->map, parts->map_revision);
    hs_write_key(writer, "length_unit");
    if (unit != NULL)
        hs_write_text(writer, unit);
    else
        hs_write_null(writer);
    hs_write_text_field(writer, "up", hs_up_name(of->ruleset->up));
}

void hs_verdict_scene_encode(const struct hs_verdict_scene *scene,
                             const struct hs_evidence_parts *parts, struct hs_writer *writer)
{
    struct writing w = {.scene = scene, .writer = writer};
    write_head(&w, parts);
    write_times(&w);
    write_shot(&w);
    write_shooter(&w);
    write_bodies(&w);
    write_frames(&w);
    write_rigs(&w);
    write_movers(&w);
    write_walls(&w);
    hs_scene_charts_encode(scene, writer);
}
