/*
 * Failures of a cluster under load. Each scenario plays matches through HAProxy on three replicas,
 * breaks something, and checks every answer with a follower (game.h). HS_CLUSTER_MATCHES sets the
 * number of matches, HS_CLUSTER_SECONDS the length of each phase: before the fault, in it, and
 * after it.
 */
#include "service/store/link.h"
#include "tests/cluster/cluster.h"
#include "tests/cluster/game.h"
#include "tests/support/clock.h"
#include "tests/support/http/client.h"
#include "tests/support/http/exposition.h"
#include "tests/support/random.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { DEFAULT_MATCHES = 60, DEFAULT_SECONDS = 2, TICKS_PER_SECOND = 5, DEFAULT_SLACK_MS = 5 };

/* How often each fault of a store happens. */
enum { REPEATS = 3 };

static struct hs_cluster cluster;
static struct hs_cluster_game *game;
static struct hs_cluster_counts counts;
static struct hs_test_postgres postgres, standby;

/* ---- the run of a scenario ---- */

static int match_count(void)
{
    return (int)hs_test_count("HS_CLUSTER_MATCHES", DEFAULT_MATCHES);
}

static void play_on(void)
{
    hs_test_pause_ms(1000 * hs_test_count("HS_CLUSTER_SECONDS", DEFAULT_SECONDS));
}

/* `other_port`: if not 0, each tick is also sent to this port (game.h). */
static void begin_game_at(const char *name, unsigned port, unsigned other_port)
{
    const struct hs_cluster_game_options options = {.seed = hs_test_seed(20261123),
                                                    .name = name,
                                                    .matches = match_count(),
                                                    .rate = TICKS_PER_SECOND,
                                                    .port = port,
                                                    .other_port = other_port,
                                                    .reference_port = cluster.reference.data_port};
    printf("-- %s: %d matches\n", name, options.matches);
    fflush(stdout);
    game = hs_cluster_game_start(&options);
    play_on();
}

static void begin_game(const char *name)
{
    begin_game_at(name, cluster.balancer.port, 0);
}

/* Prints how the running replicas took matches over. Returns how many matches started empty because
   the store did not answer. */
static long print_takeovers(void)
{
    long empty = 0;
    for (int i = 0; i < HS_CLUSTER_REPLICAS; i++) {
        char *text = cluster.replicas[i].pid > 0 ? hs_scrape(&cluster.replicas[i]) : NULL, *rest;
        char *line = text != NULL ? strtok_r(text, "\n", &rest) : NULL;
        for (; line != NULL; line = strtok_r(NULL, "\n", &rest))
            if (strstr(line, "match_takeovers_total{") == line + strlen("hindsight_") &&
                strcmp(strrchr(line, ' '), " 0") != 0) {
                printf("replica %d: %s\n", i, line + strlen("hindsight_match_"));
                if (strstr(line, "source=\"none\"") != NULL)
                    empty += atol(strrchr(line, ' '));
            }
        free(text);
    }
    fflush(stdout);
    return empty;
}

/* Ends the game and makes the checks that all scenarios share. `windows`: how often a match may
   have moved. Returns how many matches started empty. */
static long end_game(int windows)
{
    hs_cluster_game_finish(game, &counts);
    game = NULL;
    long faults = hs_cluster_counts_print(&counts);
    long empty = print_takeovers();
    ck_assert_int_eq(faults, 0);
    ck_assert_int_le(counts.windows_max, windows);
    ck_assert_int_gt(counts.follow.paid, counts.ticks / 4);
    ck_assert_int_gt(counts.follow.replayed, counts.ticks / 40);
    return empty;
}

static void create_database(void)
{
    if (hs_postgres_missing() == NULL)
        hs_postgres_create(&postgres);
}

static void remove_database(void)
{
    if (postgres.pid > 0)
        hs_postgres_remove(&postgres);
    if (standby.directory[0] != '\0')
        hs_postgres_remove(&standby);
}

static void setup(void)
{
    hs_cluster_start(&cluster, postgres.pid > 0 ? &postgres : NULL);
}

static void teardown(void)
{
    if (game != NULL)
        hs_cluster_game_finish(game, &counts);
    game = NULL;
    hs_cluster_stop(&cluster);
}

/* ---- replicas ---- */

