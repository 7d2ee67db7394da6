#include "cli/simulate/hits/simulation.h"

#include <stdlib.h>

/* Jobs in a batch. Every batch is completed, so that the total number of jobs does not depend on
   the speed of the threads. */
enum { BATCH = 16 };

struct batch {
    const struct hs_simulation *simulation;
    const struct hs_sim_arena *arena;
    hs_simulation_job *run;
    uint64_t first;          /* number of the first job */
    struct hs_score *scores; /* one per job */
};

struct hs_simulation hs_simulation_default(void)
{
    return (struct hs_simulation){.seed = 1,
                                  .claims = 100000,
                                  .bursts = 180,
                                  .cheats = 4,
                                  .link = -1,
                                  .seconds = 30,
                                  .rewind_limit = 0.4,
                                  .stamp_error = 0.002};
}

static bool run_job(void *context, size_t job)
{
    const struct batch *batch = context;
    return batch->run(batch->simulation, batch->arena, batch->first + job, &batch->scores[job]);
}

/* Runs the next `count` jobs, and adds their scores to *sum in the order of the jobs. Returns false
   if memory runs out. */
static bool run_batch(struct batch *batch, size_t count, struct hs_score *sum)
{
    const struct hs_simulate_jobs jobs = {
        .count = count, .threads = batch->simulation->threads, .run = run_job, .context = batch};
    batch->scores = calloc(count, sizeof *batch->scores);
    if (batch->scores == NULL)
        return false;
    bool good = hs_simulate_run(&jobs);
    for (size_t i = 0; i < count; i++)
        hs_score_add(sum, &batch->scores[i]);
    free(batch->scores);
    batch->first += count;
    return good;
}

static bool run_all(struct batch *batch, uint64_t count, struct hs_score *sum)
{
    bool good = true;
    while (good && batch->first < count) {
        uint64_t left = count - batch->first;
        good = run_batch(batch, left < BATCH ? (size_t)left : BATCH, sum);
    }
    return good;
}

static void report(const struct hs_simulation *simulation, double done, double all)
{
    if (simulation->progress != NULL)
        simulation->progress(all > 0 && done < all ? done / all : 1);
}

static bool run(const struct hs_simulation *simulation, const struct hs_sim_arena *arena,
                struct hs_score *out)
{
    struct batch trials = {simulation, arena, hs_trial_run, 0, NULL};
    struct batch bursts = {simulation, arena, hs_burst_run, 0, NULL};
    struct batch cheats = {simulation, arena, hs_cheats_run, 0, NULL};
    for (uint64_t claims = 0; claims < simulation->claims;) {
        if (!run_batch(&trials, BATCH, out))
            return false;
        struct hs_count honest = hs_score_honest(out);
        if (hs_count_all(&honest) == claims)
            return false; /* the batch added no claims, so the loop would never finish */
        claims = hs_count_all(&honest);
        report(simulation, (double)claims, (double)simulation->claims * 1.02);
    }
    bool good = run_all(&bursts, simulation->bursts, out) &&
                run_all(&cheats, simulation->cheats * HS_LINKS_AND_STEADY, out);
    report(simulation, 1, 1);
    return good;
}

bool hs_simulation_run(const struct hs_simulation *simulation, struct hs_score *out)
{
    struct hs_sim_arena *arena = hs_sim_arena_create(simulation->rewind_limit);
    *out = (struct hs_score){0};
    bool good = arena != NULL && run(simulation, arena, out);
    hs_sim_arena_destroy(arena);
    return good;
}
