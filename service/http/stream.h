/*
 * Streams of server-sent events: the answers to GET /v1/events. While a stream has nothing to send,
 * its connection is suspended, so the stream needs no thread. Its worker resumes the connection
 * when an event arrives, a heartbeat must be sent, or the listener stops. Only this worker uses the
 * stream.
 */
#ifndef HS_SERVICE_HTTP_STREAM_H
#define HS_SERVICE_HTTP_STREAM_H

#include "api/http/reply.h"
#include "service/http/request.h"

struct hs_subscription;

/* Begins the answer. Takes ownership of the subscription. Returns false if memory runs out. */
bool hs_http_stream_begin(struct hs_http_request *request, struct MHD_Connection *connection,
                          struct hs_subscription *subscription,
                          const struct hs_reply_headers *headers);

/* Frees the stream of a completed request. Does nothing for NULL. */
void hs_http_stream_end(struct hs_http_stream *stream);

#endif
