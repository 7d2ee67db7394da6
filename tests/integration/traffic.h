/* Parallel requests of several game servers, for recordings. They contain frames, moves, shots and
   claims, separately and in ticks, and some retries. Matches are ended and opened again under other
   rules. Most claims are close to a limit, inside or outside. */
#ifndef HS_TESTS_TRAFFIC_H
#define HS_TESTS_TRAFFIC_H

#include <stddef.h>
#include <stdint.h>

/* HS_TRAFFIC_OWN of the HS_TRAFFIC_CLIENTS clients have a match of their own, which they open
   twice. The others share a match. Each client sends TICKS ticks. */
enum { HS_TRAFFIC_OWN = 3, HS_TRAFFIC_CLIENTS = 6, HS_TRAFFIC_TICKS = 160 };

struct hs_traffic {
    size_t claims, replayed; /* moves and claims that were verified, and that were replayed */
    char fault[512];         /* an answer other than 200 and 201, or empty */
};

/* Runs all clients at once against a service on 127.0.0.1. */
void hs_traffic_play(unsigned port, uint64_t seed, struct hs_traffic *out);

/* Runs all clients from tick `from` to tick `until`. The next call continues there, perhaps with a
   restarted service. `from` of the first call must be 0. `out` has the sums so far. */
void hs_traffic_play_part(unsigned port, uint64_t seed, int from, int until,
                          struct hs_traffic *out);

/* Runs one client for a second and a half, in a match with this name. */
void hs_traffic_play_little(unsigned port, const char *match, struct hs_traffic *out);

#endif
