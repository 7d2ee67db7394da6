/*
 * Takes over matches from other replicas. When a request names a match that this replica does not
 * have, the replica asks the store (store/matches.h) for it. If the store sends nothing for
 * --state-take-ms, or does not know the match, the match starts empty.
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

/* Call it only if the service has a store. NULL: out of memory. */
struct hs_takers *hs_takers_create(struct hs_service *service);
void hs_takers_destroy(struct hs_takers *takers); /* does nothing for NULL */

/* Returns whether the store must be asked before a request for a match runs. `takers` may be
   NULL. */
bool hs_takeover_is_needed(struct hs_takers *takers, struct hs_str name);

struct hs_takeover {
    pthread_mutex_t *turn;
    struct hs_ownership ownership; /* for a match that opens empty */
    bool was_released;             /* as in struct hs_taken */
    bool has_asked;                /* false: this replica already had the match */
    /* Another replica may have paid for shots that this replica does not know about: the store did
       not answer, has lost its data, or has a state that cannot be used. */
    bool is_uncertain;
    bool is_foreign; /* another tenant has the match on another replica */
    unsigned shed;   /* enum hs_shed_reason, if the problem is OVERLOADED */
};

/*
 * Asks the store for a match, and opens the match if the store knows it. The call takes up to
 * HS_STORE_PATIENCE_US, and longer if many matches move. Therefore workers must not call it.
 * Returns false and sets no problem if another tenant has the match. Returns false and sets a
 * problem if the client must send the request again later: this replica lacks the ruleset or the
 * map of the match, or memory for it. Always call hs_takeover_end after the request. If the request
 * has not opened the match, hs_takeover_end gives up the ownership. If the ownership stayed, no
 * other tenant could use the name.
 */
bool hs_takeover_begin(struct hs_takers *takers, struct hs_str tenant, struct hs_str name,
                       struct hs_takeover *takeover, struct hs_problem *problem);
void hs_takeover_end(struct hs_takers *takers, struct hs_str tenant, struct hs_str name,
                     struct hs_takeover *takeover);

/* From this call on, the state of a locked match is written to the store. The match was opened
   empty; `takeover` has its ownership. */
void hs_takeover_share(struct hs_service *service, struct hs_match_slot *slot,
                       const struct hs_takeover *takeover);

#endif
