/* The command line of `hindsight simulate timing`. */
#include <errno.h>
#include <getopt.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/simulate/simulate.h"
#include "service/simulate/timing_dials.h"

enum { EXIT_FINE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2 };

struct timing_options {
    struct hs_timing_run run;
    bool json, check, sensitivity;
};

static void print_help(FILE *out)
{
    fputs("usage: hindsight simulate timing [options]\n\n"
          "Plays ten-minute sessions of honest movers and of cheats over bad networks through the\n"
          "timing judge. The same seed gives the same table, whatever the number of jobs.\n\n"
          "  --seed N          (default 1)\n"
          "  --hours H         of honest play on each profile (default 20)\n"
          "  --runs N          of each cheat on each profile (default 40)\n"
          "  --profile NAME    LAN, CABLE, WIFI, MOBILE, BAD or OUTAGE (default: all)\n"
          "  --set DIAL=VALUE  of the ruleset's `moves`, as lead_guard.threshold=0.2; repeatable\n"
          "  --jobs N          threads (default: one a core)\n"
          "  --json            print the tables as one JSON object\n"
          "  --check           exit 1 when the goal is missed: at most 0.02 honest flags an hour\n"
          "                    on each profile, none on LAN, CABLE, WIFI and OUTAGE; every clock\n"
          "                    of 1.01x and more found within 60 s; medians of at most 16 s at\n"
          "                    1.01x, 4 s at 1.05x, 0.7 s at 2x\n"
          "  --sensitivity     a line with half and one with double of every dial of both judges\n"
          "  --help            this text\n\n"
          "Exit codes: 0 fine, 1 failed or the goal missed, 2 wrong usage.\n",
          out);
}

static int wrong_usage(const char *what, const char *argument)
{
    fprintf(stderr, "hindsight simulate timing: %s%s%s\nTry: hindsight simulate timing --help\n",
            what, argument != NULL ? ": " : "", argument != NULL ? argument : "");
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
static bool take_option(int option, struct timing_options *options)
{
    struct hs_timing_run *run = &options->run;
    enum hs_timing_profile profile;
    uint64_t count;
    switch (option) {
    case 's':
        return parse_whole(optarg, 0, UINT64_MAX, &run->seed);
    case 'H':
        return parse_real(optarg, 0, 100000, &run->hours);
    case 'n':
        if (!parse_whole(optarg, 0, 100000, &count))
            return false;
        run->runs = (unsigned)count;
        return true;
    case 'p':
        if (!hs_timing_profile_parse(optarg, &profile))
            return false;
        run->profile = (int)profile;
        return true;
    case 'd':
        return hs_timing_dial_set(&run->rules, optarg);
    case 't':
        if (!parse_whole(optarg, 1, 64, &count))
            return false;
        run->threads = (unsigned)count;
        return true;
    case 'j':
        options->json = true;
        return true;
    case 'v':
        options->sensitivity = true;
        return true;
    default:
        options->check = true;
        return true;
    }
}

/* 0 to go on, else an exit code + 1, so that "fine" can be told too. */
static int read_options(int argc, char **argv, struct timing_options *options)
{
    static const struct option list[] = {{"seed", required_argument, NULL, 's'},
                                         {"hours", required_argument, NULL, 'H'},
                                         {"runs", required_argument, NULL, 'n'},
                                         {"profile", required_argument, NULL, 'p'},
                                         {"set", required_argument, NULL, 'd'},
                                         {"jobs", required_argument, NULL, 't'},
                                         {"json", no_argument, NULL, 'j'},
                                         {"check", no_argument, NULL, 'c'},
                                         {"sensitivity", no_argument, NULL, 'v'},
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

static int run(const struct timing_options *options)
{
    static struct hs_timing_totals totals;
    char missed[2048];
    if (options->sensitivity && hs_timing_sensitivity(&options->run, stdout))
        return EXIT_FINE;
    if (options->sensitivity || !hs_timing_run_play(&options->run, &totals)) {
        fputs("hindsight simulate timing: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    if (options->json) {
        json_t *object = hs_timing_json(&options->run, &totals);
        json_dumpf(object, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(8));
        putchar('\n');
        json_decref(object);
    } else {
        hs_timing_print(&options->run, &totals, stdout);
    }
    if (!options->check || hs_timing_goal_met(&totals, missed, sizeof missed))
        return EXIT_FINE;
    fflush(stdout);
    fprintf(stderr, "hindsight simulate timing: the goal is missed\n%s", missed);
    return EXIT_FAILED;
}

int hs_simulate_timing_main(int argc, char **argv)
{
    struct timing_options options = {0};
    if (!hs_timing_run_default(&options.run)) {
        fputs("hindsight simulate timing: out of memory\n", stderr);
        return EXIT_FAILED;
    }
    if (isatty(STDERR_FILENO) == 1)
        options.run.progress = show_progress;
    int code = read_options(argc, argv, &options);
    return code != 0 ? code - 1 : run(&options);
}
