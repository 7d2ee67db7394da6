/* Compares two answers to claims, for property tests. */
#ifndef HS_TESTS_HIT_COMPARE_H
#define HS_TESTS_HIT_COMPARE_H

#include "validators/hit.h"

/* Returns whether all parts except numbers are equal. */
bool hs_same_words(const struct hs_hit_result *a, const struct hs_hit_result *b);

/* The numbers of an answer that are lengths or depend on lengths, in a fixed order. */
struct hs_numbers {
    int count;
    double value[512];
    bool is_damage[512];
};

/* Collects the numbers of an answer. Divides lengths by `scale`. */
void hs_collect_numbers(const struct hs_hit_result *r, double scale, struct hs_numbers *out);

/* Returns whether the numbers and the impact are equal to the last bit. */
bool hs_same_bits(const struct hs_hit_result *a, const struct hs_hit_result *b);

/* The number of answers of each kind in a run. */
struct hs_tally {
    long cases, unstable, verdicts[HS_VERDICT_COUNT], reasons[HS_REASON_COUNT];
};

void hs_tally_count(struct hs_tally *tally, const struct hs_hit_result *r);

/* Prints the counts. Fails the test unless there are hits and misses, and only few cases were left
   out at the edge of a limit. */
void hs_tally_expect_variety(const char *name, const struct hs_tally *tally);

#endif
