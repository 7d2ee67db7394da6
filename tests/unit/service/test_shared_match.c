/* Matches in the store: their keys, the fence of epochs, and what is durable. Two owners share a
   private redis-server. */
#include <check.h>
#include <hiredis/hiredis.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "service/store/matches.h"
#include "service/system/clock.h"
#include "service/watch/metrics.h"
#include "tests/support/clock.h"
#include "tests/support/run_suite.h"
#include "tests/support/store/redis.h"

enum { PATIENCE_MS = 10000 };

#define OWN     "hs:v1:{/m}:own"
#define JOURNAL "hs:v1:{/m}:journal"

static const struct hs_shared_budgets patient = {.take_us = 5000000, .payment_us = 5000000};
static const struct hs_shared_budgets impatient = {.take_us = 5000000, .payment_us = 20000};

static struct hs_test_redis redis;
static struct hs_metrics *metrics;
static struct hs_store *store;
static struct hs_shared_matches *first, *second; /* two replicas */
static struct hs_shared_matches *hasty; /* a replica that does not wait long for payments */

static void setup(void)
{
    char error[256];
    ck_assert(hs_test_redis_start(&redis, 0, NULL));
    metrics = hs_metrics_create();
    store = hs_store_start(redis.address, "", metrics, error);
    ck_assert_ptr_nonnull(store);
    hs_store_wait_until_up(store, 5000000);
    first = hs_shared_matches_create(store, metrics, &patient);
    second = hs_shared_matches_create(store, metrics, &patient);
    hasty = hs_shared_matches_create(store, metrics, &impatient);
    ck_assert(first != NULL && second != NULL && hasty != NULL);
}

static void teardown(void)
{
    hs_store_stop(store, 1000000);
    hs_shared_matches_destroy(first);
    hs_shared_matches_destroy(second);
    hs_shared_matches_destroy(hasty);
    hs_metrics_destroy(metrics);
    hs_test_redis_stop(&redis);
}

/* Takes the match m. `state`: the expected state, or NULL. */
static struct hs_ownership take(struct hs_shared_matches *replica, const char *state,
                                size_t records, bool was_released)
{
    struct hs_taken taken;
    ck_assert_int_eq(hs_shared_match_take(replica, (struct hs_str){0}, HS_STR("m"), &taken),
                     HS_TAKEN);
    struct hs_ownership ownership = taken.ownership;
    ck_assert(state != NULL ? hs_str_equal(taken.state, hs_str_of(state))
                            : taken.state.ptr == NULL);
    ck_assert_uint_eq(taken.journal_count, records);
    ck_assert_int_eq(taken.was_released, was_released);
    hs_taken_free(&taken);
    return ownership;
}

static struct hs_shared_match *own(struct hs_shared_matches *replica, struct hs_ownership ownership)
{
    return hs_shared_match_create(replica, (struct hs_str){0}, HS_STR("m"), ownership);
}

/* ---- waiting ---- */

static atomic_int done_waits;

static void done(struct hs_payments_wait *wait)
{
    (void)wait;
    atomic_fetch_add(&done_waits, 1);
}

/* Returns the final state of the payments so far. */
static enum hs_payments payments(struct hs_shared_match *match)
{
    struct hs_payments_wait wait = {.done = done};
    atomic_store(&done_waits, 0);
    enum hs_payments result = hs_shared_match_await(match, &wait);
    for (int i = 0; result == HS_PAYMENTS_PENDING && i < PATIENCE_MS; i++) {
        if (atomic_load(&done_waits) > 0)
            return wait.result;
        hs_test_pause_ms(1);
    }
    return result;
}

/* Appends a record, and returns what became of it. */
static enum hs_payments append(struct hs_shared_match *match, const char *record)
{
    hs_shared_match_append(match, hs_str_of(record));
    return payments(match);
}

/* Writes a state, and waits until the store has answered. */
static void write_state(struct hs_shared_match *match, const char *state, bool is_final)
{
    ck_assert(hs_shared_match_write(match, HS_STORE_BULK, hs_str_of(state),
                                    hs_shared_match_mark(match),
                                    is_final ? HS_SHARED_FINAL : HS_SHARED_PARTIAL));
    for (int i = 0; i < PATIENCE_MS && hs_store_backlog(store, HS_STORE_BULK) > 0; i++)
        hs_test_pause_ms(1);
    hs_test_pause_ms(5); /* the reply is handled after it leaves the backlog */
}

