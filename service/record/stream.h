/*
 * The recorded request stream (docs/recording.md): what `serve --record` writes, and `play` and
 * `recheck` read.
 * One JSON object a line; the name of its first member says what kind of line it is.
 */
#ifndef HS_SERVICE_STREAM_H
#define HS_SERVICE_STREAM_H

#include "api/http/routes.h"

#define HS_STREAM_FORMAT  "hindsight-stream"
#define HS_STREAM_VERSION 2

/*
 * The requests that can change a match once it is open: what is done to it after the line that
 * opens it. X(name, route)
 */
#define HS_STREAM_REQUESTS(X)                                                                      \
    X("frames", HS_ROUTE_FRAMES_POST)                                                              \
    X("moves", HS_ROUTE_MOVES_POST)                                                                \
    X("shots", HS_ROUTE_SHOTS_POST)                                                                \
    X("hits", HS_ROUTE_HITS_POST)                                                                  \
    X("ticks", HS_ROUTE_TICKS_POST)                                                                \
    X("delete", HS_ROUTE_MATCH_DELETE)

/* NULL: the route changes no match. */
const char *hs_stream_request_name(enum hs_route route);

/* False: there is no such request. */
bool hs_stream_request_route(struct hs_str name, enum hs_route *route);

#endif
