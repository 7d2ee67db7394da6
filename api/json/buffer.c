#include "api/json/buffer.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void hs_buffer_fail(struct hs_buffer *buffer)
{
    buffer->failed = true;
    buffer->capacity = buffer->len;
}

char *hs_buffer_grow(struct hs_buffer *buffer, size_t more)
{
    if (buffer->failed || more > SIZE_MAX / 2 - buffer->len) {
        hs_buffer_fail(buffer);
        return NULL;
    }
    size_t needed = buffer->len + more;
    size_t capacity = buffer->capacity < 1024 ? 1024 : buffer->capacity;
    while (capacity < needed)
        capacity *= 2;
    char *data = realloc(buffer->data, capacity);
    if (data == NULL) {
        hs_buffer_fail(buffer);
        return NULL;
    }
    buffer->data = data;
    buffer->capacity = capacity;
    return data + buffer->len;
}

void hs_buffer_append(struct hs_buffer *buffer, const void *bytes, size_t len)
{
    char *at = len > 0 ? hs_buffer_space(buffer, len) : NULL;
    if (at == NULL)
        return;
    memcpy(at, bytes, len);
    buffer->len += len;
}

void hs_buffer_puts(struct hs_buffer *buffer, const char *text)
{
    hs_buffer_append(buffer, text, strlen(text));
}

void hs_buffer_printf(struct hs_buffer *buffer, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    /* The text nearly always fits. If the text does not fit, grow the buffer and write the text
       again. */
    size_t space = buffer->capacity - buffer->len;
    int len = vsnprintf(space > 0 ? buffer->data + buffer->len : NULL, space, format, args);
    va_end(args);
    bool fits = len >= 0 && (size_t)len < space;
    if (fits || (len >= 0 && hs_buffer_space(buffer, (size_t)len + 1) != NULL)) {
        if (!fits)
            vsnprintf(buffer->data + buffer->len, (size_t)len + 1, format, again);
        buffer->len += (size_t)len;
    }
    va_end(again);
}

void hs_buffer_free(struct hs_buffer *buffer)
{
    free(buffer->data);
    *buffer = (struct hs_buffer){0};
}
