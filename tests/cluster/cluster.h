/*
 * A cluster on 127.0.0.1: HAProxy with the shipped configuration, up to four replicas, a private
 * Redis and a private PostgreSQL. The replicas reach both stores through relays. A single replica
 * beside the cluster keeps everything in memory, as a reference. Faults end the test (Check). Start
 * the cluster from the thread that ends last, because its processes end with that thread.
 */
#ifndef HS_TESTS_CLUSTER_H
#define HS_TESTS_CLUSTER_H

#include <stdbool.h>

#include "tests/cluster/relay.h"
#include "tests/support/http/balancer.h"
#include "tests/support/http/service.h"
#include "tests/support/postgres.h"
#include "tests/support/store/redis.h"

enum { HS_CLUSTER_REPLICAS = 4 };

struct hs_cluster {
    char directory[64]; /* rules, data directories and the files of the servers */
    struct hs_test_service replicas[HS_CLUSTER_REPLICAS];
    unsigned ports[HS_CLUSTER_REPLICAS][2]; /* data and admin; a restart keeps them */
    unsigned members;                       /* replicas behind the balancer, as bits */
    struct hs_test_service reference;
    struct hs_balancer balancer;
    struct hs_test_redis redis;
    struct hs_test_postgres *postgres; /* NULL: no evidence is stored */
    struct hs_relay *redis_relay, *postgres_relay;
};

/* Starts everything with three replicas. `postgres`: a running server, borrowed. NULL: the replicas
   store no evidence. */
void hs_cluster_start(struct hs_cluster *cluster, struct hs_test_postgres *postgres);

/* Ends everything. Each replica must end with exit status 0. */
void hs_cluster_stop(struct hs_cluster *cluster);

/* Starts a replica, on its former ports if it ran before, and waits until it is ready. */
void hs_cluster_start_replica(struct hs_cluster *cluster, int replica);

/* Sends SIGTERM and waits for the end. The exit status must be 0. */
void hs_cluster_drain_replica(struct hs_cluster *cluster, int replica);

/* Sends SIGKILL. */
void hs_cluster_kill_replica(struct hs_cluster *cluster, int replica);

/* Makes a server the second host of the connection string of all replicas. */
void hs_cluster_set_standby(struct hs_cluster *cluster, const struct hs_test_postgres *standby);

/* Reloads HAProxy with these replicas. */
void hs_cluster_set_members(struct hs_cluster *cluster, unsigned members);

/* Waits until HAProxy uses those of its replicas that run, and no other ones, until these have
   connections to the store and do not miss its answers any more, and until no match moves. */
void hs_cluster_settle(struct hs_cluster *cluster);

#endif
