/* Admission: waits, standing queues, priorities, token buckets. The test decides what time it
   is. */
#include "service/http/admission.h"
#include "service/http/descriptors.h"
#include "service/http/linger.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

enum { LIMIT = 80000 }; /* a wait counts as long if it exceeds an eighth of this limit: 10 ms */

/* Every route has a priority, and requests that a game server needs at once come first. */
START_TEST(every_route_has_a_priority)
{
    static const struct {
        enum hs_route route;
        enum hs_priority priority;
    } rows[] = {
        {HS_ROUTE_HITS_POST, HS_PRIORITY_HITS},      {HS_ROUTE_SHOTS_POST, HS_PRIORITY_HITS},
        {HS_ROUTE_TICKS_POST, HS_PRIORITY_HITS},     {HS_ROUTE_MATCH_DELETE, HS_PRIORITY_HITS},
        {HS_ROUTE_FRAMES_POST, HS_PRIORITY_FRAMES},  {HS_ROUTE_MOVES_POST, HS_PRIORITY_FRAMES},
        {HS_ROUTE_MATCH_PUT, HS_PRIORITY_FRAMES},    {HS_ROUTE_MATCH_LIST, HS_PRIORITY_CONSOLE},
        {HS_ROUTE_MATCH_GET, HS_PRIORITY_CONSOLE},   {HS_ROUTE_PLAYER_GET, HS_PRIORITY_CONSOLE},
        {HS_ROUTE_RULESET_PUT, HS_PRIORITY_CONSOLE}, {HS_ROUTE_MAP_PUT, HS_PRIORITY_CONSOLE},
        {HS_ROUTE_LIVEZ, HS_PRIORITY_VITAL},         {HS_ROUTE_READYZ, HS_PRIORITY_VITAL},
        {HS_ROUTE_METRICS, HS_PRIORITY_VITAL},       {HS_ROUTE_CONTRACT, HS_PRIORITY_VITAL},
    };
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
        ck_assert_int_eq(hs_route_priority(rows[i].route), rows[i].priority);
    ck_assert_int_lt(HS_PRIORITY_VITAL, HS_PRIORITY_HITS);
    ck_assert_int_lt(HS_PRIORITY_HITS, HS_PRIORITY_FRAMES);
    ck_assert_int_lt(HS_PRIORITY_FRAMES, HS_PRIORITY_CONSOLE);
}
END_TEST

/* Decides about a request that waited behind another one. */
static bool admit(struct hs_gate *gate, enum hs_priority priority, int64_t waited_us,
                  int64_t now_us)
{
    hs_gate_answered(gate, HS_PRIORITY_HITS, now_us);
    return hs_gate_admit(gate, priority, LIMIT, waited_us, now_us);
}

/* Makes long waits, one each millisecond from `from_us` on. Returns the time when the queue counts
   as standing (admission.h). */
static int64_t stand(struct hs_gate *gate, int64_t from_us)
{
    int64_t now_us = from_us;
    for (; now_us <= from_us + HS_STANDING_US; now_us += 1000)
        admit(gate, HS_PRIORITY_VITAL, 11000, now_us);
    return now_us;
}

/* One long wait after a calm time is a packet burst. All requests may then wait, up to a limit. */
START_TEST(a_packet_burst_is_not_refused)
{
    for (int p = HS_PRIORITY_HITS; p <= HS_PRIORITY_CONSOLE; p++) {
        struct hs_gate gate = {0};
        ck_assert(admit(&gate, (enum hs_priority)p, LIMIT * HS_BURST_TIMES, 1000000));
        ck_assert(!admit(&gate, (enum hs_priority)p, LIMIT * HS_BURST_TIMES + 1, 1000001));
        ck_assert(admit(&gate, HS_PRIORITY_VITAL, INT64_C(1000000000), 1000002));
    }
}
END_TEST

START_TEST(a_standing_queue_sheds_by_kind)
{
    static const struct {
        enum hs_priority priority;
        int64_t limit_us;
    } rows[] = {{HS_PRIORITY_HITS, LIMIT},
                {HS_PRIORITY_FRAMES, LIMIT / 2},
                {HS_PRIORITY_CONSOLE, LIMIT / 4}};
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        struct hs_gate gate = {0};
        int64_t now_us = stand(&gate, 5000000);
        ck_assert(admit(&gate, rows[i].priority, rows[i].limit_us, now_us));
        ck_assert(!admit(&gate, rows[i].priority, rows[i].limit_us + 1, now_us));
        ck_assert(admit(&gate, HS_PRIORITY_VITAL, LIMIT * 20, now_us));
    }
}
END_TEST

/* A queue does not count as standing if the long waits end too soon, if the pause between two of
   them is too long, or if they ended too long ago. */
