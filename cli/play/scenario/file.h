/*
 * Scenarios: small situations in data files. Each scenario consists of a ruleset, a few requests,
 * and the expected answers. Scenarios are written in metres with z up, and can be played in any
 * frame of reference (reference.h). docs/scenarios.md describes the format.
 *
 * The caller passes the function that sends requests. Only one thread at a time may use a struct
 * hs_scenarios or a plan.
 */
#ifndef HS_PLAY_SCENARIO_H
#define HS_PLAY_SCENARIO_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/play/scenario/reference.h"

enum { HS_SCENARIO_ERROR_MAX = 2560, HS_SCENARIO_PATH_MAX = 256 };

struct hs_scenarios;

/* Reads a scenario file. If the scenario file names a fixture file, reads the fixture file, too.
   Returns NULL with a message in `error` if a file cannot be read or is malformed. */
struct hs_scenarios *hs_scenarios_load(const char *path, char error[HS_SCENARIO_ERROR_MAX]);
void hs_scenarios_destroy(struct hs_scenarios *scenarios);

size_t hs_scenarios_count(const struct hs_scenarios *scenarios);

struct hs_scenario_info {
    const char *row;   /* number of the scenario in the acceptance table, for example "5a" */
    const char *title; /* the situation in a few words */
    /* options with which the service must run, for example "--auto-open false"; NULL: none */
    const char *requires;
};

/* Returns the description of a scenario, borrowed from `scenarios`. `index` must be below the
   count. */
struct hs_scenario_info hs_scenarios_info(const struct hs_scenarios *scenarios, size_t index);

/* One request and the expected answer. */
struct hs_scenario_step {
    char method[8];
    char path[HS_SCENARIO_PATH_MAX];
    char *body; /* NULL: none */
    size_t size;
    json_t *expect;   /* see hs_expect_answer */
    const char *save; /* name under which the answer is saved; NULL: not saved */
    /* name of a saved answer that this answer must equal; NULL: no such condition */
    const char *same_as;
};

/* A scenario in one frame of reference, ready to be sent. */
struct hs_scenario_plan {
    struct hs_scenario_step *steps;
    size_t count;
    double unit;   /* units of length per metre */
    json_t *owned; /* values that the steps borrow */
};

/* Builds the requests for a scenario. The match's name begins with `prefix`, a valid name of at
   most 32 bytes. A new prefix gives a new match. The same prefix gives the same requests, byte for
   byte. Returns NULL with a message in `error` if the scenario is malformed. */
struct hs_scenario_plan *hs_scenario_plan_create(const struct hs_scenarios *scenarios, size_t index,
                                                 const struct hs_reference *reference,
                                                 const char *prefix,
                                                 char error[HS_SCENARIO_ERROR_MAX]);
void hs_scenario_plan_destroy(struct hs_scenario_plan *plan);

/* Sends one request. Returns the HTTP status, or 0 if no answer arrives. *answer is terminated, and
   valid until the next call. */
typedef long hs_scenario_send(void *context, const struct hs_scenario_step *step,
                              const char **answer, size_t *size);

/* Sends the steps in order. Stops at the first unexpected answer, and returns false with a message
   in `fault`. */
bool hs_scenario_play(const struct hs_scenario_plan *plan, hs_scenario_send *send, void *context,
                      char fault[HS_SCENARIO_ERROR_MAX]);

#endif
