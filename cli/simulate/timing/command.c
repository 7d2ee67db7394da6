/* The command line of `hindsight simulate timing`. */
#include <stdlib.h>

#include "cli/simulate/command.h"
#include "cli/simulate/command_table.h"
#include "cli/simulate/timing/dials.h"

struct timing_options {
    struct hs_timing_run run;
    bool json, check, sensitivity;
};

static const char help[] =
    "usage: hindsight simulate timing [options]\n\n"
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
    "Exit codes: 0 fine, 1 failed or the goal missed, 2 wrong usage.\n";

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

/* True when the option's value was right. */
static bool take_option(int option, void *context)
{
    struct timing_options *options = context;
    struct hs_timing_run *run = &options->run;
    enum hs_timing_profile profile;
    uint64_t count;
    switch (option) {
    case 's':
        return hs_simulate_whole(optarg, 0, UINT64_MAX, &run->seed);
    case 'H':
        return hs_simulate_real(optarg, 0, 100000, &run->hours);
    case 'n':
        if (!hs_simulate_whole(optarg, 0, 100000, &count))
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
        if (!hs_simulate_whole(optarg, 1, 64, &count))
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

static const struct hs_simulate_command command = {"timing", help, list, take_option};

static int run(const struct timing_options *options)
{
    static struct hs_timing_totals totals;
    char missed[2048];
    if (options->sensitivity && hs_timing_sensitivity(&options->run, stdout))
        return HS_SIMULATE_FINE;
    if (options->sensitivity || !hs_timing_run_play(&options->run, &totals))
        return hs_simulate_failed(&command, "out of memory");
    if (options->json)
        hs_simulate_print_json(hs_timing_json(&options->run, &totals), 8);
    else
        hs_timing_print(&options->run, &totals, stdout);
    if (!options->check || hs_timing_goal_met(&totals, missed, sizeof missed))
        return HS_SIMULATE_FINE;
    fflush(stdout);
    fputs(missed, stderr);
    return hs_simulate_failed(&command, "the goal is missed");
}

int hs_simulate_timing_main(int argc, char **argv)
{
    struct timing_options options = {0};
    int code;
    if (!hs_timing_run_default(&options.run))
        return hs_simulate_failed(&command, "out of memory");
    options.run.progress = hs_simulate_watched();
    return hs_simulate_read(&command, argc, argv, &options, &code) ? run(&options) : code;
}
