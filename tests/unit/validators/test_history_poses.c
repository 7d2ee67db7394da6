/* Posted poses in the history of a player: bones and eyes stay with their samples, in bounded
   memory. */
#include <check.h>
#include <string.h>

#include "tests/support/run_suite.h"
#include "tests/unit/validators/history_samples.h"

static void fill_extra(union hs_posted_pose_space *room, uint16_t bones, uint8_t stride, int tag)
{
    memset(room, 0, sizeof *room);
    struct hs_posted_pose *posted_pose = &room->posted_pose;
    posted_pose->reach = (float)tag;
    posted_pose->has_eye = tag % 2 == 0;
    posted_pose->eye[0] = tag * 3;
    posted_pose->bone_count = bones;
    posted_pose->stride = stride;
    for (uint16_t i = 0; i < bones; i++)
        if ((i + tag) % 3 != 0)
            posted_pose->present[i / 64] |= UINT64_C(1) << (i % 64);
    for (int i = 0; i < bones * stride; i++)
        posted_pose->bones[i] = (float)(tag * 1000 + i);
}

static void expect_extra(const struct hs_sample *sample, uint16_t bones, uint8_t stride, int tag)
{
    union hs_posted_pose_space want;
    fill_extra(&want, bones, stride, tag);
    const struct hs_posted_pose *got = hs_history_posted_pose(history, sample);
    ck_assert_ptr_nonnull(got);
    ck_assert(got->reach == want.posted_pose.reach && got->has_eye == want.posted_pose.has_eye);
    ck_assert_mem_eq(got->eye, want.posted_pose.eye, sizeof got->eye);
    ck_assert_uint_eq(got->bone_count, bones);
    ck_assert_uint_eq(got->stride, stride);
    ck_assert_mem_eq(got->present, want.posted_pose.present, sizeof got->present);
    ck_assert_mem_eq(got->bones, want.posted_pose.bones, sizeof(float) * bones * stride);
    for (uint16_t i = 0; i < bones; i++)
        ck_assert_int_eq(hs_posted_pose_has_bone(got, i), (i + tag) % 3 != 0);
    ck_assert(!hs_posted_pose_has_bone(got, bones));
}

/* Chooses what sample i of a mixed history contains: nothing, an eye, bones, or bones with
   scale. */
static void extra_kind(int i, uint16_t *bones, uint8_t *stride)
{
    *bones = i % 4 == 1 ? 0 : i % 4 == 2 ? 3 : HS_MAX_BONES;
    *stride = i % 4 == 3 ? HS_BONE_FLOATS_SCALED : HS_BONE_FLOATS;
}

START_TEST(posted_poses_of_every_size_stay_with_their_samples)
{
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 150; i++) {
            union hs_posted_pose_space room;
            uint16_t bones;
            uint8_t stride;
            extra_kind(i, &bones, &stride);
            fill_extra(&room, bones, stride, i);
            struct hs_sample sample = sample_at(round * 1000 + i, 0);
            hs_history_insert(history, &rules, &sample, &plain,
                              i % 4 == 0 ? NULL : &room.posted_pose);
            /* A duplicate with other bones must not change the bones of the first one. */
            fill_extra(&room, 5, HS_BONE_FLOATS, 99);
            ck_assert_int_eq(hs_history_insert(history, &rules, &sample, &plain, &room.posted_pose),
                             HS_INSERT_DUPLICATE);
        }
        ck_assert_uint_eq(hs_history_count(history), 100);
        for (uint32_t k = 0; k < 100; k++) {
            const struct hs_sample *sample = hs_history_at(history, k);
            int i = (int)sample->time_us - round * 1000;
            uint16_t bones;
            uint8_t stride;
            extra_kind(i, &bones, &stride);
            if (i % 4 == 0)
                ck_assert_ptr_null(hs_history_posted_pose(history, sample));
            else
                expect_extra(sample, bones, stride, i);
        }
    }
}
END_TEST

START_TEST(late_samples_bring_their_bones)
{
    union hs_posted_pose_space room;
    for (int i = 0; i < 20; i++) { /* in the order 0, 19, 1, 18, ...: each sample is inserted in the
                                      middle of those before */
        int k = i % 2 == 0 ? i / 2 : 19 - i / 2;
        fill_extra(&room, 4, HS_BONE_FLOATS, k);
        struct hs_sample sample = sample_at(k, 0);
        hs_history_insert(history, &rules, &sample, &plain, &room.posted_pose);
    }
    for (uint32_t k = 0; k < 20; k++)
        expect_extra(hs_history_at(history, k), 4, HS_BONE_FLOATS, (int)k);
}
END_TEST

