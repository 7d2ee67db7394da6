/* Posting frames: every refusal, and the limits. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/play/inspect.h"
#include "tests/support/run_suite.h"
#include "tests/unit/validators/posting.h"
#include "validators/match/players.h"

/* ---- refusals ---- */

static struct hs_posted_bone bones[3];

static struct hs_player_frame good_entry(void)
{
    struct hs_player_frame entry = hs_stage_entry("P", 1, 2, 3);
    for (int i = 0; i < 3; i++)
        bones[i] = (struct hs_posted_bone){
            .present = true, .position = {1, 2, 3}, .rotation = {0, 0, 0, 1}, .scale = {1, 1, 1}};
    entry.fields = HS_FIELD_ROTATION | HS_FIELD_BONES | HS_FIELD_EYE | HS_FIELD_SCALES;
    entry.rotation[3] = 1;
    entry.eye = entry.position;
    entry.bones = bones;
    entry.bone_count = 2;
    return entry;
}

typedef void spoil_entry(struct hs_player_frame *entry);

static void nothing(struct hs_player_frame *entry)
{
    (void)entry;
}
static void no_such_rig(struct hs_player_frame *entry)
{
    entry->rig = HS_STR("horse");
}
static void no_such_stance(struct hs_player_frame *entry)
{
    entry->stance = HS_STR("lie");
}
static void no_such_weapon(struct hs_player_frame *entry)
{
    entry->weapon = HS_STR("bazooka");
}
static void rotation_not_unit(struct hs_player_frame *entry)
{
    entry->rotation[3] = 1.0011;
}
static void rotation_zero(struct hs_player_frame *entry)
{
    entry->rotation[3] = 0;
}
static void rotation_nearly_unit(struct hs_player_frame *entry)
{
    entry->rotation[3] = 1.0009;
}
static void position_out(struct hs_player_frame *entry)
{
    entry->position.y = -1e5 - 1e-9;
}
static void position_at_the_bound(struct hs_player_frame *entry)
{
    entry->position.y = -1e5;
}
static void position_huge(struct hs_player_frame *entry)
{
    entry->position.x = 1e39;
}
static void eye_out(struct hs_player_frame *entry)
{
    entry->eye.z = 4.29e9;
}
static void bone_out(struct hs_player_frame *entry)
{
    (void)entry;
    bones[1].position[0] = 1.1e5;
}
static void too_few_bones(struct hs_player_frame *entry)
{
    entry->bone_count = 1;
}
static void too_many_bones(struct hs_player_frame *entry)
{
    entry->bone_count = 3;
}
static void bone_twisted(struct hs_player_frame *entry)
{
    (void)entry;
    bones[0].rotation[0] = 0.1;
}
static void bone_flat(struct hs_player_frame *entry)
{
    (void)entry;
    bones[1].scale[2] = 0;
}
static void bone_large(struct hs_player_frame *entry)
{
    (void)entry;
    bones[1].scale[0] = -1.1e6;
}
static void bone_flat_but_no_scale_sent(struct hs_player_frame *entry)
{
    entry->fields &= ~(unsigned)HS_FIELD_SCALES;
    bones[1].scale[2] = 0;
}
static void no_bones_present(struct hs_player_frame *entry)
{
    (void)entry;
    bones[0].present = bones[1].present = false;
}
static void absent_bones_are_not_looked_at(struct hs_player_frame *entry)
{
    (void)entry;
    bones[0] = (struct hs_posted_bone){.present = false, .position = {1e30, 0, 0}};
}
static void a_zero_aim(struct hs_player_frame *entry)
{
    entry->fields |= HS_FIELD_AIM;
}

