#include "service/http/stream.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "service/delivery/events.h"
#include "service/service.h"
#include "service/system/clock.h"

enum {
    HEARTBEAT_US = 15000000,
    /* While the listener stops, a peer that reads nothing for END_US is disconnected. */
    END_US = 1000000,
    CHECK_US = 1000000, /* time between two checks of a silent peer or of a token */
    PIECE_BYTES = 4096, /* maximum size of one read by the library */
};

struct hs_http_stream {
    struct hs_http_request *request;
    struct MHD_Connection *connection;
    struct hs_subscription *subscription;
    struct hs_http_stream *next; /* next stream of the same worker */
    struct hs_buffer text;       /* the text being sent */
    size_t sent;                 /* how much of `text` the library has copied */
    int64_t used_us;             /* when the library last asked for bytes */
    int64_t written_us;          /* when the last text was written; INT64_MIN / 2: never */
    int64_t checked_us;          /* when this peer was last checked for a closed connection */
    int64_t admitted_us;         /* when the token was last checked */
    bool is_suspended;
    bool has_ended;  /* the peer has closed the connection */
    bool is_revoked; /* the token is no longer valid */
    bool is_cut;     /* the peer read too slowly, so the socket was shut down */
};

static bool is_closing(const struct hs_http_stream *stream)
{
    return atomic_load(&stream->request->http->closing);
}

static bool is_heartbeat_due(const struct hs_http_stream *stream, int64_t now_us)
{
    return now_us - stream->written_us >= HEARTBEAT_US;
}

/* Returns whether the stream must end, because the listener stops or the token is no longer
   valid. */
static bool must_end(struct hs_http_stream *stream, int64_t now_us)
{
    struct hs_http_request *request = stream->request;
    struct hs_auth auth;
    if (now_us - stream->admitted_us >= CHECK_US) {
        stream->admitted_us = now_us;
        hs_auth_check(request->http->service, (enum hs_route)request->route, &request->params,
                      hs_http_authorization(stream->connection), &auth);
        stream->is_revoked = auth.failure != HS_AUTH_FINE;
    }
    return stream->is_revoked || is_closing(stream);
}

/* Writes the next text. Returns false if there is nothing to send. Heartbeats contain an id, too,
   so that a client whose filter matches few events can resume from a recent id. */
static bool make_text(struct hs_http_stream *stream, int64_t now_us)
{
    struct hs_subscription_next next;
    struct hs_buffer *text = &stream->text;
    text->len = stream->sent = 0;
    switch (hs_subscription_next(stream->subscription, &next)) {
    case HS_SUBSCRIPTION_EVENT:
        hs_buffer_printf(text, "id: %" PRIu64 "\nevent: verdict\ndata: ", next.number);
        hs_buffer_append(text, next.event->json, next.event->size);
        hs_buffer_puts(text, "\n\n");
        hs_event_release(next.event);
        break;
    case HS_SUBSCRIPTION_GAP:
        hs_buffer_printf(text, "id: %" PRIu64 "\nevent: gap\ndata: {\"missed\":", next.number);
        if (next.is_counted)
            hs_buffer_printf(text, "%" PRIu64 "}\n\n", next.missed);
        else
            hs_buffer_puts(text, "null}\n\n");
        break;
    case HS_SUBSCRIPTION_NONE:
        if (!is_heartbeat_due(stream, now_us))
            return false;
        hs_buffer_printf(text, ": heartbeat\nid: %" PRIu64 "\n\n", next.number);
        break;
    }
    stream->written_us = now_us;
    return true;
}

static ssize_t copy_text(struct hs_http_stream *stream, char *out, size_t size)
{
    size_t left = stream->text.len - stream->sent;
    size_t count = left < size ? left : size;
    memcpy(out, stream->text.data + stream->sent, count);
    stream->sent += count;
    return (ssize_t)count;
}

/* The library calls this function in the worker's thread when the socket can accept more bytes. */
static ssize_t read_stream(void *context, uint64_t place, char *out, size_t size)
{
    struct hs_http_stream *stream = context;
    struct hs_http_connection *peer = stream->request->connection;
    int64_t now_us = hs_clock_us();
    (void)place;
    stream->used_us = now_us;
    if (stream->has_ended || !hs_http_advance(peer, HS_HTTP_REPLY, HS_HTTP_REPLY, now_us))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (stream->sent < stream->text.len)
        return copy_text(stream, out, size);
    bool is_last = must_end(stream, now_us);
    bool has_text = !stream->is_revoked && make_text(stream, now_us);
    if (stream->text.failed)
        return MHD_CONTENT_READER_END_WITH_ERROR;
    if (has_text)
        return copy_text(stream, out, size);
    if (is_last)
        return MHD_CONTENT_READER_END_OF_STREAM;
    if (!hs_http_advance(peer, HS_HTTP_REPLY, HS_HTTP_QUEUED, now_us))
        return MHD_CONTENT_READER_END_WITH_ERROR;
    stream->is_suspended = true;
    MHD_suspend_connection(stream->connection);
    return 0;
}

