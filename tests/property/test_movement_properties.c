/*
 * Properties of movement in any game. Players walk as in common engines: they accelerate, brake and
 * turn by friction, walk on slopes and stairs, jump, fall off edges, bump into walls and slide down
 * steep slopes. A connection delays, groups and loses their moves. Each move has the time that the
 * timing check grants.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/clock/movement.h"
#include "validators/clock/timing.h"
#include "validators/ruleset.h"

#define DEFAULT_SEED  20250411
#define DEFAULT_CASES 600
#define SECONDS       30.0
#define MOST_STEPS    5000
#define METRES        1

enum { WALKING, FALLING };
enum cheat { HONEST, FAST, HOVER, CLIMB, BLINK, CHEATS };

/* ---- a body as an engine moves it (in metres) ---- */

#define MAX_SPEED 6.0
#define ACCEL     20.48
#define FRICTION  8.0
#define GRAVITY   9.8
#define SUBSTEP   (1.0 / 120)

struct body {
    struct hs_vec position, velocity;
    /* wished speed, used if `wishes`; rate at which the mouse turns the view, in rad/s */
    double wish, turning;
    double slope, ground, decide_s, air_control;
    bool wishes, is_falling, is_sliding;
};

static void decide(struct hs_random *random, struct body *body)
{
    body->decide_s = hs_random_between(random, 0.05, 1.2);
    body->wishes = hs_random_chance(random, 0.85);
    body->wish = hs_random_between(random, -3.14, 3.14);
    body->turning = hs_random_chance(random, 0.3) ? hs_random_between(random, -9, 9) : 0;
    if (body->is_falling) {
        if (hs_random_chance(random, 0.1))
            body->velocity.z = fmin(body->velocity.z, 0); /* the ceiling */
        if (hs_random_chance(random, 0.1))
            body->is_sliding = true;
        return;
    }
    body->slope = hs_random_chance(random, 0.5) ? 0 : hs_random_between(random, -1, 1);
    if (hs_random_chance(random, 0.1))
        body->velocity = (struct hs_vec){0, 0, 0}; /* a wall */
    if (hs_random_chance(random, 0.35)) {
        bool jumps = hs_random_chance(random, 0.7);
        body->is_falling = true;
        body->velocity.z = jumps ? 4.2 : 0;
        body->ground = body->position.z + (jumps ? hs_random_between(random, -3, 0.8)
                                                 : hs_random_between(random, -60, -0.1));
    }
}

/*
 * Changes the velocity as common engines do: friction slows the body, and the input accelerates it
 * in the wished direction, up to the limit.
 */
static void walk(struct body *body, double max_speed, double dt)
{
    struct hs_vec v = {body->velocity.x, body->velocity.y, 0};
    double speed = hs_vec_length(v);
    if (!body->wishes) {
        double less = fmax(0, speed - (ACCEL + FRICTION * speed) * dt);
        v = speed > 0 ? hs_vec_scale(v, less / speed) : v;
    } else {
        struct hs_vec wish = {cos(body->wish), sin(body->wish), 0};
        struct hs_vec aligned = hs_vec_scale(wish, speed);
        v = hs_vec_lerp(v, aligned, fmin(FRICTION * dt, 1));
        double most = fmax(max_speed, hs_vec_length(v));
        v = hs_vec_add_scaled(v, wish, ACCEL * max_speed / MAX_SPEED * dt);
        speed = hs_vec_length(v);
        v = speed > fmin(most, max_speed) ? hs_vec_scale(v, fmin(most, max_speed) / speed) : v;
    }
    body->velocity = v;
    body->position = hs_vec_add_scaled(body->position, v, dt);
    body->position.z += body->slope * hs_vec_length(v) * dt;
}

static void fall(struct body *body, double dt)
{
    double g = body->is_sliding && body->velocity.z < 0 ? GRAVITY * 0.5 : GRAVITY;
    struct hs_vec *v = &body->velocity;
    if (body->wishes) {
        v->x += cos(body->wish) * ACCEL * body->air_control * dt;
        v->y += sin(body->wish) * ACCEL * body->air_control * dt;
        double speed = hypot(v->x, v->y);
        double scale = speed > MAX_SPEED ? MAX_SPEED / speed : 1;
        v->x *= scale;
        v->y *= scale;
    }
    v->z = fmax(v->z - g * dt, -40);
    body->position = hs_vec_add_scaled(body->position, *v, dt);
    body->position.z += g * dt * dt / 2;
    if (v->z < 0 && body->position.z <= body->ground) {
        body->position.z = body->ground;
        v->z = 0;
        body->is_falling = body->is_sliding = false;
    }
}

