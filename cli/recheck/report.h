/* The report of `recheck`, as text and as JSON. */
#ifndef HS_RECHECK_REPORT_H
#define HS_RECHECK_REPORT_H

#include <stdio.h>

#include "cli/recheck/differences.h"
#include "cli/recheck/replay.h"

/* The start of a gap: from `line` on, requests of `match` are not compared. */
struct hs_gap {
    size_t line;
    struct hs_name match;
    char reason[96]; /* cause of the gap; empty: requests are missing */
};

enum { HS_GAPS_MAX = 50 };

struct hs_recheck_report {
    const char *file;
    const char *rules; /* file with the replacement rules; NULL: the recorded rules are used */
    char program[32];  /* the version that wrote the stream; empty: not recorded */
    struct hs_replay_summary replay;
    size_t requests_left_out; /* requests of matches that are left out */
    size_t unanswered; /* requests whose answer was not recorded, so there is nothing to compare */
    struct hs_gap gaps[HS_GAPS_MAX]; /* the first gaps */
    size_t gap_count;
    size_t interrupted; /* lines whose writer did not finish them */
    struct hs_differences differences;
};

void hs_recheck_print(const struct hs_recheck_report *report, FILE *out);

/* Prints the report as one JSON object. Returns false if memory runs out, or the object
   cannot be written. */
bool hs_recheck_print_json(const struct hs_recheck_report *report, FILE *out);

#endif
