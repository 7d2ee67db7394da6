/* Measures speed in batches with a fixed number of operations. The result is the median of the
   batches, printed as one JSON line per figure. Nothing here decides whether a figure is good
   enough, because the required speed depends on the machine. */
#ifndef HS_TESTS_BENCH_H
#define HS_TESTS_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Returns the monotonic time in nanoseconds. */
int64_t hs_bench_now_ns(void);

/* Returns the median. Changes the order of the values. */
double hs_bench_median(double *values, size_t count);

/* Returns the value below which `share` (0 to 1) of the values are. Changes their order. */
double hs_bench_percentile(double *values, size_t count, double share);

/* Ends the program with a message on stderr, unless the condition holds. */
void hs_bench_need(bool holds, const char *message);

/* Does `count` operations. The results must be written to a volatile, or the compiler removes the
   operations. */
typedef void hs_bench_run(void *context, size_t count);

/* Returns the median time of one operation in nanoseconds, over 11 batches of some 20 ms, after a
   warm-up. */
double hs_bench_ns(hs_bench_run *run, void *context);

enum { HS_BENCH_RUNS = 5 };

/* Measures up to HS_BENCH_RUNS rivals in the same way. Their batches alternate, so that a busy
   machine slows all of them equally. */
void hs_bench_take_turns(hs_bench_run *const *runs, size_t run_count, void *context,
                         double *median_ns);

/* Prints {"name":..,"value":..,"unit":..,"baseline":..,"ratio":..} to stdout. `baseline` is the
   name of the compared figure, or NULL; `ratio`: how many times better this figure is than the
   compared one. */
void hs_bench_print(const char *name, double value, const char *unit, const char *baseline,
                    double ratio);

#endif
