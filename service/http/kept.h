/*
 * Memory that a worker keeps and reuses, so that most requests allocate no memory. A worker keeps
 * at most HS_KEPT requests, HS_KEPT buffers for bodies and HS_KEPT buffers for answers. Only the
 * worker uses this memory. Tenants are charged only for the length of a body (state/share.h); the
 * body's buffer may be up to HS_KEPT_SLACK bytes larger.
 */
#ifndef HS_SERVICE_HTTP_KEPT_H
#define HS_SERVICE_HTTP_KEPT_H

#include "api/json/arena.h"
#include "api/json/buffer.h"

struct hs_http_request;

enum {
    HS_KEPT = 4,
    HS_KEPT_BODY = 65536, /* larger buffers for bodies are freed */
    HS_KEPT_SLACK = 2048,
    /* larger answers are charged to the tenant (reply.c), and their buffers are freed */
    HS_KEPT_ANSWER = 16384,
};

/* Empty buffers with allocated memory. */
struct hs_kept_buffers {
    struct hs_buffer all[HS_KEPT];
    unsigned count;
};

/* Zero-initialize before use. */
struct hs_kept {
    struct hs_http_request *requests[HS_KEPT];
    unsigned request_count;
    struct hs_kept_buffers bodies, answers;
    struct hs_arena arena; /* for the endpoint that the worker runs; reset after each request */
};

/* Returns an empty buffer with at least `size` bytes for a body. If memory runs out, the capacity
   of the buffer is 0. */
struct hs_buffer hs_kept_body(struct hs_kept *kept, size_t size);

/* Returns an empty buffer for an answer, with or without allocated memory. */
struct hs_buffer hs_kept_answer(struct hs_kept *kept);

/* These functions keep a buffer's memory for a later request, or free the memory. The buffer is
   then empty. */
void hs_keep_body(struct hs_kept *kept, struct hs_buffer *body);
void hs_keep_answer(struct hs_kept *kept, struct hs_buffer *answer);

/* Frees all kept memory. */
void hs_kept_free(struct hs_kept *kept);

#endif