static const char *epoch_in_store(void)
{
    return hs_test_redis_ask(&redis, "HGET %s epoch", OWN);
}

/* ---- tests ---- */

START_TEST(payments_need_a_state)
{
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    ck_assert_int_eq(payments(match), HS_PAYMENTS_DURABLE); /* nothing was paid */
    ck_assert(hs_shared_match_needs_state(match));
    ck_assert_int_eq(append(match, "1"), HS_PAYMENTS_NOT_DURABLE);
    write_state(match, "one", false); /* it contains record 1 */
    ck_assert_int_eq(payments(match), HS_PAYMENTS_DURABLE);
    ck_assert_str_eq(hs_test_redis_ask(&redis, "ZCARD %s", JOURNAL), "0");
    ck_assert(!hs_shared_match_needs_state(match));
    ck_assert_int_eq(append(match, "2"), HS_PAYMENTS_DURABLE);
    ck_assert_int_eq(append(match, "3"), HS_PAYMENTS_DURABLE);
    ck_assert_str_eq(hs_test_redis_ask(&redis, "ZRANGE %s 0 -1", JOURNAL), "2 3");
    hs_shared_match_release(match);
}
END_TEST

START_TEST(a_former_owner_is_refused)
{
    struct hs_shared_match *before = own(first, take(first, NULL, 0, false));
    write_state(before, "one", false);
    ck_assert_int_eq(append(before, "1"), HS_PAYMENTS_DURABLE);
    struct hs_ownership newer = take(second, "one", 1, false);
    ck_assert_uint_eq(newer.epoch, 2);
    struct hs_shared_match *after = own(second, newer);
    ck_assert(!hs_shared_match_is_lost(before)); /* it cannot know yet */
    ck_assert_int_eq(append(before, "2"), HS_PAYMENTS_MOVED);
    ck_assert(hs_shared_match_is_lost(before));
    ck_assert_str_eq(hs_test_redis_ask(&redis, "ZRANGE %s 0 -1", JOURNAL), "1");
    ck_assert_int_eq(append(after, "3"), HS_PAYMENTS_DURABLE);
    write_state(after, "two", false);
    ck_assert_str_eq(hs_test_redis_ask(&redis, "GET hs:v1:{/m}:state"), "two");
    ck_assert_str_eq(hs_test_redis_ask(&redis, "ZCARD %s", JOURNAL), "0");
    hs_shared_match_release(before);
    hs_shared_match_release(after);
}
END_TEST

START_TEST(a_state_of_a_former_owner_is_refused)
{
    struct hs_shared_match *before = own(first, take(first, NULL, 0, false));
    write_state(before, "one", false);
    (void)take(second, "one", 0, false);
    write_state(before, "late", false);
    ck_assert(hs_shared_match_is_lost(before));
    ck_assert_str_eq(hs_test_redis_ask(&redis, "GET hs:v1:{/m}:state"), "one");
    hs_shared_match_release(before);
}
END_TEST

START_TEST(an_owner_can_release_a_match)
{
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    write_state(match, "final", true);
    struct hs_taken taken;
    ck_assert_int_eq(hs_shared_match_take(second, (struct hs_str){0}, HS_STR("m"), &taken),
                     HS_TAKEN);
    ck_assert(taken.was_released);
    /* A replica without the ruleset leaves the match as it found it. */
    hs_shared_match_give_back(second, (struct hs_str){0}, HS_STR("m"), &taken);
    hs_taken_free(&taken);
    ck_assert_uint_eq(take(second, "final", 0, true).epoch, 3);
    (void)take(first, "final", 0, false); /* it was taken in between */
    hs_shared_match_release(match);
}
END_TEST

START_TEST(an_ended_match_is_gone)
{
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    write_state(match, "one", false);
    struct hs_shared_match *newer = own(second, take(second, "one", 0, false));
    hs_shared_match_close(newer);
    ck_assert_uint_eq(take(second, NULL, 0, false).epoch, 3);
    write_state(match, "late", false); /* a former owner cannot bring it back */
    ck_assert_str_eq(hs_test_redis_ask(&redis, "EXISTS hs:v1:{/m}:state"), "0");
    hs_shared_match_release(newer);
    hs_shared_match_release(match);
}
END_TEST

/* A payment of a match that is deleted at the same time. If its answer said that another replica
   has the match, the game server would send the claim again, and it would be paid twice. */