static void simulate(struct hs_random *random, struct body *body, enum cheat cheat, double seconds)
{
    while (seconds > 0) {
        double dt = fmin(seconds, SUBSTEP);
        seconds -= dt;
        body->decide_s -= dt;
        body->wish += body->turning * dt;
        if (cheat == FAST) {
            walk(body, MAX_SPEED * 1.3, dt);
        } else if (cheat == HOVER || cheat == CLIMB) {
            body->position.x += 4 * dt;
            body->position.z += cheat == CLIMB ? 3 * dt : 0;
        } else if (body->is_falling) {
            fall(body, dt);
        } else {
            walk(body, MAX_SPEED, dt);
        }
        if (cheat == HONEST && body->decide_s < 0)
            decide(random, body);
    }
}

/* ---- a session: the moves after the connection and the timing check ---- */

struct line {
    double frame_s, tick_s, delay_s, jitter_s, loss, stall;
    double hitch;   /* probability that a frame takes long */
    double until_s; /* arrivals are delayed until this time */
    double arrived_s, lost_until_s;
    bool rounds;
};

struct session {
    struct hs_movement_step steps[MOST_STEPS];
    double made_s[MOST_STEPS]; /* when the client made the move */
    int count;
    double cheats_s; /* time of the first cheat; HUGE_VAL: none */
};

static struct line draw_line(struct hs_random *random)
{
    static const double ticks[] = {1.0 / 20, 1.0 / 30, 1.0 / 60, 1.0 / 128};
    return (struct line){
        .frame_s = 1 / hs_random_between(random, 30, 144),
        .tick_s = ticks[hs_random_index(random, 4)],
        .delay_s = hs_random_between(random, 0.005, 0.1),
        .jitter_s = hs_random_chance(random, 0.5) ? 0 : hs_random_between(random, 0, 0.02),
        .loss = hs_random_chance(random, 0.5) ? 0 : 0.02,
        .stall = hs_random_chance(random, 0.5) ? 0 : 0.002,
        .hitch = hs_random_chance(random, 0.5) ? 0 : 0.001,
        .rounds = hs_random_chance(random, 0.3),
    };
}

/* Returns the time of the server tick at which a packet that is sent now arrives, or a negative
   number if it is lost. Packets keep their order. */
static double arrival(struct hs_random *random, struct line *line, double now_s, bool may_be_cut)
{
    double delay = line->delay_s - line->jitter_s * log(1 - hs_random_unit(random));
    if (hs_random_chance(random, line->stall))
        line->until_s = now_s + hs_random_between(random, 0.05, 0.5);
    if (may_be_cut && hs_random_chance(random, line->stall / 4))
        line->lost_until_s = now_s + hs_random_between(random, 0.2, 2);
    if (now_s < line->lost_until_s || hs_random_chance(random, line->loss))
        return -1;
    double at = fmax(fmax(now_s, line->until_s) + delay, line->arrived_s);
    line->arrived_s = at;
    return ceil(at / line->tick_s) * line->tick_s;
}

static double rounded(double value)
{
    return round(value * 100) / 100;
}

static void add_step(struct session *session, const struct line *line, const struct body *body,
                     const struct hs_timing_result *granted, double client_us, int64_t received_us,
                     bool claims)
{
    struct hs_vec p = body->position;
    if (line->rounds)
        p = (struct hs_vec){rounded(p.x), rounded(p.y), rounded(p.z)};
    session->steps[session->count++] =
        (struct hs_movement_step){.position = p,
                                  .velocity = body->velocity,
                                  .has_velocity = claims,
                                  .up = {0, 0, 1},
                                  .mode = body->is_falling ? FALLING : WALKING,
                                  .delta_us = granted->delta_us,
                                  .client_us = client_us,
                                  .dilation = 1,
                                  .jump_speed = 200,
                                  .received_us = received_us,
                                  .rtt_us = (int64_t)(2e6 * line->delay_s)};
}

static void begin_cheating(struct body *body, enum cheat cheat)
{
    body->wish = 0;
    body->wishes = true;
    body->turning = body->slope = 0;
    body->is_falling = cheat == HOVER || cheat == CLIMB;
    body->velocity = (struct hs_vec){4, 0, 0};
    if (cheat == BLINK)
        body->position.y += 100;
}

