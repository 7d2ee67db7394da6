#include "players.h"

#include <stdlib.h>

static void destroy_player(struct hs_player *player)
{
    hs_history_destroy(player->history);
    hs_ledger_clear(&player->ledger);
    free(player);
}

void hs_players_destroy(struct hs_players *players)
{
    for (uint32_t i = 0; i < players->count; i++)
        destroy_player(players->all[i]);
    free(players->all);
    free(players->index);
}

struct hs_player *hs_players_find(const struct hs_players *players, struct hs_str name)
{
    if (players->index_size == 0)
        return NULL;
    uint64_t hash = hs_str_hash(name);
    uint32_t mask = players->index_size - 1;
    for (uint32_t i = (uint32_t)hash & mask; players->index[i] != 0; i = (i + 1) & mask) {
        struct hs_player *player = players->all[players->index[i] - 1];
        if (player->hash == hash && hs_str_equal(hs_name_str(&player->name), name))
            return player;
    }
    return NULL;
}

static void index_player(struct hs_players *players, uint32_t p)
{
    uint32_t mask = players->index_size - 1;
    uint32_t i = (uint32_t)players->all[p]->hash & mask;
    while (players->index[i] != 0)
        i = (i + 1) & mask;
    players->index[i] = p + 1;
}

static void rebuild_index(struct hs_players *players)
{
    memset(players->index, 0, players->index_size * sizeof players->index[0]);
    for (uint32_t p = 0; p < players->count; p++)
        index_player(players, p);
}

static bool grow(struct hs_players *players)
{
    uint32_t capacity = players->capacity == 0 ? 8 : players->capacity * 2;
    struct hs_player **all = realloc(players->all, capacity * sizeof *all);
    if (all == NULL)
        return false;
    players->all = all;
    uint32_t index_size = capacity * 4;
    uint32_t *index = realloc(players->index, index_size * sizeof *index);
    if (index == NULL)
        return false;
    players->index = index;
    players->index_size = index_size;
    players->capacity = capacity;
    rebuild_index(players);
    return true;
}

/* Takes out the player who left first; false when nobody did. */
static bool evict_left(struct hs_players *players)
{
    for (uint32_t i = 0; i < players->count; i++) {
        if (!players->all[i]->left)
            continue;
        destroy_player(players->all[i]);
        players->count--;
        memmove(&players->all[i], &players->all[i + 1],
                (players->count - i) * sizeof players->all[0]);
        rebuild_index(players);
        return true;
    }
    return false;
}

enum hs_players_add hs_players_add(struct hs_players *players, struct hs_str name,
                                   uint32_t max_samples, struct hs_player **out)
{
    if (players->count == players->limit && !evict_left(players))
        return HS_PLAYERS_FULL;
    if (players->count == players->capacity && !grow(players))
        return HS_PLAYERS_NO_MEMORY;
    struct hs_player *player = calloc(1, sizeof *player);
    if (player == NULL)
        return HS_PLAYERS_NO_MEMORY;
    player->history = hs_history_create(&(struct hs_history_limits){max_samples});
    if (player->history == NULL) {
        free(player);
        return HS_PLAYERS_NO_MEMORY;
    }
    hs_name_set(&player->name, name);
    player->hash = hs_str_hash(name);
    players->all[players->count++] = player;
    players->present++;
    index_player(players, players->count - 1);
    *out = player;
    return HS_PLAYERS_ADDED;
}