START_TEST(bytes_are_bounded)
{
    union hs_posted_pose_space room;
    fill_extra(&room, HS_MAX_BONES, HS_BONE_FLOATS_SCALED, 1);
    size_t full = 0;
    for (int i = 0; i < 5000; i++) {
        struct hs_sample sample = sample_at(i, 0);
        hs_history_insert(history, &rules, &sample, &plain, &room.posted_pose);
        if (i == 200)
            full = hs_history_bytes(history);
        ck_assert(i < 200 || hs_history_bytes(history) == full);
        if (i % 1000 == 999)
            hs_history_prune(history, i - 3); /* memory that was released is used again */
    }
    /* The history takes at most twice the memory that a hundred samples need. */
    ck_assert_uint_le(full, 2 * 101 * (sizeof(struct hs_sample) + sizeof room + 64) + 1024);
    ck_assert_uint_ge(full, 100 * (sizeof(struct hs_sample) + sizeof room));
}
END_TEST

START_TEST(a_cleared_history_starts_again)
{
    union hs_posted_pose_space room;
    fill_extra(&room, 4, HS_BONE_FLOATS, 2);
    for (int round = 0; round < 5; round++) {
        for (int i = 0; i < 60; i++) {
            struct hs_sample sample = sample_at(i - 1000 * round, 0);
            ck_assert_int_eq(hs_history_insert(history, &rules, &sample, &plain, &room.posted_pose),
                             HS_INSERT_STORED);
        }
        ck_assert_uint_eq(hs_history_count(history), 60);
        hs_history_clear(history);
        ck_assert_uint_eq(hs_history_count(history), 0);
        ck_assert_int_eq(hs_history_find(history, INT64_MAX), -1);
    }
}
END_TEST

/* Many poses are posted for the same time, with different bones. The last one stays, and the
   history needs no more memory than for one pose. */
START_TEST(the_last_pose_of_a_time_counts)
{
    struct hs_history_rules last = rules;
    union hs_posted_pose_space room;
    size_t bytes = 0;
    last.same_time = HS_SAME_TIME_LAST;
    put_event(0, 0, HS_EVENT_NONE);
    put_event(HS_MS(50), 0, HS_EVENT_TELEPORT);
    put_event(HS_MS(100), 5, HS_EVENT_NONE);
    for (int i = 1; i <= 1000; i++) {
        struct hs_sample sample = sample_at(HS_MS(50), i % 5);
        struct hs_state state = plain;
        state.ammo = i;
        fill_extra(&room, 4, HS_BONE_FLOATS, i);
        ck_assert_int_eq(hs_history_insert(history, &last, &sample, &state, &room.posted_pose),
                         HS_INSERT_STORED);
        const struct hs_sample *kept = hs_history_at(history, 1);
        ck_assert_uint_eq(hs_history_count(history), 3);
        ck_assert_double_eq(kept->position.x, i % 5);
        ck_assert_int_eq(kept->event, HS_EVENT_TELEPORT); /* the sample has kept the event of the
                                                             first pose */
        ck_assert_int_eq(hs_history_state(history, kept)->ammo, i);
        ck_assert_mem_eq(hs_history_posted_pose(history, kept), &room.posted_pose,
                         sizeof room.posted_pose);
        bytes = i == 2 ? hs_history_bytes(history) : bytes;
    }
    ck_assert_uint_eq(hs_history_bytes(history), bytes);
    ck_assert(!jumped(2));
    struct hs_sample far = sample_at(HS_MS(50), 500);
    hs_history_insert(history, &last, &far, &plain, NULL);
    ck_assert(jumped(2));
    ck_assert_ptr_null(hs_history_posted_pose(history, hs_history_at(history, 1)));
    ck_assert_double_ge(hs_history_span(history)->high.x, 500);
    ck_assert_int_eq(put(HS_MS(50), 0), HS_INSERT_DUPLICATE);
}
END_TEST

/* Rows: the events of two poses of the same time, and the event of the sample. A jump stays,
   whatever follows, so that no pose is interpolated across it. */
