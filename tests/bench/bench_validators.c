/*
 * What one hit costs inside the library: a swept-sphere test, a rewound body, a whole claim.
 *
 *   sweep_capsule_ns      one hs_sweep_touches; half the paths are aimed, half pass close by
 *   sweep_box_ns          the same against oriented boxes
 *   rewind_16_bones_ns    find the bracket in 64 samples and place 16 hitboxes of posted bones
 *   verify_hit_64x16_us   one claim among 64 players of 16 hitboxes each, all within reach of sight
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/bench.h"
#include "tests/support/random.h"
#include "validators/hit.h"
#include "validators/players.h"
#include "validators/rewind.h"

enum { CASES = 1024, BONES = 16, SAMPLES = 64, PLAYERS = 64, STEP_US = 16000 };

static volatile double sink;

static void need(bool there)
{
    if (there)
        return;
    fprintf(stderr, "out of memory\n");
    exit(1);
}

/* ---- sweeps ---- */

struct sweeps {
    struct hs_sweep sweep[CASES];
    struct hs_solid solid[CASES];
};

/* A shot from 5 to 60 m away at a limb; every other one is off by a hand or two. */
static void make_sweep(struct hs_random *random, bool box, bool aimed, struct hs_sweep *sweep,
                       struct hs_solid *solid)
{
    struct hs_vec side = hs_random_direction(random), from = hs_random_direction(random);
    *solid = (struct hs_solid){.center = {hs_random_between(random, -1000, 1000),
                                          hs_random_between(random, -1000, 1000),
                                          hs_random_between(random, 0, 50)}};
    hs_random_axes(random, solid->axes);
    solid->half_extents = box ? (struct hs_vec){0.15, 0.1, 0.3} : (struct hs_vec){0, 0, 0.2};
    solid->radius = box ? 0 : 0.12;
    double off = aimed ? hs_random_between(random, 0, 0.1) : hs_random_between(random, 0.2, 0.5);
    struct hs_vec at = hs_vec_add_scaled(solid->center, side, off);
    double distance = hs_random_between(random, 5, 60);
    sweep->start = hs_vec_add_scaled(at, from, distance);
    sweep->direction = hs_vec_scale(from, -1);
    sweep->length = distance * 1.2;
    sweep->radius = 0.05;
}

static void run_sweeps(void *context, size_t count)
{
    const struct sweeps *sweeps = context;
    double sum = 0, distance = 0;
    for (size_t i = 0; i < count; i++)
        if (hs_sweep_touches(&sweeps->sweep[i % CASES], &sweeps->solid[i % CASES], &distance))
            sum += distance;
    sink = sum;
}

static void bench_sweeps(const char *name, bool box)
{
    static struct sweeps sweeps;
    struct hs_random random = hs_random_start(1, box);
    for (int i = 0; i < CASES; i++)
        make_sweep(&random, box, i % 2 == 0, &sweeps.sweep[i], &sweeps.solid[i]);
    hs_bench_print(name, hs_bench_ns(run_sweeps, &sweeps), "ns", NULL, 0);
}

/* ---- a match of posed bodies ---- */

static void make_rig(struct hs_ruleset *ruleset)
{
    uint16_t zone = hs_ruleset_add_zone(ruleset, HS_STR("torso"), 1);
    uint16_t index = hs_ruleset_add_rig(ruleset, HS_STR("body"));
    need(zone != HS_NONE && index != HS_NONE);
    struct hs_rig *rig = ruleset->rigs[index];
    struct hs_stance *stance = &rig->stances[rig->stance_count++];
    hs_name_set(&stance->name, HS_STR("stand"));
    stance->eye.z = 1.6;
    for (uint16_t i = 0; i < BONES; i++) {
        char name[16];
        int len = snprintf(name, sizeof name, "bone%d", i);
        hs_name_set(&rig->bones[rig->bone_count++], (struct hs_str){name, (size_t)len});
        stance->bones[i] = (struct hs_rest_bone){{0, 0, 0.1 * i}, {0, 0, 0, 1}, {1, 1, 1}};
        rig->hitboxes[rig->hitbox_count++] = (struct hs_hitbox){.bone = i,
                                                                .zone = zone,
                                                                .shape = HS_SHAPE_CAPSULE,
                                                                .radius = 0.12,
                                                                .half_length = 0.1,
                                                                .rotation = {0, 0, 0, 1}};
    }
}

