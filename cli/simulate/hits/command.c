/* The command line of `hindsight simulate hits`. */
#include <stdlib.h>

#include "cli/simulate/command.h"
#include "cli/simulate/command_table.h"
#include "cli/simulate/hits/simulation.h"

struct hits_options {
    struct hs_simulation simulation;
    bool json, check;
    uint64_t examples;
};

static const char help[] =
    "usage: hindsight simulate hits [options]\n\n"
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
    "                      forged ones rejected at 99.9 %, no burst gains more than 3 shots,\n"
    "                      no match gets a hint\n"
    "  --help              this text\n\n"
    "Exit codes: 0 fine, 1 failed or a goal missed, 2 wrong usage.\n";

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

/* True when the option's value was right. */
static bool take_option(int option, void *context)
{
    struct hits_options *options = context;
    struct hs_simulation *simulation = &options->simulation;
    enum hs_link_kind link;
    uint64_t threads;
    switch (option) {
    case 's':
        return hs_simulate_whole(optarg, 0, UINT64_MAX, &simulation->seed);
    case 'n':
        return hs_simulate_whole(optarg, 1, 1000000000, &simulation->claims);
    case 'b':
        return hs_simulate_whole(optarg, 0, 1000000, &simulation->bursts);
    case 'p':
        if (!hs_link_parse(optarg, &link))
            return false;
        simulation->link = (int)link;
        return true;
    case 'r':
        return hs_simulate_real(optarg, 0, 60, &simulation->rewind_limit);
    case 'e':
        if (!hs_simulate_real(optarg, 0, 1000, &simulation->stamp_error))
            return false;
        simulation->stamp_error /= 1e3;
        return true;
    case 't':
        if (!hs_simulate_whole(optarg, 1, 64, &threads))
            return false;
        simulation->threads = (unsigned)threads;
        return true;
    case 'x':
        return hs_simulate_whole(optarg, 0, HS_EXAMPLES, &options->examples);
    case 'j':
        options->json = true;
        return true;
    default:
        options->check = true;
        return true;
    }
}

static const struct hs_simulate_command command = {"hits", help, list, take_option};

static int run(const struct hits_options *options)
{
    static struct hs_score score;
    char missed[256];
    if (!hs_simulation_run(&options->simulation, &score))
        return hs_simulate_failed(&command, "out of memory");
    if (options->json)
        hs_simulate_print_json(hs_simulation_json(&options->simulation, &score), 8);
    else
        hs_simulation_print(&options->simulation, &score, (unsigned)options->examples, stdout);
    if (!options->check || hs_score_meets_goals(&score, missed, sizeof missed))
        return HS_SIMULATE_FINE;
    return hs_simulate_failed(&command, missed);
}

int hs_simulate_hits_main(int argc, char **argv)
{
    struct hits_options options = {.simulation = hs_simulation_default()};
    int code;
    options.simulation.progress = hs_simulate_watched();
    return hs_simulate_read(&command, argc, argv, &options, &code) ? run(&options) : code;
}
