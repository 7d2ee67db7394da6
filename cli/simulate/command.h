/* `hindsight simulate`, and what its subcommands share: output, progress, threads. */
#ifndef HS_SIMULATE_COMMAND_H
#define HS_SIMULATE_COMMAND_H

#include "cli/command.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each function runs one subcommand, like the functions in cli/command.h. */
int hs_simulate_hits_main(int argc, char **argv);
int hs_simulate_timing_main(int argc, char **argv);

/* Prints what went wrong and returns HS_EXIT_FAILED. */
int hs_simulate_failed(const struct hs_command *command, const char *why);

/* ---- output ---- */

/* Reports how much of a run is finished, 0 .. 1. */
typedef void hs_simulate_progress(double share);

/* Returns a function that prints the progress to stderr, or NULL if stderr is not a terminal. */
hs_simulate_progress *hs_simulate_watched(void);

/* Prints an object to stdout and releases it. */
void hs_simulate_print_json(json_t *object);

/* ---- threads ---- */

/* The jobs 0 .. count - 1. The result of a job depends only on its number, not on the thread. */
struct hs_simulate_jobs {
    size_t count;
    uint64_t threads; /* 0: one per core */
    bool (*run)(void *context, size_t job);
    void *context;
    hs_simulate_progress *progress; /* called only on the thread that called hs_simulate_run; may be
                                       NULL */
};

/* Runs all jobs and waits until they have finished. Returns false if any job returned false. */
bool hs_simulate_run(const struct hs_simulate_jobs *jobs);

#endif
