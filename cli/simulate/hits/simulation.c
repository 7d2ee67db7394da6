#include "cli/simulate/hits/simulation.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli/simulate/hits/trial.h"

/* Matches are played so many at a time, all of them, however many threads there are: where the run
   ends must not depend on who is quick. */
enum { BATCH = 16, THREADS_MAX = 64 };

struct work {
    const struct hs_simulation *simulation;
    const struct hs_sim_arena *arena;
    uint64_t first; /* number of the batch's first job */
    unsigned jobs;
    bool are_bursts;
    atomic_uint taken;
    atomic_bool failed;
    struct hs_score *scores; /* one a job */
};

struct hs_simulation hs_simulation_default(void)
{
    long cores = sysconf(_SC_NPROCESSORS_ONLN);
    return (struct hs_simulation){.seed = 1,
                                  .claims = 100000,
                                  .bursts = 180,
                                  .link = -1,
                                  .seconds = 30,
                                  .rewind_limit = 0.4,
                                  .stamp_error = 0.002,
                                  .threads = cores > 1 ? (unsigned)cores : 1};
}

static bool do_job(const struct work *work, unsigned job)
{
    const struct hs_simulation *simulation = work->simulation;
    uint64_t number = work->first + job;
    if (work->are_bursts) {
        enum hs_link_kind link = simulation->link >= 0 ? (enum hs_link_kind)simulation->link
                                                       : (enum hs_link_kind)(number % HS_LINKS);
        return hs_burst_play(work->arena, simulation->seed, number, link, &work->scores[job]);
    }
    const struct hs_trial trial = {.arena = work->arena,
                                   .seed = simulation->seed,
                                   .number = number,
                                   .link = simulation->link,
                                   .seconds = simulation->seconds,
                                   .stamp_error = simulation->stamp_error};
    return hs_trial_run(&trial, &work->scores[job]);
}

static void *labour(void *argument)
{
    struct work *work = argument;
    unsigned job;
    while ((job = atomic_fetch_add(&work->taken, 1)) < work->jobs)
        if (!do_job(work, job))
            atomic_store(&work->failed, true);
    return NULL;
}

/* All jobs of a batch; their scores are added in their order. */
static bool do_batch(struct work *work, struct hs_score *sum)
{
    pthread_t threads[THREADS_MAX];
    unsigned wanted = work->simulation->threads, started = 0;
    wanted = wanted > THREADS_MAX ? THREADS_MAX : wanted;
    work->scores = calloc(work->jobs, sizeof *work->scores);
    if (work->scores == NULL)
        return false;
    atomic_store(&work->taken, 0);
    while (started + 1 < wanted && pthread_create(&threads[started], NULL, labour, work) == 0)
        started++;
    labour(work);
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (unsigned i = 0; i < work->jobs; i++)
        hs_score_add(sum, &work->scores[i]);
    free(work->scores);
    return !atomic_load(&work->failed);
}

static void tell(const struct hs_simulation *simulation, double done, double all)
{
    if (simulation->progress != NULL)
        simulation->progress(all > 0 && done < all ? done / all : 1);
}

static bool run(struct work *work, struct hs_score *out)
{
    const struct hs_simulation *simulation = work->simulation;
    uint64_t claims = 0;
    work->jobs = BATCH;
    for (; claims < simulation->claims; work->first += BATCH) {
        struct hs_count honest;
        if (!do_batch(work, out))
            return false;
        honest = hs_score_honest(out);
        if (hs_count_all(&honest) == claims)
            return false; /* nobody shoots: it would go on for ever */
        claims = hs_count_all(&honest);
        tell(simulation, (double)claims, (double)simulation->claims * 1.02);
    }
    work->are_bursts = true;
    for (work->first = 0; work->first < simulation->bursts; work->first += work->jobs) {
        uint64_t left = simulation->bursts - work->first;
        work->jobs = left < BATCH ? (unsigned)left : BATCH;
        if (!do_batch(work, out))
            return false;
    }
    tell(simulation, 1, 1);
    return true;
}

bool hs_simulation_run(const struct hs_simulation *simulation, struct hs_score *out)
{
    struct hs_sim_arena *arena = hs_sim_arena_create(simulation->rewind_limit);
    struct work work = {.simulation = simulation, .arena = arena};
    *out = (struct hs_score){0};
    bool good = arena != NULL && run(&work, out);
    hs_sim_arena_destroy(arena);
    return good;
}
