/*
 * Reads the body of a tick with simdjson On-Demand (libsimdjson), a very fast parser. Benchmarks
 * compare Hindsight with it. Not thread-safe.
 */
#ifndef HS_TESTS_SIMDJSON_PEER_H
#define HS_TESTS_SIMDJSON_PEER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum { HS_PEER_PLAYERS = 64, HS_PEER_BONES = 16 };

/* The values that both readers store. Times are in microseconds, names in the parser's buffer. */
struct hs_peer_player {
    const char *name;
    size_t name_len;
    double position[3], rotation[4], aim[3];
    int64_t rtt_us;
    size_t bone_count;
    double bones[HS_PEER_BONES][7];
};

struct hs_peer_move {
    const char *name, *mode;
    size_t name_len, mode_len;
    uint64_t seq;
    int64_t client_us, received_us;
    double position[3];
};

struct hs_peer_tick {
    int64_t time_us;
    size_t player_count, move_count;
    struct hs_peer_player players[HS_PEER_PLAYERS];
    struct hs_peer_move moves[HS_PEER_PLAYERS];
};

/* Returns whether the program was built with the library. Without it, the other functions do
   nothing. */
bool hs_simdjson_is_there(void);

struct hs_simdjson;

/* Creates a parser with a padded copy of the body. NULL: out of memory. */
struct hs_simdjson *hs_simdjson_create(const char *body, size_t len);
void hs_simdjson_destroy(struct hs_simdjson *peer);

/* Reads the members in the order in which bench_body.c writes them. `compact`: players and moves
   are tables, and bones are flat. False: the body has another form. */
bool hs_simdjson_read(struct hs_simdjson *peer, bool compact, struct hs_peer_tick *out);

#ifdef __cplusplus
}
#endif

#endif
