/*
 * Replies that go on: the server-sent events of GET /v1/events. A connection whose stream has
 * nothing to send is suspended, so streams have no threads. Their worker resumes it for an event,
 * for a heartbeat, or for the end of the listener. Only the worker of a stream uses it.
 */
#ifndef HS_SERVICE_HTTP_STREAM_H
#define HS_SERVICE_HTTP_STREAM_H

#include "api/http/reply.h"
#include "service/http/request.h"

struct hs_subscription;

/* Queues the reply, and takes ownership of the subscription. False: memory is out. */
bool hs_http_stream_begin(struct hs_http_request *request, struct MHD_Connection *connection,
                          struct hs_subscription *subscription,
                          const struct hs_reply_headers *headers);

/* Ends the stream of a completed request. NULL does nothing. */
void hs_http_stream_end(struct hs_http_stream *stream);

#endif