static void play(struct hs_random *random, const struct hs_moves_rules *rules, enum cheat cheat,
                 struct session *out)
{
    struct line line = draw_line(random);
    struct body body = {.air_control = hs_random_between(random, 0, 0.35)};
    struct hs_timing timing = {0};
    bool claims = hs_random_chance(random, 0.5);
    double skew = 1 + hs_random_between(random, -1e-4, 1e-4), now_s = 1;
    int64_t last_made_us = 0;
    out->count = 0;
    out->cheats_s = cheat == HONEST ? HUGE_VAL : hs_random_between(random, 5, SECONDS - 5);
    while (now_s < SECONDS && out->count < MOST_STEPS) {
        double dt = line.frame_s * hs_random_between(random, 0.8, 1.2);
        if (now_s < out->cheats_s - 2 && hs_random_chance(random, line.hitch))
            dt += hs_random_between(random, 0.05, 0.3);
        bool begins = now_s < out->cheats_s && now_s + dt >= out->cheats_s;
        now_s += dt;
        if (begins)
            begin_cheating(&body, cheat);
        bool cheats = now_s >= out->cheats_s && cheat != BLINK;
        simulate(random, &body, cheats ? cheat : HONEST, dt);
        double at = arrival(random, &line, now_s, cheat == HONEST);
        if (at < 0)
            continue;
        struct hs_timing_move move = {.timestamp_us = (int64_t)(now_s * skew * 1e6),
                                      .received_us = (int64_t)(at * 1e6),
                                      .dilation = 1};
        struct hs_timing_result granted;
        hs_timing_check(&timing, rules, &move, &granted);
        if (granted.reason != HS_MOVE_OK)
            continue;
        double client_us = out->count == 0 ? 0 : (double)(move.timestamp_us - last_made_us);
        last_made_us = move.timestamp_us;
        out->made_s[out->count] = now_s;
        add_step(out, &line, &body, &granted, client_us, move.received_us, claims);
    }
}

/* ---- outcomes ---- */

enum { TELEPORT = 1, SPEED = 2, ACCELERATION = 4, FELL = 8 };

static unsigned char outcome_of(const struct hs_movement_result *result)
{
    return (unsigned char)((result->teleport.failed ? TELEPORT : 0) |
                           (result->speed.failed ? SPEED : 0) |
                           (result->acceleration.failed ? ACCELERATION : 0) |
                           (result->gravity.failed ? FELL : 0));
}

static void judge_all(const struct hs_moves_rules *rules, const struct session *session,
                      unsigned char *outcomes)
{
    struct hs_movement movement = {0};
    for (int i = 0; i < session->count; i++) {
        struct hs_movement_result result;
        hs_movement_check(&movement, rules, &session->steps[i], &result);
        outcomes[i] = outcome_of(&result);
    }
}

static struct hs_ruleset *metres, *centimetres;
static struct session session, changed;
static unsigned char outcomes[MOST_STEPS], others[MOST_STEPS];
static uint64_t seed;
static long cases;

static void set_up(void)
{
    centimetres = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    metres = hs_ruleset_create_builtin(&hs_builtin_rulesets[METRES]);
    ck_assert(metres != NULL && centimetres != NULL);
    ck_assert_int_eq(hs_ruleset_find_move_mode(metres, HS_STR("walking")), WALKING);
    ck_assert_int_eq(hs_ruleset_find_move_mode(metres, HS_STR("falling")), FALLING);
}

static void tear_down(void)
{
    hs_ruleset_destroy(metres);
    hs_ruleset_destroy(centimetres);
}

START_TEST(honest_players_never_fail)
{
    double hours = 0;
    int falling = 0, walking = 0;
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)i);
        play(&random, &metres->moves, HONEST, &session);
        judge_all(&metres->moves, &session, outcomes);
        hours += SECONDS / 3600;
        for (int k = 0; k < session.count; k++) {
            *(session.steps[k].mode == FALLING ? &falling : &walking) += 1;
            ck_assert_msg(outcomes[k] == 0, "seed %llu session %ld move %d at %.3f s: %d",
                          (unsigned long long)seed, i, k, session.made_s[k], outcomes[k]);
        }
    }
    printf("movement: %.1f h of honest play, %d moves on the ground, %d in the air\n", hours,
           walking, falling);
    ck_assert_int_gt(walking, falling / 4);
    ck_assert_int_gt(falling, walking / 20);
}
END_TEST

/* Returns the seconds from the first cheated move to its detection, or HUGE_VAL if it was not
   detected. */
static double found_after(unsigned bit)
{
    for (int k = 0; k < session.count; k++)
        if (session.made_s[k] >= session.cheats_s && (outcomes[k] & bit) != 0)
            return session.made_s[k] - session.cheats_s;
    return HUGE_VAL;
}

