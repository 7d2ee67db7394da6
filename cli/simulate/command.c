#include "cli/simulate/command.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int wrong_usage(const struct hs_simulate_command *command, const char *what,
                       const char *argument)
{
    fprintf(stderr, "hindsight simulate %s: %s%s%s\nTry: hindsight simulate %s --help\n",
            command->name, what, argument != NULL ? ": " : "", argument != NULL ? argument : "",
            command->name);
    return HS_SIMULATE_USAGE;
}

bool hs_simulate_read(const struct hs_simulate_command *command, int argc, char **argv,
                      void *context, int *code)
{
    int option;
    optind = 0; /* starts anew */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", command->list, NULL)) != -1) {
        if (option == 'h') {
            fputs(command->help, stdout);
            *code = HS_SIMULATE_FINE;
            return false;
        }
        if (option == '?') {
            *code = wrong_usage(command, "unknown option, or one without its value", NULL);
            return false;
        }
        if (!command->take(option, context)) {
            *code = wrong_usage(command, "not a value for this option", optarg);
            return false;
        }
    }
    if (optind == argc)
        return true;
    *code = wrong_usage(command, "what is", argv[optind]);
    return false;
}

bool hs_simulate_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out)
{
    char *end;
    errno = 0;
    unsigned long long value = strtoull(text, &end, 10);
    if (end == text || *end != '\0' || errno != 0 || strchr(text, '-') != NULL || value < least ||
        value > most)
        return false;
    *out = value;
    return true;
}

bool hs_simulate_real(const char *text, double least, double most, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least && value <= most))
        return false;
    *out = value;
    return true;
}

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

void hs_simulate_print_json(json_t *object, size_t digits)
{
    json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(digits));
    putchar('\n');
    json_decref(object);
}

int hs_simulate_failed(const struct hs_simulate_command *command, const char *why)
{
    fflush(stdout);
    fprintf(stderr, "hindsight simulate %s: %s\n", command->name, why);
    return HS_SIMULATE_FAILED;
}
