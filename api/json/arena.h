/* A bump allocator for the decoded structs of one request. All its memory is freed at once. Memory
   is zeroed and aligned for any type. */
#ifndef HS_API_ARENA_H
#define HS_API_ARENA_H

#include <stddef.h>

struct hs_arena_block;

struct hs_arena {
    struct hs_arena_block *blocks;
    size_t used, capacity; /* of the newest block */
};

/* NULL: out of memory. Earlier allocations stay valid. */
void *hs_arena_alloc(struct hs_arena *arena, size_t count, size_t size);

/* Frees all memory. The arena can be used again. */
void hs_arena_free(struct hs_arena *arena);

#endif