static const struct {
    enum cheat cheat;
    unsigned finds;
    double within_s;
} cheats[] = {{FAST, SPEED, 2}, {HOVER, FELL, 1}, {CLIMB, FELL, 1.5}, {BLINK, TELEPORT, 0.6}};

START_TEST(cheats_are_found_in_time)
{
    double worst = 0;
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)i);
        play(&random, &metres->moves, cheats[_i].cheat, &session);
        judge_all(&metres->moves, &session, outcomes);
        double after = found_after(cheats[_i].finds);
        worst = fmax(worst, after);
        ck_assert_msg(after <= cheats[_i].within_s, "seed %llu session %ld: after %.3f s",
                      (unsigned long long)seed, i, after);
    }
    printf("movement: cheat %d found after at most %.3f s\n", (int)cheats[_i].cheat, worst);
}
END_TEST

/* ---- invariance ---- */

enum change { MOVED, TURNED, LATER, SCALED, CHANGES };

static struct hs_vec turned(struct hs_vec v)
{
    return (struct hs_vec){v.x, v.z, -v.y};
}

static void change(struct hs_random *random, enum change what)
{
    struct hs_vec by = hs_vec_scale(hs_random_direction(random), 1e6);
    int64_t later_us = INT64_C(86400000000) * (1 + hs_random_index(random, 3000));
    changed = session;
    for (int k = 0; k < changed.count; k++) {
        struct hs_movement_step *step = &changed.steps[k];
        if (what == MOVED)
            step->position = hs_vec_add(step->position, by);
        if (what == LATER)
            step->received_us += later_us;
        if (what == TURNED) {
            step->position = turned(step->position);
            step->velocity = turned(step->velocity);
            step->up = turned(step->up);
        }
        if (what == SCALED) {
            step->position = hs_vec_scale(step->position, 100);
            step->velocity = hs_vec_scale(step->velocity, 100);
            step->jump_speed *= 100;
        }
    }
}

/* Returns whether a case is at the edge of a limit, where rounding may decide it: a tiny change of
   the limits changes the result. */
static bool is_on_an_edge(void)
{
    struct hs_moves_rules rules = metres->moves;
    for (int side = -1; side <= 1; side += 2) {
        for (int i = 0; i < rules.mode_count; i++) {
            const struct hs_move_mode *mode = &metres->moves.modes[i];
            rules.modes[i].max_speed = mode->max_speed * (1 + side * 1e-6);
            rules.modes[i].max_accel = mode->max_accel * (1 + side * 1e-6);
            rules.modes[i].gravity = mode->gravity * (1 + side * 1e-6);
        }
        judge_all(&rules, &session, others);
        if (memcmp(outcomes, others, (size_t)session.count) != 0)
            return true;
    }
    return false;
}

START_TEST(place_time_and_unit_change_nothing)
{
    long edges = 0, findings = 0;
    for (long i = 0; i < cases; i++) {
        struct hs_random random = hs_random_start(seed, (uint64_t)(cases + i));
        play(&random, &metres->moves, (enum cheat)(i % CHEATS), &session);
        judge_all(&metres->moves, &session, outcomes);
        for (int k = 0; k < session.count; k++)
            findings += outcomes[k] != 0;
        for (int what = 0; what < CHANGES; what++) {
            change(&random, (enum change)what);
            judge_all(what == SCALED ? &centimetres->moves : &metres->moves, &changed, others);
            if (memcmp(outcomes, others, (size_t)session.count) == 0)
                continue;
            ck_assert_msg(what != LATER && is_on_an_edge(), "seed %llu session %ld change %d",
                          (unsigned long long)seed, i, what);
            edges++;
        }
    }
    printf("movement: %ld findings equal at every place and time, %ld sessions at the edge of a "
           "limit\n",
           findings, edges);
    ck_assert_int_le(edges, cases * CHANGES / 100);
    ck_assert_int_gt(findings, cases / 2);
}
END_TEST

int main(void)
{
    seed = hs_test_seed(DEFAULT_SEED);
    cases = hs_test_count("HS_PROPERTY_CASES", DEFAULT_CASES);
    printf("movement properties: HS_SEED=%llu\n", (unsigned long long)seed);
    fflush(stdout);
    Suite *suite = suite_create("movement properties");
    TCase *all = tcase_create("all");
    tcase_add_checked_fixture(all, set_up, tear_down);
    tcase_set_timeout(all, 120);
    tcase_add_test(all, honest_players_never_fail);
    tcase_add_loop_test(all, cheats_are_found_in_time, 0, (int)(sizeof cheats / sizeof *cheats));
    tcase_add_test(all, place_time_and_unit_change_nothing);
    suite_add_tcase(suite, all);
    return hs_run_suite(suite);
}
