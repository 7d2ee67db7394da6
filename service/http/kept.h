/*
 * A worker does not free the memory of each request, but uses this memory for later requests. So
 * most requests allocate no memory. Only the worker uses this memory. This memory consists of at
 * most HS_KEPT requests, HS_KEPT buffers for bodies, and HS_KEPT buffers for answers. A share
 * (state/share.h) counts only the length of a body. The buffer of the body is larger, by at most
 * HS_KEPT_SLACK bytes.
 */
#ifndef HS_SERVICE_HTTP_KEPT_H
#define HS_SERVICE_HTTP_KEPT_H

#include "api/json/arena.h"
#include "api/json/buffer.h"

struct hs_http_request;

enum {
    HS_KEPT = 4,
    HS_KEPT_BODY = 65536, /* longer bodies are freed */
    HS_KEPT_SLACK = 2048,
    HS_KEPT_ANSWER = 16384, /* longer answers are charged to their tenant (reply.c), and freed */
};

/* Empty buffers whose memory is still allocated. */
struct hs_kept_buffers {
    struct hs_buffer all[HS_KEPT];
    unsigned count;
};

/* Zero-initialized. */
struct hs_kept {
    struct hs_http_request *requests[HS_KEPT]; /* malloc'ed */
    unsigned request_count;
    struct hs_kept_buffers bodies, answers;
    struct hs_arena arena; /* for the endpoint that the worker runs; reset afterwards */
};

/* Returns an empty buffer of at least `size` bytes for a body. The capacity is 0 if memory runs
   out. */
struct hs_buffer hs_kept_body(struct hs_kept *kept, size_t size);

/* Returns an empty buffer for an answer. The buffer may have no memory yet. */
struct hs_buffer hs_kept_answer(struct hs_kept *kept);

/* Store the memory of a buffer for a later request, or free it. The buffer is empty afterwards. */
void hs_keep_body(struct hs_kept *kept, struct hs_buffer *body);
void hs_keep_answer(struct hs_kept *kept, struct hs_buffer *answer);

/* Frees everything. */
void hs_kept_free(struct hs_kept *kept);

#endif
