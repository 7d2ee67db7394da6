/*
 * Writes the states of matches to the store that replicas share (store/matches.h), so that another
 * replica can go on with a match: each 0.25 s what has changed, and everything at the end. Also
 * ends the copies of matches that other replicas own now.
 */
#ifndef HS_SERVICE_CHECKPOINT_SHARING_H
#define HS_SERVICE_CHECKPOINT_SHARING_H

#include <stdint.h>

struct hs_service;
struct hs_sharing;

/* Starts the thread. The service has a store. NULL: memory or threads are out. */
struct hs_sharing *hs_sharing_start(struct hs_service *service);

/* Ends the thread. Then writes the final states of all matches, and gives the matches up; this
   takes up to `wait_us`. No request may change a match any more. NULL does nothing. */
void hs_sharing_stop(struct hs_sharing *sharing, int64_t wait_us);

#endif
