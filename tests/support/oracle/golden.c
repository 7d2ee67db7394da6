#include "tests/support/oracle/golden.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/oracle/all_scenarios.h"
#include "tests/support/oracle/offline.h"
#include "tests/support/random.h"

enum { MATCHES = 400, PLAYERS = 8, FRAMES = 24, CLAIMS = 150, MAX_THREADS = 64 };

/* ---- the hash ---- */

static void mix(struct hs_golden *golden, uint64_t value)
{
    for (int i = 0; i < 8; i++, value >>= 8)
        golden->hash = (golden->hash ^ (value & 0xff)) * UINT64_C(1099511628211);
}

/* Adds a number, rounded to 1e-4. A value that is too large for this is added unrounded. */
static void mix_number(struct hs_golden *golden, double value)
{
    uint64_t bits;
    if (fabs(value) < 1e11) {
        mix(golden, (uint64_t)(int64_t)floor(value * 1e4 + 0.5));
        return;
    }
    memcpy(&bits, &value, sizeof bits);
    mix(golden, isnan(value) ? 1 : bits);
}

static void mix_text(struct hs_golden *golden, const char *text)
{
    do
        mix(golden, (unsigned char)*text);
    while (*text++ != '\0');
}

static void mix_vec(struct hs_golden *golden, struct hs_vec v)
{
    mix_number(golden, v.x);
    mix_number(golden, v.y);
    mix_number(golden, v.z);
}

static void mix_rewind(struct hs_golden *golden, const struct hs_rewind_info *rewind)
{
    mix(golden, rewind->present);
    if (!rewind->present)
        return;
    mix(golden, (uint64_t)rewind->time_us);
    mix(golden, (uint64_t)rewind->by_us);
    mix(golden, (uint64_t)rewind->from_us);
    mix(golden, (uint64_t)rewind->to_us);
    mix_number(golden, rewind->alpha);
    mix(golden, (uint64_t)rewind->clamped * 2 + rewind->held);
    mix(golden, rewind->excluded_bone_count);
    mix(golden, rewind->ignored_count);
}

static void mix_impact(struct hs_golden *golden, const struct hs_impact *impact)
{
    mix(golden, impact->present);
    if (!impact->present)
        return;
    mix_vec(golden, impact->point);
    mix_vec(golden, impact->normal);
    mix_vec(golden, impact->center);
    mix_number(golden, impact->distance);
    mix_text(golden, impact->player.text);
    mix_text(golden, impact->mover.text);
    mix_text(golden, impact->bone.text);
    mix_text(golden, impact->zone.text);
}

static void mix_lists(struct hs_golden *golden, const struct hs_hit_result *r)
{
    for (int i = 0; i < r->damage_count; i++) {
        mix_text(golden, r->damage[i].player.text);
        mix_text(golden, r->damage[i].zone.text);
        mix(golden, (uint64_t)r->damage[i].cause);
        mix(golden, r->damage[i].pellets);
        mix_number(golden, r->damage[i].amount);
        mix_number(golden, r->damage[i].distance);
    }
    for (int i = 0; i < r->pellet_count; i++) {
        mix(golden, (uint64_t)r->pellets[i].outcome);
        mix_text(golden, hs_reason_name(r->pellets[i].reason));
        mix_text(golden, r->pellets[i].player.text);
        mix_number(golden, r->pellets[i].amount);
        mix_number(golden, r->pellets[i].margin);
    }
    for (int i = 0; i < r->refused_count; i++) {
        golden->reasons[r->refused[i].reason]++;
        mix_text(golden, r->refused[i].player.text);
        mix_text(golden, hs_reason_name(r->refused[i].reason));
        mix_number(golden, r->refused[i].has_measure ? r->refused[i].measured : -1);
        mix_number(golden, r->refused[i].has_measure ? r->refused[i].limit : -1);
    }
    for (int i = 0; i < r->unclaimed_count; i++)
        mix_text(golden, r->unclaimed[i].text);
}

