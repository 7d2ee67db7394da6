/* A match at its memory limit: the players and movers that it knows can go on, and the limit
   holds. */
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/hit.h"
#include "validators/match.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"
#include "validators/moves.h"
#include "validators/ruleset.h"
#include "validators/shot.h"
#include "validators/snapshot.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SAMPLES = 256, LARGE = 1 << 30 };

static struct hs_ruleset *rules;
static struct hs_match *match;

static void open_match(size_t bytes)
{
    const struct hs_match_limits limits = {
        .players = 100, .samples = SAMPLES, .movers = 100, .bytes = bytes};
    match = hs_match_create(rules, &limits);
    ck_assert_ptr_nonnull(match);
}

static void setup(void)
{
    rules = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    ck_assert_ptr_nonnull(rules);
    open_match(LARGE);
}

static void teardown(void)
{
    hs_match_destroy(match);
    hs_ruleset_destroy(rules);
}

/* If `held`, every reservation of memory fails from now on. Memory that is reserved stays
   usable. */
static void hold(bool held)
{
    match->budget.limit = held ? atomic_load(&match->budget.used) : LARGE;
}

static struct hs_str text(const char *name)
{
    return (struct hs_str){name, strlen(name)};
}

/* Posts one frame with a player and a mover. Returns the worse of their results. */
static enum hs_frame_result post(const char *player, const char *mover, int64_t time_us,
                                 unsigned *flags)
{
    const struct hs_player_frame one = {.player = text(player)};
    const struct hs_mover_frame other = {
        .mover = text(mover), .fields = HS_MOVER_BOX, .half_extents = {1, 1, 1}};
    const struct hs_frame frame = {time_us, &one, 1, &other, 1};
    enum hs_frame_result results[2];
    ck_assert(hs_match_post_frame(match, &frame, results, flags));
    ck_assert_int_eq(results[0], results[1]);
    return results[0];
}

static size_t bytes(void)
{
    struct hs_match_info info;
    hs_match_info(match, &info);
    ck_assert_uint_eq(info.history_bytes, hs_match_count_bytes(match));
    return info.history_bytes;
}

/* A player with one pose reserves less than 6 KB. */
START_TEST(a_silent_player_is_small)
{
    ck_assert_uint_lt(hs_players_min_bytes(SAMPLES), 5920);
}
END_TEST

START_TEST(a_match_without_memory_refuses_new_players_and_movers)
{
    unsigned flags = 0;
    int64_t time_us = 0;
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    ck_assert(!hs_match_was_refused(match));
    hold(true);
    ck_assert_int_eq(post("eve", "door", time_us += 1000, &flags), HS_FRAME_CAPACITY);
    ck_assert_uint_eq(flags, 0);
    ck_assert(hs_match_was_refused(match) && !hs_match_was_refused(match));
    size_t before = bytes();
    for (int i = 0; i < 200; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    ck_assert_uint_eq(bytes(), before);
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_HISTORY_FULL);
    struct hs_player_info bob;
    ck_assert(hs_match_find_player(match, HS_STR("bob"), &bob));
    ck_assert_uint_eq(bob.samples, 32); /* the capacity for 20 samples */
    ck_assert_int_eq(bob.newest_us, time_us);
    ck_assert_int_eq(bob.oldest_us, time_us - 31000);
}
END_TEST

