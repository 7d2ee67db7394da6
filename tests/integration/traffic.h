/*
 * Requests of several game servers at once, as recordings should hold them: frames, moves, shots
 * and claims, apart and in ticks, some sent again; matches that are ended and opened under other
 * rules. Claims are mostly close to a limit, on one side or the other.
 */
#ifndef HS_TESTS_TRAFFIC_H
#define HS_TESTS_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

/* Clients with a match of their own, which they open twice; all clients, the rest of whom share a
   match; what each sends, in ticks. */
enum { HS_TRAFFIC_OWN = 3, HS_TRAFFIC_CLIENTS = 6, HS_TRAFFIC_TICKS = 160 };

struct hs_traffic {
    size_t claims, replayed; /* moves and claims answered for the first time, and again */
    char fault[512];         /* an answer that was neither 200 nor 201; empty: none */
};

/* All clients at once, against a service on 127.0.0.1. */
void hs_traffic_play(unsigned port, uint64_t seed, struct hs_traffic *out);

/* The same up to a tick. The next call goes on from there, perhaps with a service that was started
   again. The first call names tick 0 as the place where it goes on. `out`: the sums so far. */
void hs_traffic_play_part(unsigned port, uint64_t seed, int from, int until,
                          struct hs_traffic *out);

/* One client for a second and a half, in a match of that name. */
void hs_traffic_play_little(unsigned port, const char *match, struct hs_traffic *out);

#endif
