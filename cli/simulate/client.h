/*
 * A simulated player's game client. The client draws the other players as they were a short time
 * ago, interpolated between two snapshots; some snapshots never arrive. The client predicts the
 * place of its own player, because the server simulates this player later. The player aims with
 * human error, and fires as fast as the weapon allows. The client claims the hits that its screen
 * shows. Messages to the server travel over the player's link.
 */
#ifndef HS_SIMULATE_CLIENT_H
#define HS_SIMULATE_CLIENT_H

#include "cli/simulate/film.h"
#include "cli/simulate/link.h"
#include "validators/shot.h"

enum { HS_CLIENT_LOG = 128, HS_CLIENT_MISSILES = 8, HS_SIMULATED_PELLETS = 16 };

struct hs_skirmish_setup {
    const struct hs_sim_arena *arena; /* borrowed */
    uint64_t seed;
    int link; /* enum hs_link_kind for all players; -1: five kinds, each for two players */
    unsigned first_link; /* if link is -1: the kind for the first two players */
    int arm;             /* enum hs_arm for all players; -1: players change weapons */
    double seconds;      /* length of play */
    double stamp_error;  /* seconds; standard deviation of hit_time minus drawn time */
    double aim_error; /* degrees; added to the standard deviation of every player's aiming error */
    /* `frame_every`: ticks per frame; `snapshot_every`: frames per snapshot */
    size_t frame_every, snapshot_every;
    bool posts_shots;    /* all shots are posted, even if the weapon does not require posted
                            shots */
    bool posts_ammo;     /* frames contain the rounds left in the magazine */
    bool ends_at_impact; /* claims end at the impact, not at the weapon's range */
};

/* The state that all clients of one match share. */
struct hs_game {
    struct hs_skirmish_setup setup;
    const struct hs_sim_arena *arena;
    const struct hs_crowd *crowd;
    struct hs_film film;
};

/* Returns whether shots with this weapon are posted before the hits are claimed. */
static inline bool hs_game_posts(const struct hs_game *game, enum hs_arm arm)
{
    return game->setup.posts_shots || game->arena->weapons[arm]->require_shot;
}

/* A message on its way to the server: a hit claim or a posted shot. */
struct hs_mail {
    double arrival; /* seconds on the server's clock */
    uint64_t order; /* sequence number in the order of sending */
    unsigned from;
    enum hs_arm arm;
    bool is_shot;
    struct hs_shot_claim shot;
    struct hs_hit_claim hit; /* without its lists, which are `pellets` and `victims` below */
    struct hs_pellet_claim pellets[HS_SIMULATED_PELLETS];
    struct hs_str victims[HS_CROWD];
    int target;              /* the claimed target; -1: the claim names only victims of a blast */
    int victim;              /* the first victim of the blast, if there is no target */
    struct hs_vec direction; /* the shot's direction */
    uint64_t seed;           /* seed for the spread of the pellets */
};

/* Returns the claim in a mail, with its lists. The mail owns the lists. */
static inline struct hs_hit_claim hs_mail_claim(const struct hs_mail *mail)
{
    struct hs_hit_claim claim = mail->hit;
    claim.pellets = mail->pellets;
    claim.victims = mail->victims;
    return claim;
}

struct hs_mailbox {
    struct hs_mail *mails;
    size_t count, capacity;
    uint64_t sent;
    bool failed; /* out of memory: a message was lost */
};

/* What a client did in one of its frames. The server gets these values when it simulates the
   frame. */
struct hs_doing {
    double time;       /* server time of the frame */
    struct hs_vec aim; /* unit vector */
    int rounds;        /* rounds left in the weapon in hand */
    bool reloading;
};

/* What a client draws. */
struct hs_screen {
    struct hs_moment moment;
    struct hs_sim_pose poses[HS_CROWD];
};

/* A projectile in flight. */
struct hs_missile {
    bool flies;
    struct hs_mail mail;
    struct hs_vec velocity;
    double flown_to; /* seconds on the server's clock; the path has been tested up to this time */
};

struct hs_client {
    unsigned me;
    struct hs_link link;
    struct hs_dice dice;
    /* arrivals[i]: when frame i of the film arrives at the client; HUGE_VAL: never */
    double *arrivals;
    double phase;       /* seconds from a server tick to the next client frame */
    double interp;      /* interpolation delay in seconds */
    double up;          /* seconds from a client frame until the server simulates this frame */
    double up_error;    /* error in the client's estimate of `up` */
    double clock_error; /* error in the client's estimate of the server's clock; varies slowly */
    double skill;       /* radians; standard deviation of the aiming error */
    struct hs_vec aim;  /* unit vector, without the aiming error */
    double off_yaw, off_pitch; /* radians; current aiming error */
    int foe;                   /* -1: nobody */
    double foe_until, aim_height;
    enum hs_arm arm;
    double drawn_at; /* time from which the weapon in hand can fire */
    double ready_at[HS_ARMS];
    double reload_until;
    int rounds[HS_ARMS];    /* rounds left in each magazine; -1: no magazine */
    uint64_t shots, claims; /* shots fired, and claims sent for these shots */
    struct hs_doing log[HS_CLIENT_LOG];
    uint64_t frames;
    struct hs_missile missiles[HS_CLIENT_MISSILES];
    struct hs_screen last; /* what the previous frame showed; moment.time 0: nothing yet */
};

/* Starts a client. `arrivals` has one element for each frame of the film. The caller owns the
   array, and must set every element to HUGE_VAL before this call. */
void hs_client_start(struct hs_client *client, const struct hs_game *game, unsigned me,
                     enum hs_link_kind kind, uint64_t seed, double *arrivals);

/* Sends a frame of the film to the client as a snapshot. */
void hs_client_send_snapshot(struct hs_client *client, const struct hs_game *game, size_t frame);

/* Runs one client frame at `time` on the server's clock: draws, aims, fires, claims. */
void hs_client_frame(struct hs_client *client, const struct hs_game *game, double time,
                     struct hs_mailbox *box);

/* Claims what a shot hits on a screen. Traces the shot from the mail's start, direction and seed.
   Sets the mail's target, pellets and end. Returns false if the shot hits no enemy. Do not call
   this function for projectiles. */
bool hs_client_claim(const struct hs_game *game, const struct hs_screen *screen,
                     struct hs_mail *mail);

/* Returns what the client did in the last frame that the server simulated at or before `time` (on
   the server's clock). Returns NULL if the log does not contain this frame. */
const struct hs_doing *hs_client_doing(const struct hs_client *client, double time);

/* ---- functions that client.c and fire.c share ---- */

/* Returns where the player's eye will be on the server when the server simulates the frame that the
   client runs at `time`. */
struct hs_vec hs_client_true_eye(const struct hs_client *client, const struct hs_game *game,
                                 double time);

/* Returns the aim including the aiming error, as a unit vector. */
struct hs_vec hs_client_shot_direction(const struct hs_client *client);

/* Fires the weapon. Posts the shot if shots with this weapon are posted (hs_game_posts). Then
   launches a projectile or, if the shot is instant and hits an enemy on the screen, sends a
   claim. */
void hs_client_fire(struct hs_client *client, const struct hs_game *game, double time,
                    const struct hs_screen *screen, struct hs_mailbox *box);

/* Moves the client's projectiles forward to the drawn time, and claims what they hit on the
   screen. */
void hs_client_follow(struct hs_client *client, const struct hs_game *game, double time,
                      const struct hs_screen *screen, struct hs_mailbox *box);

#endif