static struct hs_ruleset *make_ruleset(void)
{
    struct hs_ruleset *ruleset = hs_ruleset_create(1);
    need(ruleset != NULL);
    hs_name_set(&ruleset->name, HS_STR("bench"));
    make_rig(ruleset);
    uint16_t rifle = hs_ruleset_add_weapon(ruleset, HS_STR("rifle"));
    need(rifle != HS_NONE);
    ruleset->weapons[rifle]->damage = 20;
    ruleset->weapons[rifle]->range = 1000;
    ruleset->weapons[rifle]->radius = 0.05;
    ruleset->rewind.limit_us = SAMPLES * STEP_US;
    ruleset->history.keep_us = 2 * SAMPLES * STEP_US;
    hs_ruleset_finish(ruleset);
    return ruleset;
}

/* Player `i` walks a line of his own on a field of 60 m; bones sway, each its own way. */
static struct hs_vec place(size_t i, int64_t time_us)
{
    struct hs_random random = hs_random_start(2, i);
    double t = (double)time_us / 1e6;
    double x = hs_random_between(&random, -30, 30), y = hs_random_between(&random, -30, 30);
    return (struct hs_vec){x + hs_random_between(&random, -4, 4) * t,
                           y + hs_random_between(&random, -4, 4) * t, 0};
}

static void pose(struct hs_player_frame *entry, size_t i, int64_t time_us,
                 struct hs_posted_bone bones[BONES])
{
    double t = (double)time_us / 1e6;
    for (size_t b = 0; b < BONES; b++) {
        double angle = 0.3 * sin(3 * t + (double)(i + b));
        bones[b] = (struct hs_posted_bone){.present = true,
                                           .position = {entry->position.x + 0.1 * sin(angle),
                                                        entry->position.y, 0.1 * (double)b + 0.05},
                                           .rotation = {sin(angle / 2), 0, 0, cos(angle / 2)},
                                           .scale = {1, 1, 1}};
    }
    entry->bones = bones;
    entry->bone_count = BONES;
    entry->fields = HS_FIELD_BONES;
}

static struct hs_str player_name(size_t i, char text[16])
{
    return (struct hs_str){text, (size_t)snprintf(text, 16, "player%zu", i)};
}

static struct hs_match *make_match(const struct hs_ruleset *ruleset)
{
    static char names[PLAYERS][16];
    static struct hs_posted_bone bones[PLAYERS][BONES];
    struct hs_player_frame players[PLAYERS];
    enum hs_frame_result results[PLAYERS];
    const struct hs_match_limits limits = {.players = PLAYERS, .samples = SAMPLES};
    struct hs_match *match = hs_match_create(ruleset, &limits);
    need(match != NULL);
    for (int64_t step = 0; step < SAMPLES; step++) {
        unsigned flags = 0;
        for (size_t i = 0; i < PLAYERS; i++) {
            players[i] = (struct hs_player_frame){.player = player_name(i, names[i]),
                                                  .position = place(i, step * STEP_US)};
            pose(&players[i], i, step * STEP_US, bones[i]);
        }
        const struct hs_frame frame = {
            .time_us = step * STEP_US, .players = players, .player_count = PLAYERS};
        need(hs_match_post_frame(match, &frame, results, &flags));
    }
    return match;
}

/* ---- rewind ---- */

struct rewinds {
    const struct hs_ruleset *ruleset;
    const struct hs_history *history;
    int64_t time_us[CASES];
};

