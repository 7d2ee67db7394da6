/*
 * The libFuzzer target of tokens and token files; tests/support/fuzz/tokens.c checks the results.
 */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *fault = hs_fuzz_tokens(data, size);
    if (fault != NULL) {
        fprintf(stderr, "fuzz_tokens: %s\n", fault);
        abort();
    }
    return 0;
}
