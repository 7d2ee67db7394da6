#include "players.h"

#include <stdlib.h>

#include "player_moves.h"

static void destroy_player(struct hs_player *player)
{
    hs_history_destroy(player->history);
    hs_ledger_clear(&player->ledger);
    hs_player_moves_destroy(player->moves);
    free(player);
}

void hs_players_destroy(struct hs_players *players)
{
    for (uint32_t i = 0; i < players->count; i++)
        destroy_player(players->all[i]);
    free(players->all);
    free(players->index);
    free(players->due);
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
    struct hs_due *due = realloc(players->due, capacity * sizeof *due);
    if (due == NULL)
        return false;
    players->due = due;
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
    if (players->held || (players->count == players->limit && !evict_left(players)))
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

static void forget_session(struct hs_player *player)
{
    hs_ledger_end_session(&player->ledger);
    hs_player_moves_end_session(player->moves);
}

void hs_players_forget_ended(struct hs_players *players, int64_t before_us)
{
    for (uint32_t i = 0; i < players->count; i++)
        if (players->all[i]->left && players->all[i]->left_us < before_us)
            forget_session(players->all[i]);
}

bool hs_player_inherited(const struct hs_player *player, struct hs_inherited *out)
{
    uint32_t count = hs_history_count(player->history);
    if (count > 0) {
        const struct hs_sample *newest = hs_history_at(player->history, count - 1);
        *out = (struct hs_inherited){hs_history_state(player->history, newest), newest->rtt_us,
                                     newest->interp_us};
        return true;
    }
    *out =
        (struct hs_inherited){&player->carried, player->carried_rtt_us, player->carried_interp_us};
    return player->has_carried;
}

void hs_players_rejoin(struct hs_players *players, struct hs_player *player)
{
    forget_session(player);
    player->left = false;
    memset(player->reasons, 0, sizeof player->reasons);
    player->would_reject = 0;
    player->damage_dealt = 0;
    players->present++;
}

void hs_players_reverse(struct hs_players *players)
{
    for (uint32_t i = 0; i < players->count / 2; i++) {
        struct hs_player *swapped = players->all[i];
        players->all[i] = players->all[players->count - 1 - i];
        players->all[players->count - 1 - i] = swapped;
    }
    if (players->count > 0)
        rebuild_index(players);
}

/* ---- pruning ---- */

static void place_due(struct hs_players *players, uint32_t i, struct hs_due due)
{
    players->due[i] = due;
    due.player->due = i + 1;
}

/* Puts an entry where it belongs in the heap, from the free place i. */
static void sift(struct hs_players *players, uint32_t i, struct hs_due due)
{
    struct hs_due *heap = players->due;
    for (; i > 0 && due.time_us < heap[(i - 1) / 2].time_us; i = (i - 1) / 2)
        place_due(players, i, heap[(i - 1) / 2]);
    for (uint32_t child = 2 * i + 1; child < players->due_count; child = 2 * i + 1) {
        if (child + 1 < players->due_count && heap[child + 1].time_us < heap[child].time_us)
            child++;
        if (due.time_us <= heap[child].time_us)
            break;
        place_due(players, i, heap[child]);
        i = child;
    }
    place_due(players, i, due);
}

void hs_players_note_history(struct hs_players *players, struct hs_player *player)
{
    if (hs_history_count(player->history) >= 2) {
        int64_t time_us = hs_history_at(player->history, 1)->time_us;
        uint32_t i = player->due == 0 ? players->due_count++ : player->due - 1;
        if (player->due == 0 || players->due[i].time_us != time_us)
            sift(players, i, (struct hs_due){time_us, player});
    } else if (player->due != 0) {
        uint32_t i = player->due - 1;
        player->due = 0;
        struct hs_due last = players->due[--players->due_count];
        if (last.player != player)
            sift(players, i, last);
    }
}

void hs_players_prune(struct hs_players *players, int64_t before_us)
{
    while (players->due_count > 0 && players->due[0].time_us <= before_us) {
        struct hs_player *player = players->due[0].player;
        hs_history_prune(player->history, before_us);
        hs_players_note_history(players, player);
    }
}