static void run_rewinds(void *context, size_t count)
{
    static struct hs_body body;
    const struct rewinds *rewinds = context;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        struct hs_bracket bracket;
        if (hs_rewind_find(rewinds->history, rewinds->ruleset, rewinds->time_us[i % CASES],
                           &bracket) != HS_REWIND_OK)
            continue;
        hs_rewind_body(rewinds->history, rewinds->ruleset, &bracket, &body);
        sum += body.solids[BONES - 1].center.x;
    }
    sink = sum;
}

static void bench_rewind(const struct hs_match *match)
{
    static struct rewinds rewinds;
    struct hs_random random = hs_random_start(3, 0);
    rewinds.ruleset = hs_match_ruleset(match);
    rewinds.history = match->players.all[0]->history;
    for (int i = 0; i < CASES; i++)
        rewinds.time_us[i] = hs_random_index(&random, (SAMPLES - 1) * STEP_US);
    hs_bench_print("rewind_16_bones_ns", hs_bench_ns(run_rewinds, &rewinds), "ns", NULL, 0);
}

/* ---- claims ---- */

struct claims {
    const struct hs_match *match;
    struct hs_hit_claim claim[CASES];
    char names[PLAYERS][16];
    size_t accepted;
};

/* One of four aims a metre beside its target. */
static void make_claim(struct claims *claims, struct hs_random *random, size_t i)
{
    size_t shooter = (size_t)hs_random_index(random, PLAYERS);
    size_t target = (shooter + 1 + (size_t)hs_random_index(random, PLAYERS - 1)) % PLAYERS;
    int64_t time_us = hs_random_index(random, (SAMPLES - 1) * STEP_US);
    struct hs_vec eye = place(shooter, time_us), end = place(target, time_us);
    eye.z = 1.6;
    end.z = hs_random_between(random, 0.2, 1.5);
    end.y += i % 4 == 3 ? 1 : 0;
    claims->claim[i] =
        (struct hs_hit_claim){.shot = i,
                              .shooter = player_name(shooter, claims->names[shooter]),
                              .target = player_name(target, claims->names[target]),
                              .weapon = HS_STR("rifle"),
                              .hit_time_us = time_us,
                              .start = eye,
                              .end = end};
}

static void run_claims(void *context, size_t count)
{
    static struct hs_hit_result result;
    struct claims *claims = context;
    double sum = 0;
    claims->accepted = 0;
    for (size_t i = 0; i < count; i++) {
        hs_hit_verify(claims->match, &claims->claim[i % CASES], (SAMPLES - 1) * STEP_US, &result);
        sum += result.damage_total;
        claims->accepted += result.verdict == HS_VERDICT_ACCEPTED;
    }
    sink = sum;
}

static bool bench_claims(const struct hs_match *match)
{
    static struct claims claims;
    struct hs_random random = hs_random_start(4, 0);
    claims.match = match;
    for (size_t i = 0; i < CASES; i++)
        make_claim(&claims, &random, i);
    run_claims(&claims, CASES);
    /* A stage on which nothing is hit, or everything, would measure something else. */
    if (claims.accepted < CASES / 4 || claims.accepted > CASES * 3 / 4) {
        fprintf(stderr, "%zu of %d claims accepted: the stage is wrong\n", claims.accepted, CASES);
        return false;
    }
    double ns = hs_bench_ns(run_claims, &claims);
    hs_bench_print("verify_hit_64x16_us", ns / 1000, "us", NULL, 0);
    return true;
}

int main(void)
{
    bench_sweeps("sweep_capsule_ns", false);
    bench_sweeps("sweep_box_ns", true);
    struct hs_ruleset *ruleset = make_ruleset();
    struct hs_match *match = make_match(ruleset);
    bench_rewind(match);
    bool fine = bench_claims(match);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
    return fine ? 0 : 1;
}