START_TEST(the_payments_of_an_ended_match_have_not_moved)
{
    struct hs_payments_wait wait = {.done = done};
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    write_state(match, "one", false);
    ck_assert_int_eq(append(match, "1"), HS_PAYMENTS_DURABLE);
    if (_i == 1) /* then the record is sent again, after the end of the match */
        hs_test_redis_ask(&redis, "SCRIPT FLUSH");
    atomic_store(&done_waits, 0);
    kill(redis.pid, SIGSTOP);
    hs_shared_match_append(match, HS_STR("2"));
    ck_assert_int_eq(hs_shared_match_await(match, &wait), HS_PAYMENTS_PENDING);
    hs_shared_match_close(match);
    kill(redis.pid, SIGCONT);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&done_waits) == 0; i++)
        hs_test_pause_ms(1);
    ck_assert_int_eq(atomic_load(&done_waits), 1);
    ck_assert_int_eq(wait.result, _i == 0 ? HS_PAYMENTS_DURABLE : HS_PAYMENTS_NOT_DURABLE);
    ck_assert(!hs_shared_match_write(match, HS_STORE_BULK, HS_STR("late"),
                                     hs_shared_match_mark(match), HS_SHARED_PARTIAL));
    (void)take(second, NULL, 0, false);
    hs_shared_match_release(match);
}
END_TEST

/* The copy of a state takes a while. Another state may be written before it is complete. */
START_TEST(an_older_state_does_not_replace_a_newer_one)
{
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    write_state(match, "one", false);
    ck_assert_int_eq(append(match, "1"), HS_PAYMENTS_DURABLE);
    uint64_t old = hs_shared_match_mark(match);
    ck_assert_int_eq(append(match, "2"), HS_PAYMENTS_DURABLE);
    write_state(match, "two", false);
    ck_assert(!hs_shared_match_write(match, HS_STORE_BULK, HS_STR("old"), old, HS_SHARED_PARTIAL));
    ck_assert(hs_shared_match_is_due(match, 1, hs_clock_us(), false));
    (void)take(second, "two", 0, false);
    hs_shared_match_release(match);
}
END_TEST

/* The answer to a move waits until its state is in the store. An older state, which comes over the
   slower link, does not replace it. */
START_TEST(moves_are_handed_off)
{
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    write_state(match, "one", false);
    ck_assert_int_eq(append(match, "1"), HS_PAYMENTS_DURABLE);
    uint64_t old = hs_shared_match_mark(match);
    hs_shared_match_hand_off(match, HS_STR("two"));
    ck_assert_int_eq(payments(match), HS_PAYMENTS_DURABLE);
    ck_assert_str_eq(hs_test_redis_ask(&redis, "GET hs:v1:{/m}:state"), "two");
    ck_assert(!hs_shared_match_write(match, HS_STORE_BULK, HS_STR("old"), old, HS_SHARED_COMPLETE));
    hs_test_redis_ask(&redis, "HSET %s mark %llu", OWN, (unsigned long long)old + 9);
    write_state(match, "late", false);
    ck_assert_str_eq(hs_test_redis_ask(&redis, "GET hs:v1:{/m}:state"), "two");
    struct hs_shared_match *after = own(second, take(second, "two", 0, true));
    hs_shared_match_hand_off(match, HS_STR("three"));
    ck_assert_int_eq(payments(match), HS_PAYMENTS_MOVED);
    write_state(after, "four", false);
    (void)take(first, "four", 0, false);
    hs_shared_match_release(match);
    hs_shared_match_release(after);
}
END_TEST

/* Memory ran out for a record or a state. The next state has the payments and the moves. */
START_TEST(what_cannot_be_packed_is_not_durable)
{
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    int64_t now_us = hs_clock_us();
    write_state(match, "one", false);
    hs_shared_match_captured(match, 1, now_us, 10);
    ck_assert(!hs_shared_match_is_due(match, 1, now_us, true));
    if (_i == 0)
        hs_shared_match_append(match, (struct hs_str){0});
    else
        hs_shared_match_hand_off(match, (struct hs_str){0});
    ck_assert_int_eq(payments(match), HS_PAYMENTS_NOT_DURABLE);
    ck_assert(hs_shared_match_is_due(match, 1, now_us, true));
    ck_assert_str_eq(hs_test_redis_ask(&redis, "ZCARD %s", JOURNAL), "0");
    write_state(match, "two", false);
    ck_assert_int_eq(payments(match), HS_PAYMENTS_DURABLE);
    hs_shared_match_release(match);
}
END_TEST

