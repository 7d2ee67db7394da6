/* The command line of `hindsight simulate timing`. */
#include "cli/simulate/timing/run.h"

static const struct hs_command command = {
    "simulate timing",
    "usage: hindsight simulate timing [options]\n\n"
    "Simulates ten-minute sessions of honest players, and shorter sessions of cheats, on bad\n"
    "networks, and checks the timestamps of their moves. The same seed gives the same table,\n"
    "for any number of jobs.\n\n"
    "  --seed N          (default 1)\n"
    "  --hours H         hours of honest play on each profile (default 20)\n"
    "  --runs N          runs of each cheat on each profile (default 40)\n"
    "  --profile NAME    LAN, CABLE, WIFI, MOBILE, BAD or OUTAGE (default: all)\n"
    "  --set NAME=VALUE  change a number in the ruleset's `moves`, for example\n"
    "                    lead_guard.threshold=0.2; repeatable\n"
    "  --jobs N          threads (default: one per core)\n"
    "  --json            print the tables as one JSON object\n"
    "  --check           exit 1 when the goal is missed: at most 0.02 honest flags an hour\n"
    "                    on each profile, none on LAN, CABLE, WIFI and OUTAGE; every clock\n"
    "                    of 1.01x and more found within 60 s; medians of at most 16 s at\n"
    "                    1.01x, 4 s at 1.05x, 0.7 s at 2x\n"
    "  --sensitivity     play again with half and with double each number in both timing\n"
    "                    checks, and print one line for each run\n"
    "  --help            this text\n\n"
    "Exit codes: 0 fine, 1 failed or the goal missed, 2 usage error.\n",
    NULL};

static bool set_dial(const struct hs_argument *option, const char *text)
{
    return hs_timing_dial_set(option->target, text);
}

static int play(const struct hs_timing_run *run, bool json, bool check)
{
    static struct hs_timing_totals totals;
    char missed[2048];
    if (!hs_timing_run_play(run, &totals))
        return hs_simulate_failed(&command, "out of memory");
    if (json)
        hs_simulate_print_json(hs_timing_json(run, &totals));
    else
        hs_timing_print(run, &totals, stdout);
    if (!check || hs_timing_goal_met(&totals, missed, sizeof missed))
        return HS_EXIT_FINE;
    fflush(stdout);
    fputs(missed, stderr);
    return hs_simulate_failed(&command, "the goal is missed");
}

int hs_simulate_timing_main(int argc, char **argv)
{
    struct hs_timing_run run;
    bool json = false, check = false, sensitivity = false;
    const struct hs_argument options[] = {{"seed", hs_argument_whole, &run.seed, 0, 0x1p64, NULL},
                                          {"hours", hs_argument_real, &run.hours, 0, 100000, NULL},
                                          {"runs", hs_argument_whole, &run.runs, 0, 100000, NULL},
                                          {"profile", hs_argument_word, &run.profile, 0,
                                           HS_TIMING_PROFILES - 1, hs_timing_profile_names},
                                          {.name = "set", .parse = set_dial, .target = &run.rules},
                                          {"jobs", hs_argument_whole, &run.threads, 1, 64, NULL},
                                          {.name = "json", .target = &json},
                                          {.name = "check", .target = &check},
                                          {.name = "sensitivity", .target = &sensitivity},
                                          {.name = NULL}};
    int code;
    if (!hs_timing_run_default(&run))
        return hs_simulate_failed(&command, "out of memory");
    if (!hs_command_read(&command, options, argc, argv, NULL, &code))
        return code;
    run.progress = hs_simulate_watched();
    if (!sensitivity)
        return play(&run, json, check);
    return hs_timing_sensitivity(&run, stdout) ? HS_EXIT_FINE
                                               : hs_simulate_failed(&command, "out of memory");
}