static const struct {
    spoil_entry *spoil;
    enum hs_frame_result result;
} refusals[] = {
    {nothing, HS_FRAME_STORED},
    {no_such_rig, HS_FRAME_UNKNOWN_RIG},
    {no_such_stance, HS_FRAME_UNKNOWN_STANCE},
    {no_such_weapon, HS_FRAME_UNKNOWN_WEAPON},
    {rotation_not_unit, HS_FRAME_BAD_ROTATION},
    {rotation_zero, HS_FRAME_BAD_ROTATION},
    {rotation_nearly_unit, HS_FRAME_STORED},
    {position_out, HS_FRAME_COORDINATE_OUT_OF_WORLD},
    {position_at_the_bound, HS_FRAME_STORED},
    {position_huge, HS_FRAME_COORDINATE_OUT_OF_WORLD},
    {eye_out, HS_FRAME_COORDINATE_OUT_OF_WORLD},
    {bone_out, HS_FRAME_COORDINATE_OUT_OF_WORLD},
    {too_few_bones, HS_FRAME_BAD_BONES},
    {too_many_bones, HS_FRAME_BAD_BONES},
    {bone_twisted, HS_FRAME_BAD_BONES},
    {bone_flat, HS_FRAME_BAD_BONES},
    {bone_large, HS_FRAME_BAD_BONES},
    {bone_flat_but_no_scale_sent, HS_FRAME_STORED},
    {no_bones_present, HS_FRAME_NO_HITBOXES},
    {absent_bones_are_not_looked_at, HS_FRAME_STORED},
    {a_zero_aim, HS_FRAME_STORED},
};

#define REFUSALS ((int)(sizeof refusals / sizeof *refusals))

/* A refused entry changes nothing. The other entries of its frame are stored. */
START_TEST(entries_are_judged_one_by_one)
{
    struct hs_player_frame entries[3] = {hs_stage_entry("A", 0, 0, 0), good_entry(),
                                         hs_stage_entry("B", 0, 0, 0)};
    refusals[_i].spoil(&entries[1]);
    enum hs_frame_result results[3];
    unsigned flags = 0;
    struct hs_frame frame = {.time_us = HS_MS(50), .players = entries, .player_count = 3};
    ck_assert(hs_match_post_frame(match, &frame, results, &flags));
    ck_assert_str_eq(hs_frame_result_name(results[1]), hs_frame_result_name(refusals[_i].result));
    ck_assert_int_eq(results[0], HS_FRAME_STORED);
    ck_assert_int_eq(results[2], HS_FRAME_STORED);
    bool stored = refusals[_i].result == HS_FRAME_STORED;
    ck_assert_uint_eq(hs_info_of(match).players, stored ? 3 : 2);
    struct hs_player_info player;
    ck_assert_int_eq(hs_match_find_player(match, HS_STR("P"), &player), stored);
    ck_assert_uint_gt(strlen(hs_frame_result_text(results[1])), 0);
    ck_assert_uint_eq(flags, 0);
}
END_TEST

START_TEST(every_result_has_a_sentence)
{
    for (int i = 0; i < HS_FRAME_RESULT_COUNT; i++)
        ck_assert_uint_gt(strlen(hs_frame_result_text((enum hs_frame_result)i)), 0);
    ck_assert_str_eq(hs_frame_result_text(HS_FRAME_RESULT_COUNT), "");
}
END_TEST

START_TEST(a_refused_entry_of_a_known_player_changes_nothing)
{
    struct hs_player_frame entry = good_entry();
    entry.team = HS_STR("red");
    ck_assert_int_eq(post(0, entry), HS_FRAME_STORED);
    if (refusals[_i].result == HS_FRAME_STORED)
        return;
    entry = good_entry();
    entry.weapon = HS_STR("knife");
    entry.event = HS_EVENT_SPAWN;
    refusals[_i].spoil(&entry);
    ck_assert_int_eq(post(HS_MS(50), entry), refusals[_i].result);
    ck_assert_uint_eq(hs_samples_of(match, "P"), 1);
    ck_assert_int_eq(hs_info_of(match).newest_us, 0); /* nothing of the frame was stored */
    ck_assert_int_eq(place(HS_MS(100), "P"), HS_FRAME_STORED);
    const struct hs_state *state = hs_state_at(match, "P", HS_MS(100));
    ck_assert_int_eq(state->life, 0);
    ck_assert_uint_eq(state->weapon, HS_NONE);
}
END_TEST

START_TEST(the_first_of_two_at_one_time_is_kept)
{
    ck_assert_int_eq(post(HS_MS(50), hs_stage_entry("P", 1, 0, 0)), HS_FRAME_STORED);
    ck_assert_int_eq(post(HS_MS(50), hs_stage_entry("P", 2, 0, 0)), HS_FRAME_DUPLICATE_TIME);
    ck_assert_double_eq(hs_sample_at(match, "P", HS_MS(50))->position.x, 1);
    struct hs_player_frame twice[2] = {hs_stage_entry("Q", 1, 0, 0), hs_stage_entry("Q", 2, 0, 0)};
    enum hs_frame_result results[2];
    unsigned flags = 0;
    struct hs_frame frame = {.time_us = HS_MS(50), .players = twice, .player_count = 2};
    ck_assert(hs_match_post_frame(match, &frame, results, &flags));
    ck_assert_int_eq(results[0], HS_FRAME_STORED);
    ck_assert_int_eq(results[1], HS_FRAME_DUPLICATE_TIME);
    ck_assert_double_eq(hs_sample_at(match, "Q", HS_MS(50))->position.x, 1);
}
END_TEST

