/* What is remembered of a player's shooting: numbers and answers, cadence, magazine. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/base/ledger.h"

static struct hs_ledger ledger;

static void set_up(void)
{
    ledger = (struct hs_ledger){0};
}

static void tear_down(void)
{
    hs_ledger_clear(&ledger);
}

/* ---- numbers ---- */

static void note_full(uint64_t number, bool accepted, int64_t fire_time_us, const char *answer)
{
    struct hs_ledger_entry entry = {.number = number,
                                    .accepted = accepted,
                                    .fire_time_us = fire_time_us,
                                    .answer = (char *)(uintptr_t)answer,
                                    .answer_size = strlen(answer)};
    ck_assert(hs_ledger_record(&ledger, &ledger.hits, &entry));
}

static void note(uint64_t number)
{
    note_full(number, true, (int64_t)number, "{}");
}

static bool is_known(uint64_t number)
{
    const struct hs_ledger_entry *entry = hs_ledger_find(&ledger.hits, number);
    ck_assert(entry == NULL || entry->number == number);
    return entry != NULL;
}

START_TEST(nothing_is_known_at_first)
{
    ck_assert(!is_known(0));
    ck_assert(hs_ledger_accepted_before(&ledger.hits, UINT64_MAX) == NULL);
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 0, INT64_MIN));
    ck_assert(!hs_ledger_is_jump(&ledger.hits, UINT64_C(1) << 53));
    ck_assert(hs_ledger_cadence(&ledger, 0) == NULL);
    ck_assert_uint_eq(hs_ledger_bytes(&ledger), 0);
    hs_ledger_forget_times(&ledger);
}
END_TEST

START_TEST(numbers_in_any_order)
{
    static const uint64_t numbers[] = {7, 3, 9, 0, 8, 1000000, 4};
    for (int i = 0; i < 7; i++) {
        char answer[32];
        snprintf(answer, sizeof answer, "{\"shot\":%d", (int)numbers[i]);
        note_full(numbers[i], numbers[i] != 8, 10 * (int64_t)numbers[i], answer);
    }
    for (int i = 0; i < 7; i++) {
        char answer[32];
        snprintf(answer, sizeof answer, "{\"shot\":%d", (int)numbers[i]);
        const struct hs_ledger_entry *entry = hs_ledger_find(&ledger.hits, numbers[i]);
        ck_assert(entry != NULL && entry->number == numbers[i]);
        ck_assert_uint_eq(entry->answer_size, strlen(answer));
        ck_assert(memcmp(entry->answer, answer, entry->answer_size) == 0);
        ck_assert_int_eq(entry->fire_time_us, 10 * (int64_t)numbers[i]);
    }
    for (uint32_t i = 1; i < ledger.hits.count; i++)
        ck_assert(ledger.hits.entries[i - 1].number < ledger.hits.entries[i].number);
    ck_assert(!is_known(1) && !is_known(5) && !is_known(999999) && !is_known(UINT64_MAX));
}
END_TEST

START_TEST(the_accepted_number_before)
{
    note_full(2, true, 0, "");
    note_full(4, false, 0, "");
    note_full(6, true, 0, "");
    static const struct {
        uint64_t number;
        int before; /* -1: none */
    } rows[] = {{0, -1}, {2, -1}, {3, 2}, {4, 2}, {5, 2}, {6, 2}, {7, 6}, {UINT64_MAX, 6}};
    for (int i = 0; i < 8; i++) {
        const struct hs_ledger_entry *entry =
            hs_ledger_accepted_before(&ledger.hits, rows[i].number);
        ck_assert_int_eq(entry != NULL ? (int)entry->number : -1, rows[i].before);
    }
}
END_TEST

START_TEST(answers_and_shots_are_copies)
{
    char answer[] = "{\"a\":1";
    struct hs_vec directions[2] = {{1, 0, 0}, {0, 1, 0}};
    struct hs_posted_shot shot = {.weapon = 3, .direction_count = 2, .directions = directions};
    struct hs_ledger_entry entry = {
        .number = 1, .answer = answer, .answer_size = sizeof answer - 1, .shot = &shot};
    ck_assert(hs_ledger_record(&ledger, &ledger.shots, &entry));
    answer[2] = 'b';
    directions[0].x = 7;
    shot.weapon = 4;
    const struct hs_ledger_entry *found = hs_ledger_find(&ledger.shots, 1);
    ck_assert(memcmp(found->answer, "{\"a\":1", 6) == 0);
    ck_assert_uint_eq(found->shot->weapon, 3);
    ck_assert_uint_eq(found->shot->direction_count, 2);
    ck_assert_double_eq(found->shot->directions[0].x, 1);
    ck_assert_double_eq(found->shot->directions[1].y, 1);
    ck_assert(hs_ledger_find(&ledger.hits, 1) == NULL); /* of another kind */
}
END_TEST

