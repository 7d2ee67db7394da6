#include "api/json/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

struct hs_arena_block {
    struct hs_arena_block *next;
    alignas(max_align_t) unsigned char bytes[];
};

enum { BLOCK_SIZE = 16 * 1024 };

void *hs_arena_alloc(struct hs_arena *arena, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size != 0 && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = (count * size + align - 1) / align * align;
    if (arena->blocks == NULL || arena->capacity - arena->used < bytes) {
        size_t capacity = bytes > BLOCK_SIZE ? bytes : BLOCK_SIZE;
        struct hs_arena_block *block = calloc(1, sizeof *block + capacity);
        if (block == NULL)
            return NULL;
        block->next = arena->blocks;
        arena->blocks = block;
        arena->used = 0;
        arena->capacity = capacity;
    }
    void *memory = arena->blocks->bytes + arena->used;
    arena->used += bytes;
    return memory;
}

void hs_arena_free(struct hs_arena *arena)
{
    while (arena->blocks != NULL) {
        struct hs_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        free(block);
    }
    *arena = (struct hs_arena){0};
}
