/*
 * Applies the configuration at the start and on a reload. Each reloadable part of the service
 * provides one step (steps.h). First, all steps read and check their files. The results are applied
 * only if no step reports a fault. Only one thread at a time may use this module. The steps
 * synchronize with the other threads.
 */
#ifndef HS_SERVICE_RELOAD_H
#define HS_SERVICE_RELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/problem.h"
#include "api/json/buffer.h"
#include "service/options/values.h"

/* The result of one run. The caller sets `fault` and `context`, and zeroes the other members. */
struct hs_reload {
    /* Called for each faulty file or option. `source` is the file's path or the option's name. */
    void (*fault)(void *context, const char *source, const struct hs_problem *problem);
    void *context;
    size_t faults;
    size_t changes;
    struct hs_buffer changed; /* text that lists the changes; not null-terminated */
};

struct hs_reload_step {
    void *context;
    /*
     * Reads and checks the files that `options` name, without changing anything. Returns the
     * argument for `commit` or `discard`, or NULL if there is a fault or nothing to apply. Reports
     * faults with hs_reload_fault or hs_reload_fault_text.
     */
    void *(*prepare)(void *context, const struct hs_options *options, struct hs_reload *reload);
    /* Applies the result of `prepare`. Cannot fail. Reports changes with hs_reload_changed. */
    void (*commit)(void *context, void *prepared, struct hs_reload *reload);
    /* Frees the result of `prepare`; called instead of `commit` if any step failed. */
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
 * Prepares all steps, so that every fault is reported. Then commits all steps. If a step reported a
 * fault, or `reload` already contained a fault, discards all results instead. `options` must
 * already be checked. Returns false if nothing was applied.
 */
bool hs_reload_run(const struct hs_reload_step *steps, size_t count,
                   const struct hs_options *options, struct hs_reload *reload);

/* Frees the list of changes. */
void hs_reload_free(struct hs_reload *reload);

#endif
