#include "service/system/pages.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { LINE = 64, LARGE = 2 * 1024 * 1024 };

void *hs_pages_alloc(size_t size)
{
    void *memory = NULL;
    size_t rounded = (size / LINE + 1) * LINE;
    if (rounded < size || posix_memalign(&memory, size >= LARGE ? LARGE : LINE, rounded) != 0)
        return NULL;
    /* If the kernel ignores this advice, it uses small pages. The last, partial page is left out,
       because the memory limits would not count the rest of that page. */
    if (size >= LARGE)
        (void)madvise(memory, size / LARGE * LARGE, MADV_HUGEPAGE);
    return memory;
}
