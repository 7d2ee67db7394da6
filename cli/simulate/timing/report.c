/* The tables of a run, for people and as JSON, and whether its goal is met. */
#include <math.h>
#include <stdarg.h>

#include "cli/simulate/timing/run.h"

/* Sum of the Poisson distribution's first terms. */
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
    if (count > 200) /* the terms underflow; the normal approximation does */
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

struct misses {
    char *text;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void miss(struct misses *misses, const char *format,
                                                       ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (misses->used < misses->size) {
        int more =
            vsnprintf(misses->text + misses->used, misses->size - misses->used, format, arguments);
        misses->used += more > 0 ? (size_t)more : 0;
    }
    va_end(arguments);
}

static void miss_honest(const struct hs_timing_totals *totals, struct misses *misses)
{
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        for (int told = 0; told < HS_TIMING_TELLINGS; told++) {
            const struct hs_timing_honest *honest = &totals->honest[profile][told];
            uint64_t flags = honest->flags[HS_DETECTOR_DEFAULT];
            /* Of a short run one flag may be one too many by chance. */
            double allowed =
                must_be_silent(profile) ? 0 : fmax(1, HS_TIMING_GOAL_FLAGS * honest->hours);
            if ((double)flags > allowed)
                miss(misses, "%s, told %s: %llu honest flags in %.0f h\n",
                     hs_timing_profile_name((enum hs_timing_profile)profile),
                     hs_timing_told_name((enum hs_timing_told)told), (unsigned long long)flags,
                     honest->hours);
        }
    }
}

static void miss_cheats(const struct hs_timing_totals *totals, struct misses *misses)
{
    static const struct {
        enum hs_timing_cheat cheat;
        double median;
    } goals[] = {{HS_TIMING_CHEAT_101, 16},
                 {HS_TIMING_CHEAT_102, HS_TIMING_HUNT},
                 {HS_TIMING_CHEAT_105, 4},
                 {HS_TIMING_CHEAT_110, HS_TIMING_HUNT},
                 {HS_TIMING_CHEAT_150, HS_TIMING_HUNT},
                 {HS_TIMING_CHEAT_200, 0.7}};
    for (size_t i = 0; i < sizeof goals / sizeof goals[0]; i++) {
        const struct hs_timing_hunted *hunted =
            &totals->cheats[HS_TIMING_PROFILES][goals[i].cheat][HS_TIMING_ACKS];
        const char *name = hs_timing_cheat_name(goals[i].cheat);
        if (hunted->found[HS_DETECTOR_DEFAULT] < hunted->runs)
            miss(misses, "%s: %llu of %llu found\n", name,
                 (unsigned long long)hunted->found[HS_DETECTOR_DEFAULT],
                 (unsigned long long)hunted->runs);
        if (hunted->median[HS_DETECTOR_DEFAULT] > goals[i].median)
            miss(misses, "%s: found after %.2f s in the median, not %.2g\n", name,
                 hunted->median[HS_DETECTOR_DEFAULT], goals[i].median);
    }
}

bool hs_timing_goal_met(const struct hs_timing_totals *totals, char *missed, size_t size)
{
    struct misses misses = {.text = missed, .size = size};
    if (size > 0)
        missed[0] = '\0';
    miss_honest(totals, &misses);
    miss_cheats(totals, &misses);
    return misses.used == 0;
}

/* ---- for people ---- */

static void print_honest(const struct hs_timing_totals *totals, FILE *out)
{
    fputs("honest   told       hours  flags an hour, and what 95 % of the time is not passed"
          "\n                            ",
          out);
    for (int i = 0; i < HS_DETECTORS; i++)
        fprintf(out, "%-21s", hs_timing_detector_name((enum hs_timing_detector)i));
    fputs("refused  simulated %\n", out);
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++) {
        for (int told = 0; told < HS_TIMING_TELLINGS; told++) {
            const struct hs_timing_honest *honest = &totals->honest[profile][told];
            if (honest->sessions == 0)
                continue;
            fprintf(out, "  %-7s%-8s%8.1f  ",
                    hs_timing_profile_name((enum hs_timing_profile)profile),
                    hs_timing_told_name((enum hs_timing_told)told), honest->hours);
            for (int i = 0; i < HS_DETECTORS; i++)
                fprintf(out, "%8.4f <= %-8.4f ", (double)honest->flags[i] / honest->hours,
                        hs_timing_poisson_bound(honest->flags[i], honest->hours));
            fprintf(out, "%7llu %12.3f\n", (unsigned long long)honest->refused,
                    100 * honest->granted / honest->claimed);
        }
    }
}

static void print_delay(const struct hs_timing_hunted *hunted, int detector, FILE *out)
{
    if (hunted->found[detector] == 0)
        fputs("    -                 ", out);
    else
        fprintf(out, " %5.1f %% %6.2f %6.2f ",
                100 * (double)hunted->found[detector] / (double)hunted->runs,
                hunted->median[detector], hunted->most[detector]);
}

