/*
 * Turns honest claims into forged claims, which the service must not accept. For example, the shot
 * clearly misses the claimed body, or a wall is in its path. The forger builds each forgery from
 * the posted frames, and does not use the library's checks.
 */
#ifndef HS_SIMULATE_FORGERY_H
#define HS_SIMULATE_FORGERY_H

#include "cli/simulate/client.h"

/* X(id, name, what the claim does) */
#define HS_FORGERY_LIST(X)                                                                         \
    X(BESIDE, "aim_beside", "the shot misses the body by more than the body's width")              \
    X(START, "start_shifted", "fired 1.5 to 4 m beside the shooter's eye")                         \
    X(OLD, "time_old", "hit_time is older than the rewind limit")                                  \
    X(SLACK, "time_slack", "hit_time is further from the expected time than the slack allows")     \
    X(FUTURE, "time_future", "hit_time is further in the future than the future slack allows")     \
    X(WALL, "wall_between", "legal except for a wall in front of the body")                        \
    X(ALIGNED, "pellets_aligned",                                                                  \
      "all pellets have the same direction, but the seed spreads them")                            \
    X(RADIUS, "radius_grown", "five times as wide (a ray: 25 cm); touches only with that width")   \
    X(DEAD, "dead_shooter", "fired by a player who has been dead for longer than the grace")       \
    X(WEAPON, "wrong_weapon", "fired with a weapon that is not in hand")                           \
    X(EMPTY, "empty_weapon", "fired with an empty magazine, or during a reload")                   \
    X(OTHER, "other_body", "claims another body, which the shot misses")                           \
    X(NUMBER, "same_number", "uses a shot number again, with another body")

enum hs_forgery {
#define X(id, name, text) HS_FORGERY_##id,
    HS_FORGERY_LIST(X)
#undef X
        HS_FORGERIES
};

extern const char *const hs_forgery_names[HS_FORGERIES];

struct hs_forger {
    const struct hs_game *game;
    struct hs_dice dice;
    double now; /* seconds; when the claim is verified */
    /* the earliest and the latest hit_time that fit the measured round trips */
    double expected[2];
};

/*
 * Turns an honest claim into a forgery of the kind `kind`, with the same shot number. Returns false
 * if this forgery is impossible, for example because no enemy is behind a wall. In this case, *mail
 * is undefined. Always returns false for HS_FORGERY_DEAD and HS_FORGERY_EMPTY, which hs_forge_shot
 * makes.
 */
bool hs_forge(struct hs_forger *forger, enum hs_forgery kind, struct hs_mail *mail);

/* Creates a claim by a player who must not shoot now. The player fires the weapon in hand at an
   enemy in sight. Returns false if the weapon is not a hitscan weapon, if shots with this weapon
   are posted, or if no enemy is in sight. */
bool hs_forge_shot(struct hs_forger *forger, unsigned who, struct hs_mail *out);

#endif
