/* Random numbers for property tests: a small generator with the same sequence on every machine, and
   the seed and counts of a run. A failing run is repeated with HS_SEED=<printed seed>. */
#ifndef HS_TEST_RANDOM_H
#define HS_TEST_RANDOM_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/vec.h"

struct hs_random {
    uint64_t state;
};

/* Returns the seed of this run: HS_SEED, or `fallback` if it is unset or empty. A value that is not
   a number ends the program with a message, because a typing error must not silently test something
   else. */
uint64_t hs_test_seed(uint64_t fallback);

/* Returns a count from the environment variable `name`, at least 1, or `fallback`. Errors are
   handled as in hs_test_seed. */
long hs_test_count(const char *name, long fallback);

/* Starts a stream of random numbers. If two streams have the same seed but different `stream`, they
   are independent. */
struct hs_random hs_random_start(uint64_t seed, uint64_t stream);

uint64_t hs_random_bits(struct hs_random *random);

/* Return a number that is uniform in [0, 1) or in [low, high), or an index in [0, count). */
double hs_random_unit(struct hs_random *random);
double hs_random_between(struct hs_random *random, double low, double high);
int hs_random_index(struct hs_random *random, int count);

/* Returns a number whose logarithm is uniform; 0 < low < high. */
double hs_random_log_between(struct hs_random *random, double low, double high);

bool hs_random_chance(struct hs_random *random, double probability);

/* Returns a unit vector, uniform on the sphere. */
struct hs_vec hs_random_direction(struct hs_random *random);

/* Draws three orthonormal vectors, a right-handed frame, uniformly distributed over rotations. */
void hs_random_axes(struct hs_random *random, struct hs_vec axes[3]);

#endif
