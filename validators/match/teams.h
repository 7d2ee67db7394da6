/* The names of teams in a match: players keep the place of a name. Internal to validators/. */
#ifndef HS_TEAMS_H
#define HS_TEAMS_H

#include "validators/match/players.h"

/* The place of a team's name in the match, noted where it is new. False: no room, or memory. */
bool hs_match_intern_team(struct hs_match *match, struct hs_str name, uint16_t *out);

#endif
