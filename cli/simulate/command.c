#include "cli/simulate/command.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { THREADS_MAX = 64, PROGRESS_EVERY = 16 /* jobs */ };

int hs_simulate_failed(const struct hs_command *command, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "hindsight %s: %s\n", command->name, why);
    return HS_EXIT_FAILED;
}

static const struct {
    const char *name;
    int (*run)(int argc, char **argv);
    const char *help;
} simulations[] = {
    {"hits", hs_simulate_hits_main, "honest and forged hit claims over bad networks"},
    {"timing", hs_simulate_timing_main, "honest and fast clocks over bad networks"},
};

enum { SIMULATIONS = sizeof simulations / sizeof simulations[0] };

static void print_help(FILE *out)
{
    fputs("usage: hindsight simulate WHAT [options]\n\n"
          "Simulates players and networks, and shows the verdicts on the claims and moves\n"
          "of these players.\n\n",
          out);
    for (int i = 0; i < SIMULATIONS; i++)
        fprintf(out, "  %-8s %s\n", simulations[i].name, simulations[i].help);
    fputs("\n  --help   this text; `hindsight simulate WHAT --help` lists the options\n", out);
}

int hs_simulate_main(int argc, char **argv)
{
    bool help = argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
    if (argc < 2 || help) {
        print_help(help ? stdout : stderr);
        return help ? HS_EXIT_FINE : HS_EXIT_USAGE;
    }
    for (int i = 0; i < SIMULATIONS; i++)
        if (strcmp(argv[1], simulations[i].name) == 0)
            return simulations[i].run(argc - 1, argv + 1);
    fprintf(stderr,
            "hindsight simulate: unknown simulation %.100s\nTry: hindsight simulate --help\n",
            argv[1]);
    return HS_EXIT_USAGE;
}

/* ---- output ---- */

static void show_progress(double share)
{
    fprintf(stderr, "\r%3.0f %% ", 100 * share);
    if (share >= 1)
        fputs("\r      \r", stderr);
    fflush(stderr);
}

hs_simulate_progress *hs_simulate_watched(void)
{
    return isatty(STDERR_FILENO) == 1 ? show_progress : NULL;
}

void hs_simulate_print_json(json_t *object)
{
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
    putchar('\n');
    json_decref(object);
}

/* ---- threads ---- */

struct work {
    const struct hs_simulate_jobs *jobs;
    atomic_size_t taken;
    atomic_bool failed;
};

static void do_jobs(struct work *work, hs_simulate_progress *progress)
{
    const struct hs_simulate_jobs *jobs = work->jobs;
    size_t job;
    while ((job = atomic_fetch_add(&work->taken, 1)) < jobs->count) {
        if (!jobs->run(jobs->context, job))
            atomic_store(&work->failed, true);
        if (progress != NULL && job % PROGRESS_EVERY == 0)
            progress((double)job / (double)jobs->count);
    }
}

static void *run_thread(void *work)
{
    do_jobs(work, NULL);
    return NULL;
}

bool hs_simulate_run(const struct hs_simulate_jobs *jobs)
{
    pthread_t threads[THREADS_MAX];
    struct work work = {.jobs = jobs};
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    uint64_t wanted = jobs->threads > 0 ? jobs->threads : cores > 1 ? (uint64_t)cores : 1;
    size_t started = 0;
    while (started + 1 < wanted && started < THREADS_MAX &&
           pthread_create(&threads[started], NULL, run_thread, &work) == 0)
        started++;
    do_jobs(&work, jobs->progress);
    for (size_t i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    return !atomic_load(&work.failed);
}
