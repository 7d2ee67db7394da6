/*
 * The checks of moves in the world (`path`, `ground` and `base`) do not refuse honest players.
 * Simulated bodies (upright boxes that walk, step, crouch, jump, fall and ride) move on two maps.
 * One is the demo's arena. The other is a course with stairs, ramps, low edges, crates, a jump pad,
 * a piston and a sliding door. Clients see movers late. Their moves arrive late, in bunches, or not
 * at all.
 *
 * Bodies that walk through walls or above the ground are flagged. HS_WALK_HOURS is the number of
 * simulated hours.
 */
#include <check.h>
#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "cli/simulate/arena.h"
#include "tests/support/oracle/world_cases.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/match.h"
#include "validators/moves.h"

#define DEFAULT_SEED  20261123
#define DEFAULT_HOURS 1
#define HALF_WIDTH    0.35
#define STANDING      1.8
#define CROUCHING     0.9
#define STEP_UP       0.4
#define RUN           5.6
#define GRAVITY       9.8
#define JUMP          4.2
#define PAD_JUMP      8.0
#define SUBSTEP       (1.0 / 240)
#define FRAME_S       0.05
#define SESSION_S     120.0
#define START_S       1000.0

enum kind { HONEST, GHOST, HOVERER };

/* ---- maps ---- */

/* A box, or a ramp that rises from min.z at min.x to max.z at max.x. */
struct solid {
    struct hs_vec min, max;
    bool is_ramp;
};

enum { SOLIDS = 64, MOVERS = 2, PISTON = 0, DOOR = 1 };

struct course {
    struct solid solids[SOLIDS];
    int count;
    bool has_movers;
    double half; /* players start at most this far from the origin */
    struct hs_vec pad_min, pad_max;
    struct hs_world *world;
};

static void add(struct course *course, struct hs_vec min, struct hs_vec max, bool is_ramp)
{
    ck_assert_int_lt(course->count, SOLIDS);
    course->solids[course->count++] = (struct solid){min, max, is_ramp};
}

static void add_box(struct course *course, double x0, double y0, double z0, double x1, double y1,
                    double z1)
{
    add(course, (struct hs_vec){x0, y0, z0}, (struct hs_vec){x1, y1, z1}, false);
}

static void add_wedge(struct hs_test_mesh *mesh, const struct solid *s)
{
    const double x[2] = {s->min.x, s->max.x}, y[2] = {s->min.y, s->max.y};
    uint32_t low[2], foot[2], top[2];
    for (int i = 0; i < 2; i++) {
        low[i] = hs_test_mesh_vertex(mesh, x[0], y[i], s->min.z);
        foot[i] = hs_test_mesh_vertex(mesh, x[1], y[i], s->min.z);
        top[i] = hs_test_mesh_vertex(mesh, x[1], y[i], s->max.z);
        hs_test_mesh_triangle(mesh, low[i], foot[i], top[i]);
    }
    hs_test_mesh_triangle(mesh, low[0], top[0], top[1]);
    hs_test_mesh_triangle(mesh, low[0], top[1], low[1]);
    hs_test_mesh_triangle(mesh, foot[0], foot[1], top[1]);
    hs_test_mesh_triangle(mesh, foot[0], top[1], top[0]);
}

/* Builds the world. Every second box becomes triangles. */
static void build(struct course *course)
{
    struct hs_test_mesh mesh = {0};
    for (int i = 0; i < course->count; i++) {
        const struct solid *s = &course->solids[i];
        if (s->is_ramp)
            add_wedge(&mesh, s);
        else if (i % 2 == 0)
            hs_test_mesh_box(&mesh, s->min, s->max);
        else
            hs_test_mesh_block(&mesh, s->min, s->max);
    }
    course->world = hs_world_create(&mesh.mesh, NULL, NULL);
    ck_assert_ptr_nonnull(course->world);
    hs_test_mesh_free(&mesh);
}

