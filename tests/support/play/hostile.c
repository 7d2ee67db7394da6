#include "tests/support/play/hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "validators/shot.h"

enum { FRAMES = 240, STEP_US = 4000, HITBOXES = 32, MOVERS = 512, SOLIDS = 20000 };

static const char *const kind_names[] = {
#define X(id, name) name,
    HS_HOSTILE_KINDS(X)
#undef X
};

static void need(bool there)
{
    if (there)
        return;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

/* ---- rules ---- */

static void add_rig(struct hs_ruleset *ruleset)
{
    uint16_t zone = hs_ruleset_add_zone(ruleset, HS_STR("torso"), 1);
    uint16_t index = hs_ruleset_add_rig(ruleset, HS_STR("body"));
    need(zone != HS_NONE && index != HS_NONE);
    struct hs_rig *rig = ruleset->rigs[index];
    struct hs_stance *stance = &rig->stances[rig->stance_count++];
    hs_name_set(&stance->name, HS_STR("stand"));
    hs_name_set(&rig->bones[rig->bone_count++], HS_STR("root"));
    stance->bones[0] = (struct hs_rest_bone){{0, 0, 1}, {0, 0, 0, 1}, {1, 1, 1}};
    stance->eye.z = 1;
    /*
     * Rotated boxes around the whole path. Each box is swept, and the first contact changes often.
     */
    for (uint16_t i = 0; i < HITBOXES; i++)
        rig->hitboxes[rig->hitbox_count++] = (struct hs_hitbox){.zone = zone,
                                                                .shape = HS_SHAPE_BOX,
                                                                .half_extents = {0.3, 0.4, 0.5},
                                                                .center = {0, 0.6 + 0.001 * i, 0},
                                                                .rotation = {0, 0, 0.6f, 0.8f}};
}

static struct hs_weapon *add_weapon(struct hs_ruleset *ruleset, struct hs_str name)
{
    uint16_t index = hs_ruleset_add_weapon(ruleset, name);
    need(index != HS_NONE);
    struct hs_weapon *weapon = ruleset->weapons[index];
    weapon->damage = 1;
    weapon->range = 1000;
    weapon->radius = 0.05;
    weapon->pellets = 1;
    weapon->has_require_shot = true; /* most claims have no shot */
    return weapon;
}

static struct hs_ruleset *make_ruleset(void)
{
    struct hs_ruleset *ruleset = hs_ruleset_create(1);
    need(ruleset != NULL);
    hs_name_set(&ruleset->name, HS_STR("hostile"));
    add_rig(ruleset);
    struct hs_weapon *gun = add_weapon(ruleset, HS_STR("gun"));
    gun->pellets = HS_MAX_PELLETS;
    gun->spread_deg = 5;
    struct hs_weapon *rocket = add_weapon(ruleset, HS_STR("rocket"));
    rocket->type = HS_WEAPON_PROJECTILE;
    rocket->speed = 10;
    rocket->range = 1;
    /* so thin that a curved path needs all its parts */
    rocket->radius = rocket->world_radius = 1e-4;
    rocket->gravity = 30;
    rocket->max_flight_us = 8000000;
    rocket->has_blast = true;
    rocket->blast = (struct hs_blast){.radius = 50, .damage = 1, .occlusion = true};
    add_weapon(ruleset, HS_STR("rifle"));
    ruleset->rewind.limit_us = ruleset->history.keep_us = 10000000;
    hs_ruleset_finish(ruleset);
    return ruleset;
}

/* ---- world ---- */

/*
 * Large triangles or boxes in one place, so near the path that only the exact test excludes them.
 */
static struct hs_world *make_world(bool boxes)
{
    static struct hs_vec vertices[3 * SOLIDS];
    static uint32_t triangles[SOLIDS][3];
    static struct hs_world_box solids[SOLIDS];
    for (uint32_t i = 0; i < SOLIDS; i++) {
        double beside = -0.05 - 3e-5, off = 1e-5 * i;
        vertices[3 * i] = (struct hs_vec){0, beside, 1};
        vertices[3 * i + 1] = (struct hs_vec){20, beside, 1};
        vertices[3 * i + 2] = (struct hs_vec){10, -10, 1 - off};
        for (uint32_t k = 0; k < 3; k++)
            triangles[i][k] = 3 * i + k;
        solids[i] = (struct hs_world_box){{1, -9, 0.9 - off}, {19, beside, 1.5 + off}};
    }
    struct hs_world_mesh mesh = {0};
    if (boxes) {
        mesh.boxes = solids;
        mesh.box_count = SOLIDS;
    } else {
        mesh.vertices = vertices;
        mesh.vertex_count = 3 * SOLIDS;
        mesh.triangles = (const uint32_t(*)[3])triangles;
        mesh.triangle_count = SOLIDS;
    }
    struct hs_world *world = hs_world_create(&mesh, NULL, NULL);
    need(world != NULL);
    return world;
}

/* ---- players and movers ---- */

static void post_frames(struct hs_hostile *out, uint32_t players, uint32_t movers, double aside)
{
    static struct hs_player_frame entries[1024];
    static struct hs_mover_frame doors[MOVERS];
    static char door_names[MOVERS][16];
    static enum hs_frame_result results[1024 + MOVERS];
    for (int64_t step = 0; step < FRAMES; step++) {
        unsigned flags = 0;
        for (uint32_t i = 0; i < players; i++) {
            int len = snprintf(out->names[i], sizeof out->names[i], "p%u", i);
            entries[i] = (struct hs_player_frame){
                .player = {out->names[i], (size_t)len},
                .position = {i == 0 ? 0 : 10 + 1e-3 * (double)(step % 7), i == 0 ? 0 : aside, 0}};
        }
        for (uint32_t i = 0; i < movers; i++) {
            int len = snprintf(door_names[i], sizeof door_names[i], "d%u", i);
            doors[i] = (struct hs_mover_frame){.mover = {door_names[i], (size_t)len},
                                               .fields = HS_MOVER_BOX | HS_MOVER_SOLID,
                                               .position = {10, 1 + 0.01 * (double)(step % 2), 1},
                                               .half_extents = {10, 0.3, 0.3},
                                               .is_solid = true};
        }
        const struct hs_frame frame = {.time_us = step * STEP_US,
                                       .players = entries,
                                       .player_count = players,
                                       .movers = doors,
                                       .mover_count = movers};
        need(hs_match_post_frame(out->match, &frame, results, &flags));
    }
    out->now_us = (FRAMES - 1) * STEP_US;
}

/* ---- claims ---- */

static struct hs_str name_of(const struct hs_hostile *hostile, size_t i)
{
    return (struct hs_str){hostile->names[i], strlen(hostile->names[i])};
}

static void claim_pellets(struct hs_hostile *out)
{
    for (size_t i = 0; i < HS_MAX_PELLETS; i++)
        out->pellets[i].end = (struct hs_vec){20, 0, 1 + 1e-3 * (double)i};
    out->claim.pellets = out->pellets;
    out->claim.pellet_count = HS_MAX_PELLETS;
}

/* Posts a shot with two sets of directions that differ by less than the tolerance. The claim has
   its pellets in the order that makes their assignment most expensive. */
static void post_spread(struct hs_hostile *out)
{
    static struct hs_vec directions[HS_MAX_PELLETS];
    struct hs_hit_result *result = calloc(1, sizeof *result);
    need(result != NULL);
    for (size_t i = 0; i < HS_MAX_PELLETS; i++) {
        double off = 1e-3 * (double)(i / 2 * 2) + 0.8e-3 * (double)(i % 2);
        struct hs_vec ahead = {1, 0, off};
        directions[i] = hs_vec_scale(ahead, 1 / hs_vec_length(ahead));
        double end = 1e-3 * (double)((HS_MAX_PELLETS - 1 - i) / 2 * 2) + 0.4e-3;
        out->pellets[i].end = (struct hs_vec){20, 0, 1 + 20 * end};
    }
    const struct hs_shot_claim shot = {.shot = 1,
                                       .shooter = out->claim.shooter,
                                       .weapon = HS_STR("gun"),
                                       .time_us = out->now_us,
                                       .origin = out->claim.start,
                                       .directions = directions,
                                       .direction_count = HS_MAX_PELLETS};
    int64_t forward_us;
    hs_shot_verify(out->match, &shot, out->now_us, result, &forward_us);
    need(hs_shot_record(out->match, &shot, result, HS_STR("{")));
    free(result);
}

static void claim_flight(struct hs_hostile *out)
{
    out->claim.weapon = HS_STR("rocket");
    out->claim.fire_time_us = out->now_us - 900000;
    out->claim.has_fire_time = true;
    out->claim.start.x = 9.5;
    out->claim.end.x = 10.5;
}

void hs_hostile_make(enum hs_hostile_kind kind, struct hs_hostile *out)
{
    *out = (struct hs_hostile){.name = kind_names[kind], .ruleset = make_ruleset()};
    bool crowded = kind == HS_HOSTILE_PELLETS || kind == HS_HOSTILE_PASSERS ||
                   kind == HS_HOSTILE_FLIGHT || kind == HS_HOSTILE_BLAST;
    const struct hs_match_limits limits = {.players = 1024, .samples = 1024, .movers = MOVERS};
    out->match = hs_match_create(out->ruleset, &limits);
    need(out->match != NULL);
    if (kind == HS_HOSTILE_TRIANGLES || kind == HS_HOSTILE_BOXES) {
        out->world = make_world(kind == HS_HOSTILE_BOXES);
        hs_match_set_world(out->match, out->world);
    }
    post_frames(out, crowded ? 200 : 2, kind == HS_HOSTILE_MOVERS ? MOVERS : 0,
                kind == HS_HOSTILE_PASSERS  ? 100
                : kind == HS_HOSTILE_FLIGHT ? 0.4
                                            : 0);
    out->claim = (struct hs_hit_claim){.shot = 1,
                                       .shooter = name_of(out, 0),
                                       .target = name_of(out, 1),
                                       .weapon = HS_STR("rifle"),
                                       .hit_time_us = out->now_us,
                                       .start = {0, 0, 1},
                                       .end = {20, 0, 1}};
    if (kind == HS_HOSTILE_PELLETS || kind == HS_HOSTILE_PASSERS || kind == HS_HOSTILE_SPREAD) {
        out->claim.weapon = HS_STR("gun");
        claim_pellets(out);
    }
    if (kind == HS_HOSTILE_SPREAD)
        post_spread(out);
    if (kind == HS_HOSTILE_FLIGHT || kind == HS_HOSTILE_BLAST || kind == HS_HOSTILE_MOVERS)
        claim_flight(out);
    if (kind == HS_HOSTILE_BLAST) {
        for (size_t i = 0; i < HS_MAX_VICTIMS; i++)
            out->victims[i] = name_of(out, i + 1);
        out->claim.victims = out->victims;
        out->claim.victim_count = HS_MAX_VICTIMS;
    }
}

void hs_hostile_free(struct hs_hostile *hostile)
{
    hs_match_destroy(hostile->match);
    hs_world_destroy(hostile->world);
    hs_ruleset_destroy(hostile->ruleset);
}
