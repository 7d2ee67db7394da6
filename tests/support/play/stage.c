#include "tests/support/play/stage.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "stage: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return pointer;
}

struct hs_str hs_stage_str(const char *text)
{
    return (struct hs_str){text, text == NULL ? 0 : strlen(text)};
}

static void fill_rig(struct hs_rig *rig)
{
    static const float identity[4] = {0, 0, 0, 1};
    rig->bone_count = 2;
    hs_name_set(&rig->bones[0], HS_STR("root"));
    hs_name_set(&rig->bones[1], HS_STR("head"));
    rig->hitbox_count = 2;
    rig->hitboxes[HS_STAGE_HEAD] = (struct hs_hitbox){
        .bone = 1, .zone = HS_STAGE_HEAD, .shape = HS_SHAPE_SPHERE, .radius = 0.15};
    rig->hitboxes[HS_STAGE_TORSO] = (struct hs_hitbox){.bone = 0,
                                                       .zone = HS_STAGE_TORSO,
                                                       .shape = HS_SHAPE_CAPSULE,
                                                       .radius = 0.30,
                                                       .half_length = 0.2,
                                                       .center = {0, 0, 1.1}};
    for (int i = 0; i < 2; i++)
        memcpy(rig->hitboxes[i].rotation, identity, sizeof identity);
    rig->stance_count = 2;
    for (int s = 0; s < 2; s++) {
        double height = s == 0 ? 1.6 : 1.1;
        struct hs_stance *stance = &rig->stances[s];
        hs_name_set(&stance->name, s == 0 ? HS_STR("stand") : HS_STR("crouch"));
        stance->eye = (struct hs_vec){0, 0, height};
        stance->bones[0] = (struct hs_rest_bone){{0, 0, 0}, {0, 0, 0, 1}, {1, 1, 1}};
        stance->bones[1] = (struct hs_rest_bone){{0, 0, height}, {0, 0, 0, 1}, {1, 1, 1}};
    }
}

static void add_weapon(struct hs_ruleset *ruleset, struct hs_str name, struct hs_weapon numbers)
{
    uint16_t i = hs_ruleset_add_weapon(ruleset, name);
    if (i == HS_NONE)
        must(NULL);
    numbers.name = ruleset->weapons[i]->name;
    *ruleset->weapons[i] = numbers;
}

struct hs_ruleset *hs_stage_ruleset(void)
{
    struct hs_ruleset *ruleset = must(hs_ruleset_create(100));
    hs_name_set(&ruleset->name, HS_STR("stage"));
    ruleset->rewind.limit_us = HS_MS(250);
    hs_ruleset_add_zone(ruleset, HS_STR("head"), 2);
    hs_ruleset_add_zone(ruleset, HS_STR("torso"), 1);
    if (hs_ruleset_add_rig(ruleset, HS_STR("body")) == HS_NONE)
        must(NULL);
    fill_rig(ruleset->rigs[0]);
    add_weapon(
        ruleset, HS_STR("rifle"),
        (struct hs_weapon){
            .type = HS_WEAPON_HITSCAN, .pellets = 1, .damage = 20, .range = 100, .radius = 0.05});
    add_weapon(
        ruleset, HS_STR("knife"),
        (struct hs_weapon){
            .type = HS_WEAPON_MELEE, .pellets = 1, .damage = 40, .range = 1.5, .radius = 0.30});
    add_weapon(ruleset, HS_STR("bow"),
               (struct hs_weapon){.type = HS_WEAPON_PROJECTILE,
                                  .pellets = 1,
                                  .damage = 50,
                                  .range = 160,
                                  .radius = 0.05,
                                  .world_radius = 0.05,
                                  .speed = 40,
                                  .max_flight_us = 4000000,
                                  .has_require_shot = true});
    hs_ruleset_finish(ruleset);
    return ruleset;
}