static void make_arena(struct course *course)
{
    struct hs_world_box walls[HS_SIM_WALLS];
    hs_sim_arena_walls(walls);
    *course = (struct course){.half = 19};
    add_box(course, -21, -21, -1, 21, 21, 0);
    for (int i = 0; i < HS_SIM_WALLS; i++)
        add(course, walls[i].min, walls[i].max, false);
    build(course);
}

static void make_obstacles(struct course *course)
{
    *course = (struct course){
        .half = 11, .has_movers = true, .pad_min = {-10, 6, 0}, .pad_max = {-8, 8, 0.1}};
    add_box(course, -13, -13, -1, 13, 13, 0);
    add_box(course, -13, -13, 0, -12, 13, 6);
    add_box(course, 12, -13, 0, 13, 13, 6);
    add_box(course, -13, -13, 0, 13, -12, 6);
    add_box(course, -13, 12, 0, 13, 13, 6);
    for (int i = 0; i < 8; i++) /* stairs up to a platform with a ledge */
        add_box(course, -11 + 0.3 * i, -11, 0, -7, -8, 0.3 * (i + 1));
    add(course, (struct hs_vec){-6, -11, 0}, (struct hs_vec){-2, -8, 2.4}, true);
    add_box(course, -2, -11, 0, 1, -8, 2.4);
    add(course, (struct hs_vec){3, -11, 0}, (struct hs_vec){5, -9, 2}, true); /* 45 degrees */
    add_box(course, 5, -11, 0, 7, -9, 2);
    add_box(course, 8, -11, 1.05, 11.5, -4, 2); /* low edges */
    add_box(course, 8, -3, 1.3, 11.5, 3, 1.5);
    for (int i = 0; i < 5; i++) /* crates and curbs */
        add_box(course, -5 + 2.2 * i, -5, 0, -4 + 2.2 * i, -4, 0.2 * (i + 1));
    add_box(course, -11, -6, 0, -9, 2, 0.3);
    add_box(course, -10, -5, 0.3, -9.5, 1, 0.7);
    for (int i = 0; i < 4; i++) /* pillars */
        add_box(course, -6 + 2 * i, 1, 0, -5.6 + 2 * i, 1.4, 4);
    add_box(course, -7, 4, 0, -1, 4.2, 3); /* a wall with a doorway from y = -1 to 0.2 */
    add_box(course, 0.2, 4, 0, 6, 4.2, 3);
    add_box(course, -1, 4, 2.2, 0.2, 4.2, 3);
    add_box(course, 5, 7, 0, 8, 11, 2.5); /* a block beside the piston */
    build(course);
}

/* ---- movers ---- */

static double swing(double time_s, double period_s, double still)
{
    double at = fmod(time_s, period_s) / period_s, share = at < 0.5 ? 2 * at : 2 - 2 * at;
    return fmin(1, fmax(0, (share - still) / (1 - 2 * still)));
}

/* The piston rises by 2.5 m from the floor. The door slides to the side. */
static struct solid mover_at(int mover, double time_s)
{
    double up = 2.5 * swing(time_s, 9, 0.25), aside = 1.2 * swing(time_s, 5, 0.3);
    if (mover == PISTON)
        return (struct solid){{2.6, 7, up - 5}, {5, 11, up}, false};
    return (struct solid){{-1 + aside, 4.05, 0}, {0.2 + aside, 4.15, 2.2}, false};
}

static struct hs_vec middle_of(const struct solid *s)
{
    return hs_vec_lerp(s->min, s->max, 0.5);
}

/* ---- a body ---- */

struct body {
    const struct course *course;
    struct solid movers[MOVERS]; /* as the client sees them */
    struct hs_vec at;            /* the place of the feet */
    double vx, vy, vz, wish, decide_s, height;
    bool is_falling, on_piston, wants_jump;
};

static bool is_over(const struct solid *s, double x, double y)
{
    return x + HALF_WIDTH > s->min.x && x - HALF_WIDTH < s->max.x && y + HALF_WIDTH > s->min.y &&
           y - HALF_WIDTH < s->max.y;
}

/* Returns the height of the highest surface below the body. */
static double top_of(const struct solid *s, double x)
{
    if (!s->is_ramp)
        return s->max.z;
    double share = (fmin(x + HALF_WIDTH, s->max.x) - s->min.x) / (s->max.x - s->min.x);
    return s->min.z + (s->max.z - s->min.z) * share;
}

