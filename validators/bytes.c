#include "bytes.h"

#include <stdlib.h>

enum { FIRST_CAPACITY = 4096 };

unsigned char *hs_bytes_reserve(struct hs_bytes *bytes, size_t size)
{
    if (bytes->failed)
        return NULL;
    if (size > bytes->capacity - bytes->len) {
        size_t capacity = bytes->capacity == 0 ? FIRST_CAPACITY : bytes->capacity;
        while (capacity - bytes->len < size && capacity <= SIZE_MAX / 2)
            capacity *= 2;
        unsigned char *data = capacity - bytes->len < size ? NULL : realloc(bytes->data, capacity);
        if (data == NULL) {
            bytes->failed = true;
            return NULL;
        }
        bytes->data = data;
        bytes->capacity = capacity;
    }
    unsigned char *at = bytes->data + bytes->len;
    bytes->len += size;
    return at;
}
