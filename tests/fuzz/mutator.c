/* Uses libFuzzer's mutations of bytes and the mutations of JSON, about equally often. */
#include "tests/support/fuzz/json_mutate.h"

size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max_size);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed);
size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t max_size, unsigned seed);

size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max_size, unsigned seed)
{
    struct hs_random random = hs_random_start(seed, size);
    size_t mutated = 0;
    if (hs_random_chance(&random, 0.5))
        mutated = hs_json_mutate(data, size, max_size, &random);
    return mutated > 0 ? mutated : LLVMFuzzerMutate(data, size, max_size);
}

size_t LLVMFuzzerCustomCrossOver(const uint8_t *data, size_t size, const uint8_t *other,
                                 size_t other_size, uint8_t *out, size_t max_size, unsigned seed)
{
    struct hs_random random = hs_random_start(seed, size);
    return hs_json_cross(data, size, other, other_size, out, max_size, &random);
}