START_TEST(a_match_with_memory_again_accepts_new_players)
{
    unsigned flags = 0;
    int64_t time_us = 0;
    ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    hold(true);
    ck_assert(!hs_match_has_space(match));
    hold(false);
    ck_assert(hs_match_has_space(match));
    ck_assert_int_eq(post("eve", "door", time_us += 1000, &flags), HS_FRAME_STORED);
    for (int i = 0; i < 100; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    ck_assert_uint_eq(flags, 0);
    struct hs_player_info bob;
    ck_assert(hs_match_find_player(match, HS_STR("bob"), &bob));
    ck_assert_uint_eq(bob.samples, 101);
}
END_TEST

static struct hs_hit_result *judge_hit(const struct hs_hit_claim *claim, int64_t now_us)
{
    static struct hs_hit_result result;
    bool is_known = hs_hit_admit(match, claim->shooter);
    hs_hit_verify(match, claim, now_us, &result);
    if (!is_known)
        hs_hit_withhold(&result, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    return &result;
}

/*
 * Moves and claims add no new players either. If the match cannot store a shooter, it pays nothing
 * to them.
 */
START_TEST(moves_and_claims_add_no_player_without_memory)
{
    unsigned flags = 0;
    int64_t time_us = 0;
    const enum hs_check off[] = {HS_CHECK_ORIGIN, HS_CHECK_AIM, HS_CHECK_LIFE, HS_CHECK_WEAPON};
    for (size_t i = 0; i < sizeof off / sizeof off[0]; i++)
        rules->checks[off[i]] = HS_MODE_OFF;
    for (int i = 0; i < 20; i++)
        ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
    hold(true);
    size_t before = bytes();
    const struct hs_move move = {
        .player = HS_STR("eve"), .timestamp_us = 1, .received_us = time_us, .dilation = 1};
    struct hs_move_result moved;
    ck_assert(hs_match_check_move(match, &move, &moved));
    ck_assert_int_eq(moved.reason, HS_MOVE_CAPACITY);
    const struct hs_hit_claim claim = {.shooter = HS_STR("eve"),
                                       .weapon = HS_STR("rifle"),
                                       .target = HS_STR("bob"),
                                       .hit_time_us = time_us,
                                       .start = {-500, 0, 110},
                                       .end = {0, 0, 110}};
    struct hs_hit_result *hit = judge_hit(&claim, time_us);
    ck_assert_int_eq(hit->verdict, HS_VERDICT_INCONCLUSIVE);
    ck_assert_int_eq(hit->reason, HS_REASON_UNKNOWN_SHOOTER_HISTORY);
    ck_assert(hit->damage_total == 0 && hit->damage_count == 0);
    ck_assert(!hs_hit_record(match, &claim, hit, HS_STR("{")));
    ck_assert_int_eq(post("eve", "door", time_us += 1000, &flags), HS_FRAME_CAPACITY);
    ck_assert_uint_eq(bytes(), before);
    hold(false);
    hit = judge_hit(&claim, time_us);
    ck_assert_int_eq(hit->verdict, HS_VERDICT_ACCEPTED);
    ck_assert(hit->damage_total > 0);
    ck_assert(hs_hit_record(match, &claim, hit, HS_STR("{")));
    ck_assert_ptr_nonnull(judge_hit(&claim, time_us)->replay);
    ck_assert(hs_match_check_move(match, &move, &moved));
    ck_assert_int_eq(moved.reason, HS_MOVE_OK);
    /* If memory runs out again before a player's first frame, the player has only the reserved
       space. */
    hold(true);
    for (int i = 0; i < 1000; i++) {
        const struct hs_player_frame eve = {.player = HS_STR("eve")};
        const struct hs_frame frame = {time_us += 1000, &eve, 1, NULL, 0};
        enum hs_frame_result result;
        ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
        ck_assert_int_eq(result, HS_FRAME_STORED);
    }
    struct hs_player_info eve;
    ck_assert(hs_match_find_player(match, HS_STR("eve"), &eve));
    ck_assert_uint_eq(eve.samples, HS_HISTORY_FIRST);
    ck_assert_uint_le(bytes(), match->budget.limit);
}
END_TEST

/* A player who left and comes back still has space. After a change of the clock the players are
   still known. */
START_TEST(known_players_return_without_memory)
{
    unsigned flags = 0;
    ck_assert_int_eq(post("bob", "lift", 1000, &flags), HS_FRAME_STORED);
    const struct hs_player_frame leaving = {.player = HS_STR("bob"), .event = HS_EVENT_LEAVE};
    const struct hs_frame frame = {2000, &leaving, 1, NULL, 0};
    enum hs_frame_result result;
    ck_assert(hs_match_post_frame(match, &frame, &result, &flags));
    hold(true);
    ck_assert_int_eq(post("bob", "lift", 3000, &flags), HS_FRAME_STORED);
    /* Three frames of new players on another clock do not restart the match, because none of the
       frames could be stored. */
    for (int i = 0; i < 3; i++)
        ck_assert_int_eq(post("eve", "door", INT64_C(90000000) + INT64_C(1000) * i, &flags),
                         HS_FRAME_TIME_JUMP);
    ck_assert_uint_eq(flags & 1u << HS_FRAME_FLAG_HISTORY_RESTARTED, 0);
    for (int i = 0; i < 3; i++)
        post("bob", "lift", INT64_C(190000000) + INT64_C(1000) * i, &flags);
    ck_assert_uint_ne(flags & 1u << HS_FRAME_FLAG_HISTORY_RESTARTED, 0);
}
END_TEST

/* ---- claims without memory ---- */

/* The eye of a player at the origin. */
#define EYE                                                                                        \
    {                                                                                              \
        0, 0, 160                                                                                  \
    }

/* Changes the rules so that every shot from the eye is accepted, at any rate. */
static void accept_all(void)
{
    rules->checks[HS_CHECK_FIRE_RATE] = HS_MODE_OFF;
    rules->checks[HS_CHECK_TRAJECTORY] = HS_MODE_OFF;
    rules->checks[HS_CHECK_WEAPON] = HS_MODE_OFF;
}

/* A match at its memory limit records every accepted claim. A repeated claim is never accepted
   again, even if its answer was dropped. */
START_TEST(accepted_claims_are_recorded_without_memory)
{
    char answer[1500];
    unsigned flags = 0;
    int64_t time_us = 0;
    memset(answer, 'x', sizeof answer);
    for (int i = 0; i < 200; i++)
        post("bob", "lift", time_us += 1000, &flags);
    hold(true);
    struct hs_player *bob = hs_players_find(&match->players, HS_STR("bob"));
    ck_assert_ptr_nonnull(bob);
    uint32_t kept = 0;
    accept_all();
    for (uint64_t shot = 1; shot <= 400; shot++) {
        const struct hs_hit_claim claim = {.shot = shot,
                                           .shooter = HS_STR("bob"),
                                           .weapon = HS_STR("rifle"),
                                           .hit_time_us = time_us + (int64_t)shot,
                                           .start = EYE,
                                           .end = {100, 0, 160}};
        struct hs_hit_result *hit = judge_hit(&claim, time_us);
        ck_assert_ptr_null(hit->replay);
        ck_assert_int_eq(hit->verdict, HS_VERDICT_ACCEPTED);
        ck_assert(hs_hit_record(match, &claim, hit, (struct hs_str){answer, sizeof answer}));
        ck_assert_ptr_nonnull(judge_hit(&claim, time_us)->replay);
        kept = 0;
        for (uint64_t before = 1; before < shot; before++) {
            struct hs_hit_claim again = claim;
            again.shot = before;
            again.hit_time_us = time_us + (int64_t)before;
            hit = judge_hit(&again, time_us);
            ck_assert(hit->replay != NULL || hit->reason == HS_REASON_DUPLICATE ||
                      hit->reason == HS_REASON_NUMBER_FORGOTTEN);
            kept += hit->replay != NULL ? 1 : 0;
        }
        ck_assert_uint_le(bytes(), match->budget.limit);
    }
    ck_assert_uint_ge(kept, 1);
    ck_assert_uint_lt(kept, HS_LEDGER_NUMBERS);
    ck_assert_uint_ge(bob->ledger.hits.count, 8);
    /* Poses were dropped to make space, down to the guaranteed number per player. */
    ck_assert_uint_eq(hs_history_capacity(bob->history), HS_HISTORY_FIRST);
    ck_assert_int_eq(post("bob", "lift", time_us += 1000, &flags), HS_FRAME_STORED);
}
END_TEST

/* A posted shot stays for its hits, however short memory is. If the directions of its pellets do
   not fit, the shot is forgotten, but hits of it are not refused. */
START_TEST(posted_shots_stay_without_memory)
{
    unsigned flags = 0;
    int64_t time_us = 1000000, forward_us;
    struct hs_vec directions[HS_MAX_PELLETS];
    char answer[600];
    static struct hs_hit_result result;
    memset(answer, 'x', sizeof answer);
    for (int i = 0; i < HS_MAX_PELLETS; i++)
        directions[i] = (struct hs_vec){1, 0, 0};
    post("bob", "lift", time_us, &flags);
    hold(true);
    accept_all();
    for (uint64_t number = 1; number <= 300; number++) {
        bool is_large = number % 3 == 0;
        const struct hs_shot_claim shot = {.shot = number,
                                           .shooter = HS_STR("bob"),
                                           .weapon = HS_STR("shotgun"),
                                           .time_us = time_us + (int64_t)number,
                                           .origin = EYE,
                                           .directions = directions,
                                           .direction_count = is_large ? HS_MAX_PELLETS : 0};
        const struct hs_hit_claim hit = {.shot = number,
                                         .shooter = HS_STR("bob"),
                                         .weapon = HS_STR("shotgun"),
                                         .hit_time_us = shot.time_us,
                                         .start = EYE,
                                         .end = {100, 0, 160}};
        hs_shot_verify(match, &shot, time_us, &result, &forward_us);
        ck_assert(hs_shot_record(match, &shot, &result, (struct hs_str){answer, sizeof answer}));
        hs_hit_verify(match, &hit, time_us, &result);
        ck_assert_int_eq(result.shot_was_posted, !is_large);
        ck_assert(!is_large || result.reason == HS_REASON_NOT_RECORDED);
        ck_assert(hs_hit_record(match, &hit, &result, (struct hs_str){answer, sizeof answer}));
        const struct hs_hit_claim old = {.shot = 1000 + number,
                                         .shooter = HS_STR("bob"),
                                         .hit_time_us = time_us,
                                         .end = {100, 0, 0}};
        hs_hit_verify(match, &old, time_us, &result); /* this shot was never posted */
        ck_assert(!result.shot_was_posted);
        ck_assert_uint_le(bytes(), match->budget.limit);
    }
    /* A restored match still knows that some shots were forgotten early, so it does not refuse
       their hits. */
    struct hs_bytes saved = {0};
    ck_assert(hs_players_find(&match->players, HS_STR("bob"))->ledger.shots.was_cut);
    hs_match_save(match, &saved);
    hs_match_destroy(match);
    ck_assert_int_eq(hs_match_load(rules,
                                   &(struct hs_match_limits){.players = 100, .samples = SAMPLES},
                                   saved.data, saved.len, &match),
                     HS_MATCH_LOADED);
    ck_assert(hs_players_find(&match->players, HS_STR("bob"))->ledger.shots.was_cut);
    free(saved.data);
}
END_TEST

/* Moves go on, but fewer answers are kept: as many as fit into the memory of shortened histories.
   If no answer is kept, a retry is refused. */
START_TEST(moves_go_on_without_memory)
{
    unsigned flags = 0;
    struct hs_move_result result;
    bool has_history = _i == 1;
    for (int i = has_history ? -100 : 0; i <= 0; i++)
        post("bob", "lift", 1000000 + i, &flags);
    hold(true);
    for (uint64_t seq = 1; seq <= 300; seq++) {
        struct hs_move move = {.player = HS_STR("bob"),
                               .fields = HS_MOVE_HAS_SEQ,
                               .seq = seq,
                               .timestamp_us = (int64_t)seq * 16000,
                               .received_us = 1000000 + (int64_t)seq * 16000,
                               .dilation = 1};
        ck_assert(hs_match_check_move(match, &move, &result));
        ck_assert_int_eq(result.reason, HS_MOVE_OK);
        for (uint64_t back = 0; back < HS_MOVES_FIRST && back < seq; back++) {
            move.seq = seq - back;
            move.timestamp_us = (int64_t)move.seq * 16000;
            move.received_us = 1000000 + (int64_t)move.seq * 16000;
            ck_assert(hs_match_check_move(match, &move, &result));
            ck_assert_int_eq(result.replayed, has_history);
            ck_assert(has_history || result.reason == HS_MOVE_DUPLICATE ||
                      result.reason == HS_MOVE_STALE);
        }
        ck_assert_uint_le(bytes(), match->budget.limit);
    }
    hold(false);
}
END_TEST

/* ---- read back ---- */

/* A match that is read back needs no more memory than before, so it fits the same limits. With
   smaller limits it cannot be read back at all. */
START_TEST(a_restored_match_fits_the_same_limits)
{
    char answer[1000];
    unsigned flags = 0;
    memset(answer, 'x', sizeof answer);
    post("bob", "lift", 1000, &flags);
    post("eve", "door", 2000, &flags);
    for (uint64_t shot = 1; shot <= 300; shot++) {
        const struct hs_hit_claim claim = {
            .shot = shot, .shooter = HS_STR("bob"), .hit_time_us = 2000, .end = {100, 0, 0}};
        const struct hs_hit_result *hit = judge_hit(&claim, 2000);
        ck_assert(hs_hit_record(match, &claim, hit, (struct hs_str){answer, sizeof answer}));
    }
    struct hs_bytes saved = {0};
    hs_match_save(match, &saved);
    ck_assert(!saved.failed);
    struct hs_budget all;
    struct hs_match_limits limits = match->limits;
    limits.bytes = bytes();
    limits.shared = &all;
    struct hs_match *own = match;
    hs_budget_init(&all, bytes(), NULL);
    ck_assert_int_eq(hs_match_load(rules, &limits, saved.data, saved.len, &match), HS_MATCH_LOADED);
    size_t taken = bytes();
    ck_assert_uint_eq(taken, atomic_load(&all.used));
    ck_assert(!hs_players_find(&match->players, HS_STR("bob"))->ledger.hits.was_cut);
    ck_assert_uint_gt(taken, HS_LEDGER_NUMBERS * sizeof answer);
    hs_match_destroy(match);
    ck_assert_uint_eq(atomic_load(&all.used), 0);
    for (int i = 0; i < 2; i++) {
        limits.bytes = i == 0 ? taken - 1 : 0;
        hs_budget_init(&all, i == 0 ? taken : taken - 1, NULL);
        ck_assert_int_eq(hs_match_load(rules, &limits, saved.data, saved.len, &match),
                         HS_MATCH_LOAD_NO_MEMORY);
        ck_assert_uint_eq(atomic_load(&all.used), 0);
    }
    free(saved.data);
    match = own;
}
END_TEST

/* ---- anything at all ---- */

enum { MATCHES = 3, NAMES = 40, STEPS = 60000 };

struct crowd {
    struct hs_budget all;
    struct hs_match *matches[MATCHES];
    struct hs_random random;
    int64_t time_us;
    uint64_t shot;
    char names[NAMES][8];
};

static struct hs_str somebody(struct crowd *crowd)
{
    return text(crowd->names[hs_random_index(&crowd->random, NAMES)]);
}

static void post_some(struct crowd *crowd)
{
    struct hs_posted_bone bones[2] = {{.present = true, .rotation = {0, 0, 0, 1}},
                                      {.present = true, .rotation = {0, 0, 0, 1}}};
    struct hs_player_frame entries[6];
    enum hs_frame_result results[7];
    unsigned flags = 0;
    for (int i = 0; i < 6; i++) {
        entries[i] = (struct hs_player_frame){.player = somebody(crowd)};
        entries[i].team = text(crowd->names[hs_random_index(&crowd->random, 4)]);
        entries[i].life = hs_random_index(&crowd->random, 9);
        entries[i].fields = HS_FIELD_LIFE;
        if (hs_random_index(&crowd->random, 2) == 0) {
            entries[i].fields |= HS_FIELD_BONES;
            entries[i].bones = bones;
            entries[i].bone_count = 2;
        }
        if (hs_random_index(&crowd->random, 100) == 0)
            entries[i].event = HS_EVENT_LEAVE;
    }
    const struct hs_mover_frame mover = {
        .mover = somebody(crowd), .fields = HS_MOVER_BOX, .half_extents = {1, 1, 1}};
    const struct hs_frame frame = {crowd->time_us, entries, 6, &mover, 1};
    ck_assert(hs_match_post_frame(match, &frame, results, &flags));
}

static void move_some(struct crowd *crowd)
{
    struct hs_move_result result;
    const struct hs_move move = {.player = somebody(crowd),
                                 .fields = HS_MOVE_HAS_SEQ,
                                 .seq = crowd->shot++,
                                 .timestamp_us = crowd->time_us,
                                 .received_us = crowd->time_us,
                                 .dilation = 1};
    ck_assert(hs_match_check_move(match, &move, &result));
}

/* Posts a claim twice. The match pays for it only once. */
static void claim_some(struct crowd *crowd)
{
    static char answer[4096];
    const struct hs_hit_claim claim = {.shot = crowd->shot++,
                                       .shooter = somebody(crowd),
                                       .weapon = HS_STR("rifle"),
                                       .target = somebody(crowd),
                                       .hit_time_us = crowd->time_us,
                                       .start = {-500, 0, 110},
                                       .end = {0, 0, 110}};
    size_t size = 1 + (size_t)hs_random_index(&crowd->random, (int)sizeof answer);
    for (int i = 0; i < 2; i++) {
        struct hs_hit_result *hit = judge_hit(&claim, crowd->time_us);
        bool is_again = hit->replay != NULL || hit->reason == HS_REASON_DUPLICATE;
        ck_assert(i == 0 || is_again || hit->damage_total == 0);
        if (hit->replay == NULL)
            hs_hit_record(match, &claim, hit, (struct hs_str){answer, size});
    }
}

static void shoot_some(struct crowd *crowd)
{
    static struct hs_hit_result result;
    struct hs_vec directions[HS_MAX_PELLETS] = {{1, 0, 0}};
    char answer[700] = "";
    int64_t forward_us;
    const struct hs_shot_claim shot = {
        .shot = crowd->shot++,
        .shooter = somebody(crowd),
        .weapon = HS_STR("shotgun"),
        .time_us = crowd->time_us,
        .directions = directions,
        .direction_count = (size_t)hs_random_index(&crowd->random, HS_MAX_PELLETS + 1)};
    hs_shot_verify(match, &shot, crowd->time_us, &result, &forward_us);
    if (result.replay == NULL)
        hs_shot_record(match, &shot, &result, (struct hs_str){answer, sizeof answer});
}

/* Whatever is posted, the limit of a match and the common limit hold. Both limits vary from almost
   nothing to plenty. */
START_TEST(the_limits_hold_whatever_is_posted)
{
    static const size_t bounds[][2] = {
        {40000, 100000}, {150000, 200000}, {400000, 600000}, {LARGE, 700000}, {900000, LARGE}};
    struct crowd *crowd = calloc(1, sizeof *crowd);
    ck_assert_ptr_nonnull(crowd);
    crowd->random = hs_random_start(hs_test_seed(20260101), (uint64_t)_i);
    for (int i = 0; i < NAMES; i++)
        snprintf(crowd->names[i], sizeof crowd->names[i], "p%d", i);
    hs_budget_init(&crowd->all, bounds[_i][1], NULL);
    const struct hs_match_limits limits = {.players = 32,
                                           .samples = SAMPLES,
                                           .movers = 16,
                                           .bytes = bounds[_i][0],
                                           .shared = &crowd->all};
    struct hs_match *own = match;
    for (int i = 0; i < MATCHES; i++)
        crowd->matches[i] = hs_match_create(rules, &limits);
    for (int step = 0; step < STEPS; step++) {
        crowd->time_us += 2000;
        match = crowd->matches[hs_random_index(&crowd->random, MATCHES)];
        void (*const steps[])(struct crowd *) = {post_some, post_some,  post_some,
                                                 move_some, claim_some, shoot_some};
        steps[hs_random_index(&crowd->random, 6)](crowd);
        ck_assert_uint_le(atomic_load(&match->budget.used), bounds[_i][0]);
        ck_assert_uint_le(atomic_load(&crowd->all.used), bounds[_i][1]);
        if (step % 16 == 0)
            bytes();
    }
    size_t sum = 0;
    for (int i = 0; i < MATCHES; i++) {
        match = crowd->matches[i];
        sum += bytes();
    }
    ck_assert_uint_eq(sum, atomic_load(&crowd->all.used));
    for (int i = 0; i < MATCHES; i++)
        hs_match_destroy(crowd->matches[i]);
    ck_assert_uint_eq(atomic_load(&crowd->all.used), 0);
    match = own;
    free(crowd);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("hold");
    TCase *tests = tcase_create("matches");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_set_timeout(tests, 60);
    tcase_add_test(tests, a_silent_player_is_small);
    tcase_add_test(tests, a_match_without_memory_refuses_new_players_and_movers);
    tcase_add_test(tests, a_match_with_memory_again_accepts_new_players);
    tcase_add_test(tests, moves_and_claims_add_no_player_without_memory);
    tcase_add_test(tests, known_players_return_without_memory);
    tcase_add_test(tests, accepted_claims_are_recorded_without_memory);
    tcase_add_test(tests, posted_shots_stay_without_memory);
    tcase_add_loop_test(tests, moves_go_on_without_memory, 0, 2);
    tcase_add_test(tests, a_restored_match_fits_the_same_limits);
    tcase_add_loop_test(tests, the_limits_hold_whatever_is_posted, 0, 5);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
