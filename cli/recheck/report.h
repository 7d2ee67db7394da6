/* Prints the report of `recheck`, as text or as JSON. */
#ifndef HS_RECHECK_REPORT_H
#define HS_RECHECK_REPORT_H

#include <stdio.h>

#include "cli/recheck/differences.h"
#include "cli/recheck/replay.h"

/* A gap: from `line` on, requests to `match` are not compared until the match opens again. */
struct hs_gap {
    size_t line;
    struct hs_name match;
    char reason[96]; /* the cause; empty: the recording lacks requests */
};

enum { HS_GAPS_MAX = 50 };

struct hs_recheck_report {
    const char *file;
    const char *rules; /* file with the replacement rules; NULL: the recorded rules are used */
    char program[32];  /* version of the program that wrote the stream; empty: not recorded */
    struct hs_replay_summary replay;
    size_t requests_left_out; /* requests to matches that are left out */
    size_t unanswered;        /* requests not compared, because their answer was not recorded */
    struct hs_gap gaps[HS_GAPS_MAX]; /* the first gaps */
    size_t gap_count;
    size_t interrupted; /* incomplete lines, where the service was interrupted */
    struct hs_differences differences;
};

void hs_recheck_print(const struct hs_recheck_report *report, FILE *out);

/* Prints the report as one JSON object. Returns false if memory runs out or writing fails. */
bool hs_recheck_print_json(const struct hs_recheck_report *report, FILE *out);

#endif
