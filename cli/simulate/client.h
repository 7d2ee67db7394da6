/*
 * A simulated player's game client. It draws the other players late, interpolated between two
 * snapshots; some snapshots never arrive. It draws its own player at the place where the server
 * will later simulate this player. The player aims as imprecisely as a human hand, fires as fast as
 * the weapon allows, and claims the hits that the screen shows. Messages to the server travel over
 * the player's link.
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
    int link; /* enum hs_link_kind of all players; -1: five kinds, each for two players */
    unsigned first_link; /* if link is -1: the kind of the first two players */
    int arm;             /* enum hs_arm of all players; -1: players change weapons */
    double seconds;      /* length of play */
    double stamp_error;  /* seconds; standard deviation of hit_time from the drawn time */
    double aim_error;    /* degrees; deviation that is added to the error of every player's hand */
    size_t frame_every,
        snapshot_every; /* ticks from frame to frame; frames from snapshot to snapshot */
    /* all shots are posted, even if the weapon does not require it */
    bool posts_shots;
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

/* Returns whether a shot with this weapon is posted before its hits. */
static inline bool hs_game_posts(const struct hs_game *game, enum hs_arm arm)
{
    return game->setup.posts_shots || game->arena->weapons[arm]->require_shot;
}

/* A message on its way to the server: a hit claim or a posted shot. */
struct hs_mail {
    double arrival; /* seconds on the server's clock */
    uint64_t order; /* number in the order of sending */
    unsigned from;
    enum hs_arm arm;
    bool is_shot;
    struct hs_shot_claim shot;
    struct hs_hit_claim
        hit; /* the claim without its lists, which are the members `pellets` and `victims` */
    struct hs_pellet_claim pellets[HS_SIMULATED_PELLETS];
    struct hs_str victims[HS_CROWD];
    int target;              /* the claim's target; -1: only victims of a blast */
    int victim;              /* the first victim of the blast, if there is no target */
    struct hs_vec direction; /* direction of the shot */
    uint64_t seed;           /* seed of a posted shot with pellets */
};

/* Returns the claim of a mail with its lists, which are borrowed from the mail. */
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

/* What the server knows about a client at one of the client's frames. */
struct hs_doing {
    double time;       /* time of the frame on the server's clock */
    struct hs_vec aim; /* unit vector */
    int rounds;        /* rounds left in the weapon in hand */
    bool reloading;
};

struct hs_screen {
    struct hs_moment moment;
    struct hs_sim_pose poses[HS_CROWD];
};

/* A projectile in flight, as the server reports it to clients. */
struct hs_missile {
    bool flies;
    struct hs_mail mail;
    struct hs_vec velocity;
    double flown_to; /* seconds on the server's clock; the path is checked up to this time */
};

struct hs_client {
    unsigned me;
    struct hs_link link;
    struct hs_dice dice;
    /* time at which each frame of the film arrives at the client; HUGE_VAL: never */
    double *arrivals;
    double phase;    /* seconds from a tick of the server to the client's frame */
    double interp;   /* seconds by which the screen is behind the newest snapshot */
    double up;       /* seconds from a frame of the client until the server simulates that frame */
    double up_error; /* error of the client's estimate of `up` */
    double clock_error;        /* error of the client's estimate of the server's clock; varies
                                  slowly */
    double skill;              /* radians; standard deviation of the error of the hand */
    struct hs_vec aim;         /* unit vector without the error of the hand */
    double off_yaw, off_pitch; /* radians; current error of the hand */
    int foe;                   /* -1: nobody */
    double foe_until, aim_height;
    enum hs_arm arm;
    double drawn_at; /* time at which the weapon in hand is ready */
    double ready_at[HS_ARMS];
    double reload_until;
    int rounds[HS_ARMS];    /* rounds left; -1: no magazine */
    uint64_t shots, claims; /* shots fired, and claims sent for them */
    struct hs_doing log[HS_CLIENT_LOG];
    uint64_t frames;
    struct hs_missile missiles[HS_CLIENT_MISSILES];
    struct hs_screen last; /* the screen in the previous frame; time 0: none */
};

/* Starts a client. `arrivals` has a time for each frame of the film. The caller owns the array, and
   sets each time to HUGE_VAL before this call. */
void hs_client_start(struct hs_client *client, const struct hs_game *game, unsigned me,
                     enum hs_link_kind kind, uint64_t seed, double *arrivals);

/* Sends a snapshot from the server to the client. */
void hs_client_send_snapshot(struct hs_client *client, const struct hs_game *game, size_t frame);

/* Runs one frame of the client at a real time: draws, aims, fires, claims. */
void hs_client_frame(struct hs_client *client, const struct hs_game *game, double time,
                     struct hs_mailbox *box);

/* Claims what a shot hits on a screen: sets target, pellets and end from the start, direction and
   seed of the mail. Returns false if the shot hits no enemy. Not for projectiles. */
bool hs_client_claim(const struct hs_game *game, const struct hs_screen *screen,
                     struct hs_mail *mail);

/* Returns what the server knows about the client at a time on the server's clock, or NULL if it
   knows nothing yet. */
const struct hs_doing *hs_client_doing(const struct hs_client *client, double time);

/* ---- functions that client.c and fire.c share ---- */

/* Returns the position of the player's eye on the server when the server simulates the client's
   frame of `time`. */
struct hs_vec hs_client_true_eye(const struct hs_client *client, const struct hs_game *game,
                                 double time);

/* Returns the aim with the error of the hand, as a unit vector. */
struct hs_vec hs_client_shot_direction(const struct hs_client *client);

/* Fires the weapon. Sends a shot if the match posts shots, and a claim if the screen shows a hit at
   once. For a projectile, starts its flight. */
void hs_client_fire(struct hs_client *client, const struct hs_game *game, double time,
                    const struct hs_screen *screen, struct hs_mailbox *box);

/* Moves the client's projectiles up to the drawn time, and claims what they hit on the screen. */
void hs_client_follow(struct hs_client *client, const struct hs_game *game, double time,
                      const struct hs_screen *screen, struct hs_mailbox *box);

#endif
