/* A restored match does not know the events between the save and the first frame after it. Such
   events refuse no honest claim, and nothing that depends on them is paid. */
#include <check.h>
#include <string.h>

#include "tests/support/play/duel.h"
#include "tests/support/run_suite.h"
#include "validators/snapshot.h"

/* ---- state ---- */

/* An entry whose state refuses a hit, and the entry that posts the opposite state. */
struct said {
    struct hs_player_frame alice, bob, alice_again, bob_again;
    enum hs_reason reason;
};

static const struct hs_str bow[] = {{"bow", 3}}, both[] = {{"bow", 3}, {"rifle", 5}};

static const struct said sayings[] = {
    {.bob = {.event = HS_EVENT_DEATH},
     .bob_again = {.event = HS_EVENT_SPAWN},
     .reason = HS_REASON_TARGET_DEAD},
    {.bob = {.fields = HS_FIELD_ALIVE},
     .bob_again = {.fields = HS_FIELD_ALIVE, .alive = true},
     .reason = HS_REASON_TARGET_DEAD},
    {.bob = {.event = HS_EVENT_DEATH},
     .bob_again = {.fields = HS_FIELD_LIFE, .life = 3}, /* another life, without `alive` */
     .reason = HS_REASON_TARGET_DEAD},
    {.bob = {.fields = HS_FIELD_PROTECTED, .is_protected = true},
     .bob_again = {.fields = HS_FIELD_PROTECTED},
     .reason = HS_REASON_TARGET_PROTECTED},
    {.alice = {.event = HS_EVENT_DEATH},
     .alice_again = {.event = HS_EVENT_SPAWN},
     .reason = HS_REASON_SHOOTER_DEAD},
    {.alice = {.fields = HS_FIELD_RELOADING, .reloading = true},
     .alice_again = {.fields = HS_FIELD_RELOADING},
     .reason = HS_REASON_WEAPON_NOT_AVAILABLE},
    {.alice = {.fields = HS_FIELD_AMMO},
     .alice_again = {.fields = HS_FIELD_AMMO, .ammo = 30},
     .reason = HS_REASON_WEAPON_NOT_AVAILABLE},
    {.alice = {.weapon = {"bow", 3}},
     .alice_again = {.weapon = {"rifle", 5}},
     .reason = HS_REASON_WEAPON_NOT_AVAILABLE},
    {.alice = {.fields = HS_FIELD_WEAPONS, .weapons = bow, .weapon_count = 1},
     .alice_again = {.fields = HS_FIELD_WEAPONS, .weapons = both, .weapon_count = 2},
     .reason = HS_REASON_WEAPON_NOT_AVAILABLE},
};
enum { SAYINGS = sizeof sayings / sizeof sayings[0] };

/* The state was posted before the save, and later a frame with the opposite state may have been
   lost. So the claim is neither refused nor paid, however late it is. When the state is posted
   again, it has its usual effect. */
START_TEST(saved_state_causes_no_rejection)
{
    const struct said *said = &sayings[_i];
    hs_duel_play(0, 450);
    hs_duel_post(500, &said->alice, &said->bob);
    hs_duel_play(550, 1000);
    ck_assert_int_eq(hs_duel_hit(1000), said->reason);
    double before = hs_duel_suspicion();
    /* Other players can cause a player's death or protection, so failures because of them raise no
       suspicion. */
    ck_assert_int_eq(before > 0, said->reason == HS_REASON_WEAPON_NOT_AVAILABLE);
    hs_duel_begin_anew();
    hs_duel_play(2000, 3100);
    ck_assert_int_eq(hs_duel_hit(3100), HS_REASON_HISTORY_TOO_SHORT);
    hs_duel_play(3150, 30000);
    ck_assert_int_eq(hs_duel_hit(30000), HS_REASON_HISTORY_TOO_SHORT);
    ck_assert_double_le(hs_duel_suspicion(), before);
    hs_duel_post(30050, &said->alice, &said->bob);
    hs_duel_play(30100, 30500);
    ck_assert_int_eq(hs_duel_hit(30500), said->reason);
    hs_duel_post(30550, &said->alice_again, &said->bob_again);
    hs_duel_play(30600, 31000);
    bool is_life_alone = (said->bob_again.fields & HS_FIELD_LIFE) != 0;
    ck_assert_int_eq(hs_duel_hit(31000), is_life_alone ? HS_REASON_TARGET_DEAD : HS_REASON_OK);
}
END_TEST

