#include "validators/match/players.h"

#include <stdlib.h>
#include <string.h>

/* Frees the team names that are not in the stored state of any player. Searches at most once in
   each period of history.keep. Returns the index of a freed name, or HS_NONE. */
static uint16_t free_team(struct hs_match *match)
{
    bool used[HS_MAX_TEAMS] = {false};
    if (match->has_swept_teams && match->newest_us - match->teams_swept_us >= 0 &&
        match->newest_us - match->teams_swept_us < match->ruleset->history.keep_us)
        return HS_NONE;
    for (uint32_t p = 0; p < match->players.count; p++) {
        const struct hs_player *player = match->players.all[p];
        struct hs_inherited carried;
        if (hs_history_inherited(player->history, -1, &carried) && carried.state.team != HS_NONE)
            used[carried.state.team] = true;
        for (uint32_t i = 0; i < hs_history_count(player->history); i++) {
            uint16_t team =
                hs_history_state(player->history, hs_history_at(player->history, i))->team;
            if (team != HS_NONE)
                used[team] = true;
        }
    }
    uint16_t kept = HS_NONE;
    for (uint16_t i = 0; i < match->team_count; i++) {
        if (used[i])
            continue;
        memset(&match->teams[i], 0, sizeof match->teams[i]);
        kept = i;
    }
    match->has_swept_teams = true;
    match->teams_swept_us = match->newest_us;
    return kept;
}

bool hs_match_intern_team(struct hs_match *match, struct hs_str name, uint16_t *out)
{
    uint16_t empty = HS_NONE;
    for (uint16_t i = 0; i < match->team_count; i++) {
        if (match->teams[i].text[0] == '\0')
            empty = i;
        if (hs_str_equal(hs_name_str(&match->teams[i]), name)) {
            *out = i;
            return true;
        }
    }
    if (empty == HS_NONE && match->team_count == HS_MAX_TEAMS)
        empty = free_team(match);
    if (empty != HS_NONE) {
        hs_name_set(&match->teams[empty], name);
        *out = empty;
        return true;
    }
    if (match->team_count == match->team_capacity) {
        uint16_t capacity = match->team_capacity == 0 ? 4 : (uint16_t)(match->team_capacity * 2);
        struct hs_name *teams;
        size_t more = (size_t)(capacity - match->team_capacity) * sizeof *teams;
        if (capacity > HS_MAX_TEAMS || !hs_budget_reserve_spare(&match->budget, more))
            return false;
        teams = realloc(match->teams, capacity * sizeof *teams);
        if (teams == NULL) {
            hs_budget_release(&match->budget, more);
            return false;
        }
        match->teams = teams;
        match->team_capacity = capacity;
    }
    hs_name_set(&match->teams[match->team_count], name);
    *out = match->team_count++;
    return true;
}
