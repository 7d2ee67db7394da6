/*
 * Cheats that are played beside an honest twin. Cheat and twin have the same seed, connection,
 * fight and times of fire, and the same aim with the same errors. The difference between their
 * accepted hits is the cheat's gain. Cheats know everything: they see the server's frames, and
 * verify all choices first. Then they send the choice with the most damage.
 */
#ifndef HS_SIMULATE_CHEATS_H
#define HS_SIMULATE_CHEATS_H

#include "cli/simulate/arena.h"
#include "cli/simulate/link.h"
#include "validators/hit.h"

/* The values that a cheat can choose freely. `amount` of the row limits the choice. A unit in a
   comment is the unit of `amount`. */
enum hs_cheat_kind {
    HS_CHEAT_TIMES,    /* hit_time; if `amount` is 1, also fire_time */
    HS_CHEAT_LAUNCHES, /* place and time of a projectile's launch, which is not posted */
    HS_CHEAT_PELLETS,  /* paths of all pellets that differ from the aim; degrees */
    HS_CHEAT_SEEDS,    /* the best of `amount` seeds of the spread */
    HS_CHEAT_BESIDE,   /* a path of the hit that differs from the posted shot; degrees */
    HS_CHEAT_NUMBERS,  /* the number of an accepted hit, used again for another hit */
    HS_CHEAT_HOLD,     /* how long packets are held; seconds */
    HS_CHEAT_COVER,    /* an earlier fire_time, from behind cover; seconds */
    HS_CHEAT_DEATH,    /* an earlier fire_time, after death; seconds */
    HS_CHEAT_LEAN,     /* a start outside the cover; metres */
    HS_CHEAT_VOLLEY,   /* fire times; a row of hs_volleys */
    HS_CHEAT_MOVE,     /* moves; a row of moving.c */
};

/* The value that `--check` compares with the limit of a row. It comes from the runs on the
   connection HS_LINK_STEADY. */
enum hs_cheat_bound {
    HS_CHEAT_UNBOUND,
    HS_CHEAT_GAIN,  /* lower end of the confidence interval of the gain in hits; a share */
    HS_CHEAT_EXTENT /* the extent, in the unit of the row */
};

struct hs_cheat {
    const char *name;
    enum hs_cheat_kind kind;
    double amount;
    enum hs_arm arm; /* weapon of the cheat; only hits with this weapon are compared */
    bool posts;      /* the cheat posts its shots; the twin always posts them */
    enum hs_cheat_bound bound;
    double limit;
    const char *extent; /* what the extent measures, and its unit, e.g. "s older" */
    bool is_judged;     /* --check requires the limit; false: this version exceeds the limit, and
                           --check ignores it */
};

enum { HS_CHEATS = 42 };
extern const struct hs_cheat hs_cheats[HS_CHEATS];

/* Sums over runs, from which a ratio and its confidence interval are computed. A run is one player
   of a match. */
struct hs_paired {
    double runs, twin, cheat;         /* counts and sums */
    double twin2, cheat2, twin_cheat; /* sums of squares and of products */
};

void hs_paired_add(struct hs_paired *sum, double twin, double cheat);

/*
 * Sets *gain to the cheat's sum divided by the twin's sum, minus 1. Sets *low and *high to the ends
 * of its 95 % interval, from the linearised variance of a ratio of paired sums (Cochran, Sampling
 * techniques, 1977, 6.4). If the twin's sum is 0, sets all three to 0 and returns false.
 */
bool hs_paired_gain(const struct hs_paired *sum, double *gain, double *low, double *high);

struct hs_cheat_count {
    /* claims or moves verified for the cheat, including those that it did not send */
    uint64_t claims;
    /* sums over accepted claims; for moves, `hits` are metres */
    struct hs_paired hits, damage;
    double extent;                               /* the largest accepted extent */
    uint64_t reasons[HS_REASON_COUNT];           /* reasons of refused claims */
    uint64_t shadow[HS_REASON_COUNT];            /* failed checks in shadow, on accepted claims */
    uint64_t flags[HS_FLAG_COUNT];               /* flags on accepted claims */
    uint64_t move_reasons[HS_MOVE_REASON_COUNT]; /* reasons of refused moves */
    uint64_t raised[HS_MOVE_CHECK_COUNT];        /* failed checks of moves, in any mode */
};

void hs_cheat_add(struct hs_cheat_count *sum, const struct hs_cheat_count *more);

/* Returns whether the gain or the accepted extent is within the limit of the row. */
bool hs_cheat_is_within(const struct hs_cheat *cheat, const struct hs_cheat_count *count);

/* Records an accepted claim of a cheat. */
void hs_cheat_count_accepted(struct hs_cheat_count *count, const struct hs_hit_result *result);

/* ---- volleys: burst.c ---- */

/* A pattern of fire. A volley lasts ten seconds as a forgery, and twenty seconds as a cheat. */
struct hs_volley {
    double interval; /* time between two groups, in units of the weapon's min_interval */
    int group;       /* shots fired at the same time */
    double fires,
        rests;      /* seconds of fire and of silence, alternately; rests 0: fires all the time */
    double renames; /* seconds after which the player leaves and joins under a new name; 0: never */
    bool knows;     /* knows the verdict in advance, and sends only shots that will be accepted */
};

enum {
    HS_VOLLEY_TWICE,
    HS_VOLLEYS = 6
}; /* the first volley is the forgery with twice the fire rate */
extern const struct hs_volley hs_volleys[HS_VOLLEYS];

/* Plays a volley and its honest twin, and adds the results of both to *count. For groups the extent
   is the largest number of accepted shots in one tick. For other volleys the extent is the largest
   number of accepted shots in any ten seconds, divided by the number that the weapon can fire.
   Returns false if memory runs out. */
bool hs_volley_compare(const struct hs_sim_arena *arena, const struct hs_cheat *cheat,
                       enum hs_link_kind link, uint64_t seed, struct hs_cheat_count *count);

/* ---- moves: moving.c ---- */

/* Plays twelve seconds of moves by a cheat and by its twin, and adds the results of both to *count.
   Returns false if memory runs out. */
bool hs_moving_compare(const struct hs_sim_arena *arena, const struct hs_cheat *cheat,
                       enum hs_link_kind link, uint64_t seed, struct hs_cheat_count *count);

#endif
