#include "cli/simulate/timing/run.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "validators/ruleset.h"

enum { THREADS_MAX = 64 };

#define SESSION_SECONDS 600.0

struct work {
    const struct hs_timing_run *run;
    size_t honest, jobs; /* sessions of honest players come first */
    atomic_size_t taken;
    struct hs_timing_outcome *outcomes; /* one a job */
    size_t profiles, first_profile;
};

bool hs_timing_run_default(struct hs_timing_run *out)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[0]);
    if (ruleset == NULL)
        return false;
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    *out = (struct hs_timing_run){.rules = ruleset->moves,
                                  .seed = 1,
                                  .hours = 20,
                                  .runs = 40,
                                  .profile = -1,
                                  .threads = cores > 1 ? (unsigned)cores : 1};
    hs_ruleset_destroy(ruleset);
    return true;
}

/* ---- sessions ---- */

static uint64_t seed_of(uint64_t seed, size_t job)
{
    struct hs_dice dice = {seed};
    dice.state = hs_dice_next(&dice) + (uint64_t)job;
    return hs_dice_next(&dice);
}

static struct hs_timing_session session_of(const struct work *work, size_t job)
{
    struct hs_timing_session session = {.rules = &work->run->rules,
                                        .seconds = SESSION_SECONDS,
                                        .seed = seed_of(work->run->seed, job)};
    size_t number = job < work->honest ? job : job - work->honest;
    session.profile = (enum hs_timing_profile)(work->first_profile + number % work->profiles);
    session.cheats = job >= work->honest;
    session.cheat = (enum hs_timing_cheat)(number / work->profiles % HS_TIMING_CHEATS);
    return session;
}

static void labour(struct work *work, void (*progress)(double share))
{
    size_t job;
    while ((job = atomic_fetch_add(&work->taken, 1)) < work->jobs) {
        struct hs_timing_session session = session_of(work, job);
        hs_timing_session_play(&session, &work->outcomes[job]);
        if (progress != NULL && job % 16 == 0)
            progress((double)job / (double)work->jobs);
    }
}

static void *help(void *work)
{
    labour(work, NULL);
    return NULL;
}

/* ---- adding up ---- */

static void add_honest(struct hs_timing_honest *sum, const struct hs_timing_outcome *outcome,
                       int told)
{
    const struct hs_timing_findings *findings = &outcome->told[told];
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

static void summarize(struct hs_timing_hunted *hunted, int detector, float *delays, size_t count)
{
    hunted->found[detector] = count;
    if (count == 0)
        return;
    qsort(delays, count, sizeof *delays, compare);
    hunted->median[detector] = ((double)delays[(count - 1) / 2] + (double)delays[count / 2]) / 2;
    hunted->most[detector] = (double)delays[count - 1];
}

/* Of one cheat, on one profile or (HS_TIMING_PROFILES) on all. */
static void add_up_cheat(const struct work *work, size_t profile, size_t cheat, int told,
                         float *delays, struct hs_timing_hunted *out)
{
    for (int i = 0; i < HS_DETECTORS; i++) {
        size_t count = 0;
        out->runs = out->with_bursts = 0;
        for (size_t job = work->honest; job < work->jobs; job++) {
            struct hs_timing_session session = session_of(work, job);
            if (session.cheat != cheat ||
                (profile < HS_TIMING_PROFILES && session.profile != profile))
                continue;
            const struct hs_timing_findings *findings = &work->outcomes[job].told[told];
            out->runs++;
            out->with_bursts += findings->bursts > 0;
            if (findings->delay[i] >= 0)
                delays[count++] = findings->delay[i];
        }
        summarize(out, i, delays, count);
    }
}

static bool add_up(const struct work *work, struct hs_timing_totals *out)
{
    float *delays = malloc((work->jobs - work->honest + 1) * sizeof *delays);
    if (delays == NULL)
        return false;
    for (int told = 0; told < HS_TIMING_TELLINGS; told++) {
        for (size_t job = 0; job < work->honest; job++)
            add_honest(&out->honest[session_of(work, job).profile][told], &work->outcomes[job],
                       told);
        for (size_t profile = 0; profile <= HS_TIMING_PROFILES; profile++)
            for (size_t cheat = 0; cheat < HS_TIMING_CHEATS; cheat++)
                add_up_cheat(work, profile, cheat, told, delays,
                             &out->cheats[profile][cheat][told]);
    }
    free(delays);
    return true;
}

bool hs_timing_run_play(const struct hs_timing_run *run, struct hs_timing_totals *out)
{
    pthread_t threads[THREADS_MAX];
    struct work work = {.run = run, .profiles = run->profile >= 0 ? 1 : HS_TIMING_PROFILES};
    unsigned wanted = run->threads > THREADS_MAX ? THREADS_MAX : run->threads, started = 0;
    work.first_profile = run->profile >= 0 ? (size_t)run->profile : 0;
    work.honest = (size_t)ceil(run->hours * 3600 / SESSION_SECONDS) * work.profiles;
    work.jobs = work.honest + work.profiles * HS_TIMING_CHEATS * run->runs;
    work.outcomes = calloc(work.jobs + 1, sizeof *work.outcomes);
    *out = (struct hs_timing_totals){0};
    if (work.outcomes == NULL)
        return false;
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, help, &work) == 0)
        started++;
    labour(&work, run->progress);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    bool good = add_up(&work, out);
    free(work.outcomes);
    if (run->progress != NULL)
        run->progress(1);
    return good;
}
