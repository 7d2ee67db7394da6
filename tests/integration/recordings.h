/*
 * Recordings that services under test write, and the reports of `recheck` about them. The files are
 * in a folder that exists while hs_recordings_run runs a suite. A fault ends the test.
 */
#ifndef HS_TESTS_RECORDINGS_H
#define HS_TESTS_RECORDINGS_H

#include <check.h>
#include <jansson.h>
#include <stdbool.h>

#include "tests/integration/traffic.h"
#include "tests/support/http/service.h"
#include "tests/support/program.h"

/* Runs the suite with a new folder, and removes the folder. Frees the suite. Returns the exit
   code. */
int hs_recordings_run(Suite *suite);

const char *hs_recordings_folder(void);

/* Returns the path of a file in the folder. Paths stay valid until the process ends. */
const char *hs_recordings_file(const char *name);

/* A run of the program, and the report that it printed because of --json. */
struct hs_recheck {
    struct hs_test_run program;
    json_t *report; /* NULL if the program printed no report */
};

#define HS_RECHECK(result, ...)                                                                    \
    do {                                                                                           \
        HS_TEST_RUN(&(result)->program, __VA_ARGS__);                                              \
        (result)->report = json_loads((result)->program.out, 0, NULL);                             \
    } while (0)

/* Returns an integer of the report. */
json_int_t hs_recheck_number(const struct hs_recheck *result, const char *key);

/* Starts a service that records. Its default ruleset is `metres`. */
void hs_record_start(struct hs_test_service *service, const char *path);

/* Waits until every line is in the file. */
void hs_record_wait(struct hs_test_service *service);

/* Records all clients of the traffic, from the start of a service to its end. */
void hs_record_traffic(const char *path, struct hs_traffic *sum);

/* Records one small match. The service is killed while the match runs, or stopped normally. */
void hs_record_little(const char *path, const char *match, bool kill_it);

/* Copies the file `from` to the name `to`. In the copy, replaces the first `find`; `find` NULL:
   replaces nothing. Returns the path of the copy. */
const char *hs_record_copy(const char *from, const char *to, const char *find, const char *put);

#endif
