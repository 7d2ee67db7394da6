/*
 * A service in this process: it decodes and verifies the requests of a scenario with the decoders
 * and the library alone. This code needs neither HTTP nor the service. So it also runs where only a
 * C library and a JSON reader exist. Answers are the library's structs, not text.
 *
 * One thread at a time for each object; objects are independent. If out of memory, the program
 * ends.
 */
#ifndef HS_TESTS_OFFLINE_H
#define HS_TESTS_OFFLINE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/problem.h"
#include "cli/play/scenario/file.h"
#include "validators/hit.h"
#include "validators/move.h"

enum hs_offline_kind {
    HS_OFFLINE_SAMPLE,  /* a posted player or mover: `sample` */
    HS_OFFLINE_FRAMES,  /* after the samples of a request: `flags`, `needs_resync` */
    HS_OFFLINE_SHOT,    /* `result`, `forward_us`, or `replay_of` */
    HS_OFFLINE_HIT,     /* `result`, or `replay_of` */
    HS_OFFLINE_MOVE,    /* `move` */
    HS_OFFLINE_PROBLEM, /* a refused request: `problem` */
};

/* The answer to one item of a request. */
struct hs_offline_item {
    enum hs_offline_kind kind;
    enum hs_frame_result sample;
    unsigned flags; /* enum hs_frame_flag */
    bool needs_resync;
    const struct hs_hit_result *result; /* NULL: a replay */
    unsigned long replay_of;            /* number of the item whose answer it repeats, from 1 */
    int64_t forward_us;
    const struct hs_move_result *move;
    const struct hs_problem *problem;
};

/* Called with each answer in order; its data is valid until the call returns. */
typedef void hs_offline_answer(void *context, const struct hs_offline_item *item);

struct hs_offline;

struct hs_offline *hs_offline_create(hs_offline_answer *answer, void *context);
void hs_offline_destroy(struct hs_offline *offline);

/*
 * Sets functions to call before and after every verification. Nothing else happens between the two
 * calls.
 */
typedef void hs_offline_watcher(void *context);
void hs_offline_watch(struct hs_offline *offline, hs_offline_watcher *before,
                      hs_offline_watcher *after);

/* Handles one request. Requests that only read, or that the library does not handle (unknown
   routes), give no answer. Returns false if a request that should be handled here was not
   handled. */
bool hs_offline_send(struct hs_offline *offline, const struct hs_scenario_step *step);

/* Plays all steps of a scenario. Returns false if a step was not handled. */
bool hs_offline_play(struct hs_offline *offline, const struct hs_scenario_plan *plan);

#endif
