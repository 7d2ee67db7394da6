/*
 * What a match needs if the service loses its poses, because it restarted or another replica took
 * over: the body of its PUT, and the frames of its last second. A match is a JSON object with the
 * members `put`, `recent` (lists of frames, oldest first) and `whole` (the service has a whole
 * window of frames).
 */
#ifndef HS_PLAY_RESYNC_H
#define HS_PLAY_RESYNC_H

#include <jansson.h>
#include <stdbool.h>

/* Returns a new match, or NULL if memory runs out. Takes `put`. */
json_t *hs_resync_create(json_t *put);

/* Remembers the member `frames` of a request (NULL: does nothing). Forgets those that are more than
   a second older. */
void hs_resync_keep(json_t *match, json_t *frames);

/* Notes the answer to a post. Returns whether it asks for the frames of the last second. Every
   match begins without a whole window, and an answer asks only once, until the window is whole
   again. */
bool hs_resync_is_due(json_t *match, const json_t *answer);

#endif