static void mix_checks(struct hs_golden *golden, const struct hs_hit_result *r)
{
    for (int i = 0; i < r->check_count; i++) {
        const struct hs_check_row *row = &r->checks[i];
        mix_text(golden, hs_check_name(row->check));
        mix(golden, (uint64_t)row->outcome);
        mix_text(golden, hs_reason_name(row->reason));
        mix(golden, (uint64_t)row->mode);
        mix_text(golden, hs_unit_name(row->unit));
        mix_number(golden, row->unit != HS_UNIT_NONE ? row->measured : -1);
        mix_number(golden, row->unit != HS_UNIT_NONE ? row->limit : -1);
        mix_text(golden, row->player.text);
        mix_text(golden, row->mover.text);
    }
    for (int i = 0; i < r->would_reject_count; i++)
        mix_text(golden, hs_reason_name(r->would_reject[i]));
}

static void mix_result(struct hs_golden *golden, const struct hs_hit_result *r)
{
    golden->verdicts++;
    golden->reasons[r->reason]++;
    mix_text(golden, hs_verdict_name(r->verdict));
    mix_text(golden, hs_reason_name(r->reason));
    for (int i = 0; i < HS_FLAG_COUNT; i++)
        if (r->flags & 1u << i)
            mix_text(golden, hs_flag_name((enum hs_flag)i));
    mix_number(golden, r->damage_total);
    mix_number(golden, r->has_margin ? r->margin : -1);
    mix_rewind(golden, &r->rewind);
    mix_impact(golden, &r->impact);
    mix_checks(golden, r);
    mix_lists(golden, r);
}

/* ---- seeded matches ---- */

static void *must(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "golden: out of memory\n");
        exit(EXIT_FAILURE);
    }
    return pointer;
}

static void random_rotation(struct hs_random *random, double q[4])
{
    double length = 0;
    do {
        length = 0;
        for (int i = 0; i < 4; i++) {
            q[i] = hs_random_between(random, -1, 1);
            length += q[i] * q[i];
        }
    } while (length < 0.01 || length > 1);
    length = sqrt(length);
    for (int i = 0; i < 4; i++)
        q[i] /= length;
}

/* Draws a vector. Each statement draws once, because C lets the compiler choose the order within an
   expression. */
static struct hs_vec random_vec(struct hs_random *random, double flat, double high)
{
    struct hs_vec v;
    v.x = hs_random_between(random, -flat, flat);
    v.y = hs_random_between(random, -flat, flat);
    v.z = hs_random_between(random, 0, high);
    return v;
}

static void draw_bones(struct hs_random *random, int frame, struct hs_vec at,
                       struct hs_posted_bone bones[2])
{
    for (int b = 0; b < 2; b++) {
        bones[b].present = b == 1 || frame % 5 != 0;
        bones[b].position[0] = at.x;
        bones[b].position[1] = at.y;
        bones[b].position[2] = at.z + (b == 1 ? 1.5 : 0.1);
        random_rotation(random, bones[b].rotation);
    }
}

/* Posts players who walk straight at walking speed and turn as they go. Some have posted bones. */
static void post_frames(struct hs_random *random, struct hs_match *match, char names[][8],
                        struct hs_golden *out)
{
    struct hs_vec at[PLAYERS], velocity[PLAYERS];
    for (int p = 0; p < PLAYERS; p++) {
        at[p] = random_vec(random, 12, 2);
        velocity[p] = random_vec(random, 6, 0.5);
    }
    for (int f = 0; f < FRAMES; f++) {
        struct hs_player_frame players[PLAYERS];
        struct hs_posted_bone bones[PLAYERS][2];
        memset(players, 0, sizeof players);
        memset(bones, 0, sizeof bones);
        for (int p = 0; p < PLAYERS; p++) {
            struct hs_player_frame *entry = &players[p];
            at[p] = hs_vec_add_scaled(at[p], velocity[p], 1.0 / 32);
            entry->player = (struct hs_str){names[p], strlen(names[p])};
            entry->position = at[p];
            entry->fields = HS_FIELD_ROTATION;
            entry->stance = p % 3 == 1 && f % 7 == 0 ? HS_STR("crouch") : HS_STR("stand");
            entry->team = p % 2 == 0 ? HS_STR("red") : HS_STR("blue");
            random_rotation(random, entry->rotation);
            if (p % 4 != 3)
                continue;
            entry->fields |= HS_FIELD_BONES;
            entry->bones = bones[p];
            entry->bone_count = 2;
            draw_bones(random, f, at[p], bones[p]);
        }
        struct hs_frame frame = {
            .time_us = f * INT64_C(31250), .players = players, .player_count = PLAYERS};
        enum hs_frame_result results[PLAYERS];
        unsigned flags = 0;
        if (!hs_match_post_frame(match, &frame, results, &flags))
            must(NULL);
        for (int p = 0; p < PLAYERS; p++)
            mix(out, (uint64_t)results[p]);
    }
}

