/*
 * Measures the time of one work unit (validators/work.h) on this machine: the time of the most
 * expensive claims, divided by their units. A unit should take no more than 10 ns on any machine.
 *
 * - work_unit_worst_ns: for the kind of claim whose units take longest
 *
 * With -v the figures of every kind go to stderr.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/bench.h"
#include "tests/support/play/hostile.h"

static volatile int sink;

static struct hs_hit_result result;

static void run(void *context, size_t count)
{
    const struct hs_hostile *hostile = context;
    for (size_t i = 0; i < count; i++) {
        hs_hit_verify(hostile->match, &hostile->claim, hostile->now_us, &result);
        sink = (int)result.reason;
    }
}

int main(int argc, char **argv)
{
    bool is_verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    static struct hs_hostile hostile;
    double worst = 0;
    for (int kind = 0; kind < HS_HOSTILE_COUNT; kind++) {
        hs_hostile_make((enum hs_hostile_kind)kind, &hostile);
        double ns = hs_bench_ns(run, &hostile), unit = ns / (double)result.work;
        worst = unit > worst ? unit : worst;
        if (is_verbose)
            fprintf(stderr, "%-48s %10.1f us %9llu units %6.2f ns/unit %s\n", hostile.name,
                    ns / 1e3, (unsigned long long)result.work, unit, hs_reason_name(result.reason));
        hs_hostile_free(&hostile);
    }
    hs_bench_print("work_unit_worst_ns", worst, "ns", NULL, 0);
    return 0;
}
