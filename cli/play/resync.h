/*
 * Keeps the data that `play` needs to restore a match if the service loses the match's poses. The
 * service can lose the poses when it restarts, or when another replica takes over the match. The
 * data is a JSON object for each match. `put` is the body of the PUT that opens the match. `recent`
 * lists the `frames` members that were posted in the last second, oldest first. `whole` is true
 * while the service has a full window of frames.
 */
#ifndef HS_PLAY_RESYNC_H
#define HS_PLAY_RESYNC_H

#include <jansson.h>
#include <stdbool.h>

/* Returns a new match, or NULL if memory runs out. Takes ownership of `put`. */
json_t *hs_resync_create(json_t *put);

/* Stores the member `frames` of a request. Does nothing if `frames` is NULL. Drops stored members
   with frames that are more than a second older than the newest frame. */
void hs_resync_keep(json_t *match, json_t *frames);

/* Records an answer. Returns true if the service had a full window of frames before this answer and
   now needs frames. So the function returns true once each time the service loses the frames. For a
   new match, the function returns false, because a new match starts without a full window. */
bool hs_resync_is_due(json_t *match, const json_t *answer);

#endif