START_TEST(short_queues_do_not_count_as_standing)
{
    struct hs_gate gate = {0};
    admit(&gate, HS_PRIORITY_HITS, 11000, 5000000);
    admit(&gate, HS_PRIORITY_HITS, 11000, 5000000 + HS_STANDING_US - 1);
    ck_assert(admit(&gate, HS_PRIORITY_CONSOLE, LIMIT, 5000000 + HS_STANDING_US - 1));

    gate = (struct hs_gate){0};
    admit(&gate, HS_PRIORITY_HITS, 11000, 5000000);
    int64_t later_us = 5000000 + 11000 + HS_STANDING_US + 1; /* this wait began too late */
    admit(&gate, HS_PRIORITY_HITS, 11000, later_us);
    ck_assert(admit(&gate, HS_PRIORITY_CONSOLE, LIMIT, later_us));

    gate = (struct hs_gate){0};
    int64_t now_us = stand(&gate, 5000000) - 1000; /* time of the last long wait */
    ck_assert(!admit(&gate, HS_PRIORITY_CONSOLE, LIMIT, now_us));
    ck_assert(admit(&gate, HS_PRIORITY_CONSOLE, 0, now_us + HS_STANDING_US));
    ck_assert(admit(&gate, HS_PRIORITY_CONSOLE, LIMIT, now_us + 2 * HS_STANDING_US + LIMIT + 1));
}
END_TEST

/* One client sends one request after the other. Each request waits because the machine is busy or
   the process was stopped. One such client makes no standing queue, even if the kernel's clock is a
   tick behind and a health check is answered in between. Two such clients make one. */
START_TEST(one_client_is_no_queue)
{
    struct hs_gate gate = {0};
    int64_t now_us = 5000000;
    for (int i = 0; i < 4000; i++) {
        enum hs_priority priority = (enum hs_priority)(HS_PRIORITY_HITS + i % 3);
        int64_t wait_us = 11000 + i % 500 * 1000 + (i % 7 == 0 ? 60 * LIMIT * HS_BURST_TIMES : 0);
        now_us += wait_us;
        hs_gate_answered(&gate, HS_PRIORITY_VITAL, now_us);
        ck_assert(hs_gate_admit(&gate, priority, LIMIT, wait_us + HS_KERNEL_TICK_US, now_us));
        hs_gate_answered(&gate, priority, now_us);
    }
    for (int i = 0; i < 20; i++) {
        now_us += 11000;
        admit(&gate, HS_PRIORITY_HITS, 22000, now_us);
    }
    ck_assert(!admit(&gate, HS_PRIORITY_CONSOLE, 22000, now_us + 11000));
    /* The queue ends when the next request arrives after all answers. */
    ck_assert(hs_gate_admit(&gate, HS_PRIORITY_CONSOLE, LIMIT, 22000, now_us + 11000 + 22000));
}
END_TEST

/* The process was stopped, or the scheduler left a long gap. The queue was standing during this
   time, although no request was examined. */
START_TEST(waits_count_from_the_arrival)
{
    struct hs_gate gate = {0};
    admit(&gate, HS_PRIORITY_HITS, 700000, 5000000);
    ck_assert(!admit(&gate, HS_PRIORITY_HITS, 700000, 5750000)); /* the request arrived at 5.05 s */
    gate = (struct hs_gate){0};
    admit(&gate, HS_PRIORITY_HITS, 700000, 5000000);
    ck_assert(admit(&gate, HS_PRIORITY_HITS, 700000, 6000000)); /* the request arrived at 5.3 s */
}
END_TEST

/* All requests are late, because refusals take all the time. They get at most nine tenths of it,
   after the time in which refusals could still end the queue. */
START_TEST(refusals_leave_a_tenth_of_the_time)
{
    enum { TICK_US = 60, REFUSAL_US = 20, ALL_US = 2000000 };
    struct hs_gate gate = {0};
    int64_t begin_us = stand(&gate, 5000000), now_us = begin_us, served_us = 0, early_us = 0;
    while (now_us < begin_us + ALL_US) {
        bool is_served = admit(&gate, HS_PRIORITY_HITS, LIMIT * 3, now_us);
        int64_t spent_us = is_served ? TICK_US : REFUSAL_US;
        served_us += is_served ? spent_us : 0;
        early_us += is_served && now_us < begin_us + HS_STANDING_US ? spent_us : 0;
        now_us += spent_us;
    }
    ck_assert_int_eq(early_us, 0);
    ck_assert_int_ge(served_us, (ALL_US - 2 * HS_STANDING_US) / (1 + HS_REFUSING_TIMES));
    ck_assert_int_le(served_us, ALL_US / (1 + HS_REFUSING_TIMES));
    /* After a calm moment, refusals have their time again. */
    ck_assert(hs_gate_admit(&gate, HS_PRIORITY_HITS, LIMIT, 0, now_us + 1000000));
    now_us = stand(&gate, now_us + 1000000);
    ck_assert(!admit(&gate, HS_PRIORITY_HITS, LIMIT * 3, now_us));
}
END_TEST

START_TEST(without_a_limit_everybody_has_his_turn)
{
    struct hs_gate gate = {0};
    for (int64_t now_us = 0; now_us < 1000000; now_us += 1000)
        ck_assert(hs_gate_admit(&gate, HS_PRIORITY_CONSOLE, 0, 1000000000, now_us));
}
END_TEST

