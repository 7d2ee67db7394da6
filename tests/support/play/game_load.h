/*
 * Requests of many games at 60 ticks a second, for loads: each the next tick of the next match. p0
 * claims and hits p1: the first time it is accepted, then refused for the same trajectory.
 */
#ifndef HS_TESTS_GAME_LOAD_H
#define HS_TESTS_GAME_LOAD_H

#include "tests/support/http/open_load.h"

struct hs_game_load {
    unsigned matches;    /* request i is for match i modulo this */
    unsigned players;    /* in each; 0: no frame, a claim alone */
    unsigned bones;      /* posted of each player; 0: none */
    const char *headers; /* further header lines, or "" */
    uint64_t ticks;      /* stay at this one, for claims alone: where frames are; 0: go on */
    /* made by hs_game_load_init */
    char *body;
    size_t size, times[4], time_count, shot;
};

/* Makes the body from the first four members. False: out of memory. */
bool hs_game_load_init(struct hs_game_load *game);
void hs_game_load_free(struct hs_game_load *game);

/* Opens its matches, under a ruleset whose rig has so many bones. Without bones there is nothing to
   do: posting opens them. False, with the reason on stderr, when that fails. */
bool hs_game_load_open(const struct hs_game_load *game, unsigned port);

/* A hs_open_load_fill; the context is the struct hs_game_load. */
hs_open_load_fill hs_game_load_fill;

#endif
