/*
 * Taking configuration into use, at the start and again while the service runs: first every step
 * reads and checks what it would take, and only when nothing is wrong anywhere each of them puts
 * it into use. Who keeps something that can be reloaded provides one step; serve.c lists them.
 * Used by one thread at a time; steps look after the threads that use what they swap.
 */
#ifndef HS_SERVICE_RELOAD_H
#define HS_SERVICE_RELOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "api/http/problem.h"
#include "api/json/buffer.h"
#include "service/options/values.h"

/* What one run found; set `fault` and `context`, the rest is zero. */
struct hs_reload {
    /* Called for each fault: `source` is a file, or the name of an option. */
    void (*fault)(void *context, const char *source, const struct hs_problem *problem);
    void *context;
    size_t faults;
    size_t changes;
    struct hs_buffer changed; /* what changed, one after the other; not terminated */
};

struct hs_reload_step {
    void *context;
    /*
     * Reads and checks what `options` name, without touching anything in use. Returns what `commit`
     * or `discard` is called with, or NULL: there is nothing to take (neither is called), or
     * something is wrong, which was told by hs_reload_fault or hs_reload_fault_text.
     */
    void *(*prepare)(void *context, const struct hs_options *options, struct hs_reload *reload);
    /* Puts it into use. Cannot fail. Tells what is not as it was by hs_reload_changed. */
    void (*commit)(void *context, void *prepared, struct hs_reload *reload);
    /* Frees it: something was wrong here or in another step. */
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
 * Runs the preparation of all steps, so that every fault is told, then takes everything if `take`
 * and nothing is wrong, else discards everything. `options` are checked already. False: something
 * is wrong (also what was told before the call), and nothing was touched.
 */
bool hs_reload_run(const struct hs_reload_step *steps, size_t count,
                   const struct hs_options *options, bool take, struct hs_reload *reload);

/* Frees what the report holds. */
void hs_reload_free(struct hs_reload *reload);

#endif