START_TEST(memory_is_bounded)
{
    char answer[101];
    memset(answer, 'x', 100);
    answer[100] = '\0';
    struct hs_vec directions[HS_MAX_PELLETS] = {{1, 0, 0}};
    struct hs_posted_shot shot = {.direction_count = HS_MAX_PELLETS, .directions = directions};
    size_t full = 0;
    for (uint64_t number = 0; number < 3000; number++) {
        struct hs_ledger_entry entry = {.number = number, .answer = answer, .answer_size = 100};
        ck_assert(hs_ledger_record(&ledger, &ledger.hits, &entry));
        entry.shot = &shot;
        ck_assert(hs_ledger_record(&ledger, &ledger.shots, &entry));
        for (uint16_t weapon = 0; weapon < 3; weapon++)
            ck_assert(hs_ledger_record_shot(&ledger, weapon, (int64_t)number, 10));
        if (number == HS_LEDGER_NUMBERS)
            full = hs_ledger_bytes(&ledger);
    }
    ck_assert_uint_eq(hs_ledger_bytes(&ledger), full);
    ck_assert_uint_ge(full, 2 * HS_LEDGER_NUMBERS * 100);
    ck_assert_uint_le(full, HS_LEDGER_NUMBERS * (2 * (100 + sizeof(struct hs_ledger_entry)) +
                                                 sizeof shot + sizeof directions) +
                                8 * sizeof(struct hs_cadence));
    ck_assert_uint_eq(ledger.hits.count, HS_LEDGER_NUMBERS);
    hs_ledger_clear(&ledger);
    ck_assert_uint_eq(hs_ledger_bytes(&ledger), 0);
    ck_assert(!is_known(2999));
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 5, 0));
}
END_TEST

START_TEST(the_last_128_are_kept_and_older_ones_forgotten)
{
    for (uint64_t number = 1; number <= HS_LEDGER_NUMBERS; number++)
        note(number);
    ck_assert(is_known(1));
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 0, 0));
    note(HS_LEDGER_NUMBERS + 1);
    ck_assert(!is_known(1) && is_known(2));
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, 1, 1));
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, 0, 0)); /* too late to tell */
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 2, 1000));
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, HS_LEDGER_NUMBERS + 2, 1000));
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, HS_LEDGER_NUMBERS + 2, 0));
}
END_TEST

/* Out of order: the place is the number's, the turn to go is that of arrival. */
START_TEST(a_late_number_stays_as_long_as_any_other)
{
    note(1000);
    note(10);
    for (uint64_t number = 1001; number < 1001 + HS_LEDGER_NUMBERS - 2; number++)
        note(number);
    ck_assert(is_known(10) && is_known(1000));
    note(5000);
    ck_assert(is_known(10) && !is_known(1000));
    note(5001);
    ck_assert(!is_known(10));
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, 10, 10));
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, 1000, 1000));
}
END_TEST

START_TEST(jumps)
{
    const uint64_t far = HS_SHOT_JUMP;
    note(5000000);
    ck_assert(!hs_ledger_is_jump(&ledger.hits, 5000000 + far));
    ck_assert(hs_ledger_is_jump(&ledger.hits, 5000000 + far + 1));
    ck_assert(!hs_ledger_is_jump(&ledger.hits, 5000000 - far));
    ck_assert(hs_ledger_is_jump(&ledger.hits, 5000000 - far - 1));
    ck_assert(hs_ledger_is_jump(&ledger.hits, UINT64_C(1) << 53));
    note(UINT64_C(1) << 53);
    /* Not from either: the second of a new count is no jump any more. */
    ck_assert(!hs_ledger_is_jump(&ledger.hits, (UINT64_C(1) << 53) + 1));
    ck_assert(!hs_ledger_is_jump(&ledger.hits, 5000001));
    ck_assert(hs_ledger_is_jump(&ledger.hits, UINT64_C(1) << 40));
}
END_TEST

