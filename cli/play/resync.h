/*
 * Keeps the data that restores a match after the service lost its poses: the body of the match's
 * PUT, and the frames of its last second. Poses are lost when the service restarts, or when another
 * replica takes over the match. A match is a JSON object with the members `put`, `recent` (lists of
 * frames, oldest first) and `whole` (the service has a whole window of frames).
 */
#ifndef HS_PLAY_RESYNC_H
#define HS_PLAY_RESYNC_H

#include <jansson.h>
#include <stdbool.h>

/* Returns a new match, or NULL if memory runs out. Takes ownership of `put`. */
json_t *hs_resync_create(json_t *put);

/* Stores the member `frames` of a request (NULL: does nothing). Drops stored frames that are more
   than a second older than the newest one. */
void hs_resync_keep(json_t *match, json_t *frames);

/* Records the answer to a post. Returns true if the service had a whole window of frames before
   this answer and now lacks frames. So one loss is reported once, and a new match, which begins
   without a whole window, is not reported. */
bool hs_resync_is_due(json_t *match, const json_t *answer);

#endif
