#include "cli/simulate/timing/run.h"

#include <math.h>
#include <stdlib.h>

#include "validators/ruleset.h"

#define SESSION_SECONDS 600.0

struct work {
    const struct hs_timing_run *run;
    size_t honest, jobs;                /* jobs 0 .. honest - 1 are sessions of honest players */
    struct hs_timing_outcome *outcomes; /* one per job */
    size_t profiles, first_profile;
};

bool hs_timing_run_default(struct hs_timing_run *out)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    if (ruleset == NULL)
        return false;
    *out = (struct hs_timing_run){
        .rules = ruleset->moves, .seed = 1, .hours = 20, .runs = 40, .profile = -1};
    hs_ruleset_destroy(ruleset);
    return true;
}

/* ---- sessions ---- */

static struct hs_timing_session session_of(const struct work *work, size_t job)
{
    struct hs_dice dice = {work->run->seed};
    dice.state = hs_dice_next(&dice) + (uint64_t)job;
    size_t number = job < work->honest ? job : job - work->honest;
    return (struct hs_timing_session){
        .rules = &work->run->rules,
        .seconds = SESSION_SECONDS,
        .seed = hs_dice_next(&dice),
        .profile = (enum hs_timing_profile)(work->first_profile + number % work->profiles),
        .cheats = job >= work->honest,
        .cheat = (enum hs_timing_cheat)(number / work->profiles % HS_TIMING_CHEATS)};
}

static bool play(void *context, size_t job)
{
    const struct work *work = context;
    const struct hs_timing_session session = session_of(work, job);
    hs_timing_session_play(&session, &work->outcomes[job]);
    return true;
}

/* ---- totals ---- */

static void add_honest(struct hs_timing_honest *sum, const struct hs_timing_outcome *outcome,
                       int input)
{
    const struct hs_timing_findings *findings = &outcome->with[input];
    sum->hours += outcome->seconds / 3600;
    sum->sessions++;
    sum->refused += findings->refused;
    sum->claimed += findings->claimed;
    sum->granted += findings->granted;
    for (int i = 0; i < HS_DETECTORS; i++)
        sum->flags[i] += findings->flags[i];
}

static int compare(const void *a, const void *b)
{
    float x = *(const float *)a, y = *(const float *)b;
    return (x > y) - (x < y);
}

/* Computes a cheat's totals on one profile, or on all profiles if `profile` is HS_TIMING_PROFILES.
   `delays` is scratch memory. */
static void add_cheat(const struct work *work, size_t profile, size_t cheat, int input,
                      float *delays, struct hs_timing_cheating *out)
{
    for (int i = 0; i < HS_DETECTORS; i++) {
        size_t count = 0;
        out->runs = out->with_bursts = 0;
        for (size_t job = work->honest; job < work->jobs; job++) {
            const struct hs_timing_session session = session_of(work, job);
            if (session.cheat != cheat ||
                (profile < HS_TIMING_PROFILES && session.profile != profile))
                continue;
            const struct hs_timing_findings *findings = &work->outcomes[job].with[input];
            out->runs++;
            out->with_bursts += findings->bursts > 0;
            if (findings->delay[i] >= 0)
                delays[count++] = findings->delay[i];
        }
        out->found[i] = count;
        if (count == 0)
            continue;
        qsort(delays, count, sizeof *delays, compare);
        out->median[i] = ((double)delays[(count - 1) / 2] + (double)delays[count / 2]) / 2;
        out->max[i] = (double)delays[count - 1];
    }
}

static void add_up(const struct work *work, float *delays, struct hs_timing_totals *out)
{
    for (int input = 0; input < HS_TIMING_INPUTS; input++) {
        for (size_t job = 0; job < work->honest; job++)
            add_honest(&out->honest[session_of(work, job).profile][input], &work->outcomes[job],
                       input);
        for (size_t profile = 0; profile <= HS_TIMING_PROFILES; profile++)
            for (size_t cheat = 0; cheat < HS_TIMING_CHEATS; cheat++)
                add_cheat(work, profile, cheat, input, delays, &out->cheats[profile][cheat][input]);
    }
}

bool hs_timing_run_play(const struct hs_timing_run *run, struct hs_timing_totals *out)
{
    struct work work = {.run = run, .profiles = run->profile >= 0 ? 1 : HS_TIMING_PROFILES};
    work.first_profile = run->profile >= 0 ? (size_t)run->profile : 0;
    work.honest = (size_t)ceil(run->hours * 3600 / SESSION_SECONDS) * work.profiles;
    work.jobs = work.honest + work.profiles * HS_TIMING_CHEATS * run->runs;
    work.outcomes = calloc(work.jobs + 1, sizeof *work.outcomes);
    float *delays = malloc((work.jobs - work.honest + 1) * sizeof *delays);
    bool good = work.outcomes != NULL && delays != NULL;
    *out = (struct hs_timing_totals){0};
    if (good) {
        hs_simulate_run(&(struct hs_simulate_jobs){.count = work.jobs,
                                                   .threads = run->threads,
                                                   .run = play,
                                                   .context = &work,
                                                   .progress = run->progress});
        add_up(&work, delays, out);
    }
    free(delays);
    free(work.outcomes);
    if (run->progress != NULL)
        run->progress(1);
    return good;
}
