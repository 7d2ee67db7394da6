/*
 * A player's side of a simulated match. He sees the others late and between two snapshots, some of
 * which never came; himself he sees where the server will have him once it heard of it. He looks
 * at somebody with a human's hand, fires what he carries as fast as it goes, and claims what his
 * own screen says he hit. What he says travels over his link.
 */
#ifndef HS_SIMULATE_CLIENT_H
#define HS_SIMULATE_CLIENT_H

#include "cli/simulate/film.h"
#include "cli/simulate/link.h"
#include "validators/shot.h"

enum { HS_CLIENT_LOG = 128, HS_CLIENT_MISSILES = 8, HS_SIMULATED_PELLETS = 16 };

/* The common ground of one match. */
struct hs_game {
    const struct hs_sim_arena *arena;
    const struct hs_crowd *crowd;
    struct hs_film film;
    double stamp_error;  /* seconds: deviation of a claimed hit_time from what was on the screen */
    double snapshot_gap; /* seconds between what clients are sent */
    bool posts_shots;    /* every shot is posted before its hits */
    bool tells_ammo;     /* frames say how many rounds are left */
    bool ends_at_impact; /* claims end where they touched, not at the weapon's range */
};

/* Something on its way to the server. */
struct hs_mail {
    double arrival; /* seconds on the server's clock */
    uint64_t order; /* in which it was sent */
    unsigned from;
    enum hs_arm arm;
    bool is_shot;
    struct hs_shot_claim shot;
    struct hs_hit_claim hit; /* pellets and victims: set by hs_mail_hit */
    struct hs_pellet_claim pellets[HS_SIMULATED_PELLETS];
    struct hs_str victims[HS_CROWD];
    int target;              /* whom the hit is claimed on; -1: only victims of a blast */
    int victim;              /* the first of those, with no target */
    struct hs_vec direction; /* fired along */
    uint64_t seed;           /* of a posted shot of pellets */
};

/* The claim of a mail, with its lists in place. Borrows the mail. */
struct hs_hit_claim hs_mail_hit(const struct hs_mail *mail);

struct hs_mailbox {
    struct hs_mail *mails;
    size_t count, capacity;
    uint64_t sent;
    bool failed; /* out of memory: something was lost */
};

void hs_mailbox_send(struct hs_mailbox *box, const struct hs_mail *mail);

/* What the server knows of a client's doings at a frame of his. */
struct hs_doing {
    double time;        /* of the frame, real time */
    struct hs_vec look; /* unit */
    int rounds;         /* in the weapon held */
    bool reloading;
};

/* What is on a screen. */
struct hs_screen {
    struct hs_moment moment;
    struct hs_sim_pose poses[HS_CROWD];
};

/* A projectile on its way, as the server sends it about. */
struct hs_missile {
    bool flies;
    struct hs_mail mail;
    struct hs_vec velocity;
    double launched; /* seconds on the server's clock, true */
    double flown_to; /* up to where it was followed; the same clock */
};

struct hs_client {
    unsigned me;
    struct hs_link link;
    struct hs_dice dice;
    double *arrivals;   /* of each frame of the film here; HUGE_VAL: never */
    double phase;       /* seconds from a server's tick to his frame */
    double interp;      /* seconds the screen is behind the newest snapshot, to interpolate */
    double up;          /* seconds from his frame to its place on the server's clock */
    double up_error;    /* of his estimate of that */
    double clock_error; /* of his estimate of the server's clock; wanders */
    double skill;       /* radians: deviation of his hand */
    struct hs_vec look; /* unit: where he aims, but for the hand */
    double off_yaw, off_pitch; /* the hand's error now; radians */
    int foe;                   /* -1: nobody */
    double foe_until, aim_height;
    enum hs_arm arm;
    double drawn_at; /* when he has the weapon ready */
    double ready_at[HS_ARMS];
    double reload_until;
    int rounds[HS_ARMS];    /* left; -1: no magazine */
    uint64_t shots, claims; /* fired, and sent because of them */
    struct hs_doing log[HS_CLIENT_LOG];
    uint64_t frames;
    struct hs_missile missiles[HS_CLIENT_MISSILES];
    struct hs_screen last; /* what he saw in the frame before; time 0: nothing */
};

/* `arrivals`: owned by the caller, one a frame of the film, HUGE_VAL each. */
void hs_client_start(struct hs_client *client, const struct hs_game *game, unsigned me,
                     enum hs_link_kind kind, uint64_t seed, double *arrivals);

/* A snapshot leaves the server. */
void hs_client_send_snapshot(struct hs_client *client, const struct hs_game *game, size_t frame);

/* One frame of the client at a real time: looks, fires, claims. */
void hs_client_frame(struct hs_client *client, const struct hs_game *game, double time,
                     struct hs_mailbox *box);

/* What the server knows of him at a time on its clock; NULL before it heard anything. */
const struct hs_doing *hs_client_doing(const struct hs_client *client, double time);

/* ---- between the files of a client ---- */

/* His eye where the server will have it once it heard of this time. */
struct hs_vec hs_client_true_eye(const struct hs_client *client, const struct hs_game *game,
                                 double time);

/* The same where he himself sees it, with the error of prediction. */
struct hs_vec hs_client_eye(struct hs_client *client, const struct hs_game *game, double time);

/* Where he looks, with the hand's error; unit. */
struct hs_vec hs_client_aim(const struct hs_client *client);

/* Seconds on the server's clock at which he thinks that a frame of his will be simulated. */
double hs_client_stamp(const struct hs_client *client, double time);

/* Fires what he holds: sends a shot where shots are posted, and a claim when his screen says that
   something was hit at once; else lets something fly. */
void hs_client_fire(struct hs_client *client, const struct hs_game *game, double time,
                    const struct hs_screen *screen, struct hs_mailbox *box);

/* Follows what flies up to what the screen shows, and claims what it hits there. */
void hs_client_follow(struct hs_client *client, const struct hs_game *game, double time,
                      const struct hs_screen *screen, struct hs_mailbox *box);

#endif