static int solids_of(const struct body *body)
{
    return body->course->count + (body->course->has_movers ? MOVERS : 0);
}

static const struct solid *solid_at(const struct body *body, int i)
{
    int count = body->course->count;
    return i < count ? &body->course->solids[i] : &body->movers[i - count];
}

static bool is_free(const struct body *body, double x, double y, double z, double height)
{
    for (int i = 0; i < solids_of(body); i++) {
        const struct solid *s = solid_at(body, i);
        if (is_over(s, x, y) && z + 1e-9 < top_of(s, x) && z + height > s->min.z)
            return false;
    }
    return true;
}

/* Makes the body stand or crouch at this place. Returns false if there is not enough space. */
static bool fit(struct body *body, double x, double y, double z)
{
    double height = is_free(body, x, y, z, STANDING) ? STANDING : CROUCHING;
    if (height == CROUCHING && !is_free(body, x, y, z, CROUCHING))
        return false;
    body->height = height;
    body->at = (struct hs_vec){x, y, z};
    return true;
}

/* Returns the highest ground up to `highest`, or -DBL_MAX if there is no ground. */
static double ground_at(struct body *body, double x, double y, double highest)
{
    double best = -DBL_MAX;
    for (int i = 0; i < solids_of(body); i++) {
        const struct solid *s = solid_at(body, i);
        double top = is_over(s, x, y) ? top_of(s, x) : -DBL_MAX;
        if (top > highest + 1e-9 || top <= best)
            continue;
        best = top;
        body->on_piston = i == body->course->count + PISTON;
    }
    return best;
}

static bool walk_to(struct body *body, double x, double y)
{
    double z = body->at.z, ground = ground_at(body, x, y, z + STEP_UP);
    if (ground >= z - STEP_UP)
        return fit(body, x, y, ground);
    if (!fit(body, x, y, z))
        return false;
    body->is_falling = true;
    body->vz = 0;
    return true;
}

static void walk(struct body *body, double dx, double dy)
{
    struct hs_vec at = body->at;
    if (!walk_to(body, at.x + dx, at.y + dy) && !walk_to(body, at.x + dx, at.y) &&
        !walk_to(body, at.x, at.y + dy))
        walk_to(body, at.x, at.y);
}

static void fall(struct body *body, double dx, double dy)
{
    struct hs_vec at = body->at;
    if (!fit(body, at.x + dx, at.y + dy, at.z) && !fit(body, at.x + dx, at.y, at.z))
        fit(body, at.x, at.y + dy, at.z);
    at = body->at;
    body->vz -= GRAVITY * SUBSTEP;
    double z = at.z + body->vz * SUBSTEP, ground = ground_at(body, at.x, at.y, at.z + 0.05);
    if (body->vz <= 0 && z <= ground && fit(body, at.x, at.y, ground)) {
        body->is_falling = false;
        return;
    }
    body->on_piston = false;
    if (!fit(body, at.x, at.y, z))
        body->vz = fmin(body->vz, 0);
}

static void decide(struct body *body, struct hs_random *random)
{
    static const struct {
        double x, y;
    } goals[] = {{-11, -9.5}, {-7, -9.5}, {-6, -9.5}, {-1, -9.5}, {3, -10}, {6, -10},
                 {10, -6},    {10, 0},    {0, -4.5},  {-9, 7},    {3.8, 9}, {6.5, 9},
                 {-0.4, 3},   {-0.4, 5},  {-10, -2},  {-4, 1.2}};
    bool stays = hs_random_chance(random, body->on_piston ? 0.7 : 0.08);
    body->decide_s = hs_random_between(random, 0.1, 1.5);
    body->wish = stays ? (double)NAN : hs_random_between(random, -3.15, 3.15);
    body->wants_jump = !stays && hs_random_chance(random, 0.35);
    if (stays || hs_random_chance(random, 0.5))
        return;
    int goal = hs_random_index(random, sizeof goals / sizeof goals[0]);
    body->wish = atan2(goals[goal].y - body->at.y, goals[goal].x - body->at.x);
    body->decide_s *= 2;
}

