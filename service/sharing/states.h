/*
 * Writes the states of matches to the store that replicas share (store/matches.h), so that another
 * replica can continue a match. Every 0.25 s a thread writes the matches that have changed. When
 * the service stops, hs_sharing_stop writes all matches. The thread also deletes a match from this
 * replica if another replica owns the match now.
 */
#ifndef HS_SERVICE_SHARING_STATES_H
#define HS_SERVICE_SHARING_STATES_H

#include <stdint.h>

struct hs_service;
struct hs_sharing;

/* Starts the thread. Call it only if the service has a store. NULL: out of memory or threads. */
struct hs_sharing *hs_sharing_start(struct hs_service *service);

/* Ends the thread. After that, writes the final states of all matches, and gives up their
   ownership. The call takes up to `wait_us`. Call it after the last request that changes a match.
   Does nothing for NULL. */
void hs_sharing_stop(struct hs_sharing *sharing, int64_t wait_us);

#endif
