#include "validators/match.h"

#include <stdlib.h>

#include "validators/base/saved.h"
#include "validators/match/connection.h"
#include "validators/match/player_moves.h"
#include "validators/match/players.h"

/* Returns an upper bound: a claim with a time that is older than this is never accepted. This bound
   is the sum of history.keep, rewind.future_slack, and the max age of the shot. This max age is the
   rewind limit plus the longest flight of a projectile, but at least HS_PAIRING_US. */
static int64_t claim_window(const struct hs_ruleset *ruleset)
{
    int64_t flight_us = 0;
    for (uint16_t i = 0; i < ruleset->weapon_count; i++) {
        const struct hs_weapon *weapon = ruleset->weapons[i];
        if (weapon->type == HS_WEAPON_PROJECTILE && weapon->max_flight_us > flight_us)
            flight_us = weapon->max_flight_us;
    }
    int64_t shot_us = ruleset->rewind.limit_us + flight_us;
    return ruleset->history.keep_us + ruleset->rewind.future_slack_us +
           (shot_us > HS_PAIRING_US ? shot_us : HS_PAIRING_US);
}

struct hs_match *hs_match_create(const struct hs_ruleset *ruleset,
                                 const struct hs_match_limits *limits)
{
    struct hs_match *match = calloc(1, sizeof *match);
    if (match == NULL)
        return NULL;
    match->ruleset = ruleset;
    match->limits = *limits;
    match->players.limit = limits->players;
    match->players.ruleset = ruleset;
    match->players.budget = match->movers.budget = &match->budget;
    match->players.evict_before_us = INT64_MIN;
    match->claim_window_us = claim_window(ruleset);
    match->saved_format = hs_saved_format();
    hs_budget_init(&match->budget, limits->bytes > 0 ? limits->bytes : SIZE_MAX, limits->shared);
    if (hs_budget_reserve(&match->budget, sizeof *match))
        return match;
    free(match);
    return NULL;
}

void hs_match_destroy(struct hs_match *match)
{
    if (match == NULL)
        return;
    hs_players_destroy(&match->players);
    hs_movers_destroy(&match->movers);
    free(match->teams);
    hs_budget_release(&match->budget, hs_budget_used(&match->budget));
    free(match);
}

void hs_match_set_world(struct hs_match *match, const struct hs_world *world)
{
    match->world = world;
}

bool hs_match_was_refused(struct hs_match *match)
{
    return atomic_exchange(&match->budget.was_refused, false);
}

bool hs_match_has_space(const struct hs_match *match)
{
    for (const struct hs_budget *at = &match->budget; at != NULL; at = at->of)
        if (atomic_load(&at->used) >= at->limit / 10 * 9)
            return false;
    return true;
}

size_t hs_match_min_bytes(void)
{
    return sizeof(struct hs_match);
}

const struct hs_ruleset *hs_match_ruleset(const struct hs_match *match)
{
    return match->ruleset;
}

void hs_match_info(const struct hs_match *match, struct hs_match_info *out)
{
    int64_t window = match->newest_us - match->window_start_us;
    *out = (struct hs_match_info){
        .newest_us = match->newest_us,
        .opening_us = match->opening_us,
        .has_frames = match->has_frames,
        .needs_resync = !match->has_frames || window < match->ruleset->history.keep_us,
        .players = match->players.present,
        .movers = match->movers.count,
        .accounts = match->players.accounts.count,
        .history_bytes = hs_budget_used(&match->budget),
    };
}

uint32_t hs_match_payments(const struct hs_match *match)
{
    return match->payments;
}

void hs_match_totals(const struct hs_match *match, struct hs_match_totals *out)
{
    *out = match->totals;
}

static void describe_suspicion(const struct hs_match *match, const struct hs_player *player,
                               struct hs_player_info *out)
{
    struct hs_suspicion now = player->standing.suspicion;
    hs_suspicion_decay(&now, match->newest_us);
    out->suspicion = hs_suspicion_sum(&now, match->newest_us);
    memcpy(out->suspicion_hits, now.hits, sizeof now.hits);
    memcpy(out->suspicion_moves, now.moves, sizeof now.moves);
}

static void describe_connection(const struct hs_match *match, const struct hs_player *player,
                                struct hs_player_connection *out)
{
    struct hs_connection connection;
    hs_connection_read(player, match->newest_us, &connection);
    *out = (struct hs_player_connection){
        .is_known = connection.is_known,
        .is_quiet = hs_connection_is_quiet(player, match->newest_us),
        .rtt_us = connection.rtt_us,
        .spread_us = connection.spread_us,
        .noise_us = hs_connection_noise(player),
    };
}

static void describe(const struct hs_match *match, const struct hs_player *player,
                     struct hs_player_info *out)
{
    *out = (struct hs_player_info){.name = hs_name_str(&player->name),
                                   .samples = hs_history_count(player->history),
                                   .alive = true,
                                   .would_reject = player->standing.would_reject,
                                   .damage_dealt = player->standing.damage_dealt};
    describe_suspicion(match, player, out);
    describe_connection(match, player, &out->connection);
    if (player->account.text[0] != '\0')
        out->account = hs_name_str(&player->account);
    memcpy(out->reasons, player->standing.reasons, sizeof out->reasons);
    if (out->samples == 0)
        return;
    const struct hs_sample *newest = hs_history_at(player->history, out->samples - 1);
    const struct hs_state *state = hs_history_state(player->history, newest);
    out->oldest_us = hs_history_at(player->history, 0)->time_us;
    out->newest_us = newest->time_us;
    out->position = newest->position;
    out->life = state->life;
    out->alive = state->alive;
    if (state->team != HS_NONE)
        out->team = hs_name_str(&match->teams[state->team]);
}

uint64_t hs_match_session(const struct hs_match *match, struct hs_str name, int64_t fire_time_us)
{
    const struct hs_player *player = hs_players_find(&match->players, name);
    if (player == NULL)
        return 0;
    return hs_player_is_back_since(player, fire_time_us) ? player->former_session : player->session;
}

bool hs_match_find_player(const struct hs_match *match, struct hs_str name,
                          struct hs_player_info *out)
{
    const struct hs_player *player = hs_players_find(&match->players, name);
    if (player == NULL || player->left)
        return false;
    describe(match, player, out);
    return true;
}

bool hs_match_next_player(const struct hs_match *match, uint32_t *cursor,
                          struct hs_player_info *out)
{
    while (*cursor < match->players.count) {
        const struct hs_player *player = match->players.all[(*cursor)++];
        if (player->left)
            continue;
        describe(match, player, out);
        return true;
    }
    return false;
}
