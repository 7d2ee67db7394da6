/*
 * Hints in a simulated match. Each integration mistake is named within 200 claims, and no other
 * mistake is named. A correct integration gets no hint, with or without cheaters. The match is
 * simulated in metres with z up. Each row gives a unit, axes and one mistake, and the match is
 * posted in this form.
 */
#include <check.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/hints.h"
#include "validators/hit.h"

enum { PLAYERS = 10, TICK_US = 33333, PAUSE_TICKS = 63, CLAIMS = 200, LATER = 600 };

#define DEFAULT_SEED 20261122
#define BIT(code)    (1u << HS_HINT_##code)

struct claim {
    struct hs_hit_claim hit;
    int64_t now_us;
};

/* One integration. The rows differ in the posted fields and in the mistakes. */
struct row {
    const char *name, *ruleset;
    double posted_cm; /* centimetres in one posted unit of length */
    bool is_y_up;     /* posted values have y up */
    const char *weapon;
    int cheaters;
    unsigned named; /* the hints that must be given */
    void (*frame)(struct hs_player_frame *entry);
    void (*claim)(struct claim *claim);
    double delay; /* seconds that a claim waits in a batch */
    double time_scale;
    double repaired_after; /* number of claims; 0: never */
};

struct game {
    const struct row *row;
    struct hs_random random;
    struct hs_ruleset *ruleset;
    struct hs_match *match;
    double phase[PLAYERS], rtt[PLAYERS], interp[PLAYERS];
    int claims, accepted, shot;
    struct hs_hit_result result;
};

static const char *const names[PLAYERS] = {"p0", "p1", "p2", "p3", "p4",
                                           "p5", "p6", "p7", "p8", "p9"};

