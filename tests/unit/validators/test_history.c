/* The history of one player: order, limits, retention, and shared states. */
#include <check.h>
#include <stdio.h>
#include <string.h>

#include "tests/support/run_suite.h"
#include "tests/unit/validators/history_samples.h"

static int64_t time_of(uint32_t i)
{
    return hs_history_at(history, i)->time_us;
}

START_TEST(an_empty_history_has_no_samples)
{
    ck_assert_uint_eq(hs_history_count(history), 0);
    ck_assert_int_eq(hs_history_find(history, 0), -1);
    hs_history_prune(history, INT64_MAX);
    hs_history_clear(history);
    ck_assert_uint_eq(hs_history_count(history), 0);
    hs_history_destroy(NULL);
}
END_TEST

START_TEST(find_is_the_last_at_or_before)
{
    for (int i = 0; i < 50; i++)
        ck_assert_int_eq(put(10 * i, 0), HS_INSERT_STORED);
    ck_assert_int_eq(hs_history_find(history, -1), -1);
    ck_assert_int_eq(hs_history_find(history, INT64_MIN), -1);
    for (int i = 0; i < 50; i++) {
        ck_assert_int_eq(hs_history_find(history, 10 * i), i);
        ck_assert_int_eq(hs_history_find(history, 10 * i + 9), i);
    }
    ck_assert_int_eq(hs_history_find(history, INT64_MAX), 49);
}
END_TEST

START_TEST(a_sample_is_read_as_it_was_inserted)
{
    struct hs_sample sample = {.time_us = 123456789,
                               .position = {1.5e9 + 0.0625, -2.25, 1e-300},
                               .rotation = {0.5f, -0.5f, 0.5f, 0.5f},
                               .aim = {0, 1, 0},
                               .rtt_us = 42000,
                               .interp_us = 50000,
                               .event = HS_EVENT_DEATH};
    struct hs_state state = {.damage_scale = 2.5,
                             .life = INT64_C(1) << 40,
                             .ammo = 7,
                             .rig = 3,
                             .stance = 2,
                             .team = 9,
                             .weapon = HS_WEAPON_FOREIGN,
                             .any_weapon = false,
                             .alive = false,
                             .is_protected = true,
                             .reloading = true};
    state.owned[1] = UINT64_C(1) << 63;
    ck_assert_int_eq(hs_history_insert(history, &rules, &sample, &state, NULL), HS_INSERT_STORED);
    const struct hs_sample *got = hs_history_at(history, 0);
    ck_assert_mem_eq(&got->position, &sample.position, sizeof sample.position);
    ck_assert_mem_eq(got->rotation, sample.rotation, sizeof sample.rotation);
    ck_assert_mem_eq(got->aim, sample.aim, sizeof sample.aim);
    ck_assert_int_eq(got->time_us, sample.time_us);
    ck_assert_int_eq(got->rtt_us, sample.rtt_us);
    ck_assert_int_eq(got->interp_us, sample.interp_us);
    ck_assert_int_eq(got->event, HS_EVENT_DEATH);
    ck_assert_ptr_null(hs_history_posted_pose(history, got));
    const struct hs_state *kept = hs_history_state(history, got);
    ck_assert_mem_eq(kept->owned, state.owned, sizeof state.owned);
    ck_assert(kept->damage_scale == 2.5 && kept->life == state.life && kept->ammo == 7);
    ck_assert(kept->rig == 3 && kept->stance == 2 && kept->team == 9);
    ck_assert(kept->weapon == HS_WEAPON_FOREIGN && !kept->any_weapon && !kept->alive);
    ck_assert(kept->is_protected && kept->reloading);
}
END_TEST

/* Five samples give the same history in every order. */
START_TEST(late_samples_find_their_place)
{
    int order[5] = {0, 1, 2, 3, 4};
    int permutations = 0;
    for (int code = 0; code < 3125; code++) {
        bool used[5] = {false}, distinct = true;
        for (int i = 0, c = code; i < 5; i++, c /= 5) {
            order[i] = c % 5;
            distinct = distinct && !used[order[i]];
            used[order[i]] = true;
        }
        if (!distinct)
            continue;
        permutations++;
        hs_history_clear(history);
        for (int i = 0; i < 5; i++)
            ck_assert_int_eq(put(HS_MS(50 * order[i]), order[i]), HS_INSERT_STORED);
        ck_assert_uint_eq(hs_history_count(history), 5);
        for (uint32_t i = 0; i < 5; i++) {
            ck_assert_int_eq(time_of(i), HS_MS(50 * i));
            ck_assert_double_eq(hs_history_at(history, i)->position.x, (double)i);
        }
    }
    ck_assert_int_eq(permutations, 120);
}
END_TEST

