/*
 * One simulated player and his server: the clock that stamps his moves, the frames it ticks in, his
 * lines, and what the server writes down when a move comes in. Times are seconds.
 */
#ifndef HS_SIMULATE_TIMING_CLIENT_H
#define HS_SIMULATE_TIMING_CLIENT_H

#include "cli/simulate/timing/cheats.h"
#include "cli/simulate/timing/profiles.h"

/* Ticks of a game server that stumbles now and then. */
struct hs_timing_server {
    double first, period;
    struct hs_timing_spell hitch; /* nothing is done in it, and all at its end */
};

/* The first tick at `at` or later; times asked for never decrease. */
double hs_timing_server_tick(struct hs_timing_server *server, double at);

struct hs_timing_client {
    double begun;
    double now;   /* of the frame */
    double clock; /* what he stamps his moves with, resets not taken out */
    double rate;  /* of his clock: its crystal */
    struct hs_timing_spell hitch, tab;
    struct hs_timing_line up, down;
    struct hs_timing_server receiver, sender; /* the same server, asked at different times */
    double snapshot_sent, snapshot_arrives;   /* of the next to arrive */
    double ack;                               /* send time of the newest seen */
    bool cheats;
    enum hs_timing_cheat cheat;
    double cheats_from;
    struct hs_dice dice;
};

/* A move as the server got it. */
struct hs_timing_sent {
    double made;   /* when it was sent */
    double stamp;  /* by the client's clock, resets not taken out */
    double ack;    /* send time of the newest snapshot he had seen; negative: none */
    double server; /* tick it was received in */
};

void hs_timing_client_start(struct hs_timing_client *client, enum hs_timing_profile profile,
                            uint64_t seed);

/* From that time on he cheats. */
void hs_timing_client_corrupt(struct hs_timing_client *client, enum hs_timing_cheat cheat,
                              double from);

/* The next frame. False: nothing of it came to the server. */
bool hs_timing_client_frame(struct hs_timing_client *client, struct hs_timing_sent *out);

#endif
