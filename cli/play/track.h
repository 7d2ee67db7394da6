/*
 * Tracks: players and movers in straight, uniform motion, written in one line and expanded into
 * the frames that a game server would post. docs/scenarios.md describes the fields.
 */
#ifndef HS_PLAY_TRACK_H
#define HS_PLAY_TRACK_H

#include <jansson.h>

enum { HS_TRACK_ERROR_MAX = 160 };

/*
 * Returns the body of a frames request: a new reference, or NULL with a message in `error`. A
 * track may name players and movers of `fixture` (an object with "players" and "movers", or NULL).
 */
json_t *hs_track_expand(const json_t *given, const json_t *fixture, char error[HS_TRACK_ERROR_MAX]);

#endif