START_TEST(duplicates_change_nothing)
{
    for (int i = 0; i < 40; i++)
        ck_assert_int_eq(put(HS_MS(10 * i), i), HS_INSERT_STORED);
    size_t bytes = hs_history_bytes(history);
    for (int i = 39; i >= 0; i--) {
        ck_assert_int_eq(put(HS_MS(10 * i), 1000), HS_INSERT_DUPLICATE);
        ck_assert_int_eq(put_event(HS_MS(10 * i), 5, HS_EVENT_TELEPORT), HS_INSERT_DUPLICATE);
    }
    ck_assert_uint_eq(hs_history_count(history), 40);
    ck_assert_uint_eq(hs_history_bytes(history), bytes);
    for (uint32_t i = 0; i < 40; i++) {
        ck_assert_double_eq(hs_history_at(history, i)->position.x, (double)i);
        ck_assert_int_eq(hs_history_at(history, i)->event, HS_EVENT_NONE);
        ck_assert(!jumped(i));
    }
}
END_TEST

START_TEST(the_ring_grows_to_its_limit_and_the_oldest_go)
{
    size_t last = hs_history_bytes(history);
    int grown = 0;
    for (int i = 0; i < 1000; i++) {
        ck_assert_int_eq(put(i, i), i < 100 ? HS_INSERT_STORED : HS_INSERT_STORED_FULL);
        ck_assert_uint_eq(hs_history_count(history), i < 100 ? (uint32_t)i + 1 : 100);
        ck_assert_int_eq(time_of(hs_history_count(history) - 1), i);
        ck_assert_int_eq(time_of(0), i < 100 ? 0 : i - 99);
        size_t bytes = hs_history_bytes(history);
        ck_assert_uint_ge(bytes, last);
        grown += bytes != last;
        ck_assert(i < 100 || bytes == last); /* when it is full, nothing more is allocated */
        last = bytes;
    }
    ck_assert_int_ge(grown, 3);
    ck_assert_uint_le(last, 100 * 100 + 1024); /* 80 bytes per sample, and a little more */
}
END_TEST

/* The ring ends at every place in turn. Late samples are inserted before its end, on it and after
   it. */
START_TEST(late_samples_are_inserted_across_the_end_of_the_ring)
{
    for (int turn = 0; turn < 100; turn++) {
        hs_history_clear(history);
        for (int i = 0; i < 100 + turn; i++)
            put(HS_MS(10 * i), i);
        int64_t oldest = time_of(0);
        for (int k = 0; k < 99; k += 7) {
            int64_t late = oldest + HS_MS(10 * k) + HS_MS(5);
            if (hs_history_find(history, late) < 0)
                continue; /* the place for this sample no longer exists */
            ck_assert_int_eq(put(late, -1), HS_INSERT_STORED_FULL);
            ck_assert_uint_eq(hs_history_count(history), 100);
            int64_t at = hs_history_find(history, late);
            ck_assert_int_ge(at, 0);
            ck_assert_int_eq(time_of((uint32_t)at), late);
        }
        for (uint32_t i = 1; i < 100; i++)
            ck_assert_int_lt(time_of(i - 1), time_of(i));
    }
}
END_TEST

START_TEST(a_full_ring_has_no_place_before_its_oldest)
{
    for (int i = 0; i < 100; i++)
        put(HS_MS(10 * i), i);
    ck_assert_int_eq(put(-1, 5), HS_INSERT_TOO_OLD);
    ck_assert_uint_eq(hs_history_count(history), 100);
    ck_assert_int_eq(time_of(0), 0);
    ck_assert_int_eq(time_of(99), HS_MS(990));
}
END_TEST

