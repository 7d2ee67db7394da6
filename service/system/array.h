/* Growing arrays. */
#ifndef HS_SERVICE_ARRAY_H
#define HS_SERVICE_ARRAY_H

#include <stdlib.h>

/* Returns an array with space for at least one more item of `size` bytes. The result is `array`
   itself or, if `array` is full, a larger array that replaces it. A NULL `array` is empty. If
   memory runs out, returns NULL, and `array` stays valid. */
static inline void *hs_array_grow(void *array, size_t count, size_t *capacity, size_t size)
{
    size_t more = 2 * *capacity + 8;
    if (count < *capacity)
        return array;
    void *grown = realloc(array, more * size);
    if (grown != NULL)
        *capacity = more;
    return grown;
}

#endif
