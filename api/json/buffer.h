/* A growing array of bytes for replies. After a failed allocation `failed` stays set and later
   writes do nothing. So a writer checks only once, at the end. */
#ifndef HS_API_BUFFER_H
#define HS_API_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct hs_buffer {
    char *data; /* malloc'ed; not terminated */
    size_t len;
    size_t capacity;
    bool failed;
};

/* Reserves `more` bytes after the end, more than `capacity` has, and returns their place. NULL: out
   of memory. */
char *hs_buffer_grow(struct hs_buffer *buffer, size_t more);

/* Returns the place of `more` bytes after the end, where the caller may write. The caller then adds
   what they wrote to `len`. NULL: out of memory. */
static inline char *hs_buffer_space(struct hs_buffer *buffer, size_t more)
{
    bool fits = buffer->capacity - buffer->len >= more && !buffer->failed;
    return fits ? buffer->data + buffer->len : hs_buffer_grow(buffer, more);
}

void hs_buffer_append(struct hs_buffer *buffer, const void *bytes, size_t len);
void hs_buffer_puts(struct hs_buffer *buffer, const char *text);
void hs_buffer_printf(struct hs_buffer *buffer, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Frees the bytes and leaves an empty buffer. */
void hs_buffer_free(struct hs_buffer *buffer);

#endif
