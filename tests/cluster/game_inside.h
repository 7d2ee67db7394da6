/* The inside of the game of a cluster, for game.c and client.c. */
#ifndef HS_TESTS_CLUSTER_GAME_INSIDE_H
#define HS_TESTS_CLUSTER_GAME_INSIDE_H

#include <jansson.h>
#include <pthread.h>
#include <stdatomic.h>

#include "tests/cluster/game.h"
#include "tests/support/http/client.h"
#include "tests/support/play/kill_squad.h"
#include "tests/support/random.h"

enum { WORKERS = 16, MOVERS = 2 };

struct match {
    char name[48];
    struct hs_kill_squad squad;
    struct hs_random random;
    int tick;         /* the next tick */
    int window_until; /* claims may be inconclusive before this tick */
    int windows;
    double granted[MOVERS][2]; /* move time so far: by the cluster, by the single replica */
};

struct latency {
    int window; /* since the game began */
    double us;
};

struct latencies {
    struct latency *all;
    size_t count, space;
};

struct worker {
    struct hs_cluster_game *game;
    struct hs_test_http *http, *other, *reference;
    struct match *matches;
    int match_count;
    struct hs_cluster_counts counts;
    struct latencies latencies[HS_CLUSTER_PHASES_MAX][2]; /* as in struct hs_cluster_latency */
    pthread_t thread;
};

struct hs_cluster_game {
    struct hs_cluster_game_options options;
    struct hs_follower *follower;
    struct worker workers[WORKERS];
    struct match *matches;
    enum hs_cluster_phase phases[HS_CLUSTER_PHASES_MAX];
    atomic_int phase; /* the number of the present one */
    double began;     /* seconds */
    atomic_bool breaks, stops;
};

/* Returns a member of an object, or "". */
const char *hs_cluster_text(const json_t *object, const char *key);

/* Opens a match. Returns whether it is open now. */
bool hs_cluster_open_match(struct hs_test_http *http, const struct match *match);

/* Posts the frames of the last second. */
void hs_cluster_resync(struct worker *worker, struct hs_test_http *http, const struct match *match);

/* Posts a body until it is answered, as a good client does. Returns the answer, or NULL after a
   fault. `repeats`: false: only once. */
json_t *hs_cluster_post(struct worker *worker, struct hs_test_http *http, const struct match *match,
                        const char *route, const char *body, bool repeats);

#endif
