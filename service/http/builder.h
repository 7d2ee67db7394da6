/*
 * A thread for requests that take long: maps and rulesets. They run one at a time, at a
 * lower priority, so that neither a worker nor another tenant waits for them. Of the requests that
 * wait, tenants take turns.
 */
#ifndef HS_SERVICE_BUILDER_H
#define HS_SERVICE_BUILDER_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/str.h"

struct hs_builder;

/* One request; lives until `done`. */
struct hs_builder_job {
    const void *owner;    /* for hs_builder_end */
    struct hs_str tenant; /* len 0: nobody in particular */
    void (*run)(struct hs_builder_job *job);
    void (*done)(struct hs_builder_job *job); /* after `run`, or instead of it at the end */
    struct hs_builder_job *next;              /* of the builder */
};

/* Starts the thread. NULL: out of memory or threads. */
struct hs_builder *hs_builder_create(void);
/* No job may be left. NULL: nothing. */
void hs_builder_destroy(struct hs_builder *builder);

/* Any thread. */
void hs_builder_submit(struct hs_builder *builder, struct hs_builder_job *job);

/* Ends the owner's jobs: those that wait do not run, and one that runs is waited for. Nobody may
   submit another one. */
void hs_builder_end(struct hs_builder *builder, const void *owner);

/*
 * Whether the job that runs has used more than `limit_us` of the processor, or for that long none
 * of it: the thread may wait for the processor, but then others use it. Call it a few times a
 * second, in any thread. `now_us`: monotonic.
 */
bool hs_builder_is_stuck(struct hs_builder *builder, int64_t limit_us, int64_t now_us);

#endif
