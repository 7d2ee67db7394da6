/* `hindsight simulate`, and what its subcommands share: messages, progress, threads. */
#ifndef HS_SIMULATE_COMMAND_H
#define HS_SIMULATE_COMMAND_H

#include "cli/command.h"

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Each runs a subcommand, like the functions in cli/command.h. */
int hs_simulate_hits_main(int argc, char **argv);
int hs_simulate_timing_main(int argc, char **argv);

/* Prints what went wrong and returns HS_EXIT_FAILED. */
int hs_simulate_failed(const struct hs_command *command, const char *why);

/* ---- output ---- */

/* Prints on stderr which share of a run is finished. hs_simulate_watched returns NULL if stderr is
   not a terminal. */
typedef void hs_simulate_progress(double share);
hs_simulate_progress *hs_simulate_watched(void);

/* Prints an object on stdout and releases it. */
void hs_simulate_print_json(json_t *object);

/* ---- threads ---- */

/* Jobs 0 .. count - 1. Each job must depend only on its number, not on the thread that runs it. */
struct hs_simulate_jobs {
    size_t count;
    uint64_t threads; /* 0: one per core */
    bool (*run)(void *context, size_t job);
    void *context;
    hs_simulate_progress *progress; /* called by the calling thread; may be NULL */
};

/* Runs all jobs and waits until they have ended. Returns false if a job returned false. */
bool hs_simulate_run(const struct hs_simulate_jobs *jobs);

#endif
