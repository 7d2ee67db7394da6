/*
 * The games whose matches come as CSV pairs: what their bodies and clocks are like, and the
 * ruleset that says so. Lengths are inches, times seconds.
 */
#ifndef HS_PLAY_CSV_GAME_H
#define HS_PLAY_CSV_GAME_H

#include <jansson.h>
#include <stddef.h>

#include "validators/str.h"

enum { HS_CSV_WEAPONS = 64 };

/* What differs between the games. Lengths are inches, times seconds. */
struct hs_csv_game {
    const char *name;        /* of the ruleset */
    const char *direction;   /* prefix of the shot's direction columns */
    double half_width;       /* of the body */
    double bottom, top;      /* of the body over the pose's position */
    double ducked_top;       /* of a ducked body; 0: nobody ducks */
    double eye, ducked_eye;  /* over the position */
    double least_rewind;     /* no pose is newer for a shot than this */
    double ping_credit;      /* how much less than the ping the server rewinds */
    double default_distance; /* length of a shot without max_dist */
    double jump_speed;       /* a faster move was no walk */
    double origin_tolerance; /* how far players move between a pose and the shot */
};

/* QuakeWorld, CS:GO */
extern const struct hs_csv_game hs_csv_games[2];

struct hs_csv_weapon {
    char name[HS_NAME_MAX + 1];
    double damage; /* the most a row says */
    double range;  /* the longest shot */
};

/*
 * The ruleset of a game's match; a new reference. Its rewind limit covers `longest_rewind`
 * (seconds); the body is wider by `grow` (length) on every side.
 */
json_t *hs_csv_ruleset(const struct hs_csv_game *game, const struct hs_csv_weapon *weapons,
                       size_t count, double longest_rewind, double grow);

#endif
