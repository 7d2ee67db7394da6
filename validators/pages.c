/* madvise is not ISO C; the feature macro must stand before the first header. */
#if defined(__linux__)
#define _DEFAULT_SOURCE /* NOLINT(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp) */
#include <sys/mman.h>
#endif

#include "pages.h"

#include <stdlib.h>

enum { LINE = 64, LARGE = 2 * 1024 * 1024 };

void *hs_pages_alloc(size_t size)
{
    size_t unit = size >= LARGE ? LARGE : LINE;
    size_t rounded = (size / unit + 1) * unit;
    void *memory = rounded > size ? aligned_alloc(unit, rounded) : NULL;
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    /* Advice: where it is not taken, small pages do. */
    if (memory != NULL && unit == LARGE)
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
#endif
    return memory;
}
