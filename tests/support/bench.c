#include "tests/support/bench.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BATCHES = 11, BATCH_NS = 20000000 };

int64_t hs_bench_now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

double hs_bench_median(double *values, size_t count)
{
    qsort(values, count, sizeof *values, compare);
    return count % 2 != 0 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

double hs_bench_percentile(double *values, size_t count, double share)
{
    qsort(values, count, sizeof *values, compare);
    return values[(size_t)(share * (double)(count - 1))];
}

void hs_bench_need(bool holds, const char *message)
{
    if (holds)
        return;
    fprintf(stderr, "%s\n", message);
    exit(1);
}

static double batch_ns(hs_bench_run *run, void *context, size_t count)
{
    int64_t began = hs_bench_now_ns();
    run(context, count);
    return (double)(hs_bench_now_ns() - began);
}

/* Returns the number of operations that take about BATCH_NS. The number is measured after a warm-up
   of the same length. */
static size_t batch_size(hs_bench_run *run, void *context)
{
    size_t count = 1;
    double taken;
    while ((taken = batch_ns(run, context, count)) < BATCH_NS / 4.0)
        count *= 2;
    return (size_t)((double)count * BATCH_NS / taken) + 1;
}

void hs_bench_take_turns(hs_bench_run *const *runs, size_t run_count, void *context,
                         double *median_ns)
{
    double values[HS_BENCH_RUNS][BATCHES];
    size_t counts[HS_BENCH_RUNS];
    for (size_t r = 0; r < run_count; r++)
        counts[r] = batch_size(runs[r], context);
    for (int i = 0; i < BATCHES; i++)
        for (size_t r = 0; r < run_count; r++)
            values[r][i] = batch_ns(runs[r], context, counts[r]) / (double)counts[r];
    for (size_t r = 0; r < run_count; r++)
        median_ns[r] = hs_bench_median(values[r], BATCHES);
}

double hs_bench_ns(hs_bench_run *run, void *context)
{
    double median_ns;
    hs_bench_take_turns(&run, 1, context, &median_ns);
    return median_ns;
}

void hs_bench_print(const char *name, double value, const char *unit, const char *baseline,
                    double ratio)
{
    printf("{\"name\":\"%s\",\"value\":%.6g,\"unit\":\"%s\",", name, value, unit);
    if (baseline != NULL)
        printf("\"baseline\":\"%s\",\"ratio\":%.4g}\n", baseline, ratio);
    else
        printf("\"baseline\":null,\"ratio\":null}\n");
    fflush(stdout);
}
