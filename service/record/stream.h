/*
 * The recorded request stream (docs/recording.md). `serve --record` writes the stream; `play` and
 * `recheck` read it. Each line is a JSON object. The name of the object's first member is the kind
 * of the line.
 */
#ifndef HS_SERVICE_STREAM_H
#define HS_SERVICE_STREAM_H

#include "api/http/routes.h"
#include "api/json/buffer.h"

#define HS_STREAM_FORMAT "hindsight-stream"

/* Version 2 of the format has no saved states. A file may contain versions 2 and 3, because a newer
   service can append to an older file. */
enum { HS_STREAM_OLDEST = 2, HS_STREAM_VERSION = 3 };

/* Max size of a saved state. A state of this size fits into a line as base64, because readers
   accept lines of up to 512 MiB. */
enum { HS_STREAM_STATE_MAX = 256 << 20 };

/* The requests that can change an open match. These requests are recorded after the line that opens
   the match. X(name, route) */
#define HS_STREAM_REQUESTS(X)                                                                      \
    X("frames", HS_ROUTE_FRAMES_POST)                                                              \
    X("moves", HS_ROUTE_MOVES_POST)                                                                \
    X("shots", HS_ROUTE_SHOTS_POST)                                                                \
    X("hits", HS_ROUTE_HITS_POST)                                                                  \
    X("ticks", HS_ROUTE_TICKS_POST)                                                                \
    X("delete", HS_ROUTE_MATCH_DELETE)

/* Returns the name of a request in the stream. NULL: the route does not change matches. */
const char *hs_stream_request_name(enum hs_route route);

/* Finds the route for the name of a request in the stream. Returns false for an unknown name. */
bool hs_stream_request_route(struct hs_str name, enum hs_route *route);

/* Writes the layout of this program's journal records (hs_journal_layout) as text. */
enum { HS_STREAM_LAYOUT = 17 };
void hs_stream_layout(char layout[HS_STREAM_LAYOUT]);

/* Replaces newlines in JSON with spaces. The meaning does not change, because JSON has newlines
   only between its tokens. */
void hs_stream_flatten(char *json, size_t size);

/* Appends bytes as base64 (RFC 4648, section 4). */
void hs_stream_encode(struct hs_buffer *out, const void *bytes, size_t size);

/* Decodes base64 into *size bytes; free them with free(). NULL: the text is not base64, or memory
   ran out. */
unsigned char *hs_stream_decode(struct hs_str text, size_t *size);

#endif
