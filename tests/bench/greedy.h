/* A tenant that uses all that one tenant may have: half of the bodies and of the connections. Two
   threads put maps and rulesets all the time. */
#ifndef HS_TESTS_GREEDY_H
#define HS_TESTS_GREEDY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { HS_GREEDY_BODIES = 128, HS_GREEDY_IDLE = 1900 };

struct hs_greedy {
    unsigned port;
    const char *authorization; /* a header line without a line end */
    /* numbers of maps and rulesets that were put; valid after hs_greedy_let_go */
    unsigned built;
    /* private */
    pthread_t bodies, maps, rulesets;
    atomic_bool ends;
    int held[HS_GREEDY_BODIES], idle[HS_GREEDY_IDLE];
};

/* Starts the threads. The caller sets the port and the authorization, and zeroes the rest. Returns
   false if not everything could be reserved. hs_greedy_let_go must still follow. */
bool hs_greedy_hold_all(struct hs_greedy *greedy);
void hs_greedy_let_go(struct hs_greedy *greedy);

#endif
