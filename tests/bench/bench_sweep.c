/*
 * The cost of the smallest step of verifying a hit: one swept-sphere test.
 *
 *   sweep_capsule_ns   one hs_sweep_touches; half of the paths hit, and half miss closely
 *   sweep_box_ns       the same against oriented boxes
 */
#include "tests/support/bench.h"
#include "tests/support/random.h"
#include "validators/sweep.h"

enum { CASES = 1024 };

static volatile double sink;

struct sweeps {
    struct hs_sweep sweep[CASES];
    struct hs_solid solid[CASES];
};

/* Makes a shot at a limb from 5 to 60 m away. Without `aimed` the shot misses by 10 to 20 cm. */
static void make_sweep(struct hs_random *random, bool box, bool aimed, struct hs_sweep *sweep,
                       struct hs_solid *solid)
{
    struct hs_vec side = hs_random_direction(random), from = hs_random_direction(random);
    *solid = (struct hs_solid){.center = {hs_random_between(random, -1000, 1000),
                                          hs_random_between(random, -1000, 1000),
                                          hs_random_between(random, 0, 50)}};
    hs_random_axes(random, solid->axes);
    solid->half_extents = box ? (struct hs_vec){0.15, 0.1, 0.3} : (struct hs_vec){0, 0, 0.2};
    solid->radius = box ? 0 : 0.12;
    double off = aimed ? hs_random_between(random, 0, 0.1) : hs_random_between(random, 0.2, 0.5);
    struct hs_vec at = hs_vec_add_scaled(solid->center, side, off);
    double distance = hs_random_between(random, 5, 60);
    sweep->start = hs_vec_add_scaled(at, from, distance);
    sweep->direction = hs_vec_scale(from, -1);
    sweep->length = distance * 1.2;
    sweep->radius = 0.05;
}

static void run_sweeps(void *context, size_t count)
{
    const struct sweeps *sweeps = context;
    double sum = 0, distance = 0;
    for (size_t i = 0; i < count; i++)
        if (hs_sweep_touches(&sweeps->sweep[i % CASES], &sweeps->solid[i % CASES], &distance))
            sum += distance;
    sink = sum;
}

static void bench_sweeps(const char *name, bool box)
{
    static struct sweeps sweeps;
    struct hs_random random = hs_random_start(1, box);
    for (int i = 0; i < CASES; i++)
        make_sweep(&random, box, i % 2 == 0, &sweeps.sweep[i], &sweeps.solid[i]);
    hs_bench_print(name, hs_bench_ns(run_sweeps, &sweeps), "ns", NULL, 0);
}

int main(void)
{
    bench_sweeps("sweep_capsule_ns", false);
    bench_sweeps("sweep_box_ns", true);
    return 0;
}
