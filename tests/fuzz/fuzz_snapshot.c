/* libFuzzer on saved matches; what must hold is in tests/support/fuzz/snapshot.c. */
#include <stdio.h>
#include <stdlib.h>

#include "tests/support/fuzz/targets.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *fault = hs_fuzz_snapshot(data, size);
    if (fault != NULL) {
        fprintf(stderr, "fuzz_snapshot: %s\n", fault);
        abort();
    }
    return 0;
}