/* A counter of 32 bits that wraps: what came before it stays known as long as any 128. */
START_TEST(a_wrap_is_a_new_count)
{
    const uint64_t last = UINT32_MAX;
    int64_t time_us = 0;
    for (uint64_t number = last - 300; number <= last; number++)
        note_full(number, true, time_us++, "{}");
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 0, time_us));
    for (uint64_t number = 0; number < 300; number++) {
        ck_assert_msg(!is_known(number), "%u is taken", (unsigned)number);
        ck_assert_msg(!hs_ledger_is_forgotten(&ledger.hits, number, time_us), "%u is forgotten",
                      (unsigned)number);
        ck_assert_int_eq(hs_ledger_is_jump(&ledger.hits, number), number == 0);
        note_full(number, true, time_us++, "{}");
        ck_assert_int_eq(is_known(last), number + 1 < HS_LEDGER_NUMBERS);
        /* And then it is forgotten, not free. */
        ck_assert(is_known(last) || hs_ledger_is_forgotten(&ledger.hits, last, 300));
    }
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, last - 300, 0));
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, 5, 306));
}
END_TEST

/* Whatever numbers a client throws in between, what was paid is never free again. */
START_TEST(what_was_paid_is_never_free_again)
{
    struct hs_random random = hs_random_start(hs_test_seed(20250401), (uint64_t)_i);
    uint64_t paid = (uint64_t)hs_random_index(&random, 1000000) << hs_random_index(&random, 30);
    note_full(paid, true, 1000, "{}");
    for (int i = 0; i < 2000; i++) {
        uint64_t number = hs_random_bits(&random) >> (11 + hs_random_index(&random, 50));
        bool accepted = hs_random_chance(&random, 0.2);
        int64_t fired = 900 + hs_random_index(&random, 200);
        if (is_known(number) || hs_ledger_is_forgotten(&ledger.hits, number, fired))
            continue;
        note_full(number, accepted, fired, "{}");
        ck_assert_msg(is_known(paid) || hs_ledger_is_forgotten(&ledger.hits, paid, 1000),
                      "free after %d", i);
    }
}
END_TEST

/* ---- cadence ---- */

enum { MOST = 24 };

static void fire(const int *ms, int count)
{
    for (int i = 0; i < count; i++)
        ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(ms[i]), 0));
}

/* The smallest mean over the runs of gaps that a shot belongs to, the long way. -1: not judged. */
static int64_t naive_mean(const int64_t *before, int count, int64_t at)
{
    int64_t times[MOST + 1], smallest = INT64_MAX;
    int place = count;
    memcpy(times, before, (size_t)count * sizeof times[0]);
    while (place > 0 && times[place - 1] > at) {
        times[place] = times[place - 1];
        place--;
    }
    times[place] = at;
    int gaps = count < 4 ? count : 4;
    if (gaps < 3)
        return -1;
    for (int first = place - gaps; first <= place; first++)
        if (first >= 0 && first + gaps <= count && times[first + gaps] - times[first] < smallest)
            smallest = times[first + gaps] - times[first];
    return smallest / gaps;
}

/* Row: shots in ms as they come, the one judged, and its mean in ms; -1: too few gaps. */
static const struct {
    int count, ms[8], at, mean;
} means[] = {
    {0, {0}, 100, -1},
    {1, {0}, 100, -1},
    {2, {0, 100}, 200, -1},
    {3, {0, 100, 200}, 300, 100},
    {3, {200, 0, 100}, 300, 100},
    {3, {100, 200, 300}, 0, 100},
    {3, {0, 100, 300}, 200, 100},
    {3, {0, 0, 0}, 0, 0},
    {4, {0, 150, 300, 450}, 560, 140},
    {5, {0, 1000, 2000, 3000, 4000}, 4100, 775},
    {5, {0, 1000, 2000, 3000, 4000}, 2500, 750},
    {6, {0, 10, 20, 30, 40, 5000}, 6000, 1495},
    {6, {0, 10, 20, 30, 40, 5000}, 35, 7},
};

#define MEANS ((int)(sizeof means / sizeof *means))

START_TEST(mean_gaps)
{
    fire(means[_i].ms, means[_i].count);
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    ck_assert_int_eq(cadence != NULL, means[_i].count > 0);
    int64_t mean = -1000;
    bool judged = cadence != NULL && hs_cadence_mean_gap(cadence, HS_MS(means[_i].at), &mean);
    ck_assert_int_eq(judged, means[_i].mean >= 0);
    if (judged)
        ck_assert_int_eq(mean / 1000, means[_i].mean);
}
END_TEST

