/* The memory of a player's shots: their numbers and answers, and the fire rate. */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/play/stage.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"
#include "validators/base/budget_inside.h"
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
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, INT64_MIN));
    ck_assert(!hs_ledger_is_used(&ledger.hits, 0, INT64_MIN));
    ck_assert(hs_ledger_cadence(&ledger, 0) == NULL);
    ck_assert_uint_eq(hs_ledger_bytes(&ledger), 0);
    hs_ledger_forget_times(&ledger);
}
END_TEST

START_TEST(numbers_may_be_recorded_in_any_order)
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

/* Row: numbers in order of arrival (refused ones negative), the requested number, and its
   predecessor, or -1 if it has none. */
static const struct {
    int numbers[4], asked, before;
} predecessors[] = {
    {{2}, 3, 2},         {{2, 3, 4}, 5, 4},
    {{2, 3, 4}, 4, -1},                       /* a number is not its own
                                                 predecessor */
    {{2, 4}, 3, -1},                          /* number 3 arrives late */
    {{2, 4, 3}, 5, 3},   {{2, 3, -4}, 5, 3},  /* refused claims fire nothing */
    {{65535}, 0, -1},                         /* the counter wrapped around */
    {{7, 5000}, 60, -1}, {{7, 60}, 5000, -1}, /* random numbers */
    {{7}, 7 + 128, 7},   {{7}, 7 + 128 + 1, -1},
};

#define PREDECESSORS ((int)(sizeof predecessors / sizeof *predecessors))

START_TEST(the_predecessor_is_the_last_accepted_lower_number)
{
    for (int i = 0; i < 4 && predecessors[_i].numbers[i] != 0; i++) {
        int number = predecessors[_i].numbers[i];
        note_full((uint64_t)abs(number), number > 0, 0, "");
    }
    const struct hs_ledger_entry *entry =
        hs_ledger_accepted_before(&ledger.hits, (uint64_t)predecessors[_i].asked);
    ck_assert_int_eq(entry != NULL ? (int)entry->number : -1, predecessors[_i].before);
}
END_TEST

/* A claim that was fired before the newest claim and arrives after it does not hide that claim from
   the next one. */
START_TEST(a_late_number_is_no_predecessor)
{
    note_full(10, true, HS_MS(1000), "");
    note_full(9, true, HS_MS(950), "");
    ck_assert_uint_eq(hs_ledger_accepted_before(&ledger.hits, 11)->number, 10);
    note_full(8, true, HS_MS(1200), ""); /* the counter wrapped */
    ck_assert_uint_eq(hs_ledger_accepted_before(&ledger.hits, 9)->number, 8);
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
    ck_assert(hs_ledger_find(&ledger.hits, 1) == NULL); /* the number belongs to a shot, not to a
                                                           hit */
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
            ck_assert(hs_ledger_record_shot(&ledger, weapon, (int64_t)number, 1, 10));
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
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 0));
}
END_TEST

/* A number is forgotten when no claim with it can pass any more, except the last 128 numbers. */
START_TEST(the_last_128_are_kept_and_free_ones_forgotten)
{
    for (uint64_t number = 1; number <= 1000; number++) {
        ledger.free_before_us = (int64_t)number - 50;
        note(number);
        ck_assert(hs_ledger_is_used(&ledger.hits, number, ledger.free_before_us));
    }
    ck_assert_uint_eq(ledger.hits.count, HS_LEDGER_NUMBERS);
    ck_assert(!is_known(1000 - HS_LEDGER_NUMBERS) && is_known(1001 - HS_LEDGER_NUMBERS));
    /* known, but free to use again */
    ck_assert(!hs_ledger_is_used(&ledger.hits, 949, ledger.free_before_us));
    ck_assert(hs_ledger_is_used(&ledger.hits, 950, ledger.free_before_us));
    ck_assert(!ledger.hits.was_cut && !hs_ledger_is_forgotten(&ledger.hits, 0));
}
END_TEST

