/* A buffer that the library appends to. The caller owns it. */
#ifndef HS_BYTES_H
#define HS_BYTES_H

#include <stdbool.h>
#include <stddef.h>

/* An all-zero struct is an empty buffer. */
struct hs_bytes {
    unsigned char *data; /* owned; free() */
    size_t len, capacity;
    bool failed; /* memory ran out, so bytes are missing */
};

#endif
