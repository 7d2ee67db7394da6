/*
 * Scenarios: small situations as data files, a ruleset, a few requests and what the answers must
 * say. Each is written in metres, z up, and can be played in any frame of reference
 * (reference.h). docs/scenarios.md is the reader's page of the format.
 *
 * Nothing here talks to a service: whoever plays a scenario passes the function that sends. One
 * thread at a time for each object.
 */
#ifndef HS_PLAY_SCENARIO_H
#define HS_PLAY_SCENARIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/play/scenario/reference.h"

enum { HS_SCENARIO_ERROR_MAX = 2560, HS_SCENARIO_PATH_MAX = 256 };

struct hs_scenarios;

/*
 * Reads a file and, where it names one, its fixture. NULL with a sentence in `error` when it
 * cannot be read or does not have the format.
 */
struct hs_scenarios *hs_scenarios_load(const char *path, char error[HS_SCENARIO_ERROR_MAX]);
void hs_scenarios_destroy(struct hs_scenarios *scenarios);

size_t hs_scenarios_count(const struct hs_scenarios *scenarios);

struct hs_scenario_info {
    const char *row;      /* number in the table of acceptance scenarios, "5a" */
    const char *title;    /* the situation in a few words */
    const char *requires; /* how the service has to be started, or NULL: "--auto-open false" */
};

/* Borrowed from `scenarios`; `index` must be below the count. */
struct hs_scenario_info hs_scenarios_info(const struct hs_scenarios *scenarios, size_t index);

/* One request with what is expected of its answer. */
struct hs_scenario_step {
    char method[8];
    char path[HS_SCENARIO_PATH_MAX];
    char *body; /* NULL: none */
    size_t size;
    json_t *expect;      /* see hs_expect_answer */
    const char *save;    /* keep the answer under this name, or NULL */
    const char *same_as; /* the answer must equal the one kept under this name, or NULL */
};

/* A scenario in one frame of reference, ready to be sent. */
struct hs_scenario_plan {
    struct hs_scenario_step *steps;
    size_t count;
    double unit;   /* units of length a metre */
    json_t *owned; /* what the steps borrow from */
};

/*
 * `prefix` (a valid name of at most 32 bytes) begins the names of the matches: with a prefix of
 * its own each run is fresh, with the same prefix two services see the same requests byte for
 * byte. NULL with a sentence in `error` when the scenario is not well formed.
 */
struct hs_scenario_plan *hs_scenario_plan_create(const struct hs_scenarios *scenarios, size_t index,
                                                 const struct hs_reference *reference,
                                                 const char *prefix,
                                                 char error[HS_SCENARIO_ERROR_MAX]);
void hs_scenario_plan_destroy(struct hs_scenario_plan *plan);

/*
 * Sends one request and waits. Returns the HTTP status, 0 for no answer; *answer is terminated and
 * stays valid until the next call.
 */
typedef long hs_scenario_send(void *context, const struct hs_scenario_step *step,
                              const char **answer, size_t *size);

/* Sends the steps in order until one answer is not as expected: false, and `fault` says which. */
bool hs_scenario_play(const struct hs_scenario_plan *plan, hs_scenario_send *send, void *context,
                      char fault[HS_SCENARIO_ERROR_MAX]);

#endif
