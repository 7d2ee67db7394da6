/*
 * One simulated match: the players, their clients and links, and a game server that writes frames
 * and receives shots and claims, but verifies nothing. Time is simulated. The setup and its seed
 * determine the whole match. The caller runs the match tick by tick:
 *
 *     while (hs_skirmish_begin(skirmish)) {
 *         ... skirmish->frame ...
 *         while (hs_skirmish_take(skirmish, &mail))
 *             ... mail ...
 *         hs_skirmish_end(skirmish);
 *     }
 */
#ifndef HS_SIMULATE_SKIRMISH_H
#define HS_SIMULATE_SKIRMISH_H

#include "cli/simulate/forgery.h"
#include "validators/frame.h"

enum { HS_SKIRMISH_PINGS = 4 }; /* round trips kept per player, as many as in the latency check */

/* Callers may read the members above the dashed line. */
struct hs_skirmish {
    struct hs_game game;
    size_t tick; /* the current tick */
    double now;  /* seconds on the server's clock */
    int64_t now_us;
    const struct hs_frame *frame; /* the frame posted at this tick; NULL: none */
    struct hs_client clients[HS_CROWD];
    struct hs_forger forger; /* call hs_skirmish_expect before each use */
    /* since when the player's weapon cannot fire (empty or reloading); 0: the weapon can fire */
    double empty_since[HS_CROWD];
    bool failed; /* out of memory */
    /* ---- */
    struct hs_crowd *crowd;
    size_t ticks, begun;
    double *arrivals;
    struct hs_mailbox box;
    struct hs_dice dice;
    int32_t pings_us[HS_CROWD][HS_SKIRMISH_PINGS];
    unsigned ping_count[HS_CROWD];
    struct hs_sim_pose posted[HS_CROWD]; /* poses in the last frame */
    struct hs_player_frame players[HS_CROWD];
    struct hs_frame written;
};

/* Returns NULL if memory runs out. */
struct hs_skirmish *hs_skirmish_create(const struct hs_skirmish_setup *setup);
void hs_skirmish_destroy(struct hs_skirmish *skirmish);

/* Begins the next tick. Writes a frame once in setup.frame_every ticks. Returns false if the match
   is over, or if memory has run out (`failed`). */
bool hs_skirmish_begin(struct hs_skirmish *skirmish);

/* Takes the next message (a shot or a claim), in order of arrival. Returns false if no more
   messages have arrived by this tick. */
bool hs_skirmish_take(struct hs_skirmish *skirmish, struct hs_mail *out);

/* Runs the clients and ends the tick. */
void hs_skirmish_end(struct hs_skirmish *skirmish);

/* Returns whether enough frames and snapshots have been sent for the players to start shooting. */
bool hs_skirmish_is_warm(const struct hs_skirmish *skirmish);

/* Prepares the forger for a claim by this player: sets the time, and computes the expected
   hit_times from the player's measured round trips. Returns false if no round trip has been
   measured yet. */
bool hs_skirmish_expect(struct hs_skirmish *skirmish, unsigned who);

/* Returns whether the shooter died more than hit.death_grace before the shot was fired. Such shots
   occur because a client learns late that the player has died. */
bool hs_skirmish_is_in_vain(const struct hs_skirmish *skirmish, const struct hs_mail *mail);

#endif
