/*
 * The games whose matches are imported from CSV pairs: player bodies, clocks, and a ruleset for
 * each game. Lengths are in inches, times in seconds.
 */
#ifndef HS_PLAY_CSV_GAME_H
#define HS_PLAY_CSV_GAME_H

#include <jansson.h>
#include <stddef.h>

#include "validators/str.h"

enum { HS_CSV_WEAPONS = 64 };

/* The differences between the games. */
struct hs_csv_game {
    const char *name;        /* name of the ruleset */
    double half_width;       /* half the width of the body */
    double bottom, top;      /* lower and upper end of the body, relative to the position */
    double ducked_top;       /* upper end of a ducked body; 0: players cannot duck */
    double eye, ducked_eye;  /* height of the eye, relative to the position */
    double least_rewind;     /* age of the newest pose that a shot can hit; seconds */
    double ping_credit;      /* the server rewinds by the ping minus `ping_credit`; seconds */
    double default_distance; /* length of a shot without max_dist */
    double jump_speed;       /* speed; a faster movement is a teleport */
    /* the largest distance that a player moves between a pose and a shot */
    double origin_tolerance;
};

/* QuakeWorld, CS:GO */
extern const struct hs_csv_game hs_csv_games[2];

struct hs_csv_weapon {
    char name[HS_NAME_MAX + 1];
    double damage; /* the largest damage in any row */
    double range;  /* length of the longest shot */
    double spread; /* radians; half angle of the widest cone of bullets */
};

/* Returns the ruleset for a match of the game; a new reference. Its rewind limit covers
   `longest_rewind` (seconds). The body is widened by `grow` (length) on every side. */
json_t *hs_csv_ruleset(const struct hs_csv_game *game, const struct hs_csv_weapon *weapons,
                       size_t count, double longest_rewind, double grow);

#endif
