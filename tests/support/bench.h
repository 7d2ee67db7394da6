/*
 * Measuring: batches of a fixed number of operations, the median of them, and one JSON line a
 * figure. Nothing here judges a figure: how fast is fast enough depends on the machine.
 */
#ifndef HS_TESTS_BENCH_H
#define HS_TESTS_BENCH_H

#include <stddef.h>
#include <stdint.h>

/* Monotonic, nanoseconds. */
int64_t hs_bench_now_ns(void);

/* Reorders the values. */
double hs_bench_median(double *values, size_t count);

/* Does `count` operations; what they compute must end in a volatile, or they are optimised away. */
typedef void hs_bench_run(void *context, size_t count);

/* Median time of one operation in nanoseconds over 11 batches of some 20 ms, after a warm-up. */
double hs_bench_ns(hs_bench_run *run, void *context);

enum { HS_BENCH_RUNS = 5 };

/* The same of up to HS_BENCH_RUNS rivals, whose batches take turns so that a busy machine slows all
   alike. */
void hs_bench_take_turns(hs_bench_run *const *runs, size_t run_count, void *context,
                         double *median_ns);

/* {"name":..,"value":..,"unit":..,"baseline":..,"ratio":..} on stdout; `baseline` is the name of
   the figure compared with, or NULL, `ratio` how many times better than it. */
void hs_bench_print(const char *name, double value, const char *unit, const char *baseline,
                    double ratio);

#endif