bool hs_http_stream_begin(struct hs_http_request *request, struct MHD_Connection *connection,
                          struct hs_subscription *subscription,
                          const struct hs_reply_headers *headers)
{
    struct hs_http_worker *worker = request->connection->worker;
    struct hs_http_stream *stream = calloc(1, sizeof *stream);
    if (stream == NULL) {
        hs_events_unsubscribe(subscription);
        return false;
    }
    *stream = (struct hs_http_stream){.request = request,
                                      .connection = connection,
                                      .subscription = subscription,
                                      .next = worker->streams,
                                      .used_us = hs_clock_us(),
                                      .admitted_us = hs_clock_us(),
                                      .written_us = INT64_MIN / 2};
    worker->streams = request->stream = stream;
    hs_subscription_wake(subscription, worker->wake);
    return hs_reply_stream(connection, "text/event-stream", PIECE_BYTES, read_stream, stream,
                           headers);
}

void hs_http_stream_end(struct hs_http_stream *stream)
{
    if (stream == NULL)
        return;
    struct hs_http_request *request = stream->request;
    struct hs_http_stream **link = &request->connection->worker->streams;
    while (*link != stream)
        link = &(*link)->next;
    *link = stream->next;
    /* The watchdog expires streams whose peers read nothing for a long time. */
    if (stream->is_cut || atomic_load(&request->connection->watched->phase) == HS_HTTP_EXPIRED)
        hs_metrics_add(request->http->service->metrics, HS_METRIC_EVENT_STREAMS_DROPPED, 0, 1);
    hs_events_unsubscribe(stream->subscription);
    hs_buffer_free(&stream->text);
    free(stream);
}

/* ---- the worker ---- */

static void resume(struct hs_http_stream *stream, int64_t now_us)
{
    hs_http_advance(stream->request->connection, HS_HTTP_QUEUED, HS_HTTP_REPLY, now_us);
    stream->is_suspended = false;
    stream->used_us = now_us;
    MHD_resume_connection(stream->connection);
}

/* Returns whether the peer of this stream reads too slowly. The stream must not be suspended. */
static bool is_slow(const struct hs_http_stream *stream, int64_t now_us)
{
    return hs_subscription_is_overtaken(stream->subscription) ||
           (is_closing(stream) && now_us - stream->used_us >= END_US);
}

/* Returns whether the peer has closed a suspended connection. The library does not notice such a
   close. */
static bool has_ended(struct hs_http_stream *stream, int64_t now_us)
{
    char byte;
    if (!stream->is_suspended || now_us - stream->checked_us < CHECK_US)
        return false;
    stream->checked_us = now_us;
    int fd = stream->request->connection->fd;
    return recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT) == 0;
}

void hs_http_streams_serve(struct hs_http_worker *worker)
{
    int64_t now_us = worker->streams != NULL ? hs_clock_us() : 0;
    for (struct hs_http_stream *stream = worker->streams; stream != NULL; stream = stream->next) {
        stream->has_ended = stream->has_ended || has_ended(stream, now_us);
        bool is_due = stream->has_ended || must_end(stream, now_us) ||
                      is_heartbeat_due(stream, now_us) ||
                      hs_subscription_has_news(stream->subscription);
        if (stream->is_suspended && is_due) {
            resume(stream, now_us);
        } else if (!stream->is_suspended && !stream->is_cut && is_slow(stream, now_us)) {
            stream->is_cut = true;
            shutdown(stream->request->connection->fd, SHUT_RDWR);
        }
    }
}

void hs_http_streams_resume(struct hs_http_worker *worker)
{
    for (struct hs_http_stream *stream = worker->streams; stream != NULL; stream = stream->next)
        if (stream->is_suspended)
            resume(stream, hs_clock_us());
}

int hs_http_streams_wait_ms(const struct hs_http_worker *worker, int wait_ms)
{
    int64_t now_us = worker->streams != NULL ? hs_clock_us() : 0;
    for (const struct hs_http_stream *stream = worker->streams; stream != NULL;
         stream = stream->next) {
        int64_t until_us = is_closing(stream) ? stream->used_us + END_US : INT64_MAX;
        if (stream->is_suspended)
            until_us = stream->checked_us + CHECK_US; /* heartbeats are at most CHECK_US late */
        int64_t left_ms = until_us > now_us ? (until_us - now_us) / 1000 + 1 : 1;
        if (left_ms < wait_ms)
            wait_ms = (int)left_ms;
    }
    return wait_ms;
}
