/* Tells the processor which memory will be needed soon. */
#ifndef HS_BASE_PREFETCH_H
#define HS_BASE_PREFETCH_H

#include <stddef.h>

/* The number of bytes that most processors load at once. If a processor loads more, some prefetches
   are needless but harmless. */
enum { HS_CACHE_LINE = 64 };

static inline void hs_prefetch(const void *from, size_t size)
{
    for (size_t at = 0; at < size + HS_CACHE_LINE - 1; at += HS_CACHE_LINE)
        __builtin_prefetch((const unsigned char *)from + at);
}

#endif
