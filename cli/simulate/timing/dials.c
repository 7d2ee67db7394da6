#include "cli/simulate/timing/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validators/ruleset.h"

/* Finds a number in the `moves` rules by its name. For example, "lead_guard.threshold" is the key
   "threshold" in the section "moves/lead_guard". The offset in *out is relative to struct
   hs_moves_rules. */
static bool find_dial(const char *name, size_t length, struct hs_scalar *out)
{
    static const char prefix[] = "moves.";
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++) {
        char path[128];
        *out = hs_ruleset_scalars[i];
        snprintf(path, sizeof path, "%s/%s", out->section, out->key);
        for (char *c = path; *c != '\0'; c++)
            *c = *c == '/' ? '.' : *c;
        const char *dial = path + strlen(prefix);
        if (strncmp(path, prefix, strlen(prefix)) == 0 && strlen(dial) == length &&
            memcmp(dial, name, length) == 0) {
            out->offset -= offsetof(struct hs_ruleset, moves);
            return true;
        }
    }
    return false;
}

bool hs_timing_dial_set(struct hs_moves_rules *rules, const char *text)
{
    struct hs_scalar dial;
    const char *equals = strchr(text, '=');
    char *end;
    if (equals == NULL || !find_dial(text, (size_t)(equals - text), &dial))
        return false;
    double value = strtod(equals + 1, &end);
    if (end == equals + 1 || *end != '\0' || !(value >= dial.low && value <= dial.high))
        return false;
    hs_scalar_set(&dial, rules, value);
    return rules->lead_window_us >= rules->lead_block_us;
}

/* ---- sensitivity ---- */

static const char *const dials[] = {"ack_bound.slack",
                                    "ack_bound.skew_ppm",
                                    "lead_guard.block",
                                    "lead_guard.window",
                                    "lead_guard.clip",
                                    "lead_guard.leak",
                                    "lead_guard.noise",
                                    "lead_guard.threshold",
                                    "lead_guard.threshold_without_rtt",
                                    "lead_guard.jump_threshold",
                                    "max_margin",
                                    "min_margin",
                                    "drift_allowance"};

enum { DIALS = sizeof dials / sizeof dials[0] };

/* Prints the honest flags per hour, over all profiles and on the worst profile. Then prints two
   numbers for each of three cheats: the median delay until the cheat is found, and the share of
   runs in which the cheat is found. */
static void print_columns(const struct hs_timing_totals *totals, int input, int detector, FILE *out)
{
    static const enum hs_timing_cheat cheats[] = {HS_TIMING_CHEAT_101, HS_TIMING_CHEAT_105,
                                                  HS_TIMING_CHEAT_200};
    double flags = 0, hours = 0, worst = 0;
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        const struct hs_timing_honest *honest = &totals->honest[profile][input];
        if (honest->hours <= 0)
            continue;
        flags += (double)honest->flags[detector];
        hours += honest->hours;
        worst = fmax(worst, (double)honest->flags[detector] / honest->hours);
    }
    fprintf(out, " %8.4f %8.4f |", hours > 0 ? flags / hours : 0, worst);
    for (size_t i = 0; i < sizeof cheats / sizeof cheats[0]; i++) {
        const struct hs_timing_cheating *cheating =
            &totals->cheats[HS_TIMING_PROFILES][cheats[i]][input];
        if (cheating->found[detector] == 0)
            fputs("   -       ", out);
        else
            fprintf(out, " %5.2f %3.0f%%", cheating->median[detector],
                    100 * (double)cheating->found[detector] / (double)cheating->runs);
    }
    fputs(" |", out);
}

static bool print_row(const struct hs_timing_run *run, const char *name, FILE *out)
{
    struct hs_timing_totals *totals = malloc(sizeof *totals);
    bool good = totals != NULL && hs_timing_run_play(run, totals);
    if (good) {
        fprintf(out, "%-40s|", name);
        print_columns(totals, HS_TIMING_ACKS, HS_DETECTOR_DEFAULT, out);
        print_columns(totals, HS_TIMING_NO_ACKS, HS_DETECTOR_DEFAULT, out);
        print_columns(totals, HS_TIMING_ACKS, HS_DETECTOR_DISCREPANCY, out);
        fputc('\n', out);
        fflush(out);
    }
    free(totals);
    return good;
}

bool hs_timing_sensitivity(const struct hs_timing_run *run, FILE *out)
{
    fputs("flags an hour on all profiles and on the worst one | median delay and share found at "
          "1.01x, 1.05x, 2x\nfor the default judge with acks | without acks | the compatible "
          "judge\n",
          out);
    if (!print_row(run, "as it is", out))
        return false;
    for (int i = 0; i < DIALS; i++) {
        struct hs_scalar dial;
        if (!find_dial(dials[i], strlen(dials[i]), &dial))
            return false;
        double now = hs_scalar_get(&dial, &run->rules);
        /* Halving or doubling 0 gives 0, so use two typical values instead. */
        double values[2] = {now != 0 ? now / 2 : 0.01, now != 0 ? now * 2 : 0.05};
        for (int k = 0; k < 2; k++) {
            struct hs_timing_run turned = *run;
            char name[128];
            double value = fmin(fmax(values[k], dial.low), dial.high);
            hs_scalar_set(&dial, &turned.rules, value);
            snprintf(name, sizeof name, "%s %g", dials[i], value);
            if (!print_row(&turned, name, out))
                return false;
        }
    }
    return true;
}