/* If the first frame posts the state again, claims are decided as usual from then on. */
START_TEST(state_in_the_first_frame_counts_at_once)
{
    const struct said *said = &sayings[_i];
    hs_duel_play(0, 450);
    hs_duel_post(500, &said->alice, &said->bob);
    hs_duel_begin_anew();
    hs_duel_post(2000, &said->alice_again, &said->bob_again);
    hs_duel_play(2050, 2500);
    ck_assert_int_eq(hs_duel_hit(2500), HS_REASON_OK);
    hs_duel_begin_anew();
    if (said->bob_again.fields & HS_FIELD_LIFE)
        return; /* whether the player is alive does not matter here */
    hs_duel_post(4000, &said->alice, &said->bob);
    hs_duel_play(4050, 4500);
    ck_assert_int_eq(hs_duel_hit(4500), said->reason);
}
END_TEST

/* The newest frame arrives first, and frames with earlier times are sent again after it. Samples of
   later times inherit from the samples of these frames, too. */
START_TEST(state_in_late_frames_also_updates_newer_samples)
{
    const struct said *said = &sayings[_i];
    hs_duel_play(0, 450);
    hs_duel_post(500, &said->alice, &said->bob);
    hs_duel_begin_anew();
    hs_duel_play(3000, 3050);
    hs_duel_post(2400, &said->alice_again, &said->bob_again);
    for (int ms = 2450; ms < 3000; ms += HS_DUEL_TICK_MS)
        hs_duel_post(ms, NULL, NULL);
    hs_duel_play(3100, 3300);
    ck_assert_int_eq(hs_duel_hit(2900), HS_REASON_OK);
    ck_assert_int_eq(hs_duel_hit(3300), HS_REASON_OK);
}
END_TEST

/* State that allowed a hit still allows it: a field that was never posted does not become unknown
   by a restart. */
START_TEST(saved_state_that_allows_a_hit_still_allows_it)
{
    struct hs_player_frame alice = {
        .weapon = HS_STR("rifle"), .fields = HS_FIELD_AMMO | HS_FIELD_RELOADING, .ammo = 7};
    struct hs_player_frame bob = {.event = HS_EVENT_SPAWN};
    hs_duel_post(0, &alice, &bob);
    hs_duel_play(50, 500);
    hs_duel_begin_anew();
    hs_duel_play(2000, 2500);
    ck_assert_int_eq(hs_duel_hit(2500), HS_REASON_OK);
}
END_TEST

/* A claim without a weapon means the weapon in hand, which is unknown after a restart. */
START_TEST(without_a_named_weapon_a_restored_claim_is_inconclusive)
{
    struct hs_player_frame alice = {.weapon = HS_STR("rifle")};
    hs_duel_post(0, &alice, NULL);
    hs_duel_play(50, 500);
    ck_assert_int_eq(hs_duel_hit_with(500, (struct hs_str){0}, 1), HS_REASON_OK);
    hs_duel_begin_anew();
    hs_duel_play(2000, 3500);
    ck_assert_int_eq(hs_duel_hit_with(3500, (struct hs_str){0}, 2), HS_REASON_HISTORY_TOO_SHORT);
    hs_duel_post(3550, &alice, NULL);
    hs_duel_play(3600, 4000);
    ck_assert_int_eq(hs_duel_hit_with(4000, (struct hs_str){0}, 3), HS_REASON_OK);
}
END_TEST

/* The life of a player is posted again, but it may have changed before that frame. So for a claim
   about an earlier time, it is unknown whether it is about an old life. */
START_TEST(before_the_first_posted_life_the_life_is_unknown)
{
    hs_duel_play(0, 500);
    hs_duel_begin_anew();
    hs_duel_play(2000, 2500);
    hs_duel_post(2550, NULL, &(struct hs_player_frame){.fields = HS_FIELD_LIFE, .life = 1});
    ck_assert_int_eq(hs_duel_hit(2500), HS_REASON_HISTORY_TOO_SHORT);
    hs_duel_play(2600, 3000);
    ck_assert_int_eq(hs_duel_hit(3000), HS_REASON_OK);
    hs_duel_play(3050, 3200);
    hs_duel_post(3250, NULL, &(struct hs_player_frame){.fields = HS_FIELD_LIFE, .life = 2});
    ck_assert_int_eq(hs_duel_hit(3200), HS_REASON_STALE_LIFE);
}
END_TEST

static enum hs_reason look_at_height(double z, struct hs_str weapon)
{
    struct hs_hit_claim claim = {.shot = ++hs_duel.last_shot,
                                 .shooter = HS_STR("alice"),
                                 .target = HS_STR("bob"),
                                 .weapon = weapon,
                                 .hit_time_us = INT64_C(3000000),
                                 .start = {0, 0, 1.6},
                                 .end = {20, 0, z}};
    static struct hs_hit_result result;
    hs_hit_verify(hs_duel.match, &claim, claim.hit_time_us, &result);
    return result.reason;
}

