#include "service/endpoints/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, LARGE = 2 * 1024 * 1024 };

void *hs_pages_alloc(size_t size)
{
    size_t unit = size >= LARGE ? LARGE : LINE;
    size_t rounded = (size / unit + 1) * unit;
    void *memory = rounded > size ? aligned_alloc(unit, rounded) : NULL;
    /* Advice: where it is not taken, small pages do. */
    if (memory != NULL && unit == LARGE)
        (void)madvise(memory, rounded, MADV_HUGEPAGE);
    return memory;
}
