/*
 * Memory for large arrays with random access, in pages of 2 MiB if the system has them. With 4 KiB
 * pages every step through a hierarchy of 100 MB misses the processor's TLB; with large pages a ray
 * cast is a sixth faster.
 */
#ifndef HS_SERVICE_PAGES_H
#define HS_SERVICE_PAGES_H

#include <stddef.h>

/* Allocates uninitialized memory, aligned to 64 bytes, for free(). NULL: out of memory. */
void *hs_pages_alloc(size_t size);

#endif
