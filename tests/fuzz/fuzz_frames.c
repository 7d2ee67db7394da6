/* The libFuzzer target of POST .../frames; tests/support/fuzz/targets.c checks the results. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *fault = hs_fuzz_frames(data, size);
    if (fault != NULL) {
        fprintf(stderr, "fuzz_frames: %s\n", fault);
        abort();
    }
    return 0;
}
