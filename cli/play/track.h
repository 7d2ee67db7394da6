/*
 * Tracks: short descriptions of players and movers in straight, uniform motion. A track is expanded
 * into the frames that a game server would post. docs/scenarios.md describes the fields.
 */
#ifndef HS_PLAY_TRACK_H
#define HS_PLAY_TRACK_H

#include <jansson.h>

enum { HS_TRACK_ERROR_MAX = 160 };

/*
 * Expands a track into the body of a request that posts frames (new reference). The track may name
 * players and movers in `fixture` (an object with "players" and "movers", or NULL). Returns NULL
 * with a message in `error` if the track is malformed.
 */
json_t *hs_track_expand(const json_t *given, const json_t *fixture, char error[HS_TRACK_ERROR_MAX]);

#endif
