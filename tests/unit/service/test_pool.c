/* Long jobs run one at a time, tenants take turns, and when an owner ends, its jobs end too. */
#include "service/http/pool.h"
#include "service/system/clock.h"
#include "tests/support/clock.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS = 8 };

struct test_job {
    struct hs_pool_job job; /* first member: callbacks get this pointer */
    bool ran;
};

static struct hs_pool *builder;
static struct test_job jobs[JOBS];
static char order[JOBS + 1]; /* names of jobs in the order in which they ran */
static pthread_mutex_t order_lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_int ended, started;
static sem_t may_go;
static const char *const names = "abcdefgh";

static void run(struct hs_pool_job *job)
{
    struct test_job *own = (struct test_job *)job;
    own->ran = true;
    pthread_mutex_lock(&order_lock);
    order[strlen(order)] = names[own - jobs];
    pthread_mutex_unlock(&order_lock);
    atomic_fetch_add(&started, 1);
    sem_wait(&may_go);
    sem_post(&may_go); /* the jobs after this one can go on, too */
}

static void done(struct hs_pool_job *job)
{
    (void)job;
    atomic_fetch_add(&ended, 1);
}

static void submit(size_t i, const char *tenant, const void *owner)
{
    jobs[i].job = (struct hs_pool_job){
        .owner = owner, .tenant = {tenant, strlen(tenant)}, .run = run, .done = done};
    hs_pool_submit(builder, &jobs[i].job);
}

static void wait_for(int count)
{
    for (int tries = 0; tries < 5000 && atomic_load(&ended) < count; tries++)
        hs_test_pause_ms(1);
    ck_assert_int_eq(atomic_load(&ended), count);
}

static void wait_until_one_runs(void)
{
    for (int tries = 0; tries < 5000 && atomic_load(&started) == 0; tries++)
        hs_test_pause_ms(1);
}

static void setup(void)
{
    ck_assert_int_eq(sem_init(&may_go, 0, 0), 0);
    memset(jobs, 0, sizeof jobs);
    memset(order, 0, sizeof order);
    atomic_store(&ended, 0);
    atomic_store(&started, 0);
    builder = hs_pool_create(1, true);
    ck_assert_ptr_nonnull(builder);
}

static void teardown(void)
{
    hs_pool_destroy(builder);
}

/* However many jobs one tenant has, a job of another tenant waits for at most one more of them. */
START_TEST(tenants_take_turns)
{
    submit(0, "acme", jobs);
    wait_until_one_runs();
    for (size_t i = 1; i < 5; i++)
        submit(i, "acme", jobs);
    submit(5, "zeta", jobs);
    submit(6, "beta", jobs);
    submit(7, "zeta", jobs);
    sem_post(&may_go);
    wait_for(JOBS);
    ck_assert_str_eq(order, "afbgchde");
}
END_TEST

/* When an owner ends, its waiting jobs do not run. The jobs of another owner still run. */
START_TEST(jobs_end_with_their_owner)
{
    static const int first, second;
    submit(0, "", &second);
    wait_until_one_runs();
    submit(1, "", &first);
    submit(2, "", &second);
    submit(3, "", &first);
    hs_pool_end(builder, &first);
    ck_assert_int_eq(atomic_load(&ended), 2);
    submit(4, "", &second);
    sem_post(&may_go);
    wait_for(5);
    ck_assert_str_eq(order, "ace");
    ck_assert(!jobs[1].ran && !jobs[3].ran);
    submit(5, "", &first);
    wait_for(6);
    ck_assert(!jobs[5].ran);
    hs_pool_end(builder, &second); /* the owner `second` has no jobs here */
}
END_TEST

/* One tenant gets at most two of three threads. Jobs without a tenant may use all three. */
START_TEST(no_tenant_has_all_threads)
{
    struct hs_pool *one = builder;
    builder = hs_pool_create(3, false);
    for (size_t i = 0; i < 4; i++)
        submit(i, "acme", jobs);
    hs_test_pause_ms(50);
    ck_assert_int_eq(atomic_load(&started), 2);
    submit(4, "zeta", jobs);
    for (int tries = 0; tries < 5000 && atomic_load(&started) < 3; tries++)
        hs_test_pause_ms(1);
    ck_assert_int_eq(atomic_load(&started), 3);
    sem_post(&may_go);
    wait_for(5);
    hs_pool_destroy(builder);
    builder = one;
}
END_TEST

