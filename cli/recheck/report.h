/* What `recheck` found, for people and as JSON. */
#ifndef HS_RECHECK_REPORT_H
#define HS_RECHECK_REPORT_H

#include <stdio.h>

#include "cli/recheck/differences.h"

struct hs_gap {
    size_t line;
    struct hs_name match;
    char reason[96]; /* empty: requests are missing */
};

enum { HS_GAPS_MAX = 50 };

struct hs_recheck_report {
    const char *file;
    char program[32];                          /* the version that wrote the stream */
    const char *rules, *rules_name, *revision; /* file, ruleset and revision used instead; or "" */
    size_t matches, matches_restored, matches_left_out, requests_left_out;
    size_t unanswered; /* requests computed whose recording lacks an answer to compare */
    struct hs_gap gaps[HS_GAPS_MAX]; /* the first of them */
    size_t gap_count;
    size_t interrupted; /* lines whose writer did not finish them */
    struct hs_differences differences;
};

void hs_recheck_print(const struct hs_recheck_report *report, FILE *out);

/* The same as one JSON object. False: memory is out. */
bool hs_recheck_print_json(const struct hs_recheck_report *report, FILE *out);

#endif
