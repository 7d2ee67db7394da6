/* The acceptance scenarios of move timing that are one stream each. A row has the options of the
   stream, when the compatible check flags it, and which flags the default check may raise.
   Scenarios with several seeds are one row. Scenarios that are not streams are in
   test_timing_moves.c. */
#ifndef HS_TESTS_TIMING_ROWS_H
#define HS_TESTS_TIMING_ROWS_H

#include "tests/support/play/move_stream.h"

/* Special values of `compat_s` and `guard_s`. */
#define HS_TIMING_NEVER   (-1.0) /* no flag */
#define HS_TIMING_ANY     (-2.0) /* the time of the flag is not compared */
#define HS_TIMING_UNKNOWN (-3.0) /* no flag before `origin_us`, any flag later */

struct hs_timing_row {
    int number; /* number of the scenario */
    const char *name;
    double drift;      /* `drift_allowance` */
    int64_t origin_us; /* delays count from this time */
    /* When the compatible check flags first, in seconds; may be a special value. `rounding_s`: the
       allowed deviation (0: 5 ms), to which the time of one move is added. */
    double compat_s, rounding_s;
    double compat_every_s; /* time between later flags; 0: not compared */
    int compat_flags;      /* number of all flags; 0: not compared */
    /* Latest time of the default check's first flag, or a special value. */
    double guard_s;
    bool has_discrepancy;
    double discrepancy_s; /* discrepancy of the compatible check at the end */
    int bursts;           /* min number of flags in the minute with the most flags */
    int64_t http_us;      /* over HTTP, the stream ends here; 0: plays the whole stream */
    struct hs_clock_options play;
};

extern const struct hs_timing_row hs_timing_rows[];
extern const int hs_timing_row_count;

/* Statistics of the compatible check's delay over many seeds. */
struct hs_timing_spread {
    int number;
    const char *name;
    double drift;
    double least_s, median_s, most_s, rounding_s; /* seconds until the first flag of the compatible
                                                     check */
    double guard_median_s;                        /* max median of the default check */
    struct hs_clock_options play;
};

extern const struct hs_timing_spread hs_timing_spreads[];
extern const int hs_timing_spread_count;

#endif