static struct hs_str str(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

/* ---- the match ---- */

/* Players run at about 5 m/s. */
static struct hs_vec place(const struct game *game, int who, double time)
{
    double t = 0.4 * time + game->phase[who];
    return (struct hs_vec){14 * sin(t) + 3 * sin(2.3 * t + who), 11 * cos(0.9 * t + who), 0};
}

static struct hs_vec posted(const struct row *row, struct hs_vec v)
{
    struct hs_vec out = row->is_y_up ? (struct hs_vec){v.x, v.z, v.y} : v;
    return hs_vec_scale(out, 100 / row->posted_cm);
}

static int64_t time_us(const struct row *row, double time)
{
    return (int64_t)llround(time * 1e6 * (row->time_scale > 0 ? row->time_scale : 1));
}

static bool is_spoiled(const struct game *game)
{
    return game->row->repaired_after <= 0 || game->claims < game->row->repaired_after;
}

static void post_frame(struct game *game, double time, bool is_first)
{
    struct hs_player_frame entries[PLAYERS];
    enum hs_frame_result results[PLAYERS];
    unsigned flags = 0;
    for (int i = 0; i < PLAYERS; i++) {
        entries[i] = (struct hs_player_frame){.player = str(names[i]),
                                              .position = posted(game->row, place(game, i, time)),
                                              .fields = HS_FIELD_AIM,
                                              .aim = {1, 0, 0}};
        if (is_first) {
            entries[i].weapon = str(game->row->weapon);
            entries[i].fields |= HS_FIELD_RTT | HS_FIELD_INTERP;
            entries[i].rtt_us = (int32_t)lround(game->rtt[i] * 1e6);
            entries[i].interp_us = (int32_t)lround(game->interp[i] * 1e6);
        }
        if (game->row->frame != NULL && is_spoiled(game))
            game->row->frame(&entries[i]);
    }
    struct hs_frame frame = {time_us(game->row, time), entries, PLAYERS, NULL, 0};
    ck_assert(hs_match_post_frame(game->match, &frame, results, &flags));
}

static void cheat(struct game *game, int who, struct claim *claim)
{
    double high = 180 / game->row->posted_cm;
    if (who == 0)
        claim->hit.start.z += high;
    else
        claim->hit.hit_time_us -= (int64_t)hs_random_between(&game->random, 0, 300000);
    claim->hit.end.x += hs_random_between(&game->random, -1, 1) * high;
}

/* Returns the flight time of a rocket in seconds. The rocket was fired from the eye of a player who
   continued to run. */
static double flight_time(const struct game *game, int who, struct hs_vec body, double landed)
{
    uint16_t weapon = hs_ruleset_find_weapon(game->ruleset, str("rocket"));
    double speed = game->ruleset->weapons[weapon]->speed, flight = 0;
    for (int i = 0; i < 20; i++) {
        struct hs_vec eye = place(game, who, landed - flight);
        eye.z = 1.6;
        flight = hs_vec_distance(eye, body) / speed;
    }
    return flight;
}

static void shoot(struct game *game, int who, double now)
{
    const struct row *row = game->row;
    double fired = now - row->delay;
    double seen = fired - game->rtt[who] - game->interp[who];
    int target = (who + 1 + hs_random_index(&game->random, PLAYERS - 1)) % PLAYERS;
    struct hs_vec eye = place(game, who, fired), body = place(game, target, seen);
    eye.z = 1.6;
    body.z = hs_random_between(&game->random, 0.3, 1.65);
    bool flies = strcmp(row->weapon, "rocket") == 0;
    struct claim claim = {.hit = {.shot = (uint64_t)++game->shot,
                                  .shooter = str(names[who]),
                                  .target = str(names[target]),
                                  .hit_time_us = time_us(row, seen)},
                          .now_us = time_us(row, now)};
    if (flies) { /* launched such that it lands now */
        double flight = flight_time(game, who, body, seen);
        claim.hit.has_fire_time = true;
        claim.hit.fire_time_us = time_us(row, seen - flight);
        eye = place(game, who, seen - flight);
        eye.z = 1.6;
    }
    claim.hit.start = posted(row, eye);
    claim.hit.end = posted(row, body);
    if (who < row->cheaters)
        cheat(game, who, &claim);
    if (row->claim != NULL && is_spoiled(game))
        row->claim(&claim);
    hs_hit_verify(game->match, &claim.hit, claim.now_us, &game->result);
    ck_assert(game->result.replay == NULL);
    ck_assert(hs_hit_record(game->match, &claim.hit, &game->result, HS_STR("{}")));
    game->accepted += game->result.verdict == HS_VERDICT_ACCEPTED;
    game->claims++;
}

static void open_game(struct game *game, const struct row *row, uint64_t seed)
{
    *game = (struct game){.row = row, .random = hs_random_start(seed, 1)};
    for (int i = 0; i < HS_BUILTIN_RULESETS; i++)
        if (strcmp(hs_builtin_rulesets[i].name, row->ruleset) == 0)
            game->ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[i]);
    ck_assert_ptr_nonnull(game->ruleset);
    /* Players aim anywhere and post no shots, because the hints are about other data. */
    game->ruleset->checks[HS_CHECK_AIM] = HS_MODE_SHADOW;
    for (int i = 0; i < game->ruleset->weapon_count; i++)
        game->ruleset->weapons[i]->require_shot = false;
    game->match = hs_match_create(game->ruleset,
                                  &(struct hs_match_limits){.players = PLAYERS, .samples = 64});
    ck_assert_ptr_nonnull(game->match);
    for (int i = 0; i < PLAYERS; i++) {
        game->phase[i] = hs_random_between(&game->random, 0, 6);
        game->rtt[i] = hs_random_between(&game->random, 0.01, 0.12);
        game->interp[i] = 0.1;
    }
}

static void close_game(struct game *game)
{
    hs_match_destroy(game->match);
    hs_ruleset_destroy(game->ruleset);
}

/* Plays until this number of claims is verified. */
static void play(struct game *game, int claims, int *tick)
{
    for (; game->claims < claims; ++*tick) {
        double now = 5 + *tick * 1e-6 * TICK_US;
        post_frame(game, now, *tick == 0);
        for (int i = 0; i < PLAYERS; i++)
            if (*tick > 30 && (*tick + i * 6) % PAUSE_TICKS == 0)
                shoot(game, i, now);
    }
}

static void check_hints(const struct game *game, unsigned named)
{
    struct hs_hint hints[HS_HINTS_MAX];
    unsigned codes = 0;
    size_t count = hs_match_hints(game->match, hints);
    char text[HS_HINTS_MAX * (HS_HINT_TEXT + 32)] = "";
    for (size_t i = 0; i < count; i++) {
        codes |= 1u << hints[i].code;
        size_t len = strlen(text);
        snprintf(text + len, sizeof text - len, "\n  %s %u/%u: %s",
                 hs_hint_code_name(hints[i].code), hints[i].claims, hints[i].of, hints[i].detail);
        ck_assert_uint_ge(hints[i].of, 30);
    }
    if (getenv("HS_VERBOSE") != NULL)
        printf("%s, %d of %d accepted:%s\n", game->row->name, game->accepted, game->claims, text);
    ck_assert_uint_eq(codes, hs_match_hint_codes(game->match));
    ck_assert_msg(codes == named, "%s after %d claims:%s", game->row->name, game->claims, text);
}

