#include "validators/base/encoding.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 4096 };

bool hs_bytes_ensure(struct hs_bytes *bytes, size_t size)
{
    if (size <= bytes->capacity - bytes->len)
        return true;
    size_t capacity = bytes->capacity == 0 ? FIRST_CAPACITY : bytes->capacity;
    while (capacity - bytes->len < size && capacity <= SIZE_MAX / 2)
        capacity *= 2;
    unsigned char *data = capacity - bytes->len < size ? NULL : realloc(bytes->data, capacity);
    if (data == NULL)
        return false;
    bytes->data = data;
    bytes->capacity = capacity;
    return true;
}