static bool is_on_pad(const struct body *body)
{
    const struct hs_vec *low = &body->course->pad_min, *high = &body->course->pad_max;
    return body->at.x > low->x && body->at.x < high->x && body->at.y > low->y &&
           body->at.y < high->y && body->at.z < high->z;
}

static void live(struct body *body, struct hs_random *random, enum kind kind)
{
    body->decide_s -= SUBSTEP;
    if (body->decide_s < 0)
        decide(body, random);
    double speed = isnan(body->wish) ? 0 : RUN, angle = isnan(body->wish) ? 0 : body->wish;
    body->vx += (speed * cos(angle) - body->vx) * 12 * SUBSTEP;
    body->vy += (speed * sin(angle) - body->vy) * 12 * SUBSTEP;
    double dx = body->vx * SUBSTEP, dy = body->vy * SUBSTEP;
    if (kind != HONEST) {
        double half = body->course->half;
        body->at.x = fmin(half, fmax(-half, body->at.x + dx));
        body->at.y = fmin(half, fmax(-half, body->at.y + dy));
        return;
    }
    if (!body->is_falling && (body->wants_jump || is_on_pad(body)) && body->height == STANDING) {
        body->is_falling = true;
        body->on_piston = body->wants_jump = false;
        body->vz = is_on_pad(body) ? PAD_JUMP : JUMP;
    }
    if (body->is_falling)
        fall(body, dx, dy);
    else
        walk(body, dx, dy);
}

/* ---- a session ---- */

struct line {
    double up_s, down_s, interp_s, jitter_s, loss, hold_until_s, arrived_s, hz;
    bool uses_base, rounds;
};

struct session {
    struct hs_match *match;
    struct body body;
    struct hs_random random;
    struct line line;
    enum kind kind;
    double frames_s; /* frames are posted up to this time; in seconds */
    long moves, flags[HS_MOVE_CHECK_COUNT];
    /* counts of moves in each situation; `in_doorway` counts tries to walk through the doorway */
    long airborne, crouched, riding, high, in_doorway;
};

static void post_frames(struct session *session, double until_s)
{
    for (; session->frames_s <= until_s; session->frames_s += FRAME_S) {
        struct hs_mover_frame movers[MOVERS] = {{.mover = HS_STR("piston")},
                                                {.mover = HS_STR("door")}};
        for (int i = 0; i < MOVERS; i++) {
            struct solid s = mover_at(i, session->frames_s);
            movers[i].position = middle_of(&s);
            movers[i].half_extents = hs_vec_scale(hs_vec_sub(s.max, s.min), 0.5);
            movers[i].fields = HS_MOVER_BOX;
        }
        struct hs_player_frame player = {.player = HS_STR("S"), .position = {0, 0, 0}};
        player.fields = HS_FIELD_RTT | HS_FIELD_INTERP;
        player.rtt_us = (int32_t)((session->line.up_s + session->line.down_s) * 1e6);
        player.interp_us = (int32_t)(session->line.interp_s * 1e6);
        const struct hs_frame frame = {.time_us = (int64_t)(session->frames_s * 1e6 + 0.5),
                                       .players = &player,
                                       .player_count = 1,
                                       .movers = movers,
                                       .mover_count =
                                           session->body.course->has_movers ? MOVERS : 0};
        enum hs_frame_result results[1 + MOVERS];
        unsigned flags = 0;
        ck_assert(hs_match_post_frame(session->match, &frame, results, &flags));
    }
}

static double rounded(double value)
{
    return floor(value * 100 + 0.5) / 100;
}

static void report(const struct session *session, const struct hs_move *move,
                   const struct hs_move_failure *failure)
{
    if (session->kind == HONEST)
        printf("%s at %.3f: (%.3f, %.3f, %.3f) %.*s, measured %g, limit %g\n",
               hs_move_reason_name((enum hs_move_reason)failure->reason),
               (double)move->received_us / 1e6, move->position.x, move->position.y,
               move->position.z, (int)move->mode.len, move->mode.ptr, failure->measured,
               failure->limit);
}

