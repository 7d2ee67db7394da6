/*
 * A tenant who holds all they may: half of the bodies and of the connections, while two threads put
 * maps and rulesets without end.
 */
#ifndef HS_TESTS_GREEDY_H
#define HS_TESTS_GREEDY_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

enum { HS_GREEDY_BODIES = 128, HS_GREEDY_IDLE = 1900 };

struct hs_greedy {
    unsigned port;
    const char *authorization; /* a header line without its end */
    unsigned built;            /* maps and rulesets; valid after hs_greedy_let_go */
    /* private */
    pthread_t bodies, maps, rulesets;
    atomic_bool ends;
    int held[HS_GREEDY_BODIES], idle[HS_GREEDY_IDLE];
};

/* Starts the threads. The caller sets port and authorization, and 0 in the rest. False: not all of
   it is held; hs_greedy_let_go must follow all the same. */
bool hs_greedy_hold_all(struct hs_greedy *greedy);
void hs_greedy_let_go(struct hs_greedy *greedy);

#endif
