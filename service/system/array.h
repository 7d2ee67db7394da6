/* Growing arrays. */
#ifndef HS_SERVICE_ARRAY_H
#define HS_SERVICE_ARRAY_H

#include <stdlib.h>

/* Makes space for one more item of `size` bytes in a malloc'ed array (NULL: an empty array).
   Returns the same array or a larger copy. If memory runs out, returns NULL, and `array` stays
   valid. */
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