/* The unknown weapon in hand decides nothing: neither its range nor its radius is used. */
START_TEST(an_unknown_weapon_in_hand_decides_nothing)
{
    const struct hs_str none = {0};
    struct hs_player_frame alice = {.weapon = HS_STR("knife")};
    hs_duel_post(0, &alice, NULL);
    hs_duel_play(50, 500);
    ck_assert_int_eq(hs_duel_hit_with(500, none, 1000), HS_REASON_OUT_OF_RANGE);
    hs_duel_begin_anew();
    hs_duel_play(2000, 3000);
    ck_assert_int_eq(look_at_height(1.6, none), HS_REASON_HISTORY_TOO_SHORT);
    alice.weapon = HS_STR("rifle");
    hs_duel_post(3050, &alice, NULL);
    hs_duel_begin_anew();
    hs_duel_post(4000, NULL, NULL);
    hs_duel_post(3000, NULL, NULL);
    double top = 1.6;
    while (look_at_height(top + 0.005, HS_STR("rifle")) == HS_REASON_OK)
        top += 0.005;
    ck_assert_double_lt(top, 2.5);
    ck_assert_int_eq(look_at_height(top, none), HS_REASON_HISTORY_TOO_SHORT);
    /* A shot with an unknown weapon, and its hit. */
    hs_duel_play(4050, 6000);
    ck_assert_int_eq(hs_duel_shoot_at(6000, 6000, none, 30), HS_REASON_HISTORY_TOO_SHORT);
    ck_assert_int_eq(hs_duel_hit_with(6000, none, 30), HS_REASON_HISTORY_TOO_SHORT);
}
END_TEST

/* ---- movers ---- */

static void post_door(int ms, const struct hs_mover_frame *says)
{
    struct hs_mover_frame door = {
        .mover = HS_STR("door"), .position = {10, 0, 1}, .half_extents = {0.1, 1, 1}};
    door.fields = says->fields;
    door.is_solid = says->is_solid;
    hs_duel_post(ms, NULL, NULL);
    hs_duel_post_frame(
        &(struct hs_frame){.time_us = (int64_t)ms * HS_DUEL_MS, .movers = &door, .mover_count = 1});
}

static void play_door(int from_ms, int to_ms)
{
    for (int ms = from_ms; ms <= to_ms; ms += HS_DUEL_TICK_MS)
        post_door(ms, &(struct hs_mover_frame){0});
}

START_TEST(a_door_that_may_have_opened_is_inconclusive)
{
    const struct hs_mover_frame shut = {.fields = HS_MOVER_BOX | HS_MOVER_SOLID, .is_solid = true};
    const struct hs_mover_frame open = {.fields = HS_MOVER_SOLID};
    post_door(0, &shut);
    play_door(50, 500);
    ck_assert_int_eq(hs_duel_hit(500), HS_REASON_OCCLUDED_WORLD);
    hs_duel_begin_anew();
    play_door(2000, 9000);
    ck_assert_int_eq(hs_duel_hit(9000), HS_REASON_HISTORY_TOO_SHORT);
    post_door(9050, &shut);
    play_door(9100, 9500);
    ck_assert_int_eq(hs_duel_hit(9500), HS_REASON_OCCLUDED_WORLD);
    post_door(9550, &open);
    play_door(9600, 10000);
    ck_assert_int_eq(hs_duel_hit(10000), HS_REASON_OK);
    hs_duel_begin_anew();
    play_door(12000, 12500);
    ck_assert_int_eq(hs_duel_hit(12500), HS_REASON_OK);
    hs_duel_begin_anew();
    play_door(14000, 14050); /* the newest frames arrive first */
    post_door(13500, &shut);
    play_door(13550, 13950);
    ck_assert_int_eq(hs_duel_hit(14000), HS_REASON_OCCLUDED_WORLD);
}
END_TEST

/* If `solid` of a lift was never posted, it cannot have changed. */
START_TEST(a_lift_without_posted_solid_still_blocks)
{
    post_door(0, &(struct hs_mover_frame){.fields = HS_MOVER_BOX});
    play_door(50, 500);
    hs_duel_begin_anew();
    play_door(2000, 2500);
    ck_assert_int_eq(hs_duel_hit(2500), HS_REASON_OCCLUDED_WORLD);
}
END_TEST

