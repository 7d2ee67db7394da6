/*
 * The cost of a hit in the library: one rewound body, and one whole claim. The baseline is a
 * physics engine that moves its bodies back in time, casts, and restores them.
 *
 * - rewind_16_bones_ns: find the bracket in 64 samples and place 16 hitboxes of posted bones
 * - verify_hit_64x16_us: one claim among 64 players of 16 hitboxes each, all within reach of sight;
 *   baseline Bullet, which moves the target's 16 bodies
 * - verify_hit_all_rewound_us: the same; baseline Bullet, which moves the bodies of all players,
 *   because bystanders count where they were at that time
 *
 * The rounds of the three alternate. `ratio`: how many times faster the library is than the
 * baseline. The answers are compared before anything is measured.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/peers/bullet_bodies.h"
#include "tests/support/bench.h"
#include "tests/support/random.h"
#include "validators/history/rewind.h"
#include "validators/hit.h"
#include "validators/match/players.h"

enum { CASES = 1024, BONES = 16, SAMPLES = 64, PLAYERS = 64, STEP_US = 16000 };

#define BONE_RADIUS      0.12
#define BONE_HALF_LENGTH 0.1
#define SHOT_RADIUS      0.05

static volatile double sink;

static void need(bool there)
{
    if (there)
        return;
    fprintf(stderr, "out of memory\n");
    exit(1);
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
                                                                .radius = BONE_RADIUS,
                                                                .half_length = BONE_HALF_LENGTH,
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
    ruleset->weapons[rifle]->radius = SHOT_RADIUS;
    ruleset->rewind.limit_us = SAMPLES * STEP_US;
    ruleset->history.keep_us = 2 * SAMPLES * STEP_US;
    hs_ruleset_finish(ruleset);
    return ruleset;
}

/* Player `i` walks along a separate line on a field of 60 m. Each bone moves in its own way. */
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
    struct hs_bullet_bodies *bullet;
    struct hs_hit_claim claim[CASES];
    struct hs_bullet_claim same[CASES]; /* the same claims in the layout of the peer */
    char names[PLAYERS][16];
};

/* Makes a claim. Every fourth claim is aimed a metre beside the target. */
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
    struct hs_vec along = hs_vec_sub(end, eye);
    double extension = hs_match_ruleset(claims->match)->hit.sweep_extension;
    end = hs_vec_add_scaled(end, along, extension / hs_vec_length(along));
    claims->same[i] = (struct hs_bullet_claim){.shooter = shooter,
                                               .target = target,
                                               .time_us = time_us,
                                               .from = {eye.x, eye.y, eye.z},
                                               .to = {end.x, end.y, end.z},
                                               .radius = SHOT_RADIUS};
}

/* Makes the peer's bodies, with the same poses. */
static struct hs_bullet_bodies *make_bullet(void)
{
    static struct hs_bullet_pose poses[PLAYERS * BONES];
    const struct hs_bullet_rig rig = {PLAYERS, BONES, BONE_RADIUS, BONE_HALF_LENGTH};
    struct hs_bullet_bodies *bullet = hs_bullet_bodies_create(&rig);
    need(bullet != NULL);
    for (int64_t step = 0; step < SAMPLES; step++) {
        for (size_t i = 0; i < PLAYERS; i++) {
            struct hs_posted_bone bones[BONES];
            struct hs_player_frame entry = {.position = place(i, step * STEP_US)};
            pose(&entry, i, step * STEP_US, bones);
            for (size_t b = 0; b < BONES; b++) {
                const struct hs_posted_bone *bone = &bones[b];
                poses[i * BONES + b] = (struct hs_bullet_pose){
                    {bone->position[0], bone->position[1], bone->position[2]},
                    {bone->rotation[0], bone->rotation[1], bone->rotation[2], bone->rotation[3]}};
            }
        }
        hs_bullet_bodies_frame(bullet, step * STEP_US, poses);
    }
    return bullet;
}

static void run_claims(void *context, size_t count)
{
    static struct hs_hit_result result;
    struct claims *claims = context;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        hs_hit_verify(claims->match, &claims->claim[i % CASES], (SAMPLES - 1) * STEP_US, &result);
        sum += result.damage_total;
    }
    sink = sum;
}

static void run_bullet_target(void *context, size_t count)
{
    struct claims *claims = context;
    size_t player = 0;
    double sum = 0, fraction = 0;
    for (size_t i = 0; i < count; i++)
        if (hs_bullet_verify_target(claims->bullet, &claims->same[i % CASES], &player, &fraction))
            sum += fraction;
    sink = sum;
}

