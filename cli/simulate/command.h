/* `hindsight simulate`, and what its subcommands share: the command line, progress, threads. */
#ifndef HS_SIMULATE_COMMAND_H
#define HS_SIMULATE_COMMAND_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { HS_SIMULATE_FINE = 0, HS_SIMULATE_FAILED = 1, HS_SIMULATE_USAGE = 2 };

/* argv[0] is the name of the subcommand. Returns the exit code of the program. */
int hs_simulate_main(int argc, char **argv);
int hs_simulate_hits_main(int argc, char **argv);
int hs_simulate_timing_main(int argc, char **argv);

/* ---- the command line ---- */

/* A long option. An option without `parse` is a flag, and sets the bool behind `target`. */
struct hs_simulate_option {
    const char *name; /* NULL ends a list */
    bool (*parse)(const struct hs_simulate_option *option, const char *text);
    void *target;            /* where the value goes; its type depends on `parse` */
    double min, max;         /* of numbers */
    const char *const *list; /* of hs_simulate_word: the names */
};

/* Parse functions. False: the text is not a value of the option. */
bool hs_simulate_whole(const struct hs_simulate_option *option, const char *text); /* uint64_t */
bool hs_simulate_real(const struct hs_simulate_option *option, const char *text);  /* double */
bool hs_simulate_text(const struct hs_simulate_option *option, const char *text); /* const char * */
/* int: the index in `list`, which has `max` + 1 names. Upper and lower case are the same. */
bool hs_simulate_word(const struct hs_simulate_option *option, const char *text);

struct hs_simulate_command {
    const char *name; /* as in messages: "simulate hits" */
    const char *help; /* the whole text of --help */
};

/* True to go on; otherwise the program ends with *code, and the reason has been printed. */
bool hs_simulate_read(const struct hs_simulate_command *command, int argc, char **argv,
                      const struct hs_simulate_option *options, int *code);

/* Prints what went wrong and returns HS_SIMULATE_FAILED. */
int hs_simulate_failed(const struct hs_simulate_command *command, const char *why);

/* ---- output ---- */

/* Prints the finished share of a run on stderr. NULL if stderr is not a terminal. */
typedef void hs_simulate_progress(double share);
hs_simulate_progress *hs_simulate_watched(void);

/* Prints an object on stdout and releases it. */
void hs_simulate_print_json(json_t *object);

/* ---- threads ---- */

/* Jobs 0 .. count - 1. Each must depend on its number alone, not on the thread that runs it. */
struct hs_simulate_jobs {
    size_t count;
    uint64_t threads; /* 0: one per core */
    bool (*run)(void *context, size_t job);
    void *context;
    hs_simulate_progress *progress; /* called by the calling thread; may be NULL */
};

/* Returns after all jobs. False: one of them returned false. */
bool hs_simulate_run(const struct hs_simulate_jobs *jobs);

#endif
