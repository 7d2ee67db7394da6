/*
 * Takes over matches from other replicas. When a request names a match that this replica does not
 * have, the replica asks the store (store/matches.h). The match starts empty if the store does not
 * have the match, or if the store sends nothing for the time that --state-take-ms sets.
 */
#ifndef HS_SERVICE_SHARING_TAKEOVER_H
#define HS_SERVICE_SHARING_TAKEOVER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "service/store/matches.h"

struct hs_match_slot;
struct hs_problem;
struct hs_service;
struct hs_takers;

/* Creates the object that takes over matches. Call this function only if the service has a store.
   Returns NULL if memory runs out. */
struct hs_takers *hs_takers_create(struct hs_service *service);
void hs_takers_destroy(struct hs_takers *takers); /* does nothing for NULL */

/* Returns whether this replica must ask the store before it runs a request for this match. `takers`
   may be NULL. */
bool hs_takeover_is_needed(struct hs_takers *takers, struct hs_str name);

struct hs_takeover {
    pthread_mutex_t *turn;
    struct hs_ownership ownership; /* for a match that starts empty */
    bool was_released;             /* as in struct hs_taken */
    bool has_asked;                /* false: this replica already had the match */
    /* The store did not answer, has lost its data, or has a state that cannot be used. In all these
       cases, another replica may have paid for shots, and this replica has no record of them. */
    bool is_uncertain;
    bool is_foreign; /* another tenant has the match on another replica */
    unsigned shed;   /* if the problem is OVERLOADED: an enum hs_shed_reason */
};

/*
 * Asks the store for a match, and opens the match if the store has it. The call takes up to
 * HS_STORE_PATIENCE_US, or longer while many matches move between replicas. So workers must not
 * call this function.
 *
 * If another tenant has the match, returns false, sets `is_foreign` and leaves the problem
 * unchanged. Returns false and sets the problem if the client must retry later. The client must
 * retry if this replica lacks memory for the match, lacks the match's ruleset or map, or does not
 * have the newest names of rulesets and maps yet.
 *
 * Always call hs_takeover_end after the request. If the request did not open the match,
 * hs_takeover_end releases the ownership, so that other tenants can use the name.
 */
bool hs_takeover_begin(struct hs_takers *takers, struct hs_str tenant, struct hs_str name,
                       struct hs_takeover *takeover, struct hs_problem *problem);
void hs_takeover_end(struct hs_takers *takers, struct hs_str tenant, struct hs_str name,
                     struct hs_takeover *takeover);

/* Starts to share a match that was opened empty. From now on, the state of the match is written to
   the store. The match must be locked. */
void hs_takeover_share(struct hs_service *service, struct hs_match_slot *slot,
                       const struct hs_takeover *takeover);

#endif
