#include "tests/cluster/cluster.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/clock.h"
#include "tests/support/files.h"
#include "tests/support/http/exposition.h"
#include "tests/support/play/kill_squad.h"
#include "tests/support/program.h"

/* SETTLE_MS: so often hs_cluster_settle looks. SETTLE_TRIES: so many times at most; on a busy
   machine answers may stay late. */
enum { SETTLE_MS = 400, SETTLE_TRIES = 40 };

#define TAKEN(source) "hindsight_match_takeovers_total{source=\"" source "\",result=\"restored\"}"

/* The ruleset of the squad with a window of one second. */
static void write_rules(const struct hs_cluster *cluster)
{
    char path[128], rules[2048];
    snprintf(rules, sizeof rules, "%s", hs_kill_game_rules);
    char *keep = strstr(rules, "\"keep\":2");
    ck_assert_ptr_nonnull(keep);
    keep[strlen("\"keep\":")] = '1';
    snprintf(path, sizeof path, "%s/rules", cluster->directory);
    ck_assert_int_eq(mkdir(path, 0700), 0);
    snprintf(path, sizeof path, "%s/rules/game.json", cluster->directory);
    hs_test_write_file(path, rules);
}

static void start_reference(struct hs_cluster *cluster, const char *rules)
{
    const char *const arguments[] = {"--rules", rules, "--auto-open=false", NULL};
    ck_assert(hs_test_service_start(&cluster->reference, arguments));
}

void hs_cluster_start_replica(struct hs_cluster *cluster, int replica)
{
    char rules[96], data[96], listen[32], admin[32], redis[32], database[96];
    unsigned *ports = cluster->ports[replica];
    snprintf(rules, sizeof rules, "%s/rules", cluster->directory);
    snprintf(data, sizeof data, "%s/data-%d", cluster->directory, replica);
    snprintf(database, sizeof database, "%s/database", cluster->directory);
    snprintf(listen, sizeof listen, "127.0.0.1:%u", ports[0]);
    snprintf(admin, sizeof admin, "127.0.0.1:%u", ports[1]);
    snprintf(redis, sizeof redis, "127.0.0.1:%u", hs_relay_port(cluster->redis_relay));
    bool has_database = cluster->postgres != NULL;
    const char *const arguments[] = {
        "--listen", listen, "--admin-listen", admin, "--rules", rules, "--data", data,
        "--auto-open=false", "--drain-wait-seconds", "2", "--state-redis", redis,
        /* On a busy machine a takeover may take longer than the 20 ms
           of the default. */
        "--evidence", has_database ? "async" : "off", "--evidence-backend",
        has_database ? "postgres" : "sqlite", "--evidence-connection-file",
        has_database ? database : "", NULL};
    ck_assert(hs_test_service_start(&cluster->replicas[replica], arguments));
    ports[0] = cluster->replicas[replica].data_port;
    ports[1] = cluster->replicas[replica].admin_port;
}

static size_t list_servers(const struct hs_cluster *cluster,
                           struct hs_balancer_server servers[HS_CLUSTER_REPLICAS])
{
    size_t count = 0;
    for (unsigned i = 0; i < HS_CLUSTER_REPLICAS; i++)
        if ((cluster->members & 1u << i) != 0)
            servers[count++] = (struct hs_balancer_server){i + 1, cluster->ports[i][0]};
    return count;
}

/* Starts the relays, and writes the connection string with which replicas reach the database
   through a relay, or its standby. */
static void start_stores(struct hs_cluster *cluster)
{
    char target[96], path[96], text[256];
    ck_assert(hs_test_redis_start(&cluster->redis, 0, NULL));
    snprintf(target, sizeof target, "%u", cluster->redis.port);
    cluster->redis_relay = hs_relay_start(target);
    ck_assert_ptr_nonnull(cluster->redis_relay);
    if (cluster->postgres == NULL)
        return;
    snprintf(target, sizeof target, "%s/.s.PGSQL.5432", cluster->postgres->directory);
    cluster->postgres_relay = hs_relay_start(target);
    ck_assert_ptr_nonnull(cluster->postgres_relay);
    snprintf(path, sizeof path, "%s/database", cluster->directory);
    snprintf(text, sizeof text,
             "host=127.0.0.1,%s/standby port=%u,5432 target_session_attrs=read-write "
             "dbname=postgres user=postgres\n",
             cluster->directory, hs_relay_port(cluster->postgres_relay));
    hs_test_write_file(path, text);
}

