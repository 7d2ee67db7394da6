#include "cli/simulate/timing/run.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "validators/ruleset.h"

/* "lead_guard.threshold" is the key "threshold" of the section "moves/lead_guard". */
static const struct hs_scalar *find_dial(const char *name, size_t length)
{
    char path[128], dial[128];
    if (length >= sizeof dial)
        return NULL;
    memcpy(dial, name, length);
    dial[length] = '\0';
    for (char *c = dial; *c != '\0'; c++)
        if (*c == '.')
            *c = '/';
    for (size_t i = 0; i < hs_ruleset_scalar_count; i++) {
        const struct hs_scalar *scalar = &hs_ruleset_scalars[i];
        if (strncmp(scalar->section, "moves", 5) != 0)
            continue;
        snprintf(path, sizeof path, "%s/%s", scalar->section, scalar->key);
        if (strcmp(path + strlen("moves/"), dial) == 0)
            return scalar;
    }
    return NULL;
}

/* The same scalar, with its offset in struct hs_moves_rules instead of struct hs_ruleset. */
static struct hs_scalar within_moves(const struct hs_scalar *dial)
{
    struct hs_scalar within = *dial;
    within.offset -= offsetof(struct hs_ruleset, moves);
    return within;
}

bool hs_timing_dial_set(struct hs_moves_rules *rules, const char *text)
{
    const char *equals = strchr(text, '=');
    if (equals == NULL)
        return false;
    const struct hs_scalar *dial = find_dial(text, (size_t)(equals - text));
    char *end;
    double value = strtod(equals + 1, &end);
    if (dial == NULL || end == equals + 1 || *end != '\0' ||
        !(value >= dial->low && value <= dial->high))
        return false;
    struct hs_scalar within = within_moves(dial);
    hs_scalar_set(&within, rules, value);
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

/* Flags per hour over all profiles, and on the worst one. */
static void print_flags(const struct hs_timing_totals *totals, int input, int detector, FILE *out)
{
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
}

static void print_delays(const struct hs_timing_totals *totals, int input, int detector, FILE *out)
{
    static const enum hs_timing_cheat cheats[] = {HS_TIMING_CHEAT_101, HS_TIMING_CHEAT_105,
                                                  HS_TIMING_CHEAT_200};
    for (size_t i = 0; i < sizeof cheats / sizeof cheats[0]; i++) {
        const struct hs_timing_hunted *hunted =
            &totals->cheats[HS_TIMING_PROFILES][cheats[i]][input];
        if (hunted->found[detector] == 0)
            fputs("   -       ", out);
        else
            fprintf(out, " %5.2f %3.0f%%", hunted->median[detector],
                    100 * (double)hunted->found[detector] / (double)hunted->runs);
    }
    fputs(" |", out);
}

static bool print_row(const struct hs_timing_run *run, const char *name, FILE *out)
{
    struct hs_timing_totals *totals = malloc(sizeof *totals);
    bool good = totals != NULL && hs_timing_run_play(run, totals);
    if (good) {
        fprintf(out, "%-40s|", name);
        print_flags(totals, HS_TIMING_ACKS, HS_DETECTOR_DEFAULT, out);
        print_delays(totals, HS_TIMING_ACKS, HS_DETECTOR_DEFAULT, out);
        print_flags(totals, HS_TIMING_NO_ACKS, HS_DETECTOR_DEFAULT, out);
        print_delays(totals, HS_TIMING_NO_ACKS, HS_DETECTOR_DEFAULT, out);
        print_flags(totals, HS_TIMING_ACKS, HS_DETECTOR_DISCREPANCY, out);
        print_delays(totals, HS_TIMING_ACKS, HS_DETECTOR_DISCREPANCY, out);
        fputc('\n', out);
        fflush(out);
    }
    free(totals);
    return good;
}

bool hs_timing_sensitivity(const struct hs_timing_run *run, FILE *out)
{
    fputs("flags an hour on all profiles and on the worst one | median delay and share found at "
          "1.01x, 1.05x, 2x\nfor the default judge told acks | without acks | the compatible "
          "judge\n",
          out);
    if (!print_row(run, "as it is", out))
        return false;
    for (int i = 0; i < DIALS; i++) {
        const struct hs_scalar *dial = find_dial(dials[i], strlen(dials[i]));
        struct hs_scalar within = within_moves(dial);
        double now = hs_scalar_get(&within, &run->rules);
        /* 0 has no half and no double, so use values of games that set the number. */
        double values[2] = {now != 0 ? now / 2 : 0.01, now != 0 ? now * 2 : 0.05};
        for (int k = 0; k < 2; k++) {
            struct hs_timing_run turned = *run;
            char name[128];
            double value = fmin(fmax(values[k], dial->low), dial->high);
            hs_scalar_set(&within, &turned.rules, value);
            snprintf(name, sizeof name, "%s %g", dials[i], value);
            if (!print_row(&turned, name, out))
                return false;
        }
    }
    return true;
}
