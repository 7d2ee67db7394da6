/* A client of GET /v1/events that reads the stream event by event. */
#ifndef HS_TESTS_STREAM_READER_H
#define HS_TESTS_STREAM_READER_H

#include <jansson.h>
#include <stdbool.h>

#include "api/json/buffer.h"

struct hs_stream_reader {
    int fd;
    int status;
    char head[2048]; /* of the answer, terminated */
    struct hs_buffer
        text;       /* received bytes without chunk headers that are not read as events yet */
    size_t left;    /* bytes of the current chunk that are not received yet */
    bool has_ended; /* the last chunk came: the stream ended cleanly */
    bool is_cut;    /* the connection ended before the last chunk */
};

/* One block of the stream: the lines up to an empty line. */
struct hs_stream_block {
    char event[32], comment[64]; /* "": the block has none */
    unsigned long long id;       /* 0: none */
    json_t *data;                /* freed by the caller; NULL: none */
};

/* Sends the request and reads the head of the answer. `query`: "?..." or "". `last`: the value of
   Last-Event-ID; 0: none. `header`: a further header line, or NULL. `receive_bytes`: size of the
   socket's receive buffer; 0: the system's default. */
void hs_stream_open(struct hs_stream_reader *stream, unsigned port, const char *query,
                    unsigned long long last, const char *header, int receive_bytes);
void hs_stream_close(struct hs_stream_reader *stream);

/* Reads the next block. False: the stream has ended or was cut. The test fails if no block comes in
   20 s. */
bool hs_stream_read(struct hs_stream_reader *stream, struct hs_stream_block *block);

/* Reads the next block with an event of this name; comments are skipped. The test fails if another
   event comes, or if none comes. */
void hs_stream_expect(struct hs_stream_reader *stream, const char *event,
                      struct hs_stream_block *block);

/* Reads the next verdict, which must have this reason, and returns its id. */
unsigned long long hs_stream_expect_reason(struct hs_stream_reader *stream, const char *reason);

/* Reads the comment at the start of a stream, so that the stream gets all later verdicts. Returns
 * the id in the comment. */
unsigned long long hs_stream_expect_start(struct hs_stream_reader *stream);

#endif
