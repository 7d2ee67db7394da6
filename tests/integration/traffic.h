/* Parallel requests of several game servers, for recordings: frames, moves, shots and claims,
   separate and in ticks, and some retries. Matches are ended and opened under other rules. Claims
   are mostly close to a limit, inside or outside. */
#ifndef HS_TESTS_TRAFFIC_H
#define HS_TESTS_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

/* OWN clients have their own match, which they open twice; of all CLIENTS, the rest share a match;
   each sends TICKS ticks. */
enum { HS_TRAFFIC_OWN = 3, HS_TRAFFIC_CLIENTS = 6, HS_TRAFFIC_TICKS = 160 };

struct hs_traffic {
    size_t claims, replayed; /* moves and claims answered for the first time, and replays */
    char fault[512];         /* an answer other than 200 and 201; empty: none */
};

/* Runs all clients at once against a service on 127.0.0.1. */
void hs_traffic_play(unsigned port, uint64_t seed, struct hs_traffic *out);

/* The same up to a tick. The next call continues from there, perhaps with a restarted service. The
   first call names tick 0 as its start. `out`: the sums so far. */
void hs_traffic_play_part(unsigned port, uint64_t seed, int from, int until,
                          struct hs_traffic *out);

/* Runs one client for a second and a half, in a match with this name. */
void hs_traffic_play_little(unsigned port, const char *match, struct hs_traffic *out);

#endif
