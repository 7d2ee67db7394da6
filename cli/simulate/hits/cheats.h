/*
 * Cheats, each compared with an honest twin. Cheat and twin have the same seed, connection, fight
 * and fire times, and the same aim with the same errors. The gain is the number of the cheat's
 * accepted hits divided by the number of the twin's accepted hits, minus 1. Cheats have all
 * information: they see the server's frames, verify all choices first, and send the choice with the
 * most damage.
 */
#ifndef HS_SIMULATE_CHEATS_H
#define HS_SIMULATE_CHEATS_H

#include "cli/simulate/arena.h"
#include "cli/simulate/link.h"
#include "validators/hit.h"

/* What a cheat may choose. The member `amount` of struct hs_cheat limits the choice. After the
   semicolon, the comments say what `amount` means. */
enum hs_cheat_kind {
    HS_CHEAT_TIMES,    /* hit_time; if `amount` is 1, also fire_time */
    HS_CHEAT_LAUNCHES, /* place and time of a projectile's launch, which is not posted */
    HS_CHEAT_PELLETS,  /* one path for all pellets, at an angle to the aim; degrees */
    HS_CHEAT_SEEDS,    /* the seed of the spread, out of `amount` seeds */
    HS_CHEAT_BESIDE,   /* a claimed path at an angle to the path of the posted shot; degrees */
    HS_CHEAT_NUMBERS,  /* the shot number of an earlier accepted hit; number of hits accepted since
                          that hit */
    HS_CHEAT_HOLD,     /* how long packets are held; seconds */
    HS_CHEAT_COVER,    /* an earlier fire_time while behind cover; seconds */
    HS_CHEAT_DEATH,    /* an earlier fire_time after death; seconds */
    HS_CHEAT_LEAN,     /* a start beside the eye, outside the cover; metres */
    HS_CHEAT_VOLLEY,   /* fire times; index into hs_volleys */
    HS_CHEAT_MOVE,     /* how the player moves; index into `gaits` in moving.c */
};

/* Which value `--check` compares with `limit`. `--check` uses only the runs on the link
   HS_LINK_STEADY. */
enum hs_cheat_bound {
    HS_CHEAT_UNBOUND, /* none */
    HS_CHEAT_GAIN,    /* lower end of the confidence interval of the gain in hits, as a fraction */
    HS_CHEAT_EXTENT   /* the largest accepted extent, in the unit that `extent` names */
};

struct hs_cheat {
    const char *name;
    enum hs_cheat_kind kind;
    double amount;
    enum hs_arm arm; /* the cheat's weapon; only hits with this weapon are compared */
    bool posts;      /* the cheat posts its shots; the twin always posts its own shots */
    enum hs_cheat_bound bound;
    double limit;
    const char *extent; /* what the extent measures, with its unit, for example "s older" */
    bool is_judged;     /* --check enforces `limit`; false: no limit, or the cheat is known to
                           exceed it */
};

enum { HS_CHEATS = 42 };
extern const struct hs_cheat hs_cheats[HS_CHEATS];

/* Sums over runs, from which a ratio and its confidence interval are computed. A run is one player
   in one match. */
struct hs_paired {
    double runs, twin, cheat;         /* the number of runs, and the sums */
    double twin2, cheat2, twin_cheat; /* sums of squares and of products */
};

void hs_paired_add(struct hs_paired *sum, double twin, double cheat);

/*
 * Sets *gain to the cheat's sum divided by the twin's sum, minus 1. Sets *low and *high to the ends
 * of the 95 % confidence interval of the gain. Uses the linearised variance of a ratio of paired
 * sums (Cochran, Sampling techniques, 1977, 6.4). If the twin's sum is 0, sets all three to 0 and
 * returns false.
 */
bool hs_paired_gain(const struct hs_paired *sum, double *gain, double *low, double *high);

struct hs_cheat_count {
    /* claims or moves that the cheat verified, whether or not the cheat then sent them */
    uint64_t claims;
    /* sums over accepted claims; for moves, `hits` is the distance moved, in metres */
    struct hs_paired hits, damage;
    double extent;                               /* the largest accepted extent */
    uint64_t reasons[HS_REASON_COUNT];           /* reasons for refused claims */
    uint64_t shadow[HS_REASON_COUNT];            /* failed shadow checks on accepted claims */
    uint64_t flags[HS_FLAG_COUNT];               /* flags on accepted claims */
    uint64_t move_reasons[HS_MOVE_REASON_COUNT]; /* reasons for refused moves */
    uint64_t raised[HS_MOVE_CHECK_COUNT];        /* failed move checks, in any mode */
};

void hs_cheat_add(struct hs_cheat_count *sum, const struct hs_cheat_count *more);

/* Returns whether the gain or the extent is within the cheat's limit. Returns true if the cheat has
   no limit. */
bool hs_cheat_is_within(const struct hs_cheat *cheat, const struct hs_cheat_count *count);

/* Counts the flags and the failed shadow checks of an accepted claim. */
void hs_cheat_count_accepted(struct hs_cheat_count *count, const struct hs_hit_result *result);

/* ---- volleys: burst.c ---- */

/* A firing pattern. A volley lasts ten seconds as a forgery, and twenty seconds as a cheat. */
struct hs_volley {
    double interval;     /* time between two groups, in units of the weapon's min_interval */
    int group;           /* shots fired at the same time */
    double fires, rests; /* alternating seconds of fire and of silence; rests 0: no silence */
    double renames;      /* the player leaves and rejoins under a new name after this many seconds;
                            0: never */
    bool knows; /* the cheat knows the verdicts in advance, and sends only hits that are accepted */
};

/* HS_VOLLEY_TWICE: the forgery with twice the fire rate. The other volleys are cheats. */
enum { HS_VOLLEY_TWICE, HS_VOLLEYS = 6 };
extern const struct hs_volley hs_volleys[HS_VOLLEYS];

/* Plays a volley and its honest twin, and adds the results of both to *count. If the volley fires
   groups, the extent is the largest number of accepted shots in one tick. Otherwise the extent is
   the largest number of accepted shots in any ten seconds, divided by the number that the weapon
   can fire in ten seconds. Returns false if memory runs out. */
bool hs_volley_compare(const struct hs_sim_arena *arena, const struct hs_cheat *cheat,
                       enum hs_link_kind link, uint64_t seed, struct hs_cheat_count *count);

/* ---- moves: moving.c ---- */

/* Plays moves by a cheat and by its twin, for 5.5 to 12 s, and adds the results of both to *count.
   Returns false if memory runs out. */
bool hs_moving_compare(const struct hs_sim_arena *arena, const struct hs_cheat *cheat,
                       enum hs_link_kind link, uint64_t seed, struct hs_cheat_count *count);

#endif