START_TEST(replicas_restart_one_after_the_other)
{
    begin_game("rolling");
    hs_cluster_game_phase(game, HS_PHASE_FAULT, false);
    for (int i = 0; i < 3; i++) {
        hs_cluster_drain_replica(&cluster, i);
        hs_cluster_start_replica(&cluster, i);
        hs_cluster_settle(&cluster);
    }
    hs_cluster_game_phase(game, HS_PHASE_AFTER, false);
    play_on();
    ck_assert_int_eq(end_game(2), 0); /* each match moves away and back */
}
END_TEST

/* Kills a replica, and the others take its matches over. The replica starts again with its files,
   and gets its matches back. */
static void kill_and_restart(int replica)
{
    hs_cluster_game_phase(game, HS_PHASE_AFTER, true);
    hs_cluster_kill_replica(&cluster, replica);
    hs_cluster_settle(&cluster);
    hs_cluster_game_phase(game, HS_PHASE_AFTER, false);
    play_on();
    hs_cluster_start_replica(&cluster, replica);
    hs_cluster_settle(&cluster);
}

START_TEST(a_replica_is_killed)
{
    begin_game("killed");
    kill_and_restart(1);
    play_on();
    ck_assert_int_eq(end_game(2), 0);
}
END_TEST

enum { NAMES = 3000, LOG_LINE = 512 };

/* Reads which replica got the request for each name from lines of HAProxy's log. */
static void read_owners(char *lines, unsigned char owners[NAMES])
{
    char *rest = NULL;
    for (char *line = strtok_r(lines, "\n", &rest); line != NULL;
         line = strtok_r(NULL, "\n", &rest)) {
        unsigned server, name;
        const char *at = strstr(line, " replicas/hindsight"), *to = strstr(line, "/name-");
        if (at != NULL && to != NULL && sscanf(to, "/name-%u", &name) == 1 && name < NAMES &&
            sscanf(at, " replicas/hindsight%u", &server) == 1)
            owners[name] = (unsigned char)server;
    }
}

/* Sends a request for each name without a known owner. Returns how many owners are known
   afterwards. */
static int ask_owners(unsigned char owners[NAMES])
{
    enum { SPACE = 2 * NAMES * LOG_LINE };
    struct hs_test_http *http = hs_test_http_open(cluster.balancer.port);
    struct stat log;
    char path[64], *lines = malloc(SPACE);
    int known = 0;
    ck_assert_int_eq(fstat(cluster.balancer.log, &log), 0);
    for (int i = 0; i < NAMES; i++) {
        struct hs_test_response response;
        snprintf(path, sizeof path, "/v1/matches/name-%d", i);
        if (owners[i] != 0)
            continue;
        hs_test_http_send(http, "GET", path, NULL, 0, NULL, &response);
        hs_test_response_free(&response);
    }
    hs_test_http_close(http);
    hs_test_pause_ms(200); /* HAProxy writes a line after the answer */
    /* Do not seek: HAProxy shares the offset of the file. */
    ssize_t size = pread(cluster.balancer.log, lines, SPACE - 1, log.st_size);
    lines[size > 0 ? size : 0] = '\0';
    read_owners(lines, owners);
    free(lines);
    for (int i = 0; i < NAMES; i++)
        known += owners[i] != 0;
    return known;
}

/* Finds out which replica HAProxy chooses for each of many names. A request that a busy replica
   refuses is sent again. */
static void find_owners(unsigned char owners[NAMES])
{
    int known = 0;
    memset(owners, 0, NAMES);
    for (int tries = 0; known < NAMES && tries < 10; tries++)
        known = ask_owners(owners);
    ck_assert_int_eq(known, NAMES);
}

/* Replica 4 joins and leaves. Each time only its share of the matches moves: a quarter, give or
   take a tenth of that. */
START_TEST(a_replica_joins_and_leaves)
{
    unsigned char before[NAMES], between[NAMES], after[NAMES];
    int moved = 0;
    find_owners(before);
    begin_game("joins");
    hs_cluster_game_phase(game, HS_PHASE_FAULT, false);
    hs_cluster_start_replica(&cluster, 3);
    hs_cluster_set_members(&cluster, 0xf);
    hs_cluster_settle(&cluster);
    find_owners(between);
    play_on();
    print_takeovers();
    hs_cluster_set_members(&cluster, 0x7);
    hs_cluster_drain_replica(&cluster, 3);
    hs_cluster_game_phase(game, HS_PHASE_AFTER, false);
    find_owners(after);
    play_on();
    for (int i = 0; i < NAMES; i++) {
        ck_assert(between[i] == before[i] || between[i] == 4);
        ck_assert_uint_eq(after[i], before[i]);
        moved += between[i] == 4;
    }
    printf("%d of %d names moved to the new replica\n", moved, NAMES);
    ck_assert_int_ge(moved, NAMES / 4 * 9 / 10);
    ck_assert_int_le(moved, NAMES / 4 * 11 / 10);
    ck_assert_int_eq(end_game(2), 0);
}
END_TEST

