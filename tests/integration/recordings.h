/*
 * Recordings that services under test write, and what `recheck` reports about them. The files are
 * in a folder that exists while hs_recordings_run runs a suite. Faults end the test.
 */
#ifndef HS_TESTS_RECORDINGS_H
#define HS_TESTS_RECORDINGS_H

#include <check.h>
#include <jansson.h>
#include <stdbool.h>

#include "tests/integration/traffic.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"

/* Runs the suite, which it takes, with a new folder that it removes. Returns the exit code. */
int hs_recordings_run(Suite *suite);

const char *hs_recordings_folder(void);

/* The path of a file in the folder. Each name keeps its path to the end of the process. */
const char *hs_recordings_file(const char *name);

/* A run of the program, and its report of --json. */
struct hs_recheck {
    struct hs_test_run program;
    json_t *report; /* NULL: it printed none */
};

#define HS_RECHECK(result, ...)                                                                    \
    do {                                                                                           \
        HS_TEST_RUN(&(result)->program, __VA_ARGS__);                                              \
        (result)->report = json_loads((result)->program.out, 0, NULL);                             \
    } while (0)

/* An integer of the report. */
json_int_t hs_recheck_number(const struct hs_recheck *result, const char *key);

/* Starts a service that records; its default ruleset is `metres`. */
void hs_record_start(struct hs_test_service *service, const char *path);

/* Waits until every line is in the file. */
void hs_record_wait(struct hs_test_service *service);

/* Records all clients of the traffic, from the start of a service to its end. */
void hs_record_traffic(const char *path, struct hs_traffic *sum);

/* Records one small match. The service is killed while the match runs, or stopped. */
void hs_record_little(const char *path, const char *match, bool kill_it);

/* Copies the file `from` to the name `to`, with `find` replaced once (NULL: nothing). Returns the
   path of the copy. */
const char *hs_record_copy(const char *from, const char *to, const char *find, const char *put);

#endif
