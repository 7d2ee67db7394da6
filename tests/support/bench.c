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

static double batch_ns(hs_bench_run *run, void *context, size_t count)
{
    int64_t began = hs_bench_now_ns();
    run(context, count);
    return (double)(hs_bench_now_ns() - began);
}

double hs_bench_ns(hs_bench_run *run, void *context)
{
    size_t count = 1;
    double taken;
    while ((taken = batch_ns(run, context, count)) < BATCH_NS / 4.0)
        count *= 2;
    count = (size_t)((double)count * BATCH_NS / taken) + 1;
    double values[BATCHES];
    for (int i = 0; i < BATCHES; i++)
        values[i] = batch_ns(run, context, count) / (double)count;
    return hs_bench_median(values, BATCHES);
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
