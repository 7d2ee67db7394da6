/*
 * Allocates memory for large arrays with random access, in pages of 2 MiB if the system has them.
 * With 4 KiB pages, every step through a 100 MB hierarchy misses the processor's TLB. With large
 * pages, a ray cast takes about a sixth less time.
 */
#ifndef HS_SERVICE_PAGES_H
#define HS_SERVICE_PAGES_H

#include <stddef.h>

/* Allocates uninitialized memory, aligned to 64 bytes; release it with free(). Returns NULL if
   memory runs out. */
void *hs_pages_alloc(size_t size);

#endif
