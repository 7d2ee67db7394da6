/*
 * A service under test that keeps what must outlive it in a directory of its own, and ends and
 * starts again. Faults end the test (Check).
 */
#ifndef HS_TESTS_KEPT_SERVICE_H
#define HS_TESTS_KEPT_SERVICE_H

#include "tests/support/http/client.h"
#include "tests/support/http/service.h"

struct hs_test_kept {
    char directory[64]; /* of the test; removed at the end */
    char data[96];      /* in it; made by the service */
    char rules[96];     /* in it; the folder of hs_kept_write_rules */
    struct hs_test_service service;
    struct hs_test_http *http;  /* of the operators' listener, which serves everything */
    const char *const *headers; /* of every request; NULL: none */
};

void hs_kept_setup(struct hs_test_kept *kept);
void hs_kept_teardown(struct hs_test_kept *kept);

/* Writes NAME.json into the folder of rulesets, which the first call makes. */
void hs_kept_write_rules(struct hs_test_kept *kept, const char *name, const char *text);

/* Starts it with a checkpoint each second; `more`: NULL, or arguments closed by NULL. */
void hs_kept_start(struct hs_test_kept *kept, const char *const *more);
/* The same, with one option and its value. */
void hs_kept_start_with(struct hs_test_kept *kept, const char *option, const char *value);
/* SIGTERM; it must end well. */
void hs_kept_stop(struct hs_test_kept *kept);
/* SIGKILL, as the kernel does when memory is out. */
void hs_kept_kill(struct hs_test_kept *kept);

/* Ends it with everything in a checkpoint: even rounds stop it, odd ones kill it after one. */
void hs_kept_end(struct hs_test_kept *kept, int round);

/* A path in the data directory, until the next call. */
const char *hs_kept_path(const struct hs_test_kept *kept, const char *name);

/* The status of a request; the caller frees the answer. */
long hs_kept_send(struct hs_test_kept *kept, const char *method, const char *path, const char *body,
                  char **answer);
long hs_kept_status(struct hs_test_kept *kept, const char *method, const char *path,
                    const char *body);
/* The answer to a post, which must be 200; freed by the caller. */
char *hs_kept_post(struct hs_test_kept *kept, const char *path, const char *body);
/* The answer to a GET, which must be 200; freed by the caller. */
char *hs_kept_get(struct hs_test_kept *kept, const char *path);
/* It must be this, byte for byte. */
void hs_kept_same(struct hs_test_kept *kept, const char *path, const char *wanted);
/* Frees the answer, which must hold a text. */
void hs_kept_holds(char *answer, const char *what);

double hs_kept_metric(struct hs_test_kept *kept, const char *series);

#define HS_KEPT_WRITTEN  "hindsight_checkpoints_total{result=\"written\"}"
#define HS_KEPT_RESTORED "hindsight_checkpoint_matches_total{result=\"restored\"}"

/* Until a checkpoint that began after this was called has been written. */
void hs_kept_wait(struct hs_test_kept *kept);

/* 21 frames, a window and one, from a time: `s` at the origin, `t` 5 m in front of `s`. */
void hs_kept_frames(struct hs_test_kept *kept, const char *match, double from);
/* `s` hits `t` at a time; the answer is freed by the caller. */
char *hs_kept_hit(struct hs_test_kept *kept, const char *match, int shot, double time);

#endif
