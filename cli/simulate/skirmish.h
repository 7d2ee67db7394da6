/*
 * One simulated match without a judge: a crowd, its clients with their links, and a game server
 * that writes frames and receives what clients fire and claim. Server time is a number: nothing
 * sleeps, and everything follows from the seed. Whoever judges it, or writes it down, asks for it
 * tick by tick:
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

struct hs_skirmish_setup {
    const struct hs_sim_arena *arena; /* borrowed */
    uint64_t seed;
    int link;                           /* enum hs_link_kind of everybody; -1: two of each */
    int arm;                            /* enum hs_arm in all hands; -1: they change */
    double seconds;                     /* of play */
    double stamp_error;                 /* seconds; see struct hs_game */
    size_t frame_every, snapshot_every; /* ticks a frame; frames a snapshot */
    bool posts_shots, tells_ammo, ends_at_impact; /* see struct hs_game */
};

enum { HS_SKIRMISH_PINGS = 4 }; /* remembered of each player, as the latency rule does */

/* The members above the line are for readers. */
struct hs_skirmish {
    struct hs_game game;
    size_t tick; /* the present one */
    double now;  /* seconds on the server's clock */
    int64_t now_us;
    const struct hs_frame *frame; /* posted at this tick; NULL: none is */
    struct hs_client clients[HS_CROWD];
    struct hs_forger forger;      /* for forgeries of this skirmish; see hs_skirmish_expect */
    double empty_since[HS_CROWD]; /* seconds: when a frame said so; 0: the weapon has rounds */
    bool failed;                  /* out of memory */
    /* ---- */
    struct hs_skirmish_setup setup;
    struct hs_crowd *crowd;
    size_t ticks, begun;
    double *arrivals;
    struct hs_mailbox box;
    struct hs_dice dice;
    int32_t pings_us[HS_CROWD][HS_SKIRMISH_PINGS];
    unsigned ping_count[HS_CROWD];
    struct hs_sim_pose posted[HS_CROWD]; /* in the last frame */
    struct hs_player_frame players[HS_CROWD];
    struct hs_frame written;
};

/* NULL: out of memory. */
struct hs_skirmish *hs_skirmish_create(const struct hs_skirmish_setup *setup);
void hs_skirmish_destroy(struct hs_skirmish *skirmish);

/* The next tick begins, and its frame is written. False: the match is over, or memory is out. */
bool hs_skirmish_begin(struct hs_skirmish *skirmish);

/* The next shot or claim that has arrived, in order of arrival. False: nothing more at this tick.
 */
bool hs_skirmish_take(struct hs_skirmish *skirmish, struct hs_mail *out);

/* The clients act, and the tick ends. */
void hs_skirmish_end(struct hs_skirmish *skirmish);

/* Nobody shoots before: history and links have to fill. */
bool hs_skirmish_is_warm(const struct hs_skirmish *skirmish);

/* Sets the forger's times for claims of this player, by the round trips that frames had. False:
   none was measured yet. */
bool hs_skirmish_expect(struct hs_skirmish *skirmish, unsigned who);

/* The shooter had been dead for longer than the rules forgive, and did not know. */
bool hs_skirmish_is_in_vain(const struct hs_skirmish *skirmish, const struct hs_mail *mail);

#endif
