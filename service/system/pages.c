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
    /* The result of madvise does not matter, because small pages work too. The advice excludes the
       partial page at the end, because a large page there would use memory that the memory limits
       do not count. */
    if (size >= LARGE)
        (void)madvise(memory, size / LARGE * LARGE, MADV_HUGEPAGE);
    return memory;
}