/* Whatever the order of arrival, the mean is that of the shots in order of time. */
START_TEST(means_in_any_order)
{
    struct hs_random random = hs_random_start(hs_test_seed(20250402), (uint64_t)_i);
    int64_t sorted[HS_LEDGER_SHOTS];
    for (int count = 0; count < HS_LEDGER_SHOTS; count++) {
        int64_t at = hs_random_index(&random, 3000), mean = -1;
        const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
        bool judged = cadence != NULL && hs_cadence_mean_gap(cadence, at, &mean);
        ck_assert_int_eq(judged ? mean : -1, naive_mean(sorted, count, at));
        ck_assert(hs_ledger_record_shot(&ledger, 0, at, 0));
        int place = count;
        for (; place > 0 && sorted[place - 1] > at; place--)
            sorted[place] = sorted[place - 1];
        sorted[place] = at;
        cadence = hs_ledger_cadence(&ledger, 0);
        ck_assert(cadence != NULL && cadence->count == count + 1);
        ck_assert(memcmp(cadence->fire_time_us, sorted, (size_t)(count + 1) * sizeof *sorted) == 0);
    }
}
END_TEST

START_TEST(the_newest_shots_are_kept)
{
    for (int i = 0; i < 100; i++)
        ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(100 * i), 0));
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    ck_assert_uint_eq(cadence->count, HS_LEDGER_SHOTS);
    ck_assert_int_eq(cadence->fire_time_us[0], HS_MS(100 * (100 - HS_LEDGER_SHOTS)));
    ck_assert_int_eq(cadence->fire_time_us[HS_LEDGER_SHOTS - 1], HS_MS(9900));
    ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(9850), 0)); /* late, in its place */
    ck_assert_int_eq(cadence->fire_time_us[HS_LEDGER_SHOTS - 2], HS_MS(9850));
    ck_assert_uint_eq(cadence->count, HS_LEDGER_SHOTS);
}
END_TEST

START_TEST(weapons_have_their_own)
{
    for (uint16_t weapon = 0; weapon < 20; weapon++)
        for (int i = 0; i <= weapon % 5; i++)
            ck_assert(hs_ledger_record_shot(&ledger, weapon, HS_MS(weapon + i), 0));
    for (uint16_t weapon = 0; weapon < 20; weapon++) {
        const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, weapon);
        ck_assert(cadence != NULL && cadence->weapon == weapon);
        ck_assert_uint_eq(cadence->count, weapon % 5 + 1);
        ck_assert_int_eq(cadence->fire_time_us[0], HS_MS(weapon));
    }
    ck_assert(hs_ledger_cadence(&ledger, 20) == NULL);
}
END_TEST

START_TEST(a_refusal_makes_the_next_shots_strict)
{
    static const int shots[] = {0, 100, 200};
    fire(shots, 3);
    ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->strict, 0);
    ck_assert(hs_ledger_record_too_fast(&ledger, 0));
    unsigned strict = hs_ledger_cadence(&ledger, 0)->strict;
    ck_assert_uint_gt(strict, 0);
    ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->count, 3); /* it did not fire */
    for (unsigned i = 0; i < strict; i++) {
        ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->strict, strict - i);
        ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(1000 + 200 * i), 0));
    }
    ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->strict, 0);
    ck_assert(hs_ledger_record_too_fast(&ledger, 1)); /* a weapon never fired */
    ck_assert_uint_eq(hs_ledger_cadence(&ledger, 1)->strict, strict);
    ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->strict, 0);
}
END_TEST

/* Row: a shot in ms, and the rounds fired with it since a pause of 400 ms. */
static const struct {
    int ms;
    uint32_t rounds;
} magazine[] = {
    {0, 1},   {100, 2},  {200, 3},  {599, 4},  {600, 5},  {1000, 1}, {1001, 2},
    {900, 3}, {1400, 4}, {1800, 1}, {1700, 2}, {2199, 3}, {2200, 4}, {9000, 1},
};

START_TEST(rounds_since_the_last_pause)
{
    for (size_t i = 0; i < sizeof magazine / sizeof *magazine; i++) {
        const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
        if (cadence != NULL)
            ck_assert_uint_eq(hs_cadence_rounds(cadence, HS_MS(magazine[i].ms), HS_MS(400)),
                              magazine[i].rounds);
        ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(magazine[i].ms), HS_MS(400)));
        ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->rounds, magazine[i].rounds);
    }
}
END_TEST

