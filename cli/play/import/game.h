/*
 * The games whose matches can be imported from CSV pairs: player bodies, timing, and a ruleset for
 * each game. Lengths are in inches, times in seconds.
 */
#ifndef HS_PLAY_CSV_GAME_H
#define HS_PLAY_CSV_GAME_H

#include <jansson.h>
#include <stddef.h>

#include "validators/str.h"

enum { HS_CSV_WEAPONS = 64 };

/* The values that differ between the games. */
struct hs_csv_game {
    const char *name;        /* name of the ruleset */
    double half_width;       /* half the width of the body */
    double bottom, top;      /* heights of the feet and of the head, relative to the position */
    double ducked_top;       /* height of the head while the player ducks; 0: players cannot duck */
    double eye, ducked_eye;  /* heights of the eye, relative to the position */
    double least_rewind;     /* minimum age of the poses that a shot can hit; seconds */
    double ping_credit;      /* the server rewinds by the ping minus `ping_credit`; seconds */
    double default_distance; /* length of a shot if the table has no column max_dist */
    double jump_speed;       /* inches per second; a faster movement counts as a teleport */
    double origin_tolerance; /* the largest distance a player moves between a pose and a shot */
};

/* [0]: QuakeWorld; [1]: CS:GO */
extern const struct hs_csv_game hs_csv_games[2];

struct hs_csv_weapon {
    char name[HS_NAME_MAX + 1];
    double damage; /* the largest damage in the table */
    double range;  /* length of the longest shot */
    double spread; /* half angle of the widest cone of bullets; radians */
};

/* Returns a ruleset for a match of this game (new reference). The rewind limit is at least
   `longest_rewind` (seconds). The hitbox is `grow` (length) larger on every side than the game's
   body. */
json_t *hs_csv_ruleset(const struct hs_csv_game *game, const struct hs_csv_weapon *weapons,
                       size_t count, double longest_rewind, double grow);

#endif
