/* Starts to load memory into the processor's cache before it is needed. */
#ifndef HS_BASE_PREFETCH_H
#define HS_BASE_PREFETCH_H

#include <stddef.h>

/* The size of a cache line on most processors. If lines are larger, some prefetches are needless,
   but harmless. */
enum { HS_CACHE_LINE = 64 };

static inline void hs_prefetch(const void *from, size_t size)
{
    for (size_t at = 0; at < size + HS_CACHE_LINE - 1; at += HS_CACHE_LINE)
        __builtin_prefetch((const unsigned char *)from + at);
}

#endif
