/*
 * A bump allocator that lives as long as one request: decoded structs are carved from it and
 * all go at once. Memory comes aligned for any type and is zeroed.
 */
#ifndef HS_API_ARENA_H
#define HS_API_ARENA_H

#include <stddef.h>

struct hs_arena_block;

struct hs_arena {
    struct hs_arena_block *blocks;
    size_t used, capacity; /* of the newest block */
};

/* NULL when memory is out; nothing allocated before is lost. */
void *hs_arena_alloc(struct hs_arena *arena, size_t count, size_t size);

/* Frees everything; the arena can be used again. */
void hs_arena_free(struct hs_arena *arena);

#endif
