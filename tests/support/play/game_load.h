/* Requests of many games at 60 ticks a second, for load tests. Each request is the next tick of the
   next match. In each request, p0 claims a hit on p1. The first claim of a match is accepted. The
   later ones are refused, because they have the same trajectory. */
#ifndef HS_TESTS_GAME_LOAD_H
#define HS_TESTS_GAME_LOAD_H

#include "tests/support/http/open_load.h"

struct hs_game_load {
    unsigned matches;    /* request i belongs to match i modulo this number */
    unsigned players;    /* players of each match; 0: no frame, only a claim */
    unsigned bones;      /* posted bones of each player; 0: none */
    const char *headers; /* further header lines, or "" */
    /* If the requests contain only claims: the one tick to which all claims belong, because frames
       of it exist. 0: ticks advance. */
    uint64_t ticks;
    /* made by hs_game_load_init */
    char *body;
    size_t size, times[4], time_count, shot;
};

/* Makes the body from the first four members. Returns false if memory runs out. */
bool hs_game_load_init(struct hs_game_load *game);
void hs_game_load_free(struct hs_game_load *game);

/* Opens its matches under a ruleset whose rig has this number of bones. If `bones` is 0, it does
   nothing, because posts open the matches. Returns false on failure, with the reason on stderr. */
bool hs_game_load_open(const struct hs_game_load *game, unsigned port);

/* The hs_open_load_fill of this load; the context is the struct hs_game_load. */
hs_open_load_fill hs_game_load_fill;

#endif