/* Two replicas get all requests of the same matches, as if two balancers disagreed. */
START_TEST(two_replicas_have_the_same_matches)
{
    begin_game_at("split", cluster.ports[0][0], cluster.ports[1][0]);
    play_on();
    end_game(1 << 20);
}
END_TEST

/* ---- Redis ---- */

static void stop_redis(void)
{
    hs_test_redis_stop(&cluster.redis);
}

static void start_redis(void)
{
    ck_assert(hs_test_redis_start(&cluster.redis, cluster.redis.port, NULL));
}

static void hang_redis(void)
{
    kill(cluster.redis.pid, SIGSTOP);
}

static void wake_redis(void)
{
    kill(cluster.redis.pid, SIGCONT);
}

static void flush_redis(void)
{
    ck_assert_str_eq(hs_test_redis_ask(&cluster.redis, "FLUSHALL"), "OK");
}

static void slow_redis(void)
{
    hs_relay_delay(cluster.redis_relay, 100);
}

static void quicken_redis(void)
{
    hs_relay_delay(cluster.redis_relay, 0);
}

static void nothing(void)
{
}

/* The first Redis ends. The replica of Redis is promoted, and the address of the store leads to
   that replica. */
static void promote_second_redis(void)
{
    struct hs_test_redis second;
    char target[16];
    ck_assert(hs_test_redis_start(&second, 0, NULL));
    hs_test_redis_ask(&second, "REPLICAOF 127.0.0.1 %u", cluster.redis.port);
    for (int tries = 0; tries < 500 && strstr(hs_test_redis_ask(&second, "INFO replication"),
                                              "master_link_status:up") == NULL;
         tries++)
        hs_test_pause_ms(10);
    ck_assert_ptr_nonnull(
        strstr(hs_test_redis_ask(&second, "INFO replication"), "master_link_status:up"));
    hs_test_redis_stop(&cluster.redis);
    hs_test_pause_ms(500); /* no store answers during this pause */
    ck_assert_str_eq(hs_test_redis_ask(&second, "REPLICAOF NO ONE"), "OK");
    snprintf(target, sizeof target, "%u", second.port);
    hs_relay_point(cluster.redis_relay, target);
    cluster.redis = second;
}

struct fault {
    const char *name;
    void (*begin)(void);
    void (*end)(void);
    bool is_final; /* it cannot happen again */
};

static int times_of(const struct fault *fault)
{
    return fault->is_final ? 1 : REPEATS;
}

static const struct fault redis_faults[] = {
    {"Redis is stopped", stop_redis, start_redis, false},
    {"Redis hangs", hang_redis, wake_redis, false},
    {"Redis is flushed", flush_redis, nothing, false},
    {"Redis is slow", slow_redis, quicken_redis, false},
    {"Redis fails over", promote_second_redis, nothing, false},
};

/* Plays without a fault, then begins a fault of a store, waits, and ends it. */
static void suffer(const struct fault *fault)
{
    printf("   %s\n", fault->name);
    fflush(stdout);
    for (int i = 0; i < times_of(fault); i++) {
        hs_cluster_game_phase(game, HS_PHASE_BEFORE, false);
        play_on();
        hs_cluster_game_phase(game, HS_PHASE_FAULT, false);
        fault->begin();
        play_on();
        fault->end();
        hs_cluster_game_phase(game, HS_PHASE_AFTER, false);
        hs_cluster_settle(&cluster);
    }
}

/* Returns how many times as slow ticks are in a fault as just before it. If the machine was slower
   in the fault, the single replica was slower too; this part does not count, and `slack_us` does
   not. */
static double slowdown(const struct hs_cluster_latency *before,
                       const struct hs_cluster_latency *fault, double slack_us)
{
    double machine = fault->of[1].p99_us / before->of[1].p99_us;
    return (fault->of[0].p99_us - slack_us) / (before->of[0].p99_us * (machine > 1 ? machine : 1));
}