START_TEST(a_flushed_store_gets_the_epoch_again)
{
    (void)take(second, NULL, 0, false);
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    int64_t now_us = hs_clock_us();
    write_state(match, "one", false);
    hs_shared_match_captured(match, 1, now_us, 10);
    ck_assert(!hs_shared_match_is_due(match, 1, now_us + 1, false));
    hs_test_redis_ask(&redis, "FLUSHALL");
    ck_assert_int_eq(append(match, "1"), HS_PAYMENTS_NOT_DURABLE);
    ck_assert(hs_shared_match_is_due(match, 1, now_us + 1, false));
    write_state(match, "two", false);
    ck_assert_int_eq(payments(match), HS_PAYMENTS_DURABLE);
    ck_assert_str_eq(epoch_in_store(), "2");
    hs_shared_match_release(match);
}
END_TEST

static atomic_bool must_stall;

/* Keeps the thread of the urgent link from reading replies. */
static void stall(struct hs_payments_wait *wait)
{
    (void)wait;
    atomic_fetch_add(&done_waits, 1);
    while (atomic_load(&must_stall))
        hs_test_pause_ms(1);
}

/* The store runs a command before it has a state. The reply comes after the reply to a state, which
   takes the other link. Nothing is forgotten, and no other match must be written again. */
START_TEST(a_late_reply_forgets_no_state)
{
    struct hs_payments_wait wait = {.done = stall};
    struct hs_shared_match *match = own(first, take(first, NULL, 0, false));
    struct hs_shared_match *other = hs_shared_match_create(
        first, (struct hs_str){0}, HS_STR("other"), (struct hs_ownership){.epoch = 1});
    write_state(other, "one", false); /* the server knows the scripts now */
    int64_t now_us = hs_clock_us();
    hs_shared_match_captured(other, 1, now_us, 10);
    atomic_store(&done_waits, 0);
    atomic_store(&must_stall, true);
    kill(redis.pid, SIGSTOP);
    hs_shared_match_append(other, HS_STR("1"));
    ck_assert_int_eq(hs_shared_match_await(other, &wait), HS_PAYMENTS_PENDING);
    kill(redis.pid, SIGCONT);
    for (int i = 0; i < PATIENCE_MS && atomic_load(&done_waits) == 0; i++)
        hs_test_pause_ms(1);
    if (_i == 0)
        hs_shared_match_append(match, HS_STR("1"));
    else
        hs_shared_match_hand_off(match, HS_STR("one"));
    static const char *const written[] = {JOURNAL, "hs:v1:{/m}:state"};
    for (int i = 0;
         i < PATIENCE_MS && strcmp(hs_test_redis_ask(&redis, "EXISTS %s", written[_i]), "0") == 0;
         i++)
        hs_test_pause_ms(1);
    write_state(match, "two", false);
    atomic_store(&must_stall, false);
    for (int i = 0; i < PATIENCE_MS && hs_store_backlog(store, HS_STORE_URGENT) > 0; i++)
        hs_test_pause_ms(1);
    hs_test_pause_ms(5); /* the reply is handled after it leaves the backlog */
    ck_assert(!hs_shared_match_needs_state(match));
    ck_assert(!hs_shared_match_is_due(other, 1, now_us + 1, false));
    hs_shared_match_release(match);
    hs_shared_match_release(other);
}
END_TEST

/* The store loses its data while the match moves. The epochs of the new owner begin again at 1,
   below those of the former owner, whose writes must not replace what the new owner paid. */
START_TEST(a_former_owner_is_refused_after_a_flush)
{
    (void)take(second, NULL, 0, false);
    struct hs_shared_match *before = own(first, take(first, NULL, 0, false));
    write_state(before, "one", false);
    hs_test_redis_ask(&redis, "FLUSHALL");
    struct hs_shared_match *after = own(second, take(second, NULL, 0, false));
    if (_i == 0)
        ck_assert_int_eq(append(before, "1"), HS_PAYMENTS_MOVED);
    else if (_i == 1)
        write_state(before, "late", false);
    else
        hs_shared_match_confirm(before);
    ck_assert(hs_shared_match_is_lost(before));
    write_state(after, "two", false);
    ck_assert_int_eq(append(after, "2"), HS_PAYMENTS_DURABLE);
    hs_shared_match_close(before); /* the end of the former owner's copy changes nothing */
    ck_assert_uint_eq(take(first, "two", 1, false).epoch, 2);
    hs_shared_match_release(before);
    hs_shared_match_release(after);
}
END_TEST

