#include "tests/integration/stream_reader.h"

#include <check.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "tests/support/http/raw.h"

/* Receives one line with its CR LF. False: the connection ended. */
static bool receive_line(int fd, char *line, size_t size)
{
    size_t len = 0;
    while (len < size - 1 && recv(fd, line + len, 1, 0) == 1)
        if (line[len++] == '\n') {
            line[len] = '\0';
            return true;
        }
    line[len] = '\0';
    return false;
}

void hs_stream_open(struct hs_stream_reader *stream, unsigned port, const char *query,
                    unsigned long long last, const char *header, int receive_bytes)
{
    char request[1024], resume[64] = "";
    *stream = (struct hs_stream_reader){.fd = hs_raw_connect(port)};
    ck_assert_int_ge(stream->fd, 0);
    if (receive_bytes > 0)
        setsockopt(stream->fd, SOL_SOCKET, SO_RCVBUF, &receive_bytes, sizeof receive_bytes);
    if (last > 0)
        snprintf(resume, sizeof resume, "Last-Event-ID: %llu\r\n", last);
    snprintf(request, sizeof request, "GET /v1/events%s HTTP/1.1\r\nHost: x\r\n%s%s%s\r\n", query,
             resume, header != NULL ? header : "", header != NULL ? "\r\n" : "");
    ck_assert(hs_raw_send(stream->fd, request, strlen(request)));
    size_t len = 0;
    do {
        ck_assert(receive_line(stream->fd, stream->head + len, sizeof stream->head - len));
        len += strlen(stream->head + len);
    } while (len < 4 || strcmp(stream->head + len - 4, "\r\n\r\n") != 0);
    ck_assert_int_eq(sscanf(stream->head, "HTTP/1.1 %d ", &stream->status), 1);
}

void hs_stream_close(struct hs_stream_reader *stream)
{
    close(stream->fd);
    hs_buffer_free(&stream->text);
}

/* Receives a piece of a chunk. False: the stream has ended. */
static bool receive_piece(struct hs_stream_reader *stream)
{
    char line[32], piece[65536];
    if (stream->left == 0) {
        errno = 0;
        bool has_line = receive_line(stream->fd, line, sizeof line);
        ck_assert_int_ne(errno, EAGAIN);
        stream->is_cut = !has_line;
        if (stream->is_cut)
            return false;
        stream->left = strtoul(line, NULL, 16);
    }
    if (stream->left == 0) {
        stream->has_ended = receive_line(stream->fd, line, sizeof line) && line[0] == '\r';
        return false;
    }
    size_t size = stream->left < sizeof piece ? stream->left : sizeof piece;
    ssize_t got = recv(stream->fd, piece, size, 0);
    stream->is_cut = got <= 0;
    if (stream->is_cut)
        return false;
    hs_buffer_append(&stream->text, piece, (size_t)got);
    stream->left -= (size_t)got;
    if (stream->left == 0)
        stream->is_cut = !receive_line(stream->fd, line, sizeof line);
    return !stream->is_cut;
}

static void read_line(const char *line, size_t len, struct hs_stream_block *block)
{
    char text[4096];
    ck_assert_uint_lt(len, sizeof text);
    snprintf(text, sizeof text, "%.*s", (int)len, line);
    if (sscanf(text, "id: %llu", &block->id) == 1 || sscanf(text, "event: %31s", block->event) == 1)
        return;
    if (strncmp(text, "data: ", 6) == 0) {
        ck_assert_ptr_null(block->data);
        block->data = json_loads(text + 6, JSON_REJECT_DUPLICATES, NULL);
        ck_assert_msg(block->data != NULL, "%s", text);
        return;
    }
    ck_assert_msg(text[0] == ':', "%s", text);
    snprintf(block->comment, sizeof block->comment, "%.60s", text);
}

bool hs_stream_read(struct hs_stream_reader *stream, struct hs_stream_block *block)
{
    const char *end = NULL;
    *block = (struct hs_stream_block){0};
    while (stream->text.len == 0 ||
           (end = memmem(stream->text.data, stream->text.len, "\n\n", 2)) == NULL)
        if (!receive_piece(stream))
            return false;
    for (const char *line = stream->text.data; line <= end;) {
        size_t len = (size_t)((const char *)memchr(line, '\n', (size_t)(end + 1 - line)) - line);
        read_line(line, len, block);
        line += len + 1;
    }
    size_t taken = (size_t)(end + 2 - stream->text.data);
    stream->text.len -= taken;
    memmove(stream->text.data, end + 2, stream->text.len);
    return true;
}

void hs_stream_expect(struct hs_stream_reader *stream, const char *event,
                      struct hs_stream_block *block)
{
    do {
        ck_assert(hs_stream_read(stream, block));
    } while (block->comment[0] != '\0');
    ck_assert_str_eq(block->event, event);
    ck_assert(block->id > 0 && block->data != NULL);
}

unsigned long long hs_stream_expect_reason(struct hs_stream_reader *stream, const char *reason)
{
    struct hs_stream_block block;
    hs_stream_expect(stream, "verdict", &block);
    ck_assert_str_eq(json_string_value(json_object_get(block.data, "reason")), reason);
    json_decref(block.data);
    return block.id;
}

unsigned long long hs_stream_expect_start(struct hs_stream_reader *stream)
{
    struct hs_stream_block block;
    ck_assert_msg(stream->status == 200, "%s", stream->head);
    ck_assert(hs_stream_read(stream, &block));
    ck_assert_str_eq(block.comment, ": heartbeat");
    ck_assert(block.event[0] == '\0' && block.data == NULL);
    return block.id;
}