static double median(double values[REPEATS], int count)
{
    for (int i = 1; i < count; i++)
        for (int j = i; j > 0 && values[j] < values[j - 1]; j--) {
            double lower = values[j];
            values[j] = values[j - 1];
            values[j - 1] = lower;
        }
    return values[count / 2];
}

/* Checks that answers did not wait for a failed store: for each fault, the median p99 of a tick is
   at most twice as long as before. HS_CLUSTER_SLACK_MS does not count: the time of one wait for
   payments. The median does not show that requests wait HS_STORE_TIMEOUT_US when a store begins to
   hang. So in one of the repeated faults, no window may have such a p99. */
static void expect_no_waits(const struct fault *faults, size_t count)
{
    double slack_us = 1e3 * (double)hs_test_count("HS_CLUSTER_SLACK_MS", DEFAULT_SLACK_MS);
    double whole[REPEATS], counted[REPEATS], highest[REPEATS];
    size_t at = 0, slow = 0;
    int times = 0;
    for (int i = 1; i < counts.phase_count; i++) {
        const struct hs_cluster_latency *before = &counts.phases[i - 1], *fault = &counts.phases[i];
        if (fault->phase != HS_PHASE_FAULT)
            continue;
        ck_assert_uint_lt(at, count);
        for (int w = 0; w < 2; w++) {
            double before_us = before->of[w].p99_us, fault_us = fault->of[w].p99_us;
            ck_assert(before_us > 0 && fault_us > 0); /* there were ticks */
            printf("p99 of a tick %s %.2f ms, in the fault %.2f ms, at most %.2f ms\n",
                   w == 0 ? "before" : "  of the single replica before", 1e-3 * before_us,
                   1e-3 * fault_us, 1e-3 * fault->of[w].highest_us);
        }
        whole[times] = slowdown(before, fault, 0);
        counted[times] = slowdown(before, fault, slack_us);
        highest[times] = fault->of[0].highest_us;
        if (++times < times_of(&faults[at]))
            continue;
        printf("%s: %.2f times as slow\n", faults[at].name, median(whole, times));
        fflush(stdout);
        (void)median(highest, times); /* sorts them */
        slow += median(counted, times) > 2 || highest[0] >= HS_STORE_TIMEOUT_US;
        times = 0;
        at++;
    }
    ck_assert_uint_eq(at, count);
    ck_assert_uint_eq(slow, 0);
}

/* Returns a number in the statistics of Redis. */
static double redis_statistic(const char *name)
{
    const char *at = strstr(hs_test_redis_ask(&cluster.redis, "INFO stats"), name);
    ck_assert_ptr_nonnull(at);
    return atof(at + strlen(name) + 1);
}

/* Prints what the replicas send to the store for each match. */
static void measure_traffic(void)
{
    double bytes = redis_statistic("total_net_input_bytes");
    double commands = redis_statistic("total_commands_processed"), began = hs_test_seconds();
    play_on();
    double each = (hs_test_seconds() - began) * match_count();
    printf("to the store for each match: %.0f bytes, %.1f commands a second\n",
           (redis_statistic("total_net_input_bytes") - bytes) / each,
           (redis_statistic("total_commands_processed") - commands) / each);
}

/* Replicas give verdicts while the store fails. After each fault the store gets all state again,
   without a restart: a replica is killed, and its matches continue where they were. */
START_TEST(redis_fails)
{
    enum { FAULTS = sizeof redis_faults / sizeof redis_faults[0] };
    begin_game("redis");
    measure_traffic();
    for (int i = 0; i < FAULTS; i++) {
        suffer(&redis_faults[i]);
        kill_and_restart(i % 3);
    }
    end_game(2 * FAULTS);
    expect_no_waits(redis_faults, FAULTS);
    for (int i = 0; i < 3; i++)
        ck_assert_double_eq(hs_metric(&cluster.replicas[i], "hindsight_store_up"), 1);
}
END_TEST

/* ---- PostgreSQL ---- */

static void stop_postgres(void)
{
    hs_postgres_stop(&postgres);
}

static void start_postgres(void)
{
    hs_postgres_start(&postgres);
}

static void hang_postgres(void)
{
    hs_postgres_pause(&postgres, true);
}

