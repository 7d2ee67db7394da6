/*
 * Tracks: players and movers in straight, even motion, written down in a line and expanded into the
 * frames a game server would have posted. docs/scenarios.md describes the fields.
 */
#ifndef HS_PLAY_TRACK_H
#define HS_PLAY_TRACK_H

#include <jansson.h>

enum { HS_TRACK_ERROR_MAX = 160 };

/*
 * The body of a frames request: a new reference, or NULL with a sentence in `error`. `fixture`
 * (an object, or NULL) holds in "players" and "movers" what a track may name instead of spelling it
 * out.
 */
json_t *hs_track_expand(const json_t *given, const json_t *fixture, char error[HS_TRACK_ERROR_MAX]);

#endif
