/* A bump allocator for the decoded structs of one request. All allocations end together. Their
   memory is freed, or kept for the next request. Memory is zeroed and aligned for any type. */
#ifndef HS_API_ARENA_H
#define HS_API_ARENA_H

#include <stddef.h>

struct hs_arena_block;

struct hs_arena {
    struct hs_arena_block *blocks; /* blocks in use, the newest first */
    struct hs_arena_block *spare;  /* blocks that hs_arena_reset kept; their bytes are zero */
};

/* The maximum number of bytes that hs_arena_reset keeps. */
enum { HS_ARENA_KEPT = 1024 * 1024 };

/* Allocates zeroed memory. Returns NULL if out of memory; earlier allocations stay valid. */
void *hs_arena_alloc(struct hs_arena *arena, size_t count, size_t size);

/* Frees all allocations, but keeps up to HS_ARENA_KEPT bytes of memory for later allocations. */
void hs_arena_reset(struct hs_arena *arena);

/* Frees all memory. The arena can be used again. */
void hs_arena_free(struct hs_arena *arena);

#endif