/* `was_behind` is set for a job that is submitted while another one runs or waits, but not for a
   single job. */
START_TEST(jobs_behind_others_are_marked)
{
    submit(0, "", jobs);
    wait_until_one_runs();
    submit(1, "", jobs);
    submit(2, "", jobs);
    ck_assert(!jobs[0].job.was_behind && jobs[1].job.was_behind && jobs[2].job.was_behind);
    sem_post(&may_go);
    wait_for(3);
    submit(3, "", jobs);
    ck_assert(!jobs[3].job.was_behind);
    wait_for(4);
}
END_TEST

/* A job is stuck if it used the processor for too long, or did not use it at all for too long. */
START_TEST(a_job_that_hangs_is_noticed)
{
    const int64_t second_us = 1000000, now_us = hs_clock_us();
    ck_assert(!hs_pool_is_stuck(builder, second_us, now_us + 10 * second_us));
    submit(0, "", jobs);
    wait_until_one_runs();
    ck_assert(!hs_pool_is_stuck(builder, second_us, now_us));
    hs_test_pause_ms(20); /* until the job is certainly waiting */
    hs_pool_is_stuck(builder, second_us, now_us);
    ck_assert(!hs_pool_is_stuck(builder, 4 * second_us, now_us + 3 * second_us));
    ck_assert(hs_pool_is_stuck(builder, second_us, now_us + 3 * second_us));
    ck_assert(hs_pool_is_stuck(builder, 0, now_us));
    sem_post(&may_go);
    wait_for(1);
}
END_TEST

/* ---- giving way ---- */

/* A jump of the job's clock by GAP_US or more means that the job was interrupted. */
enum { SHARED_MS = 300, GAP_US = 20, RUNS_MAX = 65536 };

static int64_t runs_us[RUNS_MAX]; /* how long the job ran without an interruption, each time */
static size_t run_count;

static void burn(struct hs_pool_job *job)
{
    (void)job;
    int64_t began_us = hs_clock_us(), last_us = began_us;
    const int64_t until_us = began_us + (int64_t)SHARED_MS * 1000;
    atomic_fetch_add(&started, 1);
    while (last_us < until_us) {
        int64_t now_us = hs_clock_us();
        if (now_us - last_us > GAP_US && run_count < RUNS_MAX) {
            runs_us[run_count++] = last_us - began_us;
            began_us = now_us;
        }
        last_us = now_us;
    }
}

static int ascending(const void *a, const void *b)
{
    int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

/* Leaves only one processor to this thread and to the threads that it starts. */
static void share_one_processor(void)
{
    cpu_set_t all, one;
    size_t first = 0;
    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    while (!CPU_ISSET(first, &all))
        first++;
    CPU_ZERO(&one);
    CPU_SET(first, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

/* Beside a thread that always has work, a background job yields early. If it did not yield, it
   would run until the next tick of the kernel's clock, which may be 10 ms away. */
START_TEST(a_background_job_yields_to_other_threads)
{
    share_one_processor();
    run_count = 0;
    struct hs_pool *pool = hs_pool_create(1, true);
    ck_assert_ptr_nonnull(pool);
    jobs[0].job = (struct hs_pool_job){.owner = jobs, .run = burn, .done = done};
    hs_pool_submit(pool, &jobs[0].job);
    for (int64_t until_us = hs_clock_us() + 60000000;
         atomic_load(&ended) == 0 && hs_clock_us() < until_us;) {
    }
    ck_assert_int_eq(atomic_load(&ended), 1);
    hs_pool_destroy(pool);
    ck_assert_uint_ge(run_count, 10);
    qsort(runs_us, run_count, sizeof runs_us[0], ascending);
    ck_assert_int_lt(runs_us[run_count * 9 / 10], 1000);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("pool");
    TCase *tests = tcase_create("jobs");
    tcase_add_checked_fixture(tests, setup, teardown);
    tcase_add_test(tests, tenants_take_turns);
    tcase_add_test(tests, jobs_end_with_their_owner);
    tcase_add_test(tests, no_tenant_has_all_threads);
    tcase_add_test(tests, jobs_behind_others_are_marked);
    tcase_add_test(tests, a_job_that_hangs_is_noticed);
    tcase_add_test(tests, a_background_job_yields_to_other_threads);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
