/*
 * Regroups the items of a scenario's requests: one item per request, or consecutive requests merged
 * into one batch or tick. How a game server groups the items that it posts must not change any
 * answer.
 *
 * Only requests that got 200 as written and contain only items are regrouped. (A bad field outside
 * of the items refuses a whole batch.) All other requests (reading, opening, ending) keep their
 * place.
 */
#ifndef HS_TESTS_REGROUP_H
#define HS_TESTS_REGROUP_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "cli/play/scenario/file.h"

enum hs_regrouping {
    HS_REGROUP_NOT,   /* as written */
    HS_REGROUP_SPLIT, /* one item per request: a frame, a shot or a hit */
    HS_REGROUP_MERGED /* as many items per request as possible, in the same order and with the same
                         `now` */
};

/* A request to send, and the steps that it replaces. */
struct hs_regrouped {
    char method[8];
    char path[HS_SCENARIO_PATH_MAX + 40];
    char *body; /* malloc'ed, or NULL */
    size_t size;
    bool is_batch; /* a request of frames, shots, hits or ticks; it must get 200 */
};

struct hs_regroup_list {
    struct hs_regrouped *items;
    size_t count;
};

/* `statuses` has the status of each step of the plan as written. If all statuses are 0 (unknown),
   only HS_REGROUP_NOT is allowed. If memory runs out, the program ends. */
void hs_regroup(const struct hs_scenario_plan *plan, const long *statuses,
                enum hs_regrouping regrouping, struct hs_regroup_list *out);
void hs_regroup_free(struct hs_regroup_list *list);

/*
 * Collects the answers in one form, however they were grouped:
 * {"shots":[..],"hits":[..],"stored":n,"refused":[..], "flags":{..},"need":..,"others":[..]}.
 * Refused samples have the number of their frame among all frames of the scenario. For other
 * answers, collects the status, and the body if the status is 200.
 */
struct hs_transcript {
    json_t *content;
    size_t frames; /* number of frames posted so far */
};

void hs_transcript_begin(struct hs_transcript *transcript);
/* Adds the answer to `request`. `body` need not be JSON. */
void hs_transcript_add(struct hs_transcript *transcript, const struct hs_regrouped *request,
                       long status, const char *body, size_t size);
void hs_transcript_end(struct hs_transcript *transcript);

#endif
