#include "tests/support/random.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

/* Mixes 64 bits (SplitMix64: Steele, Lea, Flood, "Fast splittable pseudorandom number generators",
   2014). */
static uint64_t mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

static bool read_environment(const char *name, unsigned long long *value)
{
    const char *text = getenv(name);
    if (text == NULL || *text == '\0')
        return false;
    char *end = NULL;
    errno = 0;
    *value = strtoull(text, &end, 0);
    if (errno != 0 || *end != '\0') {
        fprintf(stderr, "%s=%s is not a number\n", name, text);
        exit(2);
    }
    return true;
}

uint64_t hs_test_seed(uint64_t fallback)
{
    unsigned long long value = 0;
    return read_environment("HS_SEED", &value) ? (uint64_t)value : fallback;
}

long hs_test_count(const char *name, long fallback)
{
    unsigned long long value = 0;
    if (!read_environment(name, &value))
        return fallback;
    if (value < 1 || value > 1000000000u) {
        fprintf(stderr, "%s must be between 1 and 1000000000\n", name);
        exit(2);
    }
    return (long)value;
}

struct hs_random hs_random_start(uint64_t seed, uint64_t stream)
{
    return (struct hs_random){mix64(seed) + mix64(stream + 1)};
}

uint64_t hs_random_bits(struct hs_random *random)
{
    random->state += 0x9e3779b97f4a7c15u;
    return mix64(random->state);
}

double hs_random_unit(struct hs_random *random)
{
    return (double)(hs_random_bits(random) >> 11) * 0x1p-53;
}

double hs_random_between(struct hs_random *random, double low, double high)
{
    return low + (high - low) * hs_random_unit(random);
}

int hs_random_index(struct hs_random *random, int count)
{
    return (int)(hs_random_unit(random) * count);
}

double hs_random_log_between(struct hs_random *random, double low, double high)
{
    return exp(hs_random_between(random, log(low), log(high)));
}

bool hs_random_chance(struct hs_random *random, double probability)
{
    return hs_random_unit(random) < probability;
}

struct hs_vec hs_random_direction(struct hs_random *random)
{
    for (;;) {
        struct hs_vec v = {hs_random_between(random, -1, 1), hs_random_between(random, -1, 1),
                           hs_random_between(random, -1, 1)};
        double length = hs_vec_length(v);
        if (length > 0.01 && length <= 1.0)
            return hs_vec_scale(v, 1.0 / length);
    }
}

void hs_random_axes(struct hs_random *random, struct hs_vec axes[3])
{
    axes[2] = hs_random_direction(random);
    for (;;) {
        struct hs_vec side = hs_vec_cross(hs_random_direction(random), axes[2]);
        double length = hs_vec_length(side);
        if (length > 0.1) {
            axes[0] = hs_vec_scale(side, 1.0 / length);
            break;
        }
    }
    axes[1] = hs_vec_cross(axes[2], axes[0]);
}
