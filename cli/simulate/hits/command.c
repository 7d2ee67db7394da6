/* The command line of `hindsight simulate hits`. */
#include "cli/simulate/hits/simulation.h"

static const struct hs_command command = {
    "simulate hits",
    "usage: hindsight simulate hits [options]\n\n"
    "Simulates players on bad networks, and verifies their claims and forgeries made from these\n"
    "claims. The same seed gives the same table.\n\n"
    "  --seed N            (default 1)\n"
    "  --claims N          minimum number of honest claims (default 100000)\n"
    "  --bursts N          volleys of 10 s at twice the fire rate (default 180)\n"
    "  --cheats N          matches of the cheats and their twins on each of seven connections,\n"
    "                      whatever --profile says (default 4)\n"
    "  --profile NAME      network for all players: LAN, CABLE, WIFI, MOBILE, BAD, OUTAGE\n"
    "                      (default: five of them, two players on each)\n"
    "  --rewind-limit S    rewind limit of the ruleset, in seconds (default 0.4)\n"
    "  --stamp-error MS    standard deviation of claimed minus shown time (default 2)\n"
    "  --threads N         (default: one per core)\n"
    "  --examples N        list up to N cases that went wrong, at most 64\n"
    "  --json              print the tables as one JSON object\n"
    "  --check             exit 1 when a goal is missed: 99.5 % of honest claims accepted\n"
    "                      (BAD, OUTAGE: 99 %),\n"
    "                      99.9 % of forged ones rejected, no volley gains more than 3 shots,\n"
    "                      no match gets a hint, no judged cheat wins more than its limit\n"
    "  --help              this text\n\n"
    "Exit codes: 0 fine, 1 failed or a goal missed, 2 usage error.\n",
    NULL};

static int run(const struct hs_simulation *simulation, uint64_t examples, bool json, bool check)
{
    static struct hs_score score;
    char missed[256];
    if (!hs_simulation_run(simulation, &score))
        return hs_simulate_failed(&command, "out of memory");
    if (json)
        hs_simulate_print_json(hs_simulation_json(simulation, &score));
    else
        hs_simulation_print(simulation, &score, examples, stdout);
    if (!check || hs_score_meets_goals(&score, missed, sizeof missed))
        return HS_EXIT_FINE;
    return hs_simulate_failed(&command, missed);
}

int hs_simulate_hits_main(int argc, char **argv)
{
    struct hs_simulation simulation = hs_simulation_default();
    double stamp_error_ms = 2;
    uint64_t examples = 0;
    bool json = false, check = false;
    const struct hs_argument options[] = {
        {"seed", hs_argument_whole, &simulation.seed, 0, 0x1p64, NULL},
        {"claims", hs_argument_whole, &simulation.claims, 1, 1e9, NULL},
        {"bursts", hs_argument_whole, &simulation.bursts, 0, 1e6, NULL},
        {"cheats", hs_argument_whole, &simulation.cheats, 0, 1e4, NULL},
        {"profile", hs_argument_word, &simulation.link, 0, HS_LINKS - 1, hs_link_names},
        {"rewind-limit", hs_argument_real, &simulation.rewind_limit, 0, 60, NULL},
        {"stamp-error", hs_argument_real, &stamp_error_ms, 0, 1000, NULL},
        {"threads", hs_argument_whole, &simulation.threads, 1, 64, NULL},
        {"examples", hs_argument_whole, &examples, 0, HS_EXAMPLES, NULL},
        {.name = "json", .target = &json},
        {.name = "check", .target = &check},
        {.name = NULL}};
    int code;
    if (!hs_command_read(&command, options, argc, argv, NULL, &code))
        return code;
    simulation.stamp_error = stamp_error_ms / 1e3;
    simulation.progress = hs_simulate_watched();
    return run(&simulation, examples, json, check);
}