/* ---- mistakes ---- */

static void claims_in_metres(struct claim *claim)
{
    claim->hit.start = hs_vec_scale(claim->hit.start, 0.01);
    claim->hit.end = hs_vec_scale(claim->hit.end, 0.01);
}

static struct hs_vec swapped(struct hs_vec v)
{
    return (struct hs_vec){v.x, v.z, v.y};
}

static void claims_with_y_up(struct claim *claim)
{
    claim->hit.start = swapped(claim->hit.start);
    claim->hit.end = swapped(claim->hit.end);
}

static void claims_mirrored(struct claim *claim)
{
    claim->hit.start.y = -claim->hit.start.y;
    claim->hit.end.y = -claim->hit.end.y;
}

static void claims_in_centimetres(struct claim *claim)
{
    claim->hit.start = hs_vec_scale(claim->hit.start, 100);
    claim->hit.end = hs_vec_scale(claim->hit.end, 100);
}

static void other_origin(struct claim *claim)
{
    claim->hit.start.x += 500;
    claim->hit.end.x += 500;
}

static void other_player(struct claim *claim)
{
    claim->hit.shooter = str(names[(claim->hit.shooter.ptr[1] - '0' + 1) % PLAYERS]);
}

static void own_eye(struct hs_player_frame *entry)
{
    entry->fields |= HS_FIELD_EYE;
    entry->eye = (struct hs_vec){0, 0, 1.6};
}

static void hit_time_in_ms(struct claim *claim)
{
    claim->hit.hit_time_us *= 1000;
}

static void times_in_ms(struct claim *claim)
{
    claim->hit.hit_time_us *= 1000;
    claim->now_us *= 1000;
}

static void hit_time_is_unix(struct claim *claim)
{
    claim->hit.hit_time_us += INT64_C(1700000000000000);
}

static void times_are_unix(struct claim *claim)
{
    claim->hit.hit_time_us += INT64_C(1700000000000000);
    claim->now_us += INT64_C(1700000000000000);
}

static void no_weapon(struct hs_player_frame *entry)
{
    entry->weapon = (struct hs_str){0};
}

static void no_rtt(struct hs_player_frame *entry)
{
    entry->fields &= ~(unsigned)HS_FIELD_RTT;
}

static void no_aim(struct hs_player_frame *entry)
{
    entry->fields &= ~(unsigned)HS_FIELD_AIM;
}

static void no_interp(struct hs_player_frame *entry)
{
    entry->fields &= ~(unsigned)HS_FIELD_INTERP;
}

static void rtt_in_ms(struct hs_player_frame *entry)
{
    entry->rtt_us = entry->rtt_us < 60000 ? entry->rtt_us * 1000 : 60000000;
}

static void interp_twice(struct claim *claim)
{
    claim->hit.hit_time_us -= 100000;
}

static void middle_of_the_body(struct hs_player_frame *entry)
{
    entry->position.z += 0.9;
}

static void middle_of_the_body_in_cm(struct hs_player_frame *entry)
{
    entry->position.z += 96;
}

static void start_at_the_feet(struct claim *claim)
{
    claim->hit.start.z = 0;
}

static void with_fire_time(struct claim *claim)
{
    claim->hit.has_fire_time = true;
    claim->hit.fire_time_us = claim->now_us - 80000;
}

static void posts_the_eye(struct hs_player_frame *entry)
{
    entry->fields |= HS_FIELD_EYE;
    entry->eye = hs_vec_add(entry->position, (struct hs_vec){0, 0, 1.6});
}

static void hit_time_too_early(struct claim *claim)
{
    claim->hit.hit_time_us -= 300000;
}

static void hit_time_is_arrival(struct claim *claim)
{
    claim->hit.hit_time_us = claim->now_us;
}

static void position_at_the_eye(struct hs_player_frame *entry)
{
    posts_the_eye(entry);
    entry->position.z += 1.6;
}

static void position_below_the_feet(struct hs_player_frame *entry)
{
    posts_the_eye(entry);
    entry->position.z -= 1.2;
}

/* ---- rows ---- */