/* The table of numbers grows while the oldest number can still be claimed. The number of kept
   answers does not grow. */
START_TEST(numbers_are_kept_while_they_can_be_claimed)
{
    for (uint64_t number = 1; number <= HS_LEDGER_MAX_NUMBERS; number++)
        note(number);
    ck_assert_uint_eq(ledger.hits.count, HS_LEDGER_MAX_NUMBERS);
    ck_assert_uint_eq(ledger.hits.answers, HS_LEDGER_NUMBERS);
    ck_assert(is_known(1) && !ledger.hits.was_cut);
    note(HS_LEDGER_MAX_NUMBERS + 1); /* too many: the time of the forgotten number is kept */
    ck_assert(!is_known(1) && is_known(2) && ledger.hits.was_cut);
    ck_assert(hs_ledger_is_forgotten(&ledger.hits, 1) && !hs_ledger_is_forgotten(&ledger.hits, 2));
    ledger.free_before_us = 100000; /* now all kept numbers can be forgotten */
    note(100000);
    ck_assert_uint_eq(ledger.hits.count, HS_LEDGER_NUMBERS);
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 2));
}
END_TEST

/* Refused numbers were not paid, so the table never grows for them. */
START_TEST(refused_numbers_are_forgotten_first)
{
    note(5000);
    for (uint64_t number = 1; number <= 1000; number++)
        note_full(number, false, INT64_MAX, "{}");
    ck_assert_uint_eq(ledger.hits.count, HS_LEDGER_NUMBERS);
    ck_assert(is_known(5000) && is_known(1000) && !is_known(1) && !ledger.hits.was_cut);
}
END_TEST

START_TEST(a_free_number_is_replaced)
{
    note_full(7, true, 100, "{\"first\"");
    ledger.free_before_us = 101;
    note_full(7, true, 200, "{}");
    ck_assert_uint_eq(ledger.hits.count, 1);
    ck_assert_uint_eq(ledger.hits.answers, 1);
    ck_assert_int_eq(hs_ledger_find(&ledger.hits, 7)->fire_time_us, 200);
    ck_assert_uint_eq(ledger.bytes, hs_ledger_bytes(&ledger));
}
END_TEST

/* Shot numbers that wrap around, or are random in 16 bits. A number that a claim may use is not
   refused. A paid number stays used or forgotten while a claim with it can pass. */
START_TEST(numbers_in_any_order_are_paid_once)
{
    enum { SHOTS = 4000, WINDOW = 200 };
    static uint64_t paid[SHOTS];
    struct hs_random random = hs_random_start(hs_test_seed(20250401), (uint64_t)_i);
    uint64_t counter = 65000;
    int refused = 0;
    for (int i = 0; i < SHOTS; i++) {
        uint64_t number = _i % 2 == 0 ? counter++ % 300 : hs_random_bits(&random) >> 48;
        ledger.free_before_us = i - WINDOW;
        paid[i] = UINT64_MAX;
        if (hs_ledger_is_used(&ledger.hits, number, ledger.free_before_us) ||
            hs_ledger_is_forgotten(&ledger.hits, i)) {
            refused++;
            continue;
        }
        note_full(number, true, i, "");
        paid[i] = number;
        int back = i - hs_random_index(&random, WINDOW < i ? WINDOW : i + 1);
        ck_assert(paid[back] == UINT64_MAX ||
                  hs_ledger_is_used(&ledger.hits, paid[back], ledger.free_before_us));
    }
    ck_assert(!ledger.hits.was_cut);
    /* A random number of 16 bits equals one of the last 200 in 0.3 % of all shots. */
    ck_assert_int_le(refused, _i % 2 == 0 ? 0 : SHOTS / 100);
}
END_TEST

/* ---- fire rate ---- */

/* If there is no memory for another cadence, a weapon gets the place of a weapon whose cadence can
   refuse no claim any more. */