static void judge(struct hs_random *random, const struct hs_match *match, char names[][8],
                  struct hs_golden *out)
{
    static const char *const weapons[] = {"rifle", "knife", "bow"};
    const int64_t now_us = (FRAMES - 1) * INT64_C(31250);
    struct hs_hit_result *result = must(malloc(sizeof *result));
    for (int i = 0; i < CLAIMS; i++) {
        int shooter = hs_random_index(random, PLAYERS);
        int target = hs_random_index(random, PLAYERS);
        const char *weapon = weapons[i % 3];
        struct hs_player_info from = {0}, to = {0};
        struct hs_hit_claim claim = {.shot = (uint64_t)i};
        claim.shooter = (struct hs_str){names[shooter], strlen(names[shooter])};
        claim.target = (struct hs_str){names[target], strlen(names[target])};
        claim.weapon = (struct hs_str){weapon, strlen(weapon)};
        claim.hit_time_us = now_us - (int64_t)hs_random_between(random, -60000, 280000);
        hs_match_find_player(match, claim.shooter, &from);
        hs_match_find_player(match, claim.target, &to);
        claim.start = hs_vec_add(from.position, (struct hs_vec){0, 0, 1.6});
        double aside = hs_random_between(random, -0.6, 0.6);
        double height = hs_random_between(random, 0.2, 1.8);
        claim.end = hs_vec_add(to.position, (struct hs_vec){aside, -aside, height});
        hs_hit_verify(match, &claim, now_us, result);
        mix_result(out, result);
    }
    free(result);
}

static const struct hs_golden nothing = {.hash = UINT64_C(14695981039346656037)};

static void play_match(const void *rules, size_t index, struct hs_golden *out)
{
    static const struct hs_match_limits limits = {.players = PLAYERS, .samples = 64, .movers = 1};
    struct hs_random random = hs_random_start(20240229, index);
    struct hs_match *match = must(hs_match_create(rules, &limits));
    char names[PLAYERS][8];
    for (int p = 0; p < PLAYERS; p++)
        snprintf(names[p], sizeof names[p], "p%d", p);
    post_frames(&random, match, names, out);
    judge(&random, match, names, out);
    hs_match_destroy(match);
}

/* ---- scenarios ---- */

struct suite {
    struct hs_all_scenarios scenarios;
    pthread_mutex_t *lock; /* held while a plan is made or freed, because plans count references to
                              the documents of the files */
};

static void mix_move(struct hs_golden *golden, const struct hs_move_result *r)
{
    mix_text(golden, hs_move_reason_name(r->reason));
    mix(golden, (uint64_t)r->delta_us);
    mix(golden, (uint64_t)r->position);
    for (uint16_t i = 0; i < r->failure_count; i++) {
        const struct hs_move_failure *failure = &r->failures[i];
        mix_text(golden, hs_move_reason_name((enum hs_move_reason)failure->reason));
        mix_number(golden, failure->measured);
        mix_number(golden, failure->limit);
    }
}

