/*
 * Random swept-sphere questions: shapes and paths in metres and centimetres, near the origin and
 * far from it. Difficult cases are frequent (tangents, parallels, starts inside, extents of zero).
 */
#ifndef HS_TEST_SWEEP_CASES_H
#define HS_TEST_SWEEP_CASES_H

#include <stdio.h>

#include "tests/support/oracle/sweep_reference.h"
#include "tests/support/random.h"
#include "validators/sweep.h"

struct hs_sweep_case {
    struct hs_reference_shape shape;
    struct hs_solid solid; /* the same shape, as the library describes it */
    struct hs_sweep sweep;
    double metre;     /* length of a metre in the case's unit: 1 or 100 */
    const char *path; /* how the path was chosen */
};

/* Draws a case of the given kind; the same state of `random` gives the same sequence. */
void hs_sweep_case_draw(struct hs_random *random, enum hs_reference_kind kind,
                        struct hs_sweep_case *out);

/* Returns the library's description of the shape. */
struct hs_solid hs_sweep_case_solid(const struct hs_reference_shape *shape);

/* Prints the case as C initialisers without loss of digits, for a unit test. */
void hs_sweep_case_print(FILE *file, const struct hs_sweep_case *c);

#endif
