#include "service/http/kept.h"

#include <stdlib.h>

static struct hs_buffer take(struct hs_kept_buffers *from, unsigned i)
{
    struct hs_buffer taken = from->all[i];
    from->all[i] = from->all[--from->count];
    return taken;
}

static void keep(struct hs_kept_buffers *to, struct hs_buffer *buffer, size_t max)
{
    if (buffer->capacity == 0 || buffer->capacity > max || buffer->failed || to->count == HS_KEPT) {
        hs_buffer_free(buffer);
        return;
    }
    to->all[to->count++] = (struct hs_buffer){.data = buffer->data, .capacity = buffer->capacity};
    *buffer = (struct hs_buffer){0};
}

struct hs_buffer hs_kept_body(struct hs_kept *kept, size_t size)
{
    for (unsigned i = kept->bodies.count; i-- > 0;) {
        size_t capacity = kept->bodies.all[i].capacity;
        if (capacity >= size && capacity - size <= HS_KEPT_SLACK)
            return take(&kept->bodies, i);
    }
    struct hs_buffer body = {.data = malloc(size)};
    body.capacity = body.data != NULL ? size : 0;
    return body;
}

struct hs_buffer hs_kept_answer(struct hs_kept *kept)
{
    if (kept->answers.count == 0)
        return (struct hs_buffer){0};
    return take(&kept->answers, kept->answers.count - 1);
}

void hs_keep_body(struct hs_kept *kept, struct hs_buffer *body)
{
    keep(&kept->bodies, body, HS_KEPT_BODY);
}

void hs_keep_answer(struct hs_kept *kept, struct hs_buffer *answer)
{
    keep(&kept->answers, answer, HS_KEPT_ANSWER);
}

void hs_kept_free(struct hs_kept *kept)
{
    while (kept->request_count > 0)
        free(kept->requests[--kept->request_count]);
    while (kept->bodies.count > 0)
        hs_buffer_free(&kept->bodies.all[--kept->bodies.count]);
    while (kept->answers.count > 0)
        hs_buffer_free(&kept->answers.all[--kept->answers.count]);
    hs_arena_free(&kept->arena);
}
