/* Prints the tables of a run, as text or as JSON, and checks the goal. */
#include <math.h>

#include "cli/simulate/timing/run.h"

typedef unsigned long long whole; /* for printf */

/* Returns the probability of at most `count` events, if `mean` events are expected. */
static double poisson_cdf(uint64_t count, double mean)
{
    double term = exp(-mean), sum = term;
    for (uint64_t i = 1; i <= count; i++) {
        term *= mean / (double)i;
        sum += term;
    }
    return sum;
}

double hs_timing_poisson_bound(uint64_t count, double hours)
{
    if (hours <= 0)
        return HUGE_VAL;
    if (count > 200) /* the terms would underflow; for such counts the normal approximation is good
                        enough */
        return ((double)count + 1.645 * sqrt((double)count) + 1.7) / hours;
    double low = 0, high = (double)count + 4 * sqrt((double)count + 1) + 4;
    for (int i = 0; i < 60; i++) {
        double middle = (low + high) / 2;
        if (poisson_cdf(count, middle) > 0.05)
            low = middle;
        else
            high = middle;
    }
    return high / hours;
}

/* ---- the goal ---- */

static bool must_be_silent(int profile)
{
    return profile != HS_TIMING_MOBILE && profile != HS_TIMING_BAD;
}

static void miss_honest(const struct hs_timing_totals *totals, FILE *missed)
{
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        for (int input = 0; input < HS_TIMING_INPUTS; input++) {
            const struct hs_timing_honest *honest = &totals->honest[profile][input];
            uint64_t flags = honest->flags[HS_DETECTOR_DEFAULT];
            /* Always allow one flag, because one flag in a short run may be due to chance. */
            double allowed =
                must_be_silent(profile) ? 0 : fmax(1, HS_TIMING_GOAL_FLAGS * honest->hours);
            if ((double)flags > allowed)
                fprintf(missed, "%s, %s: %llu honest flags in %.0f h\n",
                        hs_timing_profile_names[profile], hs_timing_input_names[input],
                        (whole)flags, honest->hours);
        }
    }
}

static void miss_cheats(const struct hs_timing_totals *totals, FILE *missed)
{
    static const struct {
        enum hs_timing_cheat cheat;
        double median;
    } goals[] = {{HS_TIMING_CHEAT_101, 16},
                 {HS_TIMING_CHEAT_102, HS_TIMING_SEARCH},
                 {HS_TIMING_CHEAT_105, 4},
                 {HS_TIMING_CHEAT_110, HS_TIMING_SEARCH},
                 {HS_TIMING_CHEAT_150, HS_TIMING_SEARCH},
                 {HS_TIMING_CHEAT_200, 0.7}};
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        const struct hs_timing_cheating *cheating =
            &totals->cheats[HS_TIMING_PROFILES][goals[i].cheat][HS_TIMING_ACKS];
        const char *name = hs_timing_cheats[goals[i].cheat].name;
        if (cheating->found[HS_DETECTOR_DEFAULT] < cheating->runs)
            fprintf(missed, "%s: %llu of %llu found\n", name,
                    (whole)cheating->found[HS_DETECTOR_DEFAULT], (whole)cheating->runs);
        if (cheating->median[HS_DETECTOR_DEFAULT] > goals[i].median)
            fprintf(missed, "%s: median %.2f s until found, goal %.2g s\n", name,
                    cheating->median[HS_DETECTOR_DEFAULT], goals[i].median);
    }
}

bool hs_timing_goal_met(const struct hs_timing_totals *totals, char *missed, size_t size)
{
    FILE *lines = fmemopen(missed, size, "w");
    missed[0] = '\0'; /* if nothing is printed, the stream writes no terminator */
    if (lines == NULL)
        return false;
    miss_honest(totals, lines);
    miss_cheats(totals, lines);
    fclose(lines);
    missed[size - 1] = '\0'; /* if the buffer is full, the stream writes no terminator */
    return missed[0] == '\0';
}

/* ---- as text ---- */

static void print_honest(const struct hs_timing_totals *totals, FILE *out)
{
    fputs("honest   input      hours  flags per hour, and the upper 95 % bound of that rate"
          "\n                            ",
          out);
    for (int i = 0; i < HS_DETECTORS; i++)
        fprintf(out, "%-21s", hs_timing_detector_names[i]);
    fputs("refused  simulated %\n", out);
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        for (int input = 0; input < HS_TIMING_INPUTS; input++) {
            const struct hs_timing_honest *honest = &totals->honest[profile][input];
            if (honest->sessions == 0)
                continue;
            fprintf(out, "  %-7s%-8s%8.1f  ", hs_timing_profile_names[profile],
                    hs_timing_input_names[input], honest->hours);
            for (int i = 0; i < HS_DETECTORS; i++)
                fprintf(out, "%8.4f <= %-8.4f ", (double)honest->flags[i] / honest->hours,
                        hs_timing_poisson_bound(honest->flags[i], honest->hours));
            fprintf(out, "%7llu %12.3f\n", (whole)honest->refused,
                    100 * honest->granted / honest->claimed);
        }
    }
}

static void print_delay(const struct hs_timing_cheating *cheating, int detector, FILE *out)
{
    if (cheating->found[detector] == 0)
        fputs("    -                 ", out);
    else
        fprintf(out, " %5.1f %% %6.2f %6.2f ",
                100 * (double)cheating->found[detector] / (double)cheating->runs,
                cheating->median[detector], cheating->max[detector]);
}