/* ---- tenants ---- */

enum { MS = 1000000 }; /* one millisecond in nanoseconds */

static unsigned take(struct hs_tenant_rates *rates, const char *tenant, int64_t now_ns)
{
    struct hs_str name = {tenant, tenant == NULL ? 0 : strlen(tenant)};
    return hs_tenant_rates_take(rates, name, now_ns);
}

/* Ten requests per second, and three at once. Then one request per 100 ms is possible, and after a
   pause three at once again. */
START_TEST(a_bucket_refills_at_its_rate)
{
    struct hs_tenant_rates *rates = hs_tenant_rates_create(10, 3);
    int64_t now_ns = INT64_C(5000000000);
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            ck_assert_uint_eq(take(rates, "acme", now_ns), 0);
        ck_assert_uint_eq(take(rates, "acme", now_ns), 101);
        ck_assert_uint_eq(take(rates, "acme", now_ns + 60 * MS), 41);
        ck_assert_uint_eq(take(rates, "acme", now_ns + 99 * MS), 2);
        ck_assert_uint_eq(take(rates, "acme", now_ns + 100 * MS), 0);
        ck_assert_uint_gt(take(rates, "acme", now_ns + 100 * MS), 0);
        now_ns += 400 * MS; /* time for four tokens, but the bucket holds only three */
    }
    hs_tenant_rates_destroy(rates);
}
END_TEST

/* A refused request takes no token. So a flood gets exactly its rate over a long time. */
START_TEST(a_flood_gets_its_rate)
{
    struct hs_tenant_rates *rates = hs_tenant_rates_create(1000, 50);
    int admitted = 0;
    for (int64_t i = 0; i < 100000; i++) /* 10,000 requests per second for 10 s */
        admitted += take(rates, "acme", INT64_C(1000000000) + i * MS / 10) == 0 ? 1 : 0;
    ck_assert_int_ge(admitted, 10000);
    ck_assert_int_le(admitted, 10050);
    hs_tenant_rates_destroy(rates);
}
END_TEST

/* Many of the 2000 names share a chain, but each has its own bucket. */
START_TEST(each_tenant_has_its_own_bucket)
{
    struct hs_tenant_rates *rates = hs_tenant_rates_create(1, 1);
    char name[16];
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < 2000; i++) {
            snprintf(name, sizeof name, "t%d", i);
            ck_assert_int_eq(take(rates, name, INT64_C(1000000000)) == 0, round == 0);
        }
        ck_assert_int_eq(take(rates, NULL, INT64_C(1000000000)) == 0, round == 0);
    }
    hs_tenant_rates_destroy(rates);
    hs_tenant_rates_destroy(NULL);
}
END_TEST

/* ---- descriptors ---- */

/* Whatever the limit of descriptors is, sockets leave 20 descriptors free, and three more for each
   thread. Each thread can have a connection. */
START_TEST(descriptors_are_shared)
{
    enum { OPEN = 12 };
    for (size_t threads = 1; threads <= 64; threads += 9) {
        struct hs_descriptor_wants wants = {threads, 65 - threads, 4096};
        struct hs_descriptor_shares shares;
        size_t needed, ignored;
        ck_assert(!hs_descriptors_share(0, OPEN, &wants, &shares, &needed));
        ck_assert(!hs_descriptors_share(needed - 1, OPEN, &wants, &shares, &ignored));
        for (size_t limit = needed; limit < 8000; limit++) {
            ck_assert(hs_descriptors_share(limit, OPEN, &wants, &shares, &ignored));
            size_t sockets = shares.data + shares.admin + 2 * shares.linger;
            ck_assert_uint_le(sockets + OPEN + 3 * 65 + 20, limit);
            ck_assert(shares.data >= threads && shares.admin >= wants.admin_threads);
        }
        ck_assert(shares.data == 4096 && shares.admin == 256 && shares.linger == HS_LINGER_MAX);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("admission");
    TCase *turns = tcase_create("turns"), *tenants = tcase_create("tenants");
    tcase_add_test(turns, every_route_has_a_priority);
    tcase_add_test(turns, a_packet_burst_is_not_refused);
    tcase_add_test(turns, a_standing_queue_sheds_by_kind);
    tcase_add_test(turns, short_queues_do_not_count_as_standing);
    tcase_add_test(turns, waits_count_from_the_arrival);
    tcase_add_test(turns, one_client_is_no_queue);
    tcase_add_test(turns, refusals_leave_a_tenth_of_the_time);
    tcase_add_test(turns, without_a_limit_everybody_has_his_turn);
    tcase_add_test(tenants, a_bucket_refills_at_its_rate);
    tcase_add_test(tenants, a_flood_gets_its_rate);
    tcase_add_test(tenants, each_tenant_has_its_own_bucket);
    tcase_add_test(turns, descriptors_are_shared);
    suite_add_tcase(suite, turns);
    suite_add_tcase(suite, tenants);
    return hs_run_suite(suite);
}
