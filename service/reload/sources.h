/*
 * Applies configuration, at the start and on a reload. First every step reads and checks its files.
 * Each step applies its result only if no step has a fault. Each reloadable part of the service
 * provides one step (steps.h). Only one thread at a time may use this module; the steps synchronize
 * with other threads.
 */
#ifndef HS_SERVICE_RELOAD_H
#define HS_SERVICE_RELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/problem.h"
#include "api/json/buffer.h"
#include "service/options/values.h"

/* The result of one run. The caller sets `fault` and `context` and zeroes the rest. */
struct hs_reload {
    /* Called for each fault: `source` is a file, or the name of an option. */
    void (*fault)(void *context, const char *source, const struct hs_problem *problem);
    void *context;
    size_t faults;
    size_t changes;
    struct hs_buffer changed; /* a list of changes; not terminated */
};

struct hs_reload_step {
    void *context;
    /*
     * Reads and checks the files that `options` name, and changes nothing. Returns the argument of
     * `commit` or `discard`, or NULL if there is nothing to apply or there is a fault. The step
     * reports faults with hs_reload_fault or hs_reload_fault_text.
     */
    void *(*prepare)(void *context, const struct hs_options *options, struct hs_reload *reload);
    /* Applies the result of `prepare`. Cannot fail. Reports changes with hs_reload_changed. */
    void (*commit)(void *context, void *prepared, struct hs_reload *reload);
    /* Frees the result of `prepare` without applying it, because a step has a fault. */
    void (*discard)(void *context, void *prepared);
};

enum { HS_RELOAD_STEPS_MAX = 8 };

void hs_reload_fault(struct hs_reload *reload, const char *source,
                     const struct hs_problem *problem);
void hs_reload_fault_text(struct hs_reload *reload, const char *source, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
void hs_reload_changed(struct hs_reload *reload, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Prepares all steps, so that every fault is reported. If there is no fault, commits all steps;
 * otherwise discards all results. `options` must be checked already. Returns false and changes
 * nothing if there is a fault, or if `reload` had one before the call.
 */
bool hs_reload_run(const struct hs_reload_step *steps, size_t count,
                   const struct hs_options *options, struct hs_reload *reload);

/* Frees the report. */
void hs_reload_free(struct hs_reload *reload);

#endif