/* A match that started empty, because the store was late. */
START_TEST(a_match_that_was_not_taken)
{
    struct hs_shared_match *match = own(first, (struct hs_ownership){0});
    ck_assert_int_eq(append(match, "1"), HS_PAYMENTS_NOT_DURABLE);
    write_state(match, "one", false); /* nobody owns it */
    ck_assert_str_eq(epoch_in_store(), "1");
    ck_assert_int_eq(payments(match), HS_PAYMENTS_DURABLE);
    ck_assert_int_eq(append(match, "2"), HS_PAYMENTS_DURABLE);
    struct hs_shared_match *other = own(second, (struct hs_ownership){0});
    write_state(other, "empty", false); /* the match has an owner: its payments count */
    ck_assert(hs_shared_match_is_lost(other));
    (void)take(second, "one", 1, false);
    hs_shared_match_release(match);
    hs_shared_match_release(other);
}
END_TEST

/* The match was not taken, and is deleted during its first write, which makes this replica the
   owner. */
START_TEST(the_first_write_of_an_ended_match)
{
    struct hs_shared_match *match = own(first, (struct hs_ownership){0});
    kill(redis.pid, SIGSTOP);
    ck_assert(hs_shared_match_write(match, HS_STORE_BULK, HS_STR("one"), 0, HS_SHARED_PARTIAL));
    hs_shared_match_close(match);
    kill(redis.pid, SIGCONT);
    for (int i = 0; i < PATIENCE_MS && strcmp(epoch_in_store(), "1") != 0; i++)
        hs_test_pause_ms(1);
    ck_assert_str_eq(epoch_in_store(), "1"); /* the write was accepted */
    const char *has_state = "1";
    for (int i = 0; i < PATIENCE_MS && strcmp(has_state, "1") == 0; i++) {
        has_state = hs_test_redis_ask(&redis, "EXISTS hs:v1:{/m}:state");
        hs_test_pause_ms(1);
    }
    ck_assert_str_eq(has_state, "0");
    hs_shared_match_release(match);
}
END_TEST

/* The store does not answer. The first request waits for `payment_us`. A retry, whose payments are
   the same, does not wait again. Row: a record, the state after a move. */
START_TEST(late_payments_are_not_awaited_again)
{
    struct hs_payments_wait again = {.done = done};
    struct hs_shared_match *match = own(hasty, take(hasty, NULL, 0, false));
    write_state(match, "one", false);
    kill(redis.pid, SIGSTOP);
    if (_i == 0)
        hs_shared_match_append(match, HS_STR("1"));
    else
        hs_shared_match_hand_off(match, HS_STR("two"));
    ck_assert_int_eq(payments(match), HS_PAYMENTS_NOT_DURABLE);
    ck_assert_int_eq(hs_shared_match_await(match, &again), HS_PAYMENTS_NOT_DURABLE);
    kill(redis.pid, SIGCONT);
    enum hs_payments result = HS_PAYMENTS_NOT_DURABLE;
    for (int i = 0; i < PATIENCE_MS && result != HS_PAYMENTS_DURABLE; i++) {
        hs_test_pause_ms(1);
        result = payments(match);
    }
    ck_assert_int_eq(result, HS_PAYMENTS_DURABLE);
    hs_shared_match_release(match);
}
END_TEST

START_TEST(large_states_are_written_less_often)
{
    static const struct {
        size_t bytes;
        int64_t pause_us;
    } cases[] = {{1000, 250000}, {1 << 18, 250000}, {1 << 22, 4000000}};
    struct hs_shared_match *match = own(first, (struct hs_ownership){.epoch = 1});
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        int64_t pause_us = cases[i].pause_us, now_us = 1000000000 * (int64_t)(i + 1);
        ck_assert(hs_shared_match_is_due(match, now_us, now_us, false));
        hs_shared_match_captured(match, now_us, now_us, cases[i].bytes);
        int64_t used_us = now_us + 1;
        ck_assert(!hs_shared_match_is_due(match, now_us, now_us + pause_us, false));
        ck_assert(!hs_shared_match_is_due(match, used_us, now_us + pause_us - 1, false));
        ck_assert(hs_shared_match_is_due(match, used_us, now_us + pause_us, false));
        ck_assert(hs_shared_match_is_due(match, used_us, now_us + 1, true));
        ck_assert(hs_shared_match_is_due(match, now_us, now_us + 30000000, false));
    }
    hs_shared_match_release(match);
}
END_TEST