static void mix_item(void *context, const struct hs_offline_item *item)
{
    struct hs_golden *out = context;
    mix(out, (uint64_t)item->kind);
    switch (item->kind) {
    case HS_OFFLINE_SAMPLE:
        mix_text(out, hs_frame_result_name(item->sample));
        break;
    case HS_OFFLINE_FRAMES:
        mix(out, item->flags);
        mix(out, item->needs_resync);
        break;
    case HS_OFFLINE_SHOT:
    case HS_OFFLINE_HIT:
        mix(out, item->replay_of);
        mix(out, (uint64_t)item->forward_us);
        if (item->result != NULL)
            mix_result(out, item->result);
        break;
    case HS_OFFLINE_MOVE:
        mix_move(out, item->move);
        break;
    case HS_OFFLINE_PROBLEM:
        out->problems++;
        mix_text(out, hs_problem_name(item->problem->code));
        mix(out, item->problem->count);
        break;
    }
}

static void play_scenario(const void *context, size_t index, struct hs_golden *out)
{
    const struct suite *suite = context;
    const struct hs_one_scenario *one = &suite->scenarios.items[index / HS_REFERENCES];
    char error[HS_SCENARIO_ERROR_MAX];
    pthread_mutex_lock(suite->lock);
    struct hs_scenario_plan *plan = hs_scenario_plan_create(
        one->file, one->index, &hs_references[index % HS_REFERENCES], "golden", error);
    pthread_mutex_unlock(suite->lock);
    struct hs_offline *offline = hs_offline_create(mix_item, out);
    out->unknown += plan == NULL || !hs_offline_play(offline, plan);
    hs_offline_destroy(offline);
    pthread_mutex_lock(suite->lock);
    hs_scenario_plan_destroy(plan);
    pthread_mutex_unlock(suite->lock);
}

/* ---- many at the same time ---- */

typedef void play_one(const void *context, size_t index, struct hs_golden *out);

struct work {
    play_one *play;
    const void *context;
    size_t first, count, step;
    struct hs_golden *each; /* one for each match or scenario */
};

static void *work_off(void *argument)
{
    const struct work *work = argument;
    for (size_t i = work->first; i < work->count; i += work->step) {
        work->each[i] = nothing;
        work->play(work->context, i, &work->each[i]);
    }
    return NULL;
}

/* Plays all matches or scenarios, each with its own hash. The total hash is over these hashes, in
   order. */
static void play_all(play_one *play, const void *context, size_t count, int threads,
                     struct hs_golden *out)
{
    pthread_t ids[MAX_THREADS];
    struct work works[MAX_THREADS];
    struct hs_golden *each = must(calloc(count + 1, sizeof *each));
    for (int t = 0; t < threads; t++) {
        works[t] = (struct work){play, context, (size_t)t, count, (size_t)threads, each};
        if (pthread_create(&ids[t], NULL, work_off, &works[t]) != 0)
            must(NULL);
    }
    for (int t = 0; t < threads; t++)
        pthread_join(ids[t], NULL);
    *out = nothing;
    out->played = count;
    for (size_t i = 0; i < count; i++) {
        mix(out, each[i].hash);
        out->verdicts += each[i].verdicts;
        out->problems += each[i].problems;
        out->unknown += each[i].unknown;
        for (int r = 0; r < HS_REASON_COUNT; r++)
            out->reasons[r] += each[i].reasons[r];
    }
    free(each);
}

void hs_golden_matches(int threads, struct hs_golden *out)
{
    struct hs_ruleset *rules = must(hs_ruleset_create_builtin(&hs_builtin_rulesets[1]));
    rules->hit.origin_tolerance = 3;
    rules->rewind.limit_us = 250000; /* short, so that some claims are beyond it */
    hs_ruleset_finish(rules);
    for (int i = 0; i < rules->weapon_count; i++)
        rules->weapons[i]->require_shot = false; /* the matches post no shots */
    play_all(play_match, rules, MATCHES, threads, out);
    out->is_loaded = true;
    hs_ruleset_destroy(rules);
}

void hs_golden_scenarios(int threads, struct hs_golden *out)
{
    static struct suite suite;
    pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    suite.lock = &lock;
    json_object_seed(1); /* call it before threads exist */
    bool is_loaded = hs_all_scenarios_load(&suite.scenarios);
    if (is_loaded)
        play_all(play_scenario, &suite, suite.scenarios.count * HS_REFERENCES, threads, out);
    else
        *out = nothing;
    out->is_loaded = is_loaded;
    hs_all_scenarios_free(&suite.scenarios);
}
