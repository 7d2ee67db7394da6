/* A growing array of bytes for replies. After an allocation fails, `failed` stays set and later
   writes do nothing. So a caller needs to check `failed` only once, at the end. */
#ifndef HS_API_BUFFER_H
#define HS_API_BUFFER_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

struct hs_buffer {
    char *data; /* malloc'ed; not terminated */
    size_t len;
    size_t capacity; /* set to `len` after a failure, so that nothing more fits */
    bool failed;
};

/* Marks the buffer as failed, as if memory had run out. */
void hs_buffer_fail(struct hs_buffer *buffer);

/* hs_buffer_space calls this if the buffer must grow. Returns the same as hs_buffer_space. */
char *hs_buffer_grow(struct hs_buffer *buffer, size_t more);

/* Makes space for `more` bytes after the end, and returns its address; NULL: out of memory. The
   caller must then add the number of written bytes to `len`. */
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

/* Frees the bytes. The buffer is empty afterwards. */
void hs_buffer_free(struct hs_buffer *buffer);

#endif
