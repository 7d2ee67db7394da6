/* Requests of many games at 60 ticks a second, for loads: each the next tick of the next match. */
#ifndef HS_TESTS_GAME_LOAD_H
#define HS_TESTS_GAME_LOAD_H

#include "tests/support/open_load.h"

struct hs_game_load {
    unsigned matches;    /* request i is for match i modulo this, opened by posting */
    unsigned players;    /* in each; 0: no frame, a claim alone */
    unsigned bones;      /* posted of each player; 0: none */
    const char *headers; /* further header lines, or "" */
    /* made by hs_game_load_init */
    char *body;
    size_t size, times[4], time_count, shot;
};

/* Makes the body from the first four members. False: out of memory. */
bool hs_game_load_init(struct hs_game_load *game);
void hs_game_load_free(struct hs_game_load *game);

/* A hs_open_load_fill; the context is the struct hs_game_load. */
hs_open_load_fill hs_game_load_fill;

#endif
