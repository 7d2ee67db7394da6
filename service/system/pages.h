/*
 * Memory for large arrays that are read all over: where the system has them, in pages of 2 MiB. A
 * walk through a hierarchy of a hundred megabytes misses the processor's table of 4 KiB pages at
 * every step; with large ones a cast is a sixth faster.
 */
#ifndef HS_SERVICE_PAGES_H
#define HS_SERVICE_PAGES_H

#include <stddef.h>

/* Uninitialised, aligned to 64 bytes; NULL when memory is out. free() gives it back. */
void *hs_pages_alloc(size_t size);

#endif