START_TEST(the_window_is_inclusive)
{
    hs_stage_place(match, HS_MS(2000), "P", 0, 0, 0);
    ck_assert_int_eq(place(HS_MS(1000) - 1, "P"), HS_FRAME_TOO_OLD);
    ck_assert_int_eq(place(HS_MS(1000), "P"), HS_FRAME_STORED);
    ck_assert_int_eq(place(HS_MS(7000) + 1, "P"), HS_FRAME_TIME_JUMP);
    ck_assert_int_eq(hs_info_of(match).newest_us, HS_MS(2000));
    ck_assert_int_eq(place(HS_MS(7000), "P"), HS_FRAME_STORED);
    ck_assert_int_eq(hs_info_of(match).newest_us, HS_MS(7000));
}
END_TEST

START_TEST(prune_keeps_one_beyond_the_window)
{
    for (int ms = 0; ms <= 3000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "P", 0, 0, 0);
    struct hs_player_info player;
    ck_assert(hs_match_find_player(match, HS_STR("P"), &player));
    ck_assert_int_eq(player.oldest_us, HS_MS(2000));
    ck_assert_uint_eq(player.samples, 21);
    ck_assert_int_eq(player.newest_us, HS_MS(3000));
    /* Only another player is in the later frames. P's last known pose stays. */
    for (int ms = 3050; ms <= 6000; ms += 50)
        hs_stage_place(match, HS_MS(ms), "Q", 0, 0, 0);
    ck_assert_uint_eq(hs_samples_of(match, "P"), 1);
}
END_TEST

START_TEST(players_and_samples_are_bounded)
{
    struct hs_match *small =
        hs_match_create(rules, &(struct hs_match_limits){.players = 2, .samples = 4});
    struct hs_match *saved = match;
    match = small;
    hs_stage_place(match, 0, "A", 0, 0, 0);
    hs_stage_place(match, 0, "B", 0, 0, 0);
    ck_assert_int_eq(place(0, "C"), HS_FRAME_CAPACITY);
    ck_assert_uint_eq(hs_info_of(match).players, 2);
    unsigned flags = 0;
    for (int i = 1; i < 10; i++) {
        flags = 0;
        ck_assert_int_eq(post_flags(i, hs_stage_entry("A", 0, 0, 0), &flags), HS_FRAME_STORED);
        ck_assert_uint_eq(flags, i < 4 ? 0 : 1u << HS_FRAME_FLAG_HISTORY_FULL);
    }
    ck_assert_uint_eq(hs_samples_of(match, "A"), 4);
    /* A player leaves. Once no claim of theirs can be accepted, there is space for one new player,
       and for no more. */
    ck_assert_int_eq(post(10, hs_stage_event("B", HS_EVENT_LEAVE)), HS_FRAME_STORED);
    ck_assert_uint_eq(hs_info_of(match).players, 1);
    const int64_t window_us = match->claim_window_us;
    for (int64_t time_us = 11; time_us <= 10 + window_us; time_us += window_us / 4) {
        ck_assert_int_eq(place(time_us, "C"), HS_FRAME_CAPACITY);
        ck_assert_int_eq(place(time_us, "A"), HS_FRAME_STORED);
    }
    ck_assert_int_eq(place(11 + window_us, "A"), HS_FRAME_STORED);
    ck_assert_int_eq(place(11 + window_us, "C"), HS_FRAME_STORED);
    ck_assert_int_eq(place(11 + window_us, "B"), HS_FRAME_CAPACITY);
    ck_assert_uint_eq(hs_info_of(match).players, 2);
    match = saved;
    hs_match_destroy(small);
}
END_TEST

