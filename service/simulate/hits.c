/* The command line of `hindsight simulate hits`. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/simulate/simulate.h"
#include "service/simulate/simulation.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct hits_options {
    struct hs_simulation simulation;
    bool json, check;
    uint64_t examples;
};

static void print_help(FILE *out)
{
    fputs("usage: hindsight simulate hits [options]\n\n"
          "Plays matches of made-up people over bad networks and judges what they claim, and what\n"
          "forgers make of it. The same seed gives the same table.\n\n"
          "  --seed N            (default 1)\n"
          "  --claims N          honest claims at least (default 100000)\n"
          "  --bursts N          bursts of 10 s at twice the pace (default 180)\n"
          "  --profile NAME      the network of everybody: LAN, CABLE, WIFI, MOBILE, BAD\n"
          "                      (default: two players of each)\n"
          "  --rewind-limit S    of the ruleset, in seconds (default 0.4)\n"
          "  --stamp-error MS    deviation of claimed times from what screens showed (default 2)\n"
          "  --threads N         (default: one a core)\n"
          "  --examples N        list this many single cases that went wrong, at most 64\n"
          "  --json              print the tables as one JSON object\n"
          "  --check             exit 1 when a goal is missed: honest claims accepted at 99.5 %,\n"
          "                      forged ones rejected at 99.9 %, no burst gains more than 3 shots\n"
          "  --help              this text\n\n"
          "Exit codes: 0 fine, 1 failed or a goal missed, 2 wrong usage.\n",
          out);
}

static int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "hindsight simulate hits: %s%s%s\nTry: hindsight simulate hits --help\n", what,
            argument != NULL ? ": " : "", argument != NULL ? argument : "");
    return EXIT_USAGE;
}

static bool parse_whole(const char *text, uint64_t least, uint64_t most, uint64_t *out)
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

static bool parse_real(const char *text, double least, double most, double *out)
{
    char *end;
    double value = strtod(text, &end);
    if (end == text || *end != '\0' || !(value >= least && value <= most))
        return false;
    *out = value;
    return true;
}

/* True when the option's value was right. */
static bool take_option(int option, struct hits_options *options)
{
    struct hs_simulation *simulation = &options->simulation;
    enum hs_link_kind link;
    uint64_t threads;
    switch (option) {
    case 's':
        return parse_whole(optarg, 0, UINT64_MAX, &simulation->seed);
    case 'n':
        return parse_whole(optarg, 1, 1000000000, &simulation->claims);
    case 'b':
        return parse_whole(optarg, 0, 1000000, &simulation->bursts);
    case 'p':
        if (!hs_link_parse(optarg, &link))
            return false;
        simulation->link = (int)link;
        return true;
    case 'r':
        return parse_real(optarg, 0, 60, &simulation->rewind_limit);
    case 'e':
        if (!parse_real(optarg, 0, 1000, &simulation->stamp_error))
            return false;
        simulation->stamp_error /= 1e3;
        return true;
    case 't':
        if (!parse_whole(optarg, 1, 64, &threads))
            return false;
        simulation->threads = (unsigned)threads;
        return true;
    case 'x':
        return parse_whole(optarg, 0, HS_EXAMPLES, &options->examples);
    case 'j':
        options->json = true;
        return true;
    default:
        options->check = true;
        return true;
    }
}

/* 0 to go on, else an exit code + 1, so that "fine" can be told too. */
static int read_options(int argc, char **argv, struct hits_options *options)
{
    static const struct option list[] = {{"seed", required_argument, NULL, 's'},
                                         {"claims", required_argument, NULL, 'n'},
                                         {"bursts", required_argument, NULL, 'b'},
                                         {"profile", required_argument, NULL, 'p'},
                                         {"rewind-limit", required_argument, NULL, 'r'},
                                         {"stamp-error", required_argument, NULL, 'e'},
                                         {"threads", required_argument, NULL, 't'},
                                         {"examples", required_argument, NULL, 'x'},
                                         {"json", no_argument, NULL, 'j'},
                                         {"check", no_argument, NULL, 'c'},
                                         {"help", no_argument, NULL, 'h'},
                                         {NULL, 0, NULL, 0}};
    int option;
    optind = 0; /* starts anew */
    opterr = 0;
    while ((option = getopt_long(argc, argv, "h", list, NULL)) != -1) {
        if (option == 'h') {
            print_help(stdout);
            return EXIT_FINE + 1;
        }
        if (option == '?')
            return wrong_usage("unknown option, or one without its value", NULL) + 1;
        if (!take_option(option, options))
            return wrong_usage("not a value for this option", optarg) + 1;
    }
    return optind == argc ? 0 : wrong_usage("what is", argv[optind]) + 1;
}

static void show_progress(double share)
{
    fprintf(stderr, "\r%3.0f %% ", 100 * share);
    if (share >= 1)
        fputs("\r      \r", stderr);
    fflush(stderr);
}

static int run(const struct hits_options *options)
{
    static struct hs_score score;
    char missed[256];
    if (!hs_simulation_run(&options->simulation, &score)) {
        fputs("hindsight simulate hits: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    if (options->json) {
        json_t *object = hs_simulation_json(&options->simulation, &score);
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
        putchar('\n');
        json_decref(object);
    } else {
        hs_simulation_print(&options->simulation, &score, (unsigned)options->examples, stdout);
    }
    if (!options->check || hs_score_meets_goals(&score, missed, sizeof missed))
        return EXIT_FINE;
    fflush(stdout);
    fprintf(stderr, "hindsight simulate hits: %s\n", missed);
    return EXIT_FAILED;
}

int hs_simulate_hits_main(int argc, char **argv)
{
    struct hits_options options = {.simulation = hs_simulation_default()};
    if (isatty(STDERR_FILENO) == 1)
        options.simulation.progress = show_progress;
    int code = read_options(argc, argv, &options);
    return code != 0 ? code - 1 : run(&options);
}
