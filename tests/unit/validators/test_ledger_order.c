/* The order in which a ledger forgets numbers and drops answers, against plain searches. */
#include <check.h>
#include <string.h>

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

static void note(uint64_t number, bool accepted, int64_t fire_time_us)
{
    char answer[] = "{}";
    struct hs_ledger_entry entry = {.number = number,
                                    .accepted = accepted,
                                    .fire_time_us = fire_time_us,
                                    .answer = answer,
                                    .answer_size = sizeof answer};
    ck_assert(hs_ledger_record(&ledger, &ledger.hits, &entry));
}

/* A plain model of the ledger, which searches all entries each time. A full table forgets the first
   entry that is free. If memory is short, the first of all answers is dropped. Entries are in the
   order of recording. */
struct plain_entry {
    uint64_t number;
    bool accepted, has_answer;
    int64_t fire_time_us;
};

static struct plain_entry plain[HS_LEDGER_MAX_NUMBERS + 1];
static int plain_count;

static void plain_remove(int at)
{
    memmove(&plain[at], &plain[at + 1], (size_t)(--plain_count - at) * sizeof plain[0]);
}

static int plain_first_free(void)
{
    for (int i = 0; i < plain_count; i++)
        if (!plain[i].accepted || plain[i].fire_time_us < ledger.free_before_us)
            return i;
    return -1;
}

static void plain_note(uint64_t number, bool accepted, int64_t fire_time_us)
{
    int answers = 0, oldest = 0, at;
    for (int i = 0; i < plain_count; i++)
        if (plain[i].number == number) {
            plain_remove(i);
            break;
        }
    while (plain_count >= HS_LEDGER_NUMBERS && (at = plain_first_free()) >= 0)
        plain_remove(at);
    if (plain_count == HS_LEDGER_MAX_NUMBERS)
        plain_remove(0);
    for (int i = plain_count - 1; i >= 0; i--)
        if (plain[i].has_answer) {
            answers++;
            oldest = i;
        }
    if (answers >= HS_LEDGER_NUMBERS)
        plain[oldest].has_answer = false;
    plain[plain_count++] = (struct plain_entry){number, accepted, true, fire_time_us};
}

/* Numbers that rise, that rise in two turns, and at random. Some are refused, and times go back. */
START_TEST(searches_with_bounds_find_the_same)
{
    enum { SHOTS = 3000 };
    struct hs_random random = hs_random_start(hs_test_seed(20250403), (uint64_t)_i);
    plain_count = 0;
    for (int i = 1; i <= SHOTS; i++) {
        bool accepted = hs_random_index(&random, 400) > 0, is_reset = i % 1400 == 0;
        bool is_late = hs_random_index(&random, 50) == 0;
        int64_t fire_time_us = i - hs_random_index(&random, is_late ? 1500 : 100) - 500;
        uint64_t number = _i % 3 == 0   ? (uint64_t)i
                          : _i % 3 == 1 ? (uint64_t)(i % 2 * SHOTS + i)
                                        : hs_random_bits(&random) >> 52;
        /* For long times no entry is free. Then entries become free, few or many at once. */
        if (hs_random_index(&random, 300) == 0)
            ledger.free_before_us = i - hs_random_index(&random, 1500) - 500;
        note(number, accepted, fire_time_us);
        plain_note(number, accepted, fire_time_us);
        if (is_reset)
            hs_ledger_forget_times(&ledger);
        ck_assert_uint_eq(ledger.hits.count, (unsigned)plain_count);
        for (int j = 0; j < plain_count; j++) {
            plain[j].accepted = plain[j].accepted && !is_reset;
            const struct hs_ledger_entry *entry = hs_ledger_find(&ledger.hits, plain[j].number);
            ck_assert_ptr_nonnull(entry);
            ck_assert_int_eq(entry->fire_time_us, plain[j].fire_time_us);
            ck_assert((entry->answer != NULL) == plain[j].has_answer);
        }
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ledger_order");
    TCase *order = tcase_create("order");
    tcase_add_checked_fixture(order, set_up, tear_down);
    tcase_add_loop_test(order, searches_with_bounds_find_the_same, 0, 12);
    suite_add_tcase(suite, order);
    return hs_run_suite(suite);
}