static void note_hit(uint64_t number, int hit_ms, int offset_ms, bool accepted, bool has_offset)
{
    struct hs_ledger_entry entry = {.number = number,
                                    .accepted = accepted,
                                    .is_instant = true,
                                    .has_offset = has_offset,
                                    .hit_time_us = HS_MS(hit_ms),
                                    .offset_us = HS_MS(offset_ms)};
    ck_assert(hs_ledger_record(&ledger, &ledger.hits, &entry));
}

/* Offsets are compared with those of accepted hits within two seconds, whatever their numbers. */
START_TEST(offsets_jump)
{
    ck_assert_int_eq(hs_ledger_offset_jump(&ledger.hits, HS_MS(5000), HS_MS(-80)), 0);
    note_hit(9, 5000, -80, true, true);
    note_hit(2, 6000, 20, true, true);
    note_hit(3, 6000, 500, false, true);
    note_hit(4, 6000, 600, true, false);
    ck_assert_int_eq(hs_ledger_offset_jump(&ledger.hits, HS_MS(7000), HS_MS(10)), HS_MS(90));
    ck_assert_int_eq(hs_ledger_offset_jump(&ledger.hits, HS_MS(7000) + 1, HS_MS(10)), HS_MS(10));
    ck_assert_int_eq(hs_ledger_offset_jump(&ledger.hits, HS_MS(4000), HS_MS(-100)), HS_MS(120));
    ck_assert_int_eq(hs_ledger_offset_jump(&ledger.hits, HS_MS(9000), HS_MS(10)), 0);
    hs_ledger_forget_times(&ledger);
    ck_assert_int_eq(hs_ledger_offset_jump(&ledger.hits, HS_MS(7000), HS_MS(10)), 0);
}
END_TEST

START_TEST(a_new_clock_is_not_compared_with_the_old)
{
    static const int shots[] = {5000, 5100, 5200};
    fire(shots, 3);
    for (uint64_t number = 1; number <= HS_LEDGER_NUMBERS + 1; number++)
        note_full(number, true, HS_MS(5000), "{\"a\"");
    hs_ledger_forget_times(&ledger);
    ck_assert(hs_ledger_cadence(&ledger, 0) == NULL);
    ck_assert(is_known(50));
    ck_assert_uint_eq(hs_ledger_find(&ledger.hits, 50)->answer_size, 4);
    ck_assert(hs_ledger_accepted_before(&ledger.hits, 1000) == NULL);
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 1000, 0));
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, 1, HS_MS(9000))); /* a number is a number */
    fire(shots, 1);
    ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->rounds, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *numbers = tcase_create("numbers");
    tcase_add_checked_fixture(numbers, set_up, tear_down);
    tcase_add_test(numbers, nothing_is_known_at_first);
    tcase_add_test(numbers, numbers_in_any_order);
    tcase_add_test(numbers, the_accepted_number_before);
    tcase_add_test(numbers, offsets_jump);
    tcase_add_test(numbers, answers_and_shots_are_copies);
    tcase_add_test(numbers, memory_is_bounded);
    tcase_add_test(numbers, the_last_128_are_kept_and_older_ones_forgotten);
    tcase_add_test(numbers, a_late_number_stays_as_long_as_any_other);
    tcase_add_test(numbers, jumps);
    tcase_add_test(numbers, a_wrap_is_a_new_count);
    tcase_add_loop_test(numbers, what_was_paid_is_never_free_again, 0, 50);
    suite_add_tcase(suite, numbers);
    TCase *cadence = tcase_create("cadence");
    tcase_add_checked_fixture(cadence, set_up, tear_down);
    tcase_add_loop_test(cadence, mean_gaps, 0, MEANS);
    tcase_add_loop_test(cadence, means_in_any_order, 0, 50);
    tcase_add_test(cadence, the_newest_shots_are_kept);
    tcase_add_test(cadence, weapons_have_their_own);
    tcase_add_test(cadence, a_refusal_makes_the_next_shots_strict);
    tcase_add_test(cadence, rounds_since_the_last_pause);
    tcase_add_test(cadence, a_new_clock_is_not_compared_with_the_old);
    suite_add_tcase(suite, cadence);
    printf("ledger: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(20250401));
    return hs_run_suite(suite);
}
