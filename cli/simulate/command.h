/* What the command lines of `hindsight simulate WHAT` have in common. */
#ifndef HS_SIMULATE_COMMAND_H
#define HS_SIMULATE_COMMAND_H

#include <getopt.h>
#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

enum { HS_SIMULATE_FINE = 0, HS_SIMULATE_FAILED = 1, HS_SIMULATE_USAGE = 2 };

struct hs_simulate_command {
    const char *name;          /* "hits" */
    const char *help;          /* the whole text of --help */
    const struct option *list; /* of getopt_long, closed by zeros; 'h' is --help */
    /* True when the option's value, in `optarg`, was right. */
    bool (*take)(int option, void *context);
};

/* True to go on; false: the program ends with *code, and was told why. */
bool hs_simulate_read(const struct hs_simulate_command *command, int argc, char **argv,
                      void *context, int *code);

/* A whole number, or any, within bounds and nothing behind it. */
bool hs_simulate_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out);
bool hs_simulate_real(const char *text, double least, double most, double *out);

/* Shows how far a run is, where somebody watches; else NULL. */
typedef void hs_simulate_progress(double share);
hs_simulate_progress *hs_simulate_watched(void);

/* Prints an object, which it takes, on stdout. */
void hs_simulate_print_json(json_t *object, size_t digits);

/* Says what went wrong and returns HS_SIMULATE_FAILED. */
int hs_simulate_failed(const struct hs_simulate_command *command, const char *why);

#endif
