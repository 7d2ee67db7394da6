/*
 * The requests of a scenario cut differently: every batch item by item, or consecutive requests in
 * one batch or tick. How a game server groups what it posts must not change any answer.
 *
 * Only requests that got 200 as written are regrouped, and only those that contain nothing but
 * items. A bad field refuses a whole batch, so such a batch has no items. All other requests
 * (reading, opening, ending) keep their place.
 */
#ifndef HS_TESTS_REGROUP_H
#define HS_TESTS_REGROUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/play/scenario/file.h"

enum hs_regrouping {
    HS_REGROUP_NOT,   /* as written */
    HS_REGROUP_SPLIT, /* one item per request: a frame, shot or hit */
    HS_REGROUP_MERGED /* as many items per request as possible, with the same order and the same
                         `now` */
};

/* A request to send, and the steps that it replaces. */
struct hs_regrouped {
    char method[8];
    char path[HS_SCENARIO_PATH_MAX + 40];
    char *body; /* malloc'ed; NULL: none */
    size_t size;
    bool is_batch; /* frames, shots, hits or ticks; it must get 200 */
};

struct hs_regroup_list {
    struct hs_regrouped *items;
    size_t count;
};

/* `statuses`: the statuses of the plan's steps as written (all 0: HS_REGROUP_NOT only). Without
   memory the program ends. */
void hs_regroup(const struct hs_scenario_plan *plan, const long *statuses,
                enum hs_regrouping regrouping, struct hs_regroup_list *out);
void hs_regroup_free(struct hs_regroup_list *list);

/*
 * Collects the answers in one form, however they were grouped:
 * {"shots":[..],"hits":[..],"stored":n,"refused":[..], "flags":{..},"need":..,"others":[..]}.
 * Refused samples have the number of their frame among all frames of the scenario. For other
 * answers and for problems, the status counts, and the body of a 200.
 */
struct hs_transcript {
    json_t *content;
    size_t frames; /* posted so far */
};

void hs_transcript_begin(struct hs_transcript *transcript);
/* `request` is the sent request, with its answer. `body` need not be JSON. */
void hs_transcript_add(struct hs_transcript *transcript, const struct hs_regrouped *request,
                       long status, const char *body, size_t size);
void hs_transcript_end(struct hs_transcript *transcript);

#endif
