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
    HS_REGROUP_SPLIT, /* a request an item: frame, shot or hit */
    HS_REGROUP_MERGED /* as many items a request as keep their order and their `now` */
};

/* A request to send, and what it stands for. */
struct hs_regrouped {
    char method[8];
    char path[HS_SCENARIO_PATH_MAX + 40];
    char *body; /* malloc'ed; NULL: none */
    size_t size;
    bool is_batch; /* frames, shots, hits or ticks; the answer must be 200 */
};

struct hs_regroup_list {
    struct hs_regrouped *items;
    size_t count;
};

/* `statuses`: what each step of the plan was answered as written (all 0: HS_REGROUP_NOT only).
   Without memory the program ends. */
void hs_regroup(const struct hs_scenario_plan *plan, const long *statuses,
                enum hs_regrouping regrouping, struct hs_regroup_list *out);
void hs_regroup_free(struct hs_regroup_list *list);

/*
 * What was answered, however it was grouped: {"shots":[..],"hits":[..],"stored":n,"refused":[..],
 * "flags":{..},"need":..,"others":[..]}. Refused samples are named by the number of their frame
 * among all frames of the scenario. Of answers that are no results, and of problems, the status
 * counts, and the body of a 200.
 */
struct hs_transcript {
    json_t *content;
    size_t frames; /* posted so far */
};

void hs_transcript_begin(struct hs_transcript *transcript);
/* `request` as it was sent, and its answer; `body` need not be JSON. */
void hs_transcript_add(struct hs_transcript *transcript, const struct hs_regrouped *request,
                       long status, const char *body, size_t size);
void hs_transcript_end(struct hs_transcript *transcript);

#endif