START_TEST(team_names_are_bounded)
{
    char name[16];
    int stored = 0;
    for (int i = 0; i < 3000; i++) {
        struct hs_player_frame entry = hs_stage_entry("P", 0, 0, 0);
        snprintf(name, sizeof name, "t%d", i);
        entry.team = hs_stage_str(name);
        enum hs_frame_result result = post(i, entry);
        ck_assert(result == HS_FRAME_STORED || result == HS_FRAME_CAPACITY);
        ck_assert(result == HS_FRAME_STORED || stored == i || stored < i);
        stored += result == HS_FRAME_STORED;
    }
    ck_assert_int_ge(stored, 64);
    ck_assert_int_lt(stored, 3000);
    ck_assert_int_eq(place(3000, "P"), HS_FRAME_STORED); /* known players can still post */
}
END_TEST

START_TEST(unflagged_jumps_are_flagged)
{
    unsigned flags = 0;
    post_flags(0, hs_stage_entry("P", 0, 0, 0), &flags);
    post_flags(HS_MS(100), hs_stage_entry("P", 3, 0, 0), &flags); /* allowed: a vehicle at 30 m/s */
    ck_assert_uint_eq(flags, 0);
    post_flags(HS_MS(150), hs_stage_entry("P", 33, 0, 0), &flags); /* too fast: 600 m/s */
    ck_assert_uint_eq(flags, 1u << HS_FRAME_FLAG_UNFLAGGED_JUMP);
    ck_assert(hs_sample_at(match, "P", HS_MS(150))->jumped);
    struct hs_frame_jump told;
    ck_assert(!hs_match_player_jump(match, HS_STR("P"), HS_MS(100), &told));
    ck_assert(!hs_match_player_jump(match, HS_STR("P"), HS_MS(160), &told));
    ck_assert(!hs_match_player_jump(match, HS_STR("Q"), HS_MS(150), &told));
    ck_assert(hs_match_player_jump(match, HS_STR("P"), HS_MS(150), &told));
    ck_assert(told.distance == 30 && told.elapsed_us == HS_MS(50) && told.limit < 30);
    flags = 0;
    struct hs_player_frame jump = hs_stage_event("P", HS_EVENT_TELEPORT);
    post_flags(HS_MS(200), jump, &flags);
    ck_assert_uint_eq(flags, 0);
    ck_assert(!hs_sample_at(match, "P", HS_MS(200))->jumped);
}
END_TEST

START_TEST(offsets_survive_far_from_the_origin)
{
    struct hs_player_frame entry = good_entry();
    entry.position = (struct hs_vec){99999, -99999, 99999};
    entry.eye = (struct hs_vec){99999.25, -99999, 100000};
    for (int i = 0; i < 2; i++) {
        bones[i].position[0] = 99999.5;
        bones[i].position[1] = -99999.125;
        bones[i].position[2] = 99999;
    }
    entry.fields |= HS_FIELD_AIM;
    entry.aim[1] = -5;
    ck_assert_int_eq(post(0, entry), HS_FRAME_STORED);
    const struct hs_sample *sample = hs_sample_at(match, "P", 0);
    const struct hs_posted_pose *posted_pose =
        hs_history_posted_pose(hs_history_of(match, "P"), sample);
    ck_assert(posted_pose->has_eye && posted_pose->eye[0] == 0.25 && posted_pose->eye[2] == 1);
    ck_assert(posted_pose->bones[0] == 0.5f && posted_pose->bones[1] == -0.125f &&
              posted_pose->bones[2] == 0.0f);
    ck_assert(sample->aim[0] == 0 && sample->aim[1] == -1.0f);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("frames");
    TCase *tcase = tcase_create("frames");
    tcase_add_checked_fixture(tcase, open_stage, close_stage);
    tcase_add_loop_test(tcase, entries_are_judged_one_by_one, 0, REFUSALS);
    tcase_add_test(tcase, every_result_has_a_sentence);
    tcase_add_loop_test(tcase, a_refused_entry_of_a_known_player_changes_nothing, 0, REFUSALS);
    tcase_add_test(tcase, the_first_of_two_at_one_time_is_kept);
    tcase_add_test(tcase, the_window_is_inclusive);
    tcase_add_test(tcase, prune_keeps_one_beyond_the_window);
    tcase_add_test(tcase, players_and_samples_are_bounded);
    tcase_add_test(tcase, team_names_are_bounded);
    tcase_add_test(tcase, unflagged_jumps_are_flagged);
    tcase_add_test(tcase, offsets_survive_far_from_the_origin);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
