/*
 * Writes the states of matches to the store that replicas share (store/matches.h), so that another
 * replica can continue the matches. A thread looks for changed matches every 0.25 s. When the
 * service stops, hs_sharing_stop writes the states of all matches. If another replica has become
 * the owner of a match, the thread removes the match from this replica.
 */
#ifndef HS_SERVICE_SHARING_STATES_H
#define HS_SERVICE_SHARING_STATES_H

#include <stdint.h>

struct hs_service;
struct hs_sharing;

/* Starts the thread. Call this function only if the service has a store. Returns NULL if memory
   runs out or the thread cannot start. */
struct hs_sharing *hs_sharing_start(struct hs_service *service);

/* Stops the thread, writes the final states of all matches, and releases this replica's ownership
   of all matches. Takes up to `wait_us`. Call this function after the last request that changes a
   match. Does nothing for NULL. */
void hs_sharing_stop(struct hs_sharing *sharing, int64_t wait_us);

#endif