static void wake_postgres(void)
{
    hs_postgres_pause(&postgres, false);
}

static void restart_postgres(void)
{
    stop_postgres();
    start_postgres();
}

static void slow_postgres(void)
{
    hs_relay_delay(cluster.postgres_relay, 100);
}

static void quicken_postgres(void)
{
    hs_relay_delay(cluster.postgres_relay, 0);
}

/* The server ends, and its standby is promoted. The relay ends too, because libpq tries the next
   host only if the first one refuses the connection or does not answer. */
static void fail_over_postgres(void)
{
    hs_postgres_follow(&standby, &postgres);
    hs_cluster_set_standby(&cluster, &standby);
    hs_postgres_stop(&postgres);
    hs_relay_stop(cluster.postgres_relay);
    cluster.postgres_relay = NULL;
    hs_test_pause_ms(500); /* no server accepts writes during this pause */
    hs_postgres_promote(&standby);
    struct hs_test_postgres former = postgres;
    postgres = standby;
    standby = former;
}

static const struct fault postgres_faults[] = {
    {"PostgreSQL is stopped", stop_postgres, start_postgres, false},
    {"PostgreSQL hangs", hang_postgres, wake_postgres, false},
    {"PostgreSQL restarts", restart_postgres, nothing, false},
    {"PostgreSQL is slow", slow_postgres, quicken_postgres, false},
    {"PostgreSQL fails over", fail_over_postgres, nothing, true},
};

/* Waits until the database has every rejected verdict about a claim of the game exactly once. The
   database has only a sample of the rejected moves. */
static void expect_evidence(const char *name)
{
    enum { TRIES = 300 };
    long count = -1;
    for (int tries = 0; tries < TRIES && count != counts.refused; tries++) {
        hs_test_pause_ms(100);
        count = atol(
            hs_postgres_sql(&postgres, "postgres",
                            "SELECT count(*) FROM hindsight.verdicts WHERE match LIKE '%s-%%' AND "
                            "verdict = 'rejected' AND kind <> 'move'",
                            name));
    }
    printf("%ld of %ld rejected verdicts are in the database\n", count, counts.refused);
    ck_assert_int_eq(count, counts.refused);
    ck_assert_int_gt(count, 0);
}

/* Replicas answer while the database fails. Afterwards the database has every rejected verdict. */
START_TEST(postgres_fails)
{
    begin_game("postgres");
    for (size_t i = 0; i < sizeof postgres_faults / sizeof postgres_faults[0]; i++)
        suffer(&postgres_faults[i]);
    end_game(0);
    expect_no_waits(postgres_faults, sizeof postgres_faults / sizeof postgres_faults[0]);
    expect_evidence("postgres");
}
END_TEST

/* Adds a group of scenarios. CK_RUN_CASE runs only the group with this name. */
static TCase *add_group(Suite *suite, const char *name)
{
    TCase *group = tcase_create(name);
    tcase_add_unchecked_fixture(group, create_database, remove_database);
    tcase_add_checked_fixture(group, setup, teardown);
    suite_add_tcase(suite, group);
    return group;
}

static void add_scenarios(Suite *suite)
{
    TCase *group = add_group(suite, "rolling");
    tcase_add_test(group, replicas_restart_one_after_the_other);
    group = add_group(suite, "killed");
    tcase_add_test(group, a_replica_is_killed);
    group = add_group(suite, "joins");
    tcase_add_test(group, a_replica_joins_and_leaves);
    group = add_group(suite, "split");
    tcase_add_test(group, two_replicas_have_the_same_matches);
    if (hs_postgres_missing() == NULL) {
        group = add_group(suite, "postgres");
        tcase_add_test(group, postgres_fails);
    }
    group = add_group(suite, "redis");
    tcase_add_test(group, redis_fails);
}

int main(void)
{
    Suite *suite = suite_create("cluster");
    if (hs_balancer_program() == NULL) {
        puts("SKIP: haproxy is not installed");
    } else if (hs_test_redis_program() == NULL) {
        puts("SKIP: redis-server is not installed");
    } else {
        if (hs_postgres_missing() != NULL)
            printf("SKIP: the evidence store: %s\n", hs_postgres_missing());
        add_scenarios(suite);
    }
    /* Run in one process, so that the servers of a failed scenario stop before the next one starts.
     */
    return hs_run_suite_in_one_process(suite);
}