START_TEST(the_place_of_an_idle_cadence_is_reused)
{
    static struct hs_budget nothing;
    uint16_t fits = HS_LEDGER_RESERVE / sizeof(struct hs_cadence) / 2 * 2;
    hs_budget_init(&nothing, 0, NULL);
    ledger.budget = &nothing;
    for (uint16_t weapon = 0; weapon < fits; weapon++)
        ck_assert(
            hs_ledger_record_shot(&ledger, weapon, HS_MS(1000 * weapon), HS_MS(100), HS_MS(500)));
    ledger.free_before_us = HS_MS(100);
    ck_assert(!hs_ledger_record_shot(&ledger, fits, HS_MS(9000), HS_MS(100), HS_MS(500)));
    ledger.free_before_us = HS_MS(100) + 1;
    ck_assert(hs_ledger_record_shot(&ledger, fits, HS_MS(9000), HS_MS(100), HS_MS(500)));
    ck_assert_ptr_null(hs_ledger_cadence(&ledger, 0));
    for (uint16_t weapon = 1; weapon <= fits; weapon++)
        ck_assert_uint_eq(hs_ledger_cadence(&ledger, weapon)->count, 1);
    ck_assert_uint_le(hs_ledger_bytes(&ledger), HS_LEDGER_RESERVE);
}
END_TEST

enum { MOST = HS_LEDGER_SHOTS, INTERVAL = 100 };

static bool fire_at(int ms)
{
    return hs_ledger_record_shot(&ledger, 0, HS_MS(ms), HS_MS(INTERVAL), 0);
}

static void fire(const int *ms, int count)
{
    for (int i = 0; i < count; i++)
        ck_assert(fire_at(ms[i]));
}

/* Computes the debt in a slow and simple way. For each pair of shots: how much too early is the
   later one, if one token is earned per interval? A pause saves a part of the tokens. */
static int64_t naive_debt(const int64_t *before, int count, int64_t at, int64_t interval_us)
{
    int64_t times[MOST + 1], largest = 0;
    int place = count;
    memcpy(times, before, (size_t)count * sizeof times[0]);
    for (; place > 0 && times[place - 1] > at; place--)
        times[place] = times[place - 1];
    times[place] = at;
    for (int last = place; last <= count; last++)
        for (int first = 0; first < last; first++) {
            int64_t early = (last - first) * interval_us - (times[last] - times[first]);
            if (early - interval_us * 15 / 100 > largest)
                largest = early - interval_us * 15 / 100;
        }
    return largest;
}

/* Row: shots in ms in order of arrival, the next shot, and the debt with it. The interval is 100
   ms. */
static const struct {
    int count, ms[8], at, debt;
} debts[] = {
    {0, {0}, 100, 0},
    {1, {0}, 0, 85},
    {1, {0}, 18, 67},
    {1, {0}, 100, 0},
    {1, {100}, 0, 0}, /* a late shot counts at its own time */
    {2, {0, 200}, 100, 0},
    {2, {0, 100}, 50, 85}, /* the new shot makes the shot after it too early */
    {4, {0, 90, 180, 270}, 360, 25},
    {4, {0, 150, 300, 450}, 560, 0},
    {5, {0, 1000, 2000, 3000, 4000}, 2060, 25},
};

#define DEBTS ((int)(sizeof debts / sizeof *debts))

START_TEST(each_shot_has_the_expected_debt)
{
    fire(debts[_i].ms, debts[_i].count);
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    ck_assert_int_eq(cadence != NULL, debts[_i].count > 0);
    int64_t debt =
        cadence != NULL ? hs_cadence_debt(cadence, HS_MS(debts[_i].at), HS_MS(INTERVAL)) : 0;
    ck_assert_int_eq(debt, HS_MS(debts[_i].debt));
    ck_assert_int_eq(hs_cadence_max_debt(HS_MS(INTERVAL)), HS_MS(67));
}
END_TEST

