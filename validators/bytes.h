/* A buffer of bytes that the library appends to and its user owns. */
#ifndef HS_BYTES_H
#define HS_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* A run of bytes that grows; zero is an empty one. `failed`: memory was out, it lacks something. */
struct hs_bytes {
    unsigned char *data; /* owned; free() */
    size_t len, capacity;
    bool failed;
};

#endif