static const struct row wrong[] = {
    {"metres under centimetres", "centimetres", 100, .named = BIT(UNIT_OF_RULESET)},
    {"centimetres under metres", "metres", 1, .named = BIT(UNIT_OF_RULESET)},
    {"inches under centimetres", "centimetres", 2.54, .named = BIT(UNIT_OF_RULESET)},
    {"inches under metres", "metres", 2.54, .named = BIT(UNIT_OF_RULESET)},
    {"centimetres under inches", "inches", 1, .named = BIT(UNIT_OF_RULESET)},
    {"metres under inches", "inches", 100, .named = BIT(UNIT_OF_RULESET)},
    {"metres with eyes, centimetres", "centimetres", 100, .frame = posts_the_eye,
     .named = BIT(UNIT_OF_RULESET)},
    {"claims in metres", "centimetres", 1, .claim = claims_in_metres, .named = BIT(UNIT_OF_CLAIMS)},
    {"frames in centimetres", "metres", 1, .claim = claims_in_metres, .named = BIT(UNIT_OF_CLAIMS)},
    {"frames in metres", "centimetres", 100, .claim = claims_in_centimetres,
     .named = BIT(UNIT_OF_CLAIMS)},
    {"frames with y up", "metres", 100, .is_y_up = true, .claim = claims_with_y_up,
     .named = BIT(AXES)},
    {"another origin", "metres", 100, .claim = other_origin, .named = BIT(EYE_HEIGHT)},
    {"eyes relative to the body", "metres", 100, .frame = own_eye, .named = BIT(EYE_HEIGHT)},
    {"another player", "metres", 100, .claim = other_player, .named = BIT(START)},
    {"claims with y up", "metres", 100, .claim = claims_with_y_up, .named = BIT(AXES)},
    {"claims mirrored", "metres", 100, .claim = claims_mirrored, .named = BIT(AXES)},
    {"y up under z up", "metres", 100, .is_y_up = true, .named = BIT(UP_AXIS)},
    {"z up under y up", "unity", 100, .named = BIT(UP_AXIS)},
    {"unity under centimetres", "centimetres", 100, .is_y_up = true,
     .named = BIT(UP_AXIS) | BIT(UNIT_OF_RULESET)},
    {"hit_time in milliseconds", "metres", 100, .claim = hit_time_in_ms,
     .named = BIT(MILLISECONDS)},
    {"hit_time and now in milliseconds", "metres", 100, .claim = times_in_ms,
     .named = BIT(MILLISECONDS)},
    {"all times in milliseconds", "metres", 100, .time_scale = 1000, .named = BIT(MILLISECONDS)},
    {"hit_time is Unix time", "metres", 100, .claim = hit_time_is_unix, .named = BIT(CLOCK)},
    {"claims in Unix time", "metres", 100, .claim = times_are_unix, .named = BIT(CLOCK)},
    {"batched without fire_time", "metres", 100, .delay = 0.3, .named = BIT(FIRE_TIME)},
    {"no weapon", "metres", 100, .frame = no_weapon, .named = BIT(WEAPON)},
    {"no rtt", "metres", 100, .frame = no_rtt, .named = BIT(RTT)},
    {"no aim", "metres", 100, .frame = no_aim, .named = BIT(AIM)},
    {"rtt in milliseconds", "metres", 100, .frame = rtt_in_ms, .named = BIT(RTT_UNIT)},
    {"interp twice", "metres", 100, .claim = interp_twice, .named = BIT(INTERP_TWICE)},
    {"hit_time too early", "metres", 100, .claim = hit_time_too_early, .named = BIT(HIT_TIME)},
    {"hit_time is the arrival", "metres", 100, .claim = hit_time_is_arrival,
     .named = BIT(HIT_TIME)},
    {"position at the eye", "metres", 100, .frame = position_at_the_eye,
     .named = BIT(TARGET_HEIGHT)},
    {"position below the feet", "metres", 100, .frame = position_below_the_feet,
     .named = BIT(TARGET_HEIGHT)},
    {"position in the middle", "metres", 100, .frame = middle_of_the_body,
     .named = BIT(EYE_HEIGHT)},
    {"position in the middle, cm", "unreal", 1, .frame = middle_of_the_body_in_cm,
     .named = BIT(EYE_HEIGHT)},
    {"start at the feet", "metres", 100, .claim = start_at_the_feet, .named = BIT(EYE_HEIGHT)},
};

