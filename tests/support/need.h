/* Allocation for helpers that cannot report a lack of memory. */
#ifndef HS_TESTS_NEED_H
#define HS_TESTS_NEED_H

#include <stdio.h>
#include <stdlib.h>

static inline void *need(void *pointer)
{
    if (pointer == NULL) {
        fprintf(stderr, "out of memory in a test\n");
        abort();
    }
    return pointer;
}

#endif