/* carol stands between alice and bob, and posts `first` in the first frame. */
static void play_carol(int from_ms, int to_ms, const struct hs_player_frame *first)
{
    for (int ms = from_ms; ms <= to_ms; ms += HS_DUEL_TICK_MS) {
        struct hs_player_frame players[3];
        memset(players, 0, sizeof players);
        if (first != NULL && ms == from_ms)
            players[2] = *first;
        players[0].player = HS_STR("alice");
        players[1].player = HS_STR("bob");
        players[2].player = HS_STR("carol");
        players[1].position.x = 20;
        players[2].position.x = 10;
        hs_duel_post_frame(&(struct hs_frame){
            .time_us = (int64_t)ms * HS_DUEL_MS, .players = players, .player_count = 3});
    }
}

/* carol was solid before the save, and may have become a ghost since. */
START_TEST(a_body_that_may_not_be_solid_now_is_inconclusive)
{
    const struct hs_player_frame solid = {.fields = HS_FIELD_SOLID, .is_solid = true};
    const struct hs_player_frame ghost = {.fields = HS_FIELD_SOLID};
    play_carol(0, 500, &solid);
    ck_assert_int_eq(hs_duel_hit(500), HS_REASON_BLOCKED_BY_PLAYER);
    hs_duel_begin_anew();
    play_carol(2000, 2500, NULL);
    ck_assert_int_eq(hs_duel_hit(2500), HS_REASON_HISTORY_TOO_SHORT);
    play_carol(2550, 3000, &solid);
    ck_assert_int_eq(hs_duel_hit(3000), HS_REASON_BLOCKED_BY_PLAYER);
    play_carol(3050, 3500, &ghost);
    ck_assert_int_eq(hs_duel_hit(3500), HS_REASON_OK);
    hs_duel_begin_anew();
    play_carol(5000, 5500, NULL);
    ck_assert_int_eq(hs_duel_hit(5500), HS_REASON_OK);
}
END_TEST

START_TEST(a_body_without_posted_solid_still_blocks)
{
    play_carol(0, 500, NULL);
    hs_duel_begin_anew();
    play_carol(2000, 2500, NULL);
    ck_assert_int_eq(hs_duel_hit(2500), HS_REASON_BLOCKED_BY_PLAYER);
}
END_TEST

/* Another process may have paid shots. Those fired up to one window after the next frame are not
   paid here, also if the match is saved and restored in between. */
START_TEST(shots_that_may_be_paid)
{
    if (_i == 1) /* a running match, not an empty one */
        hs_duel_play(-2000, -1000);
    hs_match_lost_payments(hs_duel.match);
    hs_duel_play(0, 500);
    ck_assert_int_eq(hs_duel_hit(400), HS_REASON_NUMBER_FORGOTTEN);
    hs_duel_play(550, 1100);
    ck_assert_int_eq(hs_duel_hit(1000), HS_REASON_NUMBER_FORGOTTEN);
    ck_assert_int_eq(hs_duel_hit(1010), HS_REASON_OK);
    if (_i == 2) {
        hs_duel_begin_anew();
        hs_duel_play(1150, 2200);
        ck_assert_int_eq(hs_duel_hit(2150), HS_REASON_NUMBER_FORGOTTEN);
        hs_duel_play(2250, 5000);
    }
    hs_duel_play(5050, 20000);
    hs_duel_begin_anew(); /* no claim about that time can come any more */
    hs_duel_play(20050, 20500);
    ck_assert_int_eq(hs_duel_hit(20400), HS_REASON_OK);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("restored");
    TCase *tcase = tcase_create("all");
    tcase_add_checked_fixture(tcase, hs_duel_set_up, hs_duel_tear_down);
    tcase_add_loop_test(tcase, saved_state_causes_no_rejection, 0, SAYINGS);
    tcase_add_loop_test(tcase, state_in_the_first_frame_counts_at_once, 0, SAYINGS);
    tcase_add_loop_test(tcase, state_in_late_frames_also_updates_newer_samples, 0, SAYINGS);
    tcase_add_test(tcase, saved_state_that_allows_a_hit_still_allows_it);
    tcase_add_test(tcase, without_a_named_weapon_a_restored_claim_is_inconclusive);
    tcase_add_test(tcase, before_the_first_posted_life_the_life_is_unknown);
    tcase_add_test(tcase, an_unknown_weapon_in_hand_decides_nothing);
    tcase_add_test(tcase, a_door_that_may_have_opened_is_inconclusive);
    tcase_add_test(tcase, a_lift_without_posted_solid_still_blocks);
    tcase_add_test(tcase, a_body_that_may_not_be_solid_now_is_inconclusive);
    tcase_add_test(tcase, a_body_without_posted_solid_still_blocks);
    tcase_add_loop_test(tcase, shots_that_may_be_paid, 0, 3);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
