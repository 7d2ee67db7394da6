/*
 * The recorded request stream (docs/recording.md). `serve --record` writes the stream; `play` and
 * `recheck` read it. Each line is one JSON object; the name of its first member is the kind of
 * line.
 */
#ifndef HS_SERVICE_STREAM_H
#define HS_SERVICE_STREAM_H

#include "api/http/routes.h"
#include "api/json/buffer.h"

#define HS_STREAM_FORMAT "hindsight-stream"

/* Version 2 of the format has no saved states. A file may contain both versions, because a newer
   service can continue an old file. */
enum { HS_STREAM_OLDEST = 2, HS_STREAM_VERSION = 3 };

/* Max bytes of a saved state. A reader accepts lines of up to 512 MiB; a line with a state of this
   size is shorter. */
enum { HS_STREAM_STATE_MAX = 256 << 20 };

/* The requests that can change an open match. In a recording, the lines of these requests follow
   the line that opens the match. X(name, route) */
#define HS_STREAM_REQUESTS(X)                                                                      \
    X("frames", HS_ROUTE_FRAMES_POST)                                                              \
    X("moves", HS_ROUTE_MOVES_POST)                                                                \
    X("shots", HS_ROUTE_SHOTS_POST)                                                                \
    X("hits", HS_ROUTE_HITS_POST)                                                                  \
    X("ticks", HS_ROUTE_TICKS_POST)                                                                \
    X("delete", HS_ROUTE_MATCH_DELETE)

/* Returns the name of a route's lines, or NULL if the route changes no match. */
const char *hs_stream_request_name(enum hs_route route);

/* Finds the route of a name. Returns false if there is no such request. */
bool hs_stream_request_route(struct hs_str name, enum hs_route *route);

/* Writes the layout of this program's journal records as text. */
enum { HS_STREAM_LAYOUT = 17 };
void hs_stream_layout(char layout[HS_STREAM_LAYOUT]);

/* Replaces line ends in JSON with spaces. JSON has line ends only between its tokens, where spaces
   are equivalent. */
void hs_stream_flatten(char *json, size_t size);

/* Appends bytes as base64 (RFC 4648, section 4). */
void hs_stream_encode(struct hs_buffer *out, const void *bytes, size_t size);

/* Returns the *size bytes of a base64 text; release them with free(). Returns NULL if the text is
   not base64, or if memory runs out. */
unsigned char *hs_stream_decode(struct hs_str text, size_t *size);

#endif