static void run_bullet_all(void *context, size_t count)
{
    struct claims *claims = context;
    size_t player = 0;
    double sum = 0, fraction = 0;
    for (size_t i = 0; i < count; i++)
        if (hs_bullet_verify_all(claims->bullet, &claims->same[i % CASES], &player, &fraction))
            sum += fraction;
    sink = sum;
}

/* ---- comparing the answers ---- */

struct answer {
    bool touched;
    size_t player; /* first body on the path */
    double distance;
};

static bool is_same(const struct answer *a, const struct answer *b)
{
    if (!a->touched || !b->touched)
        return a->touched == b->touched;
    return a->player == b->player && fabs(a->distance - b->distance) <= 0.01;
}

static struct answer ask_own(const struct claims *claims, size_t i, bool *accepted)
{
    static struct hs_hit_result result;
    hs_hit_verify(claims->match, &claims->claim[i], (SAMPLES - 1) * STEP_US, &result);
    *accepted = result.verdict == HS_VERDICT_ACCEPTED;
    struct answer answer = {.touched = result.impact.present, .distance = result.impact.distance};
    while (answer.touched && answer.player < PLAYERS &&
           strcmp(claims->names[answer.player], result.impact.player.text) != 0)
        answer.player++;
    return answer;
}

static struct answer ask_bullet(const struct claims *claims, size_t i, bool all)
{
    const struct hs_bullet_claim *claim = &claims->same[i];
    struct answer answer = {0};
    double fraction = 0, squared = 0;
    answer.touched =
        all ? hs_bullet_verify_all(claims->bullet, claim, &answer.player, &fraction)
            : hs_bullet_verify_target(claims->bullet, claim, &answer.player, &fraction);
    for (int k = 0; k < 3; k++)
        squared += (claim->to[k] - claim->from[k]) * (claim->to[k] - claim->from[k]);
    answer.distance = fraction * sqrt(squared);
    return answer;
}

/* If Bullet moves all bodies back, Bullet and the library must find the same contacts. If it moves
   only the target, both must agree whenever neither finds a bystander. Bullet uses floats and
   iterates, so a few grazing shots differ. */
static bool answers_agree(const struct claims *claims)
{
    size_t accepted = 0, blocked = 0, differ_all = 0, differ_target = 0;
    for (size_t i = 0; i < CASES; i++) {
        bool was_accepted;
        struct answer own = ask_own(claims, i, &was_accepted);
        struct answer all = ask_bullet(claims, i, true), one = ask_bullet(claims, i, false);
        size_t target = claims->same[i].target;
        bool bystander =
            (own.touched && own.player != target) || (one.touched && one.player != target);
        accepted += was_accepted;
        blocked += own.touched && own.player != target;
        differ_all += !is_same(&own, &all);
        differ_target += !bystander && !is_same(&own, &one);
    }
    /* If all shots hit, or none, the figures do not show the cost of a usual mix. */
    bool fine = accepted >= CASES / 4 && accepted <= CASES * 3 / 4 && blocked >= CASES / 64 &&
                differ_all <= CASES / 100 && differ_target <= CASES / 100;
    if (!fine)
        fprintf(stderr,
                "of %d claims %zu are accepted, %zu meet a bystander first; Bullet gives another "
                "answer to %zu if all bodies are moved back, and to %zu if only the target is: the "
                "times are not comparable\n",
                CASES, accepted, blocked, differ_all, differ_target);
    return fine;
}

static bool bench_claims(const struct hs_match *match)
{
    static struct claims claims;
    struct hs_random random = hs_random_start(4, 0);
    claims.match = match;
    claims.bullet = make_bullet();
    for (size_t i = 0; i < CASES; i++)
        make_claim(&claims, &random, i);
    bool fine = answers_agree(&claims);
    if (fine) {
        hs_bench_run *const runs[] = {run_claims, run_bullet_target, run_bullet_all};
        double ns[3];
        hs_bench_take_turns(runs, 3, &claims, ns);
        hs_bench_print("bullet_move_16_us", ns[1] / 1000, "us", NULL, 0);
        hs_bench_print("bullet_move_1008_us", ns[2] / 1000, "us", NULL, 0);
        hs_bench_print("verify_hit_64x16_us", ns[0] / 1000, "us", "bullet_move_16_us",
                       ns[1] / ns[0]);
        hs_bench_print("verify_hit_all_rewound_us", ns[0] / 1000, "us", "bullet_move_1008_us",
                       ns[2] / ns[0]);
    }
    hs_bullet_bodies_destroy(claims.bullet);
    return fine;
}

int main(void)
{
    struct hs_ruleset *ruleset = make_ruleset();
    struct hs_match *match = make_match(ruleset);
    bench_rewind(match);
    bool fine = bench_claims(match);
    hs_match_destroy(match);
    hs_ruleset_destroy(ruleset);
    return fine ? 0 : 1;
}