START_TEST(a_jump_outlasts_the_pose_that_replaces_it)
{
    static const enum hs_sample_event rows[][3] = {
        {HS_EVENT_TELEPORT, HS_EVENT_NONE, HS_EVENT_TELEPORT},
        {HS_EVENT_TELEPORT, HS_EVENT_LAUNCH, HS_EVENT_TELEPORT},
        {HS_EVENT_TELEPORT, HS_EVENT_DEATH, HS_EVENT_TELEPORT},
        {HS_EVENT_TELEPORT, HS_EVENT_SPAWN, HS_EVENT_SPAWN},
        {HS_EVENT_SPAWN, HS_EVENT_DEATH, HS_EVENT_SPAWN},
        {HS_EVENT_SPAWN, HS_EVENT_TELEPORT, HS_EVENT_SPAWN},
        {HS_EVENT_LAUNCH, HS_EVENT_TELEPORT, HS_EVENT_TELEPORT},
        {HS_EVENT_DEATH, HS_EVENT_LAUNCH, HS_EVENT_LAUNCH},
    };
    struct hs_history_rules last = rules;
    last.same_time = HS_SAME_TIME_LAST;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int64_t time_us = HS_MS(50 * (int64_t)i);
        for (int k = 0; k < 2; k++) {
            struct hs_sample sample = sample_at(time_us, k);
            sample.event = (uint8_t)rows[i][k];
            hs_history_insert(history, &last, &sample, &plain, NULL);
        }
        const struct hs_sample *kept = hs_history_at(history, (uint32_t)i);
        ck_assert_double_eq(kept->position.x, 1);
        ck_assert_msg(kept->event == rows[i][2], "row %zu: %d", i, kept->event);
    }
}
END_TEST

START_TEST(a_posted_round_trip_outlasts_the_pose_that_replaces_it)
{
    struct hs_history_rules last = rules;
    last.same_time = HS_SAME_TIME_LAST;
    struct hs_sample sample = sample_at(0, 0);
    sample.rtt_us = 40000;
    sample.rtt_posted = true;
    hs_history_insert(history, &last, &sample, &plain, NULL);
    sample.rtt_posted = false; /* inherited */
    hs_history_insert(history, &last, &sample, &plain, NULL);
    ck_assert(hs_history_at(history, 0)->rtt_posted);
    ck_assert_uint_eq(hs_history_round_trips(history), 1);
    sample.rtt_us = 60000;
    sample.rtt_posted = true;
    hs_history_insert(history, &last, &sample, &plain, NULL);
    ck_assert_int_eq(hs_history_at(history, 0)->rtt_us, 60000);
    ck_assert_uint_eq(hs_history_round_trips(history), 1);
}
END_TEST

/* Every sample has a posted pose. Each pose is posted again at once, so at every number of samples,
   and twice more when the history is full. */
START_TEST(poses_are_replaced_at_every_number_of_samples)
{
    enum { SAMPLES = 100, TIMES = 4 };
    struct hs_history_rules last = rules;
    union hs_posted_pose_space room;
    last.same_time = HS_SAME_TIME_LAST;
    for (int n = 0; n < TIMES * SAMPLES; n++) {
        int i = n < 2 * SAMPLES ? n / 2 : n % SAMPLES;
        struct hs_sample sample = sample_at(HS_MS(i), 0);
        fill_extra(&room, 4, HS_BONE_FLOATS, n);
        ck_assert_int_eq(hs_history_insert(history, &last, &sample, &plain, &room.posted_pose),
                         HS_INSERT_STORED);
    }
    ck_assert_uint_eq(hs_history_count(history), SAMPLES);
    for (int i = 0; i < SAMPLES; i++)
        expect_extra(hs_history_at(history, (uint32_t)i), 4, HS_BONE_FLOATS,
                     (TIMES - 1) * SAMPLES + i);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history poses");
    TCase *tcase = tcase_create("poses");
    tcase_add_checked_fixture(tcase, open_history, close_history);
    tcase_add_test(tcase, posted_poses_of_every_size_stay_with_their_samples);
    tcase_add_test(tcase, late_samples_bring_their_bones);
    tcase_add_test(tcase, bytes_are_bounded);
    tcase_add_test(tcase, a_cleared_history_starts_again);
    tcase_add_test(tcase, the_last_pose_of_a_time_counts);
    tcase_add_test(tcase, a_jump_outlasts_the_pose_that_replaces_it);
    tcase_add_test(tcase, a_posted_round_trip_outlasts_the_pose_that_replaces_it);
    tcase_add_test(tcase, poses_are_replaced_at_every_number_of_samples);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