void hs_cluster_start(struct hs_cluster *cluster, struct hs_test_postgres *postgres)
{
    struct hs_balancer_server servers[HS_CLUSTER_REPLICAS];
    char rules[96];
    *cluster = (struct hs_cluster){.directory = "/tmp/hindsight-cluster-XXXXXX",
                                   .members = 0x7,
                                   .balancer = {.listener = -1, .control = -1, .log = -1},
                                   .reference = {.out = -1, .err = -1},
                                   .postgres = postgres};
    for (int i = 0; i < HS_CLUSTER_REPLICAS; i++)
        cluster->replicas[i].out = cluster->replicas[i].err = -1;
    ck_assert_ptr_nonnull(mkdtemp(cluster->directory));
    snprintf(rules, sizeof rules, "%s/rules", cluster->directory);
    write_rules(cluster);
    start_stores(cluster);
    start_reference(cluster, rules);
    for (int i = 0; i < HS_CLUSTER_REPLICAS - 1; i++)
        hs_cluster_start_replica(cluster, i);
    ck_assert(hs_balancer_start(&cluster->balancer, servers, list_servers(cluster, servers)));
}

void hs_cluster_stop(struct hs_cluster *cluster)
{
    int code;
    bool clean = true;
    hs_balancer_stop(&cluster->balancer);
    for (int i = 0; i < HS_CLUSTER_REPLICAS; i++)
        if (cluster->replicas[i].pid > 0)
            kill(cluster->replicas[i].pid, SIGTERM); /* all drain at the same time */
    for (int i = 0; i < HS_CLUSTER_REPLICAS; i++)
        clean = hs_test_service_stop(&cluster->replicas[i]) && clean;
    clean = hs_test_service_stop(&cluster->reference) && clean;
    hs_relay_stop(cluster->redis_relay);
    hs_relay_stop(cluster->postgres_relay);
    hs_test_redis_stop(&cluster->redis);
    hs_test_shell(&code, "rm -rf '%s'", cluster->directory);
    ck_assert(clean);
}

void hs_cluster_drain_replica(struct hs_cluster *cluster, int replica)
{
    ck_assert(hs_test_service_stop(&cluster->replicas[replica]));
}

void hs_cluster_kill_replica(struct hs_cluster *cluster, int replica)
{
    struct hs_test_service *service = &cluster->replicas[replica];
    ck_assert_int_eq(kill(service->pid, SIGKILL), 0);
    ck_assert_int_eq(waitpid(service->pid, NULL, 0), service->pid);
    service->pid = 0;
    hs_test_service_stop(service); /* closes its files */
}

void hs_cluster_set_standby(struct hs_cluster *cluster, const struct hs_test_postgres *standby)
{
    char path[96];
    snprintf(path, sizeof path, "%s/standby", cluster->directory);
    ck_assert_int_eq(symlink(standby->directory, path), 0);
}

void hs_cluster_set_members(struct hs_cluster *cluster, unsigned members)
{
    struct hs_balancer_server servers[HS_CLUSTER_REPLICAS];
    cluster->members = members;
    ck_assert(hs_balancer_reload(&cluster->balancer, servers, list_servers(cluster, servers)));
}

/* Returns the running replicas behind HAProxy, as bits by the `id` of their server lines. */
static unsigned running(const struct hs_cluster *cluster)
{
    unsigned ids = 0;
    for (unsigned i = 0; i < HS_CLUSTER_REPLICAS; i++)
        if ((cluster->members & 1u << i) != 0 && cluster->replicas[i].pid > 0)
            ids |= 1u << (i + 1);
    return ids;
}

/* Sums a series over the running replicas. */
static double sum(const struct hs_cluster *cluster, const char *series)
{
    double total = 0;
    for (int i = 0; i < HS_CLUSTER_REPLICAS; i++)
        if (cluster->replicas[i].pid > 0)
            total += hs_metric(&cluster->replicas[i], series);
    return total;
}

static int count_replicas(const struct hs_cluster *cluster)
{
    int count = 0;
    for (int i = 0; i < HS_CLUSTER_REPLICAS; i++)
        count += cluster->replicas[i].pid > 0;
    return count;
}

void hs_cluster_settle(struct hs_cluster *cluster)
{
    double changes = -1;
    bool is_used = false, is_up = false;
    int quiet = 0; /* looks without a change */
    for (int tries = 0; !(is_used && is_up && quiet >= 2) && tries < SETTLE_TRIES; tries++) {
        double before = changes;
        hs_test_pause_ms(SETTLE_MS);
        changes = sum(cluster, "hindsight_answers_not_durable_total") +
                  sum(cluster, TAKEN("unreleased")) + sum(cluster, TAKEN("released"));
        is_used = hs_balancer_used(&cluster->balancer) == running(cluster);
        is_up = (int)sum(cluster, "hindsight_store_up") == count_replicas(cluster);
        quiet = is_used && changes == before ? quiet + 1 : 0;
    }
    ck_assert_msg(is_used && is_up, "HAProxy uses %#x of %#x; stores up: %g of %d",
                  hs_balancer_used(&cluster->balancer), running(cluster),
                  sum(cluster, "hindsight_store_up"), count_replicas(cluster));
}
