#include "api/json/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct hs_arena_block {
    struct hs_arena_block *next;
    size_t used, capacity;
    alignas(max_align_t) unsigned char bytes[];
};

enum { BLOCK_SIZE = 16 * 1024 };

/* Returns the link to the smallest spare block with a capacity of at least `bytes`, or NULL if no
   spare block is large enough. */
static struct hs_arena_block **find_spare(struct hs_arena *arena, size_t bytes)
{
    struct hs_arena_block **best = NULL;
    for (struct hs_arena_block **at = &arena->spare; *at != NULL; at = &(*at)->next)
        if ((*at)->capacity >= bytes && (best == NULL || (*at)->capacity < (*best)->capacity))
            best = at;
    return best;
}

/* Adds a block with a capacity of at least `bytes`. Returns NULL if out of memory. */
static struct hs_arena_block *add_block(struct hs_arena *arena, size_t bytes)
{
    struct hs_arena_block **spare = find_spare(arena, bytes), *block;
    if (spare != NULL) {
        block = *spare;
        *spare = block->next;
    } else {
        size_t capacity = bytes > BLOCK_SIZE ? bytes : BLOCK_SIZE;
        block = calloc(1, sizeof *block + capacity);
        if (block == NULL)
            return NULL;
        block->capacity = capacity;
    }
    block->next = arena->blocks;
    arena->blocks = block;
    return block;
}

void *hs_arena_alloc(struct hs_arena *arena, size_t count, size_t size)
{
    const size_t align = alignof(max_align_t);
    if (size != 0 && count > (SIZE_MAX / 2) / size)
        return NULL;
    size_t bytes = (count * size + align - 1) / align * align;
    struct hs_arena_block *block = arena->blocks;
    if (block == NULL || block->capacity - block->used < bytes)
        block = add_block(arena, bytes);
    if (block == NULL)
        return NULL;
    void *memory = block->bytes + block->used;
    block->used += bytes;
    return memory;
}

static void free_all(struct hs_arena_block *blocks)
{
    while (blocks != NULL) {
        struct hs_arena_block *block = blocks;
        blocks = block->next;
        free(block);
    }
}

void hs_arena_reset(struct hs_arena *arena)
{
    size_t kept = 0;
    for (const struct hs_arena_block *block = arena->spare; block != NULL; block = block->next)
        kept += block->capacity;
    while (arena->blocks != NULL) {
        struct hs_arena_block *block = arena->blocks;
        arena->blocks = block->next;
        if (block->capacity > HS_ARENA_KEPT - kept) {
            free(block);
            continue;
        }
        kept += block->capacity;
        memset(block->bytes, 0, block->used);
        block->used = 0;
        block->next = arena->spare;
        arena->spare = block;
    }
}

void hs_arena_free(struct hs_arena *arena)
{
    free_all(arena->blocks);
    free_all(arena->spare);
    *arena = (struct hs_arena){0};
}
