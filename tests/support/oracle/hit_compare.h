/* Two answers to claims side by side, for property tests. */
#ifndef HS_TESTS_HIT_COMPARE_H
#define HS_TESTS_HIT_COMPARE_H

#include "validators/hit.h"

/* Everything that is not a number is the same. */
bool hs_same_words(const struct hs_hit_result *a, const struct hs_hit_result *b);

/* The numbers of an answer that are a length or follow from one, in a fixed order. */
struct hs_numbers {
    int count;
    double value[512];
    bool is_damage[512];
};

/* Lengths are divided by `scale`. */
void hs_collect_numbers(const struct hs_hit_result *r, double scale, struct hs_numbers *out);

/* Numbers and impact are the same to the last bit. */
bool hs_same_bits(const struct hs_hit_result *a, const struct hs_hit_result *b);

/* How often each kind of answer came up in a run. */
struct hs_tally {
    long cases, unstable, verdicts[HS_VERDICT_COUNT], reasons[HS_REASON_COUNT];
};

void hs_tally_count(struct hs_tally *tally, const struct hs_hit_result *r);

/* Prints the tally, and fails the test where the cases were not what they are meant to be: hits
   and misses, and few on an edge. */
void hs_tally_expect_variety(const char *name, const struct hs_tally *tally);

#endif
