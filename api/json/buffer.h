/* A growing array of bytes for replies. After an allocation has failed, `failed` stays set, and
   later writes do nothing. So a caller needs to check `failed` only once, after the last write. */
#ifndef HS_API_BUFFER_H
#define HS_API_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct hs_buffer {
    char *data; /* allocated with malloc; without a terminating 0 */
    size_t len;
    size_t capacity; /* equal to `len` after a failure, so that no more bytes fit */
    bool failed;
};

/* Marks the buffer as failed, as if memory had run out. */
void hs_buffer_fail(struct hs_buffer *buffer);

/* Grows the buffer for hs_buffer_space. Returns the same as hs_buffer_space. */
char *hs_buffer_grow(struct hs_buffer *buffer, size_t more);

/* Makes space for `more` bytes after the end, and returns the address of this space, or NULL if out
   of memory. After writing, the caller must add the number of written bytes to `len`. */
static inline char *hs_buffer_space(struct hs_buffer *buffer, size_t more)
{
    if (buffer->capacity - buffer->len >= more)
        return buffer->data + buffer->len;
    return hs_buffer_grow(buffer, more);
}

void hs_buffer_append(struct hs_buffer *buffer, const void *bytes, size_t len);
void hs_buffer_puts(struct hs_buffer *buffer, const char *text);
void hs_buffer_printf(struct hs_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees the bytes. After the call, the buffer is empty and can be used again. */
void hs_buffer_free(struct hs_buffer *buffer);

#endif
