/*
 * Makes the bodies of the ticks of a match, as a game server posts them at 60 Hz. The bodies
 * contain what every player did, and now and then a shot with its claim. Every move and every claim
 * is honest. The bodies are made before anything is measured. All matches of a load post the same
 * bodies.
 *
 * Players walk on circles, 4 m apart. Each player watches a neighbour, and shoots at the place
 * where the neighbour was 0.1 s ago: 50 ms of round trip and 50 ms of interpolation.
 */
#ifndef HS_TESTS_MATCH_TICKS_H
#define HS_TESTS_MATCH_TICKS_H

#include <stdbool.h>
#include <stddef.h>

enum {
    HS_MATCH_TICKS_HZ = 60,
    HS_MATCH_TICKS_KEPT = 72, /* after this many ticks the history of the match is full */
    HS_MATCH_TICKS_PLAYERS_MAX = 128
};

struct hs_match_ticks {
    unsigned players; /* 1 to HS_MATCH_TICKS_PLAYERS_MAX */
    unsigned bones;   /* posted bones of each player; 0: only the root */
    bool is_compact;  /* tables of columns and rows instead of lists of objects */
    bool is_silent;   /* no moves and no shots */
    bool is_peaceful; /* no shots */
    unsigned ticks;
    /* made by hs_match_ticks_make: the body, size and number of claims of each tick */
    char **bodies;
    size_t *sizes;
    unsigned *claims;
};

/* Makes the bodies from the members before them. Returns false if memory runs out;
   hs_match_ticks_free is still needed. */
bool hs_match_ticks_make(struct hs_match_ticks *match);
void hs_match_ticks_free(struct hs_match_ticks *match);

/* Opens the matches PREFIX0, PREFIX1, ... in metres, with a rig of that number of bones. Returns
   false on failure, with the reason on stderr. */
bool hs_match_ticks_open(const struct hs_match_ticks *match, unsigned port, const char *prefix,
                         unsigned count);

#endif