static void print_cheats(const struct hs_timing_totals *totals, FILE *out)
{
    fputs("\ncheats, all profiles          share found in 60 s, median and longest delay\n"
          "                told      runs  ",
          out);
    for (int i = 0; i < HS_DETECTORS; i++)
        fprintf(out, "%-22s", hs_timing_detector_name((enum hs_timing_detector)i));
    fputs("bursts\n", out);
    for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++) {
        for (int told = 0; told < HS_TIMING_TELLINGS; told++) {
            const struct hs_timing_hunted *hunted =
                &totals->cheats[HS_TIMING_PROFILES][cheat][told];
            if (hunted->runs == 0)
                continue;
            fprintf(out, "  %-14s%-8s %5llu", hs_timing_cheat_name((enum hs_timing_cheat)cheat),
                    hs_timing_told_name((enum hs_timing_told)told),
                    (unsigned long long)hunted->runs);
            for (int i = 0; i < HS_DETECTORS; i++)
                print_delay(hunted, i, out);
            fprintf(out, "%5.0f %%\n", 100 * (double)hunted->with_bursts / (double)hunted->runs);
        }
    }
}

static void print_by_profile(const struct hs_timing_totals *totals, FILE *out)
{
    fputs("\nthe default judge, told acks: share found, median and longest delay\n             ",
          out);
    for (int profile = 0; profile < HS_TIMING_PROFILES; profile++)
        fprintf(out, "   %-19s", hs_timing_profile_name((enum hs_timing_profile)profile));
    fputc('\n', out);
    for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++) {
        fprintf(out, "  %-13s", hs_timing_cheat_name((enum hs_timing_cheat)cheat));
        for (int profile = 0; profile < HS_TIMING_PROFILES; profile++)
            print_delay(&totals->cheats[profile][cheat][HS_TIMING_ACKS], HS_DETECTOR_DEFAULT, out);
        fprintf(out, " %s\n", hs_timing_cheat_text((enum hs_timing_cheat)cheat));
    }
}

void hs_timing_print(const struct hs_timing_run *run, const struct hs_timing_totals *totals,
                     FILE *out)
{
    fprintf(out, "simulated move timestamps, seed %llu\n\n", (unsigned long long)run->seed);
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
            flags, hs_timing_detector_name((enum hs_timing_detector)i),
            json_pack("{s:I, s:f, s:f}", "flags", (json_int_t)honest->flags[i], "an_hour",
                      honest->hours > 0 ? (double)honest->flags[i] / honest->hours : 0.0,
                      "an_hour_high",
                      fmin(1e9, hs_timing_poisson_bound(honest->flags[i], honest->hours))));
    return json_pack("{s:f, s:I, s:I, s:f, s:o}", "hours", honest->hours, "sessions",
                     (json_int_t)honest->sessions, "refused", (json_int_t)honest->refused,
                     "simulated_share", honest->claimed > 0 ? honest->granted / honest->claimed : 1,
                     "detectors", flags);
}

static json_t *hunted_json(const struct hs_timing_hunted *hunted)
{
    json_t *found = json_object();
    for (int i = 0; i < HS_DETECTORS; i++)
        json_object_set_new(found, hs_timing_detector_name((enum hs_timing_detector)i),
                            json_pack("{s:I, s:f, s:f}", "found", (json_int_t)hunted->found[i],
                                      "median_delay", hunted->median[i], "longest_delay",
                                      hunted->most[i]));
    return json_pack("{s:I, s:I, s:o}", "runs", (json_int_t)hunted->runs, "with_bursts",
                     (json_int_t)hunted->with_bursts, "detectors", found);
}

static json_t *cheats_json(const struct hs_timing_totals *totals, int profile, int told)
{
    json_t *cheats = json_object();
    for (int cheat = 0; cheat < HS_TIMING_CHEATS; cheat++)
        if (totals->cheats[profile][cheat][told].runs > 0)
            json_object_set_new(cheats, hs_timing_cheat_name((enum hs_timing_cheat)cheat),
                                hunted_json(&totals->cheats[profile][cheat][told]));
    return cheats;
}

json_t *hs_timing_json(const struct hs_timing_run *run, const struct hs_timing_totals *totals)
{
    char missed[2048];
    json_t *told_all = json_object();
    for (int told = 0; told < HS_TIMING_TELLINGS; told++) {
        json_t *honest = json_object(), *cheats = json_object();
        for (int profile = 0; profile <= HS_TIMING_PROFILES; profile++) {
            const char *name = profile < HS_TIMING_PROFILES
                                   ? hs_timing_profile_name((enum hs_timing_profile)profile)
                                   : "all";
            if (profile < HS_TIMING_PROFILES && totals->honest[profile][told].sessions > 0)
                json_object_set_new(honest, name, honest_json(&totals->honest[profile][told]));
            json_object_set_new(cheats, name, cheats_json(totals, profile, told));
        }
        json_object_set_new(told_all, hs_timing_told_name((enum hs_timing_told)told),
                            json_pack("{s:o, s:o}", "honest", honest, "cheats", cheats));
    }
    bool met = hs_timing_goal_met(totals, missed, sizeof missed);
    return json_pack("{s:I, s:f, s:I, s:o, s:b, s:s}", "seed", (json_int_t)run->seed, "hours",
                     run->hours, "runs", (json_int_t)run->runs, "told", told_all, "goal_met",
                     (int)met, "missed", missed);
}