struct hs_match *hs_stage_match(const struct hs_ruleset *ruleset)
{
    return must(hs_match_create(
        ruleset, &(struct hs_match_limits){.players = 64, .samples = 256, .movers = 16}));
}

struct hs_player_frame hs_stage_entry(const char *player, double x, double y, double z)
{
    return (struct hs_player_frame){.player = hs_stage_str(player), .position = {x, y, z}};
}

struct hs_player_frame hs_stage_event(const char *player, enum hs_sample_event event)
{
    struct hs_player_frame entry = hs_stage_entry(player, 0, 0, 0);
    entry.event = event;
    return entry;
}

enum hs_frame_result hs_stage_post(struct hs_match *match, int64_t time_us,
                                   const struct hs_player_frame *entry, unsigned *flags)
{
    unsigned unused = 0;
    enum hs_frame_result result = HS_FRAME_RESULT_COUNT;
    struct hs_frame frame = {.time_us = time_us, .players = entry, .player_count = 1};
    if (!hs_match_post_frame(match, &frame, &result, flags != NULL ? flags : &unused))
        must(NULL);
    return result;
}

void hs_stage_place(struct hs_match *match, int64_t time_us, const char *player, double x, double y,
                    double z)
{
    struct hs_player_frame entry = hs_stage_entry(player, x, y, z);
    enum hs_frame_result result = hs_stage_post(match, time_us, &entry, NULL);
    if (result != HS_FRAME_STORED) {
        fprintf(stderr, "stage: %s at %lld us: %s\n", player, (long long)time_us,
                hs_frame_result_name(result));
        exit(EXIT_FAILURE);
    }
}

void hs_stage_play(struct hs_match *match)
{
    for (int ms = 0; ms <= 1000; ms += 50) {
        struct hs_player_frame s = hs_stage_entry("S", 0, 0, 0);
        struct hs_player_frame t = hs_stage_entry("T", 20, 0.004 * ms, 0);
        s.weapon = t.weapon = HS_STR("rifle");
        if (hs_stage_post(match, HS_MS(ms), &s, NULL) != HS_FRAME_STORED ||
            hs_stage_post(match, HS_MS(ms), &t, NULL) != HS_FRAME_STORED)
            must(NULL);
    }
}

struct hs_hit_claim hs_stage_claim(int64_t hit_time_us, double x, double y, double z)
{
    return (struct hs_hit_claim){.shot = 1,
                                 .shooter = HS_STR("S"),
                                 .weapon = HS_STR("rifle"),
                                 .target = HS_STR("T"),
                                 .hit_time_us = hit_time_us,
                                 .start = {0, 0, 1.6},
                                 .end = {x, y, z}};
}

struct hs_hit_claim hs_stage_claim_fired(int64_t time_us, double x, double y, double z)
{
    struct hs_hit_claim claim = hs_stage_claim(time_us, x, y, z);
    claim.has_fire_time = true;
    claim.fire_time_us = time_us;
    return claim;
}

struct hs_hit_result *hs_stage_verify(const struct hs_match *match,
                                      const struct hs_hit_claim *claim, int64_t now_us)
{
    /* Filled with a pattern first, so that members that verification does not set are not valid by
       accident. */
    struct hs_hit_result *result = must(malloc(sizeof *result));
    memset(result, 0xA5, sizeof *result);
    hs_hit_verify(match, claim, now_us, result);
    return result;
}

struct hs_hit_result *hs_stage_judge(const struct hs_match *match, const struct hs_hit_claim *claim,
                                     int64_t now_us)
{
    static struct hs_hit_result result;
    struct hs_hit_result *fresh = hs_stage_verify(match, claim, now_us);
    result = *fresh;
    free(fresh);
    return &result;
}

const struct hs_check_row *hs_stage_row(const struct hs_hit_result *result, enum hs_check check)
{
    for (int i = 0; i < result->check_count; i++)
        if (result->checks[i].check == check)
            return &result->checks[i];
    return NULL;
}