static enum hs_taken_result take_for(struct hs_shared_matches *replica, struct hs_str tenant)
{
    struct hs_taken taken;
    enum hs_taken_result result = hs_shared_match_take(replica, tenant, HS_STR("m"), &taken);
    hs_taken_free(&taken);
    return result;
}

/* Names are shared by all tenants, on one replica and on several. */
START_TEST(a_name_belongs_to_one_tenant)
{
    const struct hs_str acme = HS_STR("acme"), zeta = HS_STR("zeta");
    struct hs_taken taken;
    ck_assert_int_eq(hs_shared_match_take(second, zeta, HS_STR("m"), &taken), HS_TAKEN);
    ck_assert_int_eq(take_for(first, acme), HS_TAKEN_FOREIGN);    /* although it has no state yet */
    hs_shared_match_give_back(second, zeta, HS_STR("m"), &taken); /* it opened no match */
    hs_taken_free(&taken);
    ck_assert_int_eq(hs_shared_match_take(first, acme, HS_STR("m"), &taken), HS_TAKEN);
    ck_assert_int_eq(take_for(second, zeta), HS_TAKEN_FOREIGN);
    struct hs_shared_match *match =
        hs_shared_match_create(first, acme, HS_STR("m"), taken.ownership);
    hs_taken_free(&taken);
    write_state(match, "one", false);
    ck_assert_int_eq(take_for(second, zeta), HS_TAKEN_FOREIGN);
    ck_assert_int_eq(take_for(second, HS_STR("")), HS_TAKEN_FOREIGN);
    ck_assert_int_eq(append(match, "1"), HS_PAYMENTS_DURABLE); /* it still owns the match */
    hs_test_redis_ask(&redis, "FLUSHALL");
    write_state(match, "two", false);
    ck_assert_int_eq(take_for(second, zeta), HS_TAKEN_FOREIGN);
    hs_shared_match_close(match);
    ck_assert_int_eq(take_for(second, zeta), HS_TAKEN);
    hs_shared_match_release(match);
}
END_TEST

/* Names may contain colons. */
START_TEST(names_have_their_own_keys)
{
    static const char *const names[] = {"b:c", "c", "catalog"};
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
        struct hs_taken taken;
        ck_assert_int_eq(
            hs_shared_match_take(first, (struct hs_str){0}, hs_str_of(names[i]), &taken), HS_TAKEN);
        ck_assert_uint_eq(taken.ownership.epoch, 1);
        hs_taken_free(&taken);
    }
    ck_assert_str_eq(hs_test_redis_ask(&redis, "EXISTS hs:v1:{/b:c}:own"), "1");
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shared_match");
    TCase *server = tcase_create("server");
    signal(SIGPIPE, SIG_IGN);
    tcase_set_timeout(server, 60);
    tcase_add_checked_fixture(server, setup, teardown);
    if (hs_test_redis_program() != NULL) {
        tcase_add_test(server, payments_need_a_state);
        tcase_add_test(server, a_former_owner_is_refused);
        tcase_add_test(server, a_state_of_a_former_owner_is_refused);
        tcase_add_test(server, an_owner_can_release_a_match);
        tcase_add_test(server, an_ended_match_is_gone);
        tcase_add_loop_test(server, the_payments_of_an_ended_match_have_not_moved, 0, 2);
        tcase_add_test(server, an_older_state_does_not_replace_a_newer_one);
        tcase_add_test(server, moves_are_handed_off);
        tcase_add_loop_test(server, what_cannot_be_packed_is_not_durable, 0, 2);
        tcase_add_test(server, a_flushed_store_gets_the_epoch_again);
        tcase_add_loop_test(server, a_late_reply_forgets_no_state, 0, 2);
        tcase_add_loop_test(server, a_former_owner_is_refused_after_a_flush, 0, 3);
        tcase_add_test(server, a_match_that_was_not_taken);
        tcase_add_test(server, the_first_write_of_an_ended_match);
        tcase_add_loop_test(server, late_payments_are_not_awaited_again, 0, 2);
        tcase_add_test(server, large_states_are_written_less_often);
        tcase_add_test(server, a_name_belongs_to_one_tenant);
        tcase_add_test(server, names_have_their_own_keys);
    } else {
        printf("SKIP: redis-server is not installed\n");
    }
    suite_add_tcase(suite, server);
    return hs_run_suite(suite);
}