static const struct row right[] = {
    {"metres", "metres", 100, .weapon = "rifle"},
    {"centimetres", "centimetres", 1, .weapon = "rifle"},
    {"inches", "inches", 2.54, .weapon = "rifle"},
    {"unity", "unity", 100, .is_y_up = true},
    {"rockets", "metres", 100, .weapon = "rocket"},
    {"fire_time", "metres", 100, .delay = 0.08, .claim = with_fire_time},
    {"eyes posted", "metres", 100, .frame = posts_the_eye},
    {"no interp", "metres", 100, .frame = no_interp},
    {"two cheaters", "metres", 100, .cheaters = 2},
    {"two cheaters in centimetres", "centimetres", 1, .cheaters = 2},
};

enum { WRONG = sizeof wrong / sizeof wrong[0], RIGHT = sizeof right / sizeof right[0], SEEDS = 6 };

static void play_row(const struct row *original, uint64_t seed, int claims, struct game *game)
{
    static struct row row;
    int tick = 0;
    row = *original;
    row.weapon = row.weapon != NULL ? row.weapon : "rifle";
    open_game(game, &row, seed);
    play(game, claims, &tick);
}

START_TEST(a_mistake_is_named)
{
    static struct game game;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        play_row(&wrong[_i], hs_test_seed(DEFAULT_SEED) + seed, CLAIMS, &game);
        check_hints(&game, wrong[_i].named);
        close_game(&game);
    }
}
END_TEST

/* Cheaters cannot hide a mistake that the claims of all other players show. */
START_TEST(a_mistake_is_named_among_cheaters)
{
    static struct game game;
    struct row row = wrong[_i];
    row.cheaters = 2;
    play_row(&row, hs_test_seed(DEFAULT_SEED), CLAIMS, &game);
    ck_assert_uint_eq(hs_match_hint_codes(game.match) & row.named, row.named);
    close_game(&game);
}
END_TEST

START_TEST(a_right_integration_gets_none)
{
    static struct game game;
    for (uint64_t seed = 0; seed < SEEDS; seed++) {
        play_row(&right[_i], hs_test_seed(DEFAULT_SEED) + seed, CLAIMS, &game);
        check_hints(&game, 0);
        int least = right[_i].cheaters > 0 ? CLAIMS / 2 : CLAIMS * 8 / 10;
        ck_assert_msg(game.accepted >= least || right[_i].weapon != NULL, "%s: %d accepted",
                      right[_i].name, game.accepted);
        int tick = 3000;
        play(&game, LATER, &tick);
        check_hints(&game, 0);
        close_game(&game);
    }
}
END_TEST

START_TEST(too_few_claims_name_nothing)
{
    static struct game game;
    play_row(&wrong[_i], hs_test_seed(DEFAULT_SEED), 99, &game);
    check_hints(&game, 0);
    close_game(&game);
}
END_TEST

/* After some claims the row makes no more mistakes, and its hint must end. Late in a match this
   takes longer, because only one claim in 16 is sampled. */
START_TEST(a_repaired_mistake_is_forgotten)
{
    enum { REPAIRED = 400, FORGOTTEN = 2400 };
    static struct game game;
    struct row row = wrong[_i];
    int tick = 0;
    if (row.claim == NULL)
        return;
    row.repaired_after = REPAIRED;
    row.weapon = row.weapon != NULL ? row.weapon : "rifle";
    open_game(&game, &row, hs_test_seed(DEFAULT_SEED));
    play(&game, REPAIRED, &tick);
    check_hints(&game, row.named);
    play(&game, FORGOTTEN, &tick);
    ck_assert_uint_eq(hs_match_hint_codes(game.match) & row.named, 0);
    close_game(&game);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hints");
    TCase *tests = tcase_create("hints");
    tcase_set_timeout(tests, 120);
    tcase_add_loop_test(tests, a_mistake_is_named, 0, WRONG);
    tcase_add_loop_test(tests, a_mistake_is_named_among_cheaters, 0, WRONG);
    tcase_add_loop_test(tests, a_right_integration_gets_none, 0, RIGHT);
    tcase_add_loop_test(tests, too_few_claims_name_nothing, 0, WRONG);
    tcase_add_loop_test(tests, a_repaired_mistake_is_forgotten, 0, WRONG);
    suite_add_tcase(suite, tests);
    printf("hints: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(DEFAULT_SEED));
    return hs_run_suite(suite);
}