START_TEST(the_smallest_history_holds_two)
{
    for (uint32_t limit = 0; limit <= 2; limit++) {
        struct hs_history *small = hs_history_create(&(struct hs_history_limits){.samples = limit});
        for (int i = 0; i < 10; i++) {
            struct hs_sample sample = sample_at(i, i);
            hs_history_insert(small, &rules, &sample, &plain, NULL);
        }
        ck_assert_uint_eq(hs_history_count(small), 2);
        ck_assert_int_eq(hs_history_at(small, 0)->time_us, 8);
        ck_assert_int_eq(hs_history_at(small, 1)->time_us, 9);
        hs_history_destroy(small);
    }
}
END_TEST

START_TEST(prune_keeps_one_beyond)
{
    for (int i = 0; i <= 10; i++)
        put(100 * i, i);
    hs_history_prune(history, -5);
    ck_assert_uint_eq(hs_history_count(history), 11);
    hs_history_prune(history, 99); /* the sample at or before 99 stays, as index 0 */
    ck_assert_int_eq(time_of(0), 0);
    hs_history_prune(history, 100);
    ck_assert_int_eq(time_of(0), 100);
    hs_history_prune(history, 450);
    ck_assert_int_eq(time_of(0), 400);
    ck_assert_uint_eq(hs_history_count(history), 7);
    hs_history_prune(history, INT64_MAX);
    ck_assert_uint_eq(hs_history_count(history), 1);
    ck_assert_int_eq(time_of(0), 1000);
    put(1100, 0); /* after this the history accepts samples as before */
    ck_assert_uint_eq(hs_history_count(history), 2);
}
END_TEST

/* ---- jumps ---- */

START_TEST(speed_limit_is_inclusive)
{
    put(0, 0);
    put(HS_MS(50), 10); /* exactly 200 per second */
    ck_assert(!jumped(1));
    put(HS_MS(100), 20.0001);
    ck_assert(jumped(2));
    put(HS_MS(150), 20.0001);
    ck_assert(!jumped(3));
}
END_TEST

START_TEST(announced_jumps_are_not_unflagged)
{
    put(0, 0);
    put_event(HS_MS(50), 1000, HS_EVENT_TELEPORT);
    put_event(HS_MS(100), -1000, HS_EVENT_SPAWN);
    ck_assert(!jumped(0) && !jumped(1) && !jumped(2));
    put_event(HS_MS(150), 1000, HS_EVENT_DEATH);
    ck_assert(jumped(3));
}
END_TEST

START_TEST(a_late_sample_explains_a_jump_or_makes_one)
{
    /* 15 in 50 ms is too fast, so it is a jump. A late sample near the end of the path shifts the
       jump. */
    put(0, 0);
    put(HS_MS(50), 15);
    ck_assert(jumped(1));
    put(HS_MS(25), 14);
    ck_assert(jumped(1));
    ck_assert(!jumped(2)); /* 1 in 25 ms */
    /* A distant sample between two near samples makes both movements jumps. */
    put(HS_MS(100), 15);
    ck_assert(!jumped(3));
    put(HS_MS(75), 500);
    ck_assert(jumped(3));
    ck_assert(jumped(4));
    ck_assert_double_eq(hs_history_at(history, 4)->position.x, 15);
    /* After a late teleport, the next sample is compared with the place of arrival. */
    hs_history_clear(history);
    put(0, 0);
    put(HS_MS(100), 100);
    ck_assert(jumped(1));
    put_event(HS_MS(50), 99, HS_EVENT_TELEPORT);
    ck_assert(!jumped(1) && !jumped(2));
}
END_TEST

START_TEST(a_late_first_sample_gives_the_old_first_a_predecessor)
{
    put(HS_MS(50), 1000);
    ck_assert(!jumped(0));
    put(0, 0);
    ck_assert(!jumped(0));
    ck_assert(jumped(1));
}
END_TEST

/* ---- states ---- */

START_TEST(equal_states_are_shared_and_different_ones_are_not)
{
    /* Lives and weapons change. There are many samples, and few different states. */
    for (int i = 0; i < 100; i++) {
        struct hs_sample sample = sample_at(i, 0);
        struct hs_state state = plain;
        state.life = i / 10;
        state.weapon = (uint16_t)(i % 2);
        hs_history_insert(history, &rules, &sample, &state, NULL);
    }
    for (uint32_t i = 0; i < 100; i++) {
        const struct hs_state *state = hs_history_state(history, hs_history_at(history, i));
        ck_assert_int_eq(state->life, i / 10);
        ck_assert_uint_eq(state->weapon, i % 2);
    }
}
END_TEST

