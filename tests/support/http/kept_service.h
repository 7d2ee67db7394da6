/* A service under test that keeps its state in a separate directory, and can stop and start again.
   Faults end the test (Check). */
#ifndef HS_TESTS_KEPT_SERVICE_H
#define HS_TESTS_KEPT_SERVICE_H

#include "tests/support/http/client.h"
#include "tests/support/http/service.h"

struct hs_test_kept {
    char directory[64]; /* the directory of the test; removed at the end */
    char data[96];      /* the data directory in it, which the service makes */
    char rules[96];     /* the ruleset directory in it, for hs_kept_write_rules */
    struct hs_test_service service;
    struct hs_test_http *http;  /* a client of the operators' listener, which serves all routes */
    const char *store[7];       /* arguments of each start, which end with NULL */
    const char *const *headers; /* headers of every request; NULL: none */
};

void hs_kept_setup(struct hs_test_kept *kept);
/* Stops the service if it runs, and removes the directory. */
void hs_kept_teardown(struct hs_test_kept *kept);

/* Writes NAME.json to the ruleset directory, which the first call makes. */
void hs_kept_write_rules(struct hs_test_kept *kept, const char *name, const char *text);

/* Starts the service with a checkpoint each second. `more`: NULL, or arguments that end with
   NULL. */
void hs_kept_start(struct hs_test_kept *kept, const char *const *more);
/* Starts the service in the same way, with one option and its value. */
void hs_kept_start_with(struct hs_test_kept *kept, const char *option, const char *value);
/* Sends SIGTERM; the service must exit with 0. */
void hs_kept_stop(struct hs_test_kept *kept);
/* Sends SIGKILL, as the kernel does when memory runs out. */
void hs_kept_kill(struct hs_test_kept *kept);

/* Ends the service when a checkpoint has all state. In even rounds the service is stopped; in odd
   rounds it is killed after a checkpoint. */
void hs_kept_end(struct hs_test_kept *kept, int round);

/* Returns a path in the data directory, valid until the next call. */
const char *hs_kept_path(const struct hs_test_kept *kept, const char *name);

/* Sends a request and returns the status; the caller frees the answer. */
long hs_kept_send(struct hs_test_kept *kept, const char *method, const char *path, const char *body,
                  char **answer);
long hs_kept_status(struct hs_test_kept *kept, const char *method, const char *path,
                    const char *body);
/* Posts, and returns the answer, which must have the status 200; the caller frees it. */
char *hs_kept_post(struct hs_test_kept *kept, const char *path, const char *body);
/* Sends a GET, and returns the answer, which must have the status 200; the caller frees it. */
char *hs_kept_get(struct hs_test_kept *kept, const char *path);
/* Sends a GET, whose answer must equal `wanted`, byte for byte. */
void hs_kept_same(struct hs_test_kept *kept, const char *path, const char *wanted);
/* Checks that an answer contains a text, and frees the answer. */
void hs_kept_holds(char *answer, const char *what);

double hs_kept_metric(struct hs_test_kept *kept, const char *series);

#define HS_KEPT_WRITTEN  "hindsight_checkpoints_total{result=\"written\"}"
#define HS_KEPT_RESTORED "hindsight_checkpoint_matches_total{result=\"restored\"}"

/* Waits until a checkpoint that began after this call has been written. */
void hs_kept_wait(struct hs_test_kept *kept);

/* Posts 21 frames, one more than a window holds, from a time on: `s` at the origin, `t` 5 m in
   front of `s`. */
void hs_kept_frames(struct hs_test_kept *kept, const char *match, double from);
/* Claims a hit of `s` on `t` at a time, and returns the answer; the caller frees it. */
char *hs_kept_hit(struct hs_test_kept *kept, const char *match, int shot, double time);

/* Post moves of `s` in the match `m`, and return the answer; the caller frees it. The first
   function posts moves with a clock that runs 25 times as fast, which use up all credit; the second
   one more move, seconds later by the server's clock. */
char *hs_kept_fast_moves(struct hs_test_kept *kept);
char *hs_kept_late_move(struct hs_test_kept *kept);

/* Changes each `"replayed":false` of an answer to `"replayed":true`, in place. */
void hs_kept_mark_replayed(char *answer);

#endif
