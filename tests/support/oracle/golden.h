/*
 * Tests that verdicts do not depend on the compiler, its optimisation, the machine or the number of
 * threads. There are three hashes (FNV-1a) over all answers of the library, with numbers rounded to
 * 1e-4. The first is over many seeded matches, the second over every scenario of tests/scenarios in
 * every frame of reference, the third over streams of moves.
 *
 * The hashes change if the rules or the scenarios change. Then every build must print the same new
 * hashes: gcc and clang at -O0 and -O3 (`.ci/run`), and Arm under emulation (`make golden-arm`).
 */
#ifndef HS_TESTS_GOLDEN_H
#define HS_TESTS_GOLDEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/vocabulary.h"

#define HS_GOLDEN_MATCHES   UINT64_C(0xc85bc8a7bda84307)
#define HS_GOLDEN_SCENARIOS UINT64_C(0x4f935416a93a8f55)
#define HS_GOLDEN_MOVES     UINT64_C(0x97fba61d00233bc0)

/* The counts behind a hash, because a hash over few kinds of answers would prove little. */
struct hs_golden {
    uint64_t hash;
    long verdicts;                 /* shots and hits */
    long reasons[HS_REASON_COUNT]; /* numbers of verdicts, and of victims of a blast */
    long problems;                 /* refused requests */
    long unknown;                  /* requests that nothing here handles; it must be 0 */
    size_t played;                 /* matches, or scenarios times frames of reference */
    bool is_loaded;                /* whether the scenarios could be read */
};

/* Compute the hashes. `threads` (1 .. 64) threads share the work; the hash is the same for any
   number. */
void hs_golden_matches(int threads, struct hs_golden *out);
void hs_golden_scenarios(int threads, struct hs_golden *out);

struct hs_golden_moves {
    uint64_t hash;
    long moves;
    long reasons[HS_MOVE_REASON_COUNT];
    long raised[HS_MOVE_CHECK_COUNT];
};

void hs_golden_moves(struct hs_golden_moves *out);

#endif