START_TEST(equal_states_cost_once)
{
    for (int i = 0; i < 100; i++)
        put(i, 0);
    size_t same = hs_history_bytes(history);
    hs_history_clear(history);
    for (int i = 0; i < 100; i++) {
        struct hs_sample sample = sample_at(i, 0);
        struct hs_state state = plain;
        state.life = i;
        hs_history_insert(history, &rules, &sample, &state, NULL);
    }
    size_t distinct = hs_history_bytes(history);
    ck_assert_uint_ge(distinct, same + 90 * sizeof(struct hs_state));
    /* The memory of unused states is used again: after ten rounds the history has as many bytes as
       before. */
    for (int i = 100; i < 1100; i++) {
        struct hs_sample sample = sample_at(i, 0);
        struct hs_state state = plain;
        state.life = i;
        ck_assert_int_eq(hs_history_insert(history, &rules, &sample, &state, NULL),
                         HS_INSERT_STORED_FULL);
    }
    /* While the oldest sample is replaced, there may be one state more than there are samples. */
    ck_assert_uint_le(hs_history_bytes(history), distinct + 128 * (sizeof(struct hs_state) + 16));
    for (uint32_t i = 0; i < 100; i++)
        ck_assert_int_eq(hs_history_state(history, hs_history_at(history, i))->life, 1000 + i);
}
END_TEST

static const struct {
    const char *name;
    size_t offset, size;
} members[] = {
#define M(member)                                                                                  \
    {#member, offsetof(struct hs_state, member), sizeof((struct hs_state *)0)->member},
#define SAID(type, member, ...) M(member)
#define OWN(type, member, ...)  M(member)
    HS_STATE_FIELDS(SAID, OWN)
#undef OWN
#undef SAID
#undef M
};

#define MEMBERS ((int)(sizeof members / sizeof *members))

/* A state that differs in one member is another state. */
START_TEST(states_that_differ_in_one_member_are_different)
{
    struct hs_state zero, other;
    memset(&zero, 0, sizeof zero);
    memset(&other, 0, sizeof other);
    ((unsigned char *)&other)[members[_i].offset + members[_i].size - 1] = 1;
    struct hs_sample first = sample_at(0, 0), second = sample_at(1, 0);
    hs_history_insert(history, &rules, &first, &zero, NULL);
    hs_history_insert(history, &rules, &second, &other, NULL);
    const unsigned char *a = (const void *)hs_history_state(history, hs_history_at(history, 0));
    const unsigned char *b = (const void *)hs_history_state(history, hs_history_at(history, 1));
    ck_assert_msg(memcmp(a + members[_i].offset, b + members[_i].offset, members[_i].size) != 0,
                  "%s is lost", members[_i].name);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("history");
    TCase *tcase = tcase_create("history");
    tcase_add_checked_fixture(tcase, open_history, close_history);
    tcase_add_test(tcase, an_empty_history_has_no_samples);
    tcase_add_test(tcase, find_is_the_last_at_or_before);
    tcase_add_test(tcase, a_sample_is_read_as_it_was_inserted);
    tcase_add_test(tcase, late_samples_find_their_place);
    tcase_add_test(tcase, duplicates_change_nothing);
    tcase_add_test(tcase, the_ring_grows_to_its_limit_and_the_oldest_go);
    tcase_add_test(tcase, late_samples_are_inserted_across_the_end_of_the_ring);
    tcase_add_test(tcase, a_full_ring_has_no_place_before_its_oldest);
    tcase_add_test(tcase, the_smallest_history_holds_two);
    tcase_add_test(tcase, prune_keeps_one_beyond);
    tcase_add_test(tcase, speed_limit_is_inclusive);
    tcase_add_test(tcase, announced_jumps_are_not_unflagged);
    tcase_add_test(tcase, a_late_sample_explains_a_jump_or_makes_one);
    tcase_add_test(tcase, a_late_first_sample_gives_the_old_first_a_predecessor);
    tcase_add_test(tcase, equal_states_are_shared_and_different_ones_are_not);
    tcase_add_test(tcase, equal_states_cost_once);
    tcase_add_loop_test(tcase, states_that_differ_in_one_member_are_different, 0, MEMBERS);
    suite_add_tcase(suite, tcase);
    return hs_run_suite(suite);
}
