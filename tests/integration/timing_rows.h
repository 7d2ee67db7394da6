/*
 * The acceptance scenarios of move timing that are one stream each: what is played, when the
 * compatible judge flags it, and what the default judge may do. Those of several seeds are one row;
 * those that are no stream stand in the test itself.
 */
#ifndef HS_TESTS_TIMING_ROWS_H
#define HS_TESTS_TIMING_ROWS_H

#include "tests/support/play/move_stream.h"

/* Special values of `compat_s` and `guard_s`. */
#define HS_TIMING_NEVER   (-1.0) /* no flag at all */
#define HS_TIMING_ANY     (-2.0) /* flags or none: not judged */
#define HS_TIMING_UNKNOWN (-3.0) /* no flag before `origin_us`, any later */

struct hs_timing_row {
    int number; /* of the scenario */
    const char *name;
    double drift;      /* `drift_allowance` */
    int64_t origin_us; /* delays count from here */
    /* The compatible judge's first flag, in seconds, and how far off it may be beside one move (0:
       5 ms); or a special value. */
    double compat_s, rounding_s;
    double compat_every_s; /* and again and again; 0: not judged */
    int compat_flags;      /* how many in all; 0: not judged */
    /* The default judge's first flag, at the latest; or a special value. */
    double guard_s;
    bool has_discrepancy;
    double discrepancy_s; /* the compatible judge's at the end */
    int bursts;           /* in the minute that had most, at least */
    int64_t http_us;      /* over HTTP the stream is cut here; 0: it is played whole */
    struct hs_clock_options play;
};

extern const struct hs_timing_row hs_timing_rows[];
extern const int hs_timing_row_count;

/* Statistics of the compatible judge's delay over seeds. */
struct hs_timing_spread {
    int number;
    const char *name;
    double drift;
    double least_s, median_s, most_s, rounding_s; /* of the compatible judge */
    double guard_median_s;                        /* of the default judge, at most */
    struct hs_clock_options play;
};

extern const struct hs_timing_spread hs_timing_spreads[];
extern const int hs_timing_spread_count;

#endif