static void note(struct session *session)
{
    const struct body *body = &session->body;
    session->moves++;
    session->airborne += body->is_falling;
    session->crouched += body->height < STANDING;
    session->riding += body->on_piston && !body->is_falling && body->at.z > 0.1;
    session->high += !body->is_falling && body->at.z > 1.9;
    session->in_doorway += fabs(body->at.x + 0.4) < 0.3 && fabs(body->at.y - 4.1) < 0.1;
}

/* Sends the client's move of this time, which may be lost. */
static void send(struct session *session, double time_s)
{
    struct line *line = &session->line;
    const struct body *body = &session->body;
    if (hs_random_chance(&session->random, 0.001))
        line->hold_until_s = time_s + hs_random_between(&session->random, 0.05, 0.3);
    double arrives_s = fmax(time_s + line->up_s + hs_random_unit(&session->random) * line->jitter_s,
                            fmax(line->hold_until_s, line->arrived_s));
    if (hs_random_chance(&session->random, line->loss))
        return;
    line->arrived_s = arrives_s;
    post_frames(session, arrives_s);
    struct hs_move move = {.player = HS_STR("S"),
                           .fields = HS_MOVE_HAS_POSITION,
                           .timestamp_us = (int64_t)((time_s - START_S + 1) * 1e6),
                           .received_us = (int64_t)(arrives_s * 1e6),
                           .dilation = 1,
                           .position = body->at,
                           .mode = body->is_falling ? HS_STR("falling") : HS_STR("walking")};
    if (line->uses_base && body->on_piston && !body->is_falling) {
        move.base = HS_STR("piston");
        move.position = hs_vec_sub(body->at, middle_of(&body->movers[PISTON]));
    }
    if (line->rounds)
        move.position = (struct hs_vec){rounded(move.position.x), rounded(move.position.y),
                                        rounded(move.position.z)};
    struct hs_move_result result;
    ck_assert(hs_match_check_move(session->match, &move, &result));
    note(session);
    for (uint16_t i = 0; i < result.failure_count; i++) {
        session->flags[result.failures[i].check]++;
        if (result.failures[i].check >= HS_MOVE_CHECK_PATH)
            report(session, &move, &result.failures[i]);
    }
}

static void start(struct session *session, const struct course *course)
{
    struct hs_random *random = &session->random;
    struct body *body = &session->body;
    session->line = (struct line){.up_s = hs_random_between(random, 0.01, 0.08),
                                  .down_s = hs_random_between(random, 0.01, 0.08),
                                  .interp_s = hs_random_between(random, 0, 0.1),
                                  .jitter_s = hs_random_between(random, 0, 0.03),
                                  .loss = hs_random_between(random, 0, 0.05),
                                  .hz = hs_random_chance(random, 0.5) ? 60 : 30,
                                  .uses_base = hs_random_chance(random, 0.5),
                                  .rounds = hs_random_chance(random, 0.5)};
    session->frames_s = START_S - 1;
    *body = (struct body){.course = course, .decide_s = 1};
    for (int i = 0; i < MOVERS; i++)
        body->movers[i] = mover_at(i, START_S);
    do {
        double x = hs_random_between(random, -course->half, course->half);
        double y = hs_random_between(random, -course->half, course->half);
        body->at.z = ground_at(body, x, y, 0.5);
        if (fit(body, x, y, body->at.z))
            break;
    } while (true);
    if (session->kind == HOVERER)
        body->at.z += 4;
}