/* The debt does not depend on the order of arrival, only on the times of the shots. */
START_TEST(debts_do_not_depend_on_the_order_of_arrival)
{
    struct hs_random random = hs_random_start(hs_test_seed(20250402), (uint64_t)_i);
    int64_t sorted[MOST], interval_us = 1 + hs_random_index(&random, 400);
    for (int count = 0; count < MOST; count++) {
        int64_t at = hs_random_index(&random, 3000);
        const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
        ck_assert_int_eq(cadence != NULL ? hs_cadence_debt(cadence, at, interval_us) : 0,
                         naive_debt(sorted, count, at, interval_us));
        ck_assert(hs_ledger_record_shot(&ledger, 0, at, interval_us, 0));
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

/* More shots than the ledger keeps. The dropped shots still count, even for a shot that is earlier
   than all kept ones. */
START_TEST(debts_outlast_the_kept_shots)
{
    for (int i = 0; i < 3 * MOST; i++)
        ck_assert(fire_at(90 * i + 1000 - 10 * (i > 0)));
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    int last = 3 * MOST - 1;
    int64_t next_us = HS_MS(90 * last + 990 + 90);
    ck_assert_int_gt(hs_cadence_debt(cadence, next_us, HS_MS(INTERVAL)), HS_MS(67));
    ck_assert_int_gt(hs_cadence_debt(cadence, HS_MS(1000), HS_MS(INTERVAL)), HS_MS(67));
    ck_assert_int_eq(hs_cadence_debt(cadence, next_us + HS_MS(10000), HS_MS(INTERVAL)), 0);
}
END_TEST

/* Row: shots in ms, the cancelled one, the debt of one more shot at an interval of 100 ms, and the
   remaining rounds. */
static const struct {
    int ms[3], taken, debt, rounds;
} returned[] = {{{0, 50, 90}, 50, 85, 2},
                {{0, 50, 90}, 90, 85, 2},
                {{0, 50, 90}, 70, 185, 3}, /* never fired */
                {{0, 1000, 1090}, 0, 0, 2},
                {{-900, 0, 90}, -900, 85, 2}};

START_TEST(a_cancelled_shot_gives_back_its_token)
{
    for (int i = 0; i < 3; i++)
        ck_assert(hs_ledger_record_shot(&ledger, 0, HS_MS(returned[_i].ms[i]), HS_MS(INTERVAL),
                                        HS_MS(400)));
    hs_ledger_return_shot(&ledger, 0, HS_MS(returned[_i].taken), HS_MS(400));
    hs_ledger_return_shot(&ledger, 1, HS_MS(returned[_i].taken), HS_MS(400)); /* never fired */
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    ck_assert_int_eq(hs_cadence_debt(cadence, HS_MS(100), HS_MS(INTERVAL)),
                     HS_MS(returned[_i].debt));
    ck_assert_int_eq((int)cadence->rounds, returned[_i].rounds);
}
END_TEST

/* Leaving refills the magazine, but does not reset the fire rate. */
START_TEST(the_cadence_outlasts_the_session)
{
    static const int shots[] = {0, 20};
    fire(shots, 2);
    hs_ledger_end_session(&ledger);
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    ck_assert(cadence != NULL && cadence->rounds == 0);
    ck_assert_int_eq(hs_cadence_debt(cadence, HS_MS(40), HS_MS(INTERVAL)), HS_MS(145));
    ck_assert_uint_eq(ledger.bytes, hs_ledger_bytes(&ledger));
}
END_TEST

START_TEST(the_newest_shots_are_kept)
{
    for (int i = 0; i < 100; i++)
        ck_assert(fire_at(100 * i));
    const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, 0);
    ck_assert_uint_eq(cadence->count, HS_LEDGER_SHOTS);
    ck_assert_int_eq(cadence->fire_time_us[0], HS_MS(100 * (100 - HS_LEDGER_SHOTS)));
    ck_assert_int_eq(cadence->fire_time_us[HS_LEDGER_SHOTS - 1], HS_MS(9900));
    ck_assert(fire_at(9850)); /* late, but counted at its own time */
    ck_assert_int_eq(cadence->fire_time_us[HS_LEDGER_SHOTS - 2], HS_MS(9850));
    ck_assert_uint_eq(cadence->count, HS_LEDGER_SHOTS);
}
END_TEST

START_TEST(each_weapon_has_its_own_cadence)
{
    for (uint16_t weapon = 0; weapon < 20; weapon++)
        for (int i = 0; i <= weapon % 5; i++)
            ck_assert(hs_ledger_record_shot(&ledger, weapon, HS_MS(weapon + i), 0, 0));
    for (uint16_t weapon = 0; weapon < 20; weapon++) {
        const struct hs_cadence *cadence = hs_ledger_cadence(&ledger, weapon);
        ck_assert(cadence != NULL && cadence->weapon == weapon);
        ck_assert_uint_eq(cadence->count, weapon % 5 + 1);
        ck_assert_int_eq(cadence->fire_time_us[0], HS_MS(weapon));
    }
    ck_assert(hs_ledger_cadence(&ledger, 20) == NULL);
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

/* The offset of a hit is compared with those of accepted hits within two seconds, whatever their
   numbers are. */
START_TEST(offsets_are_compared_within_two_seconds)
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
    ck_assert(!hs_ledger_is_forgotten(&ledger.hits, 0));
    fire(shots, 1);
    ck_assert_uint_eq(hs_ledger_cadence(&ledger, 0)->rounds, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger");
    TCase *numbers = tcase_create("numbers");
    tcase_add_checked_fixture(numbers, set_up, tear_down);
    tcase_add_test(numbers, the_place_of_an_idle_cadence_is_reused);
    tcase_add_test(numbers, nothing_is_known_at_first);
    tcase_add_test(numbers, numbers_may_be_recorded_in_any_order);
    tcase_add_test(numbers, a_late_number_is_no_predecessor);
    tcase_add_loop_test(numbers, the_predecessor_is_the_last_accepted_lower_number, 0,
                        PREDECESSORS);
    tcase_add_test(numbers, offsets_are_compared_within_two_seconds);
    tcase_add_test(numbers, answers_and_shots_are_copies);
    tcase_add_test(numbers, memory_is_bounded);
    tcase_add_test(numbers, the_last_128_are_kept_and_free_ones_forgotten);
    tcase_add_test(numbers, numbers_are_kept_while_they_can_be_claimed);
    tcase_add_test(numbers, refused_numbers_are_forgotten_first);
    tcase_add_test(numbers, a_free_number_is_replaced);
    tcase_add_loop_test(numbers, numbers_in_any_order_are_paid_once, 0, 20);
    suite_add_tcase(suite, numbers);
    TCase *cadence = tcase_create("cadence");
    tcase_add_checked_fixture(cadence, set_up, tear_down);
    tcase_add_loop_test(cadence, each_shot_has_the_expected_debt, 0, DEBTS);
    tcase_add_loop_test(cadence, debts_do_not_depend_on_the_order_of_arrival, 0, 50);
    tcase_add_test(cadence, debts_outlast_the_kept_shots);
    tcase_add_loop_test(cadence, a_cancelled_shot_gives_back_its_token, 0, 5);
    tcase_add_test(cadence, the_cadence_outlasts_the_session);
    tcase_add_test(cadence, the_newest_shots_are_kept);
    tcase_add_test(cadence, each_weapon_has_its_own_cadence);
    tcase_add_test(cadence, a_new_clock_is_not_compared_with_the_old);
    suite_add_tcase(suite, cadence);
    printf("ledger: HS_SEED=%llu\n", (unsigned long long)hs_test_seed(20250401));
    return hs_run_suite(suite);
}