static void print_cheats(const struct hs_timing_totals *totals, FILE *out)
{
    fputs("\ncheats, all profiles          share found in 60 s, median and longest delay\n"
          "                input     runs  ",
          out);
    for (int i = 0; i < HS_DETECTORS; i++)
        fprintf(out, "%-22s", hs_timing_detector_names[i]);
    fputs("bursts\n", out);
    for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++) {
        for (int input = 0; input < HS_TIMING_INPUTS; input++) {
            const struct hs_timing_cheating *cheating =
                &totals->cheats[HS_TIMING_PROFILES][cheat][input];
            if (cheating->runs == 0)
                continue;
            fprintf(out, "  %-14s%-8s %5llu", hs_timing_cheats[cheat].name,
                    hs_timing_input_names[input], (whole)cheating->runs);
            for (int i = 0; i < HS_DETECTORS; i++)
                print_delay(cheating, i, out);
            fprintf(out, "%5.0f %%\n",
                    100 * (double)cheating->with_bursts / (double)cheating->runs);
        }
    }
}

static void print_by_profile(const struct hs_timing_totals *totals, FILE *out)
{
    fputs("\nthe default judge, with acks: share found, median and longest delay\n             ",
          out);
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++)
        fprintf(out, "   %-19s", hs_timing_profile_names[profile]);
    fputc('\n', out);
    for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++) {
        fprintf(out, "  %-13s", hs_timing_cheats[cheat].name);
        for (int profile = 0; profile < HS_TIMING_PROFILES; profile++)
            print_delay(&totals->cheats[profile][cheat][HS_TIMING_ACKS], HS_DETECTOR_DEFAULT, out);
        fprintf(out, " %s\n", hs_timing_cheats[cheat].text);
    }
}

void hs_timing_print(const struct hs_timing_run *run, const struct hs_timing_totals *totals,
                     FILE *out)
{
    fprintf(out, "simulated move timestamps, seed %llu\n\n", (whole)run->seed);
    if (run->hours > 0)
        print_honest(totals, out);
    if (run->runs > 0) {
        print_cheats(totals, out);
        print_by_profile(totals, out);
    }
}

/* ---- as JSON ---- */

static json_t *honest_json(const struct hs_timing_honest *honest)
{
    json_t *flags = json_object();
    for (int i = 0; i < HS_DETECTORS; i++)
        json_object_set_new(
            flags, hs_timing_detector_names[i],
            json_pack("{s:I, s:f, s:f}", "flags", (json_int_t)honest->flags[i], "an_hour",
                      honest->hours > 0 ? (double)honest->flags[i] / honest->hours : 0.0,
                      "an_hour_high",
                      fmin(1e9, hs_timing_poisson_bound(honest->flags[i], honest->hours))));
    return json_pack("{s:f, s:I, s:I, s:f, s:o}", "hours", honest->hours, "sessions",
                     (json_int_t)honest->sessions, "refused", (json_int_t)honest->refused,
                     "simulated_share", honest->claimed > 0 ? honest->granted / honest->claimed : 1,
                     "detectors", flags);
}

static json_t *cheating_json(const struct hs_timing_cheating *cheating)
{
    json_t *found = json_object();
    for (int i = 0; i < HS_DETECTORS; i++)
        json_object_set_new(found, hs_timing_detector_names[i],
                            json_pack("{s:I, s:f, s:f}", "found", (json_int_t)cheating->found[i],
                                      "median_delay", cheating->median[i], "longest_delay",
                                      cheating->max[i]));
    return json_pack("{s:I, s:I, s:o}", "runs", (json_int_t)cheating->runs, "with_bursts",
                     (json_int_t)cheating->with_bursts, "detectors", found);
}

static json_t *cheats_json(const struct hs_timing_totals *totals, int profile, int input)
{
    json_t *cheats = json_object();
    for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++)
        if (totals->cheats[profile][cheat][input].runs > 0)
            json_object_set_new(cheats, hs_timing_cheats[cheat].name,
                                cheating_json(&totals->cheats[profile][cheat][input]));
    return cheats;
}

json_t *hs_timing_json(const struct hs_timing_run *run, const struct hs_timing_totals *totals)
{
    char missed[2048];
    json_t *inputs = json_object();
    for (int input = 0; input < HS_TIMING_INPUTS; input++) {
        json_t *honest = json_object(), *cheats = json_object();
        for (int profile = 0; profile <= HS_TIMING_PROFILES; profile++) {
            const char *name =
                profile < HS_TIMING_PROFILES ? hs_timing_profile_names[profile] : "all";
            if (profile < HS_TIMING_PROFILES && totals->honest[profile][input].sessions > 0)
                json_object_set_new(honest, name, honest_json(&totals->honest[profile][input]));
            json_object_set_new(cheats, name, cheats_json(totals, profile, input));
        }
        json_object_set_new(inputs, hs_timing_input_names[input],
                            json_pack("{s:o, s:o}", "honest", honest, "cheats", cheats));
    }
    bool met = hs_timing_goal_met(totals, missed, sizeof missed);
    return json_pack("{s:I, s:f, s:I, s:o, s:b, s:s}", "seed", (json_int_t)run->seed, "hours",
                     run->hours, "runs", (json_int_t)run->runs, "told", inputs, "goal_met",
                     (int)met, "missed", missed);
}