/* Plays a session, and adds its flags to `total`. */
static void play(const struct hs_ruleset *ruleset, const struct course *course, enum kind kind,
                 uint64_t seed, uint64_t stream, struct session *total)
{
    const struct hs_match_limits limits = {.players = 2, .samples = 64, .movers = MOVERS};
    struct session session = {.kind = kind, .random = hs_random_start(seed, stream)};
    session.match = hs_match_create(ruleset, &limits);
    ck_assert_ptr_nonnull(session.match);
    hs_match_set_world(session.match, course->world);
    start(&session, course);
    const struct line *line = &session.line;
    double next_s = START_S;
    for (double time_s = START_S; time_s < START_S + SESSION_S; time_s += SUBSTEP) {
        for (int i = 0; i < MOVERS; i++)
            session.body.movers[i] = mover_at(i, time_s - line->down_s - line->interp_s);
        live(&session.body, &session.random, kind);
        if (time_s < next_s)
            continue;
        next_s += 1 / line->hz;
        send(&session, time_s);
    }
    total->moves += session.moves;
    total->airborne += session.airborne;
    total->crouched += session.crouched;
    total->riding += session.riding;
    total->high += session.high;
    total->in_doorway += session.in_doorway;
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        total->flags[i] += session.flags[i];
    hs_match_destroy(session.match);
}

static struct hs_ruleset *ruleset;
static struct course courses[2];

static void set_up(void)
{
    ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    ck_assert_ptr_nonnull(ruleset);
    make_arena(&courses[0]);
    make_obstacles(&courses[1]);
}

static void tear_down(void)
{
    for (int i = 0; i < 2; i++)
        hs_world_destroy(courses[i].world);
    hs_ruleset_destroy(ruleset);
}

START_TEST(honest_players_are_not_flagged)
{
    uint64_t seed = hs_test_seed(DEFAULT_SEED);
    long hours = hs_test_count("HS_WALK_HOURS", DEFAULT_HOURS);
    struct session total = {0};
    for (long i = 0; i < (long)((double)hours * 3600 / SESSION_S); i++)
        play(ruleset, &courses[i % 3 != 0], HONEST, seed, (uint64_t)i, &total);
    long flags = total.flags[HS_MOVE_CHECK_PATH] + total.flags[HS_MOVE_CHECK_GROUND] +
                 total.flags[HS_MOVE_CHECK_BASE];
    printf("%ld moves in %ld hours, seed %llu: path %ld, ground %ld, base %ld; teleport %ld, "
           "speed %ld\n",
           total.moves, hours, (unsigned long long)seed, total.flags[HS_MOVE_CHECK_PATH],
           total.flags[HS_MOVE_CHECK_GROUND], total.flags[HS_MOVE_CHECK_BASE],
           total.flags[HS_MOVE_CHECK_TELEPORT], total.flags[HS_MOVE_CHECK_SPEED]);
    printf("of these airborne %ld, crouched %ld, on the piston %ld, up high %ld, in the doorway "
           "%ld\n",
           total.airborne, total.crouched, total.riding, total.high, total.in_doorway);
    ck_assert_int_gt(total.airborne, 10000 * hours);
    ck_assert_int_gt(total.crouched, 3000 * hours);
    ck_assert_int_gt(total.riding, 100 * hours);
    ck_assert_int_gt(total.high, 300 * hours);
    ck_assert_int_gt(total.in_doorway, 80 * hours);
    ck_assert_int_le(flags, hours < 10 ? 1 : hours / 10);
}
END_TEST

START_TEST(walking_through_walls_or_on_air_is_found)
{
    for (int map = 0; map < 2; map++) {
        struct session ghosts = {0}, hoverers = {0};
        for (uint64_t i = 0; i < 10; i++) {
            play(ruleset, &courses[map], GHOST, 7, i, &ghosts);
            play(ruleset, &courses[map], HOVERER, 8, i, &hoverers);
        }
        printf("in 20 minutes each: %ld paths through walls, %ld times without ground\n",
               ghosts.flags[HS_MOVE_CHECK_PATH], hoverers.flags[HS_MOVE_CHECK_GROUND]);
        ck_assert_int_gt(ghosts.flags[HS_MOVE_CHECK_PATH], 200);
        ck_assert_int_gt(hoverers.flags[HS_MOVE_CHECK_GROUND], 2000);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("honest moves");
    TCase *tests = tcase_create("walks");
    tcase_set_timeout(tests, 600);
    tcase_add_unchecked_fixture(tests, set_up, tear_down);
    tcase_add_test(tests, honest_players_are_not_flagged);
    tcase_add_test(tests, walking_through_walls_or_on_air_is_found);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
