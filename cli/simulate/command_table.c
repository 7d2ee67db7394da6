#include "cli/simulate/command_table.h"

#include <stdio.h>
#include <string.h>

enum { EXIT_FINE = 0, EXIT_USAGE = 2 };

static const struct {
    const char *name;
    int (*run)(int argc, char **argv); /* argv[0] is the name */
    const char *help;
} simulations[] = {
    {"hits", hs_simulate_hits_main, "honest and forged hit claims over bad networks"},
    {"timing", hs_simulate_timing_main, "honest and fast clocks over bad networks"},
};

enum { SIMULATIONS = sizeof simulations / sizeof simulations[0] };

static void print_help(FILE *out)
{
    fputs("usage: hindsight simulate WHAT [options]\n\n"
          "Makes up players and networks and shows what is said to them.\n\n",
          out);
    for (int i = 0; i < SIMULATIONS; i++)
        fprintf(out, "  %-8s %s\n", simulations[i].name, simulations[i].help);
    fputs("\n  --help   this text; `hindsight simulate WHAT --help` tells more\n", out);
}

int hs_simulate_main(int argc, char **argv)
{
    if (argc < 2) {
        print_help(stderr);
        return EXIT_USAGE;
    }
    if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
        print_help(stdout);
        return EXIT_FINE;
    }
    for (int i = 0; i < SIMULATIONS; i++)
        if (strcmp(argv[1], simulations[i].name) == 0)
            return simulations[i].run(argc - 1, argv + 1);
    fprintf(stderr, "hindsight simulate: there is no %.100s\nTry: hindsight simulate --help\n",
            argv[1]);
    return EXIT_USAGE;
}
