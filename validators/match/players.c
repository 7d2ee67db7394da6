#include "validators/match/players.h"

#include <stdlib.h>

#include "validators/base/prefetch.h"
#include "validators/match/accounts.h"
#include "validators/match/journal.h"
#include "validators/match/player_moves.h"

enum { FIRST_PLACES = 8 };

/* Bytes per player in the arrays `all`, `crowd`, `due` and `index`. `index` has four entries per
   player, and one element of `crowd` is for four players. */
#define PLACE_BYTES                                                                                \
    (sizeof(struct hs_player *) + sizeof(struct hs_crowd) / 4 + sizeof(struct hs_due) +            \
     4 * sizeof(uint32_t))

size_t hs_players_min_bytes(uint32_t max_samples)
{
    return sizeof(struct hs_player) + HS_LEDGER_RESERVE + HS_MOVES_RESERVE +
           hs_history_min_bytes(max_samples);
}

static void destroy_player(struct hs_player *player, struct hs_budget *budget)
{
    hs_ledger_clear(&player->ledger);
    hs_player_moves_destroy(player->moves, budget);
    hs_budget_release(budget, hs_players_min_bytes(hs_history_limit(player->history)));
    hs_history_destroy(player->history);
    free(player);
}

void hs_players_destroy(struct hs_players *players)
{
    for (uint32_t i = 0; i < players->count; i++)
        destroy_player(players->all[i], players->budget);
    free(players->all);
    free(players->index);
    free(players->due);
    free(players->crowd);
    free(players->accounts.all);
}

static bool has_name(const struct hs_player *player, struct hs_str name)
{
    return name.len > 0 && name.len <= HS_NAME_MAX &&
           memcmp(player->name.text, name.ptr, name.len) == 0 &&
           player->name.text[name.len] == '\0';
}

/* Returns the player's index in `all`, or `count` if there is no player with this name. */
static uint32_t find_place(const struct hs_players *players, struct hs_str name)
{
    if (players->index_size == 0)
        return players->count;
    uint64_t hash = hs_str_hash(name);
    uint32_t mask = players->index_size - 1;
    for (uint32_t i = (uint32_t)hash & mask; players->index[i] != 0; i = (i + 1) & mask) {
        const struct hs_player *player = players->all[players->index[i] - 1];
        if (player->hash == hash && has_name(player, name))
            return players->index[i] - 1;
    }
    return players->count;
}

struct hs_player *hs_players_find(const struct hs_players *players, struct hs_str name)
{
    if (players->shooter != NULL && has_name(players->shooter, name))
        return players->shooter;
    uint32_t place = find_place(players, name);
    return place < players->count ? players->all[place] : NULL;
}

/*
 * Between two requests for a match, the data of other matches replaces the data of this match in
 * the processor's caches. So the data of the next players is prefetched while the current player is
 * processed. The address of a player's history and moves is in the player's struct, so the struct
 * must be in the cache first. The struct is prefetched eight players ahead, and the data behind its
 * pointers is prefetched fewer players ahead.
 */
enum { PLAYER_AHEAD = 8, PARTS_AHEAD = 6, ANSWERS_AHEAD = 4, RINGS_AHEAD = 2 };

static void prefetch_player(const struct hs_players *players, uint32_t place)
{
    if (place < players->count)
        hs_prefetch(players->all[place], HS_PLAYER_NEAR);
}

static void prefetch_parts(const struct hs_players *players, uint32_t place,
                           enum hs_players_use use)
{
    if (place >= players->count)
        return;
    const struct hs_player *player = players->all[place];
    hs_history_prefetch_itself(player->history);
    if (use == HS_PLAYERS_FOR_MOVE && player->moves != NULL)
        hs_prefetch(player->moves, HS_PLAYER_MOVES_NEAR);
}

static void prefetch_answers(const struct hs_players *players, uint32_t place,
                             enum hs_players_use use)
{
    if (place < players->count && use == HS_PLAYERS_FOR_MOVE && players->all[place]->moves != NULL)
        hs_move_answers_prefetch_itself(players->all[place]->moves->answers);
}

static void prefetch_rings(const struct hs_players *players, uint32_t place,
                           enum hs_players_use use)
{
    if (place >= players->count)
        return;
    const struct hs_player *player = players->all[place];
    if (use == HS_PLAYERS_FOR_FRAME)
        hs_history_prefetch_ends(player->history);
    else
        hs_history_prefetch_newest(player->history);
    if (use == HS_PLAYERS_FOR_MOVE && player->moves != NULL)
        hs_move_answers_prefetch(player->moves->answers);
}

static void prefetch_next(const struct hs_players *players, enum hs_players_use use)
{
    uint32_t next = players->next;
    if (next == 1) {
        for (uint32_t i = 1; i < PLAYER_AHEAD; i++)
            prefetch_player(players, i);
        for (uint32_t i = 1; i < PARTS_AHEAD; i++)
            prefetch_parts(players, i, use);
        for (uint32_t i = 1; i < ANSWERS_AHEAD; i++)
            prefetch_answers(players, i, use);
        for (uint32_t i = 1; i < RINGS_AHEAD; i++)
            prefetch_rings(players, i, use);
    }
    prefetch_player(players, next - 1 + PLAYER_AHEAD);
    prefetch_parts(players, next - 1 + PARTS_AHEAD, use);
    prefetch_answers(players, next - 1 + ANSWERS_AHEAD, use);
    prefetch_rings(players, next - 1 + RINGS_AHEAD, use);
}

struct hs_player *hs_players_find_next(struct hs_players *players, struct hs_str name,
                                       enum hs_players_use use)
{
    uint32_t place = players->next < players->count ? players->next : 0;
    if (players->count > 0 && has_name(players->all[place], name)) {
        players->next = place + 1;
        prefetch_next(players, use);
        return players->all[place];
    }
    place = find_place(players, name);
    if (place == players->count)
        return NULL;
    players->next = place + 1;
    return players->all[place];
}

static void update_crowd(struct hs_players *players, const struct hs_player *player)
{
    hs_crowd_put(&players->crowd[player->place / 4], player->place % 4, player->history,
                 players->ruleset);
}

static void index_player(struct hs_players *players, uint32_t p)
{
    players->all[p]->place = p;
    update_crowd(players, players->all[p]);
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

static uint32_t crowds_of(uint32_t capacity)
{
    return (capacity + 3) / 4;
}

static bool grow(struct hs_players *players)
{
    uint32_t capacity = players->capacity == 0 ? FIRST_PLACES : players->capacity * 2;
    struct hs_player **all = realloc(players->all, capacity * sizeof *all);
    if (all == NULL)
        return false;
    players->all = all;
    struct hs_due *due = realloc(players->due, capacity * sizeof *due);
    if (due == NULL)
        return false;
    players->due = due;
    struct hs_crowd *crowd = realloc(players->crowd, crowds_of(capacity) * sizeof *crowd);
    if (crowd == NULL)
        return false;
    players->crowd = crowd;
    uint32_t had = crowds_of(players->capacity);
    memset(crowd + had, 0, (crowds_of(capacity) - had) * sizeof *crowd);
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

/*
 * Evicts one player who left before evict_before_us. Claims from before that time are too old to be
 * accepted, so the player's payments are no longer needed. Eviction deletes a player's suspicion,
 * so the least suspicious of these players is evicted. If several players have the same suspicion,
 * the first of them in `all` is evicted. Returns false if no player can be evicted.
 */
static bool evict_left(struct hs_players *players)
{
    uint32_t least = UINT32_MAX;
    double suspicion = 0;
    for (uint32_t i = 0; i < players->count; i++) {
        const struct hs_player *player = players->all[i];
        if (!player->left || player->left_us >= players->evict_before_us)
            continue;
        double own = hs_suspicion_sum(&player->standing.suspicion, players->evict_before_us);
        if (least != UINT32_MAX && own >= suspicion)
            continue;
        least = i;
        suspicion = own;
    }
    if (least == UINT32_MAX)
        return false;
    players->shooter = NULL;
    destroy_player(players->all[least], players->budget);
    players->count--;
    memmove(&players->all[least], &players->all[least + 1],
            (players->count - least) * sizeof players->all[0]);
    rebuild_index(players);
    return true;
}

/* ---- memory ---- */

static void free_empty_histories(struct hs_players *players)
{
    for (uint32_t i = 0; i < players->count; i++)
        if (hs_history_count(players->all[i]->history) == 0 &&
            hs_history_bytes(players->all[i]->history) >
                hs_history_min_bytes(hs_history_limit(players->all[i]->history)))
            hs_history_shrink(players->all[i]->history, 0);
}

void hs_players_free_space(struct hs_players *players, size_t bytes)
{
    if (hs_budget_has(players->budget, bytes))
        return;
    free_empty_histories(players);
    while (!hs_budget_has(players->budget, bytes)) {
        struct hs_player *longest = NULL;
        uint32_t most = HS_HISTORY_FIRST;
        for (uint32_t i = 0; i < players->count; i++) {
            uint32_t capacity = hs_history_capacity(players->all[i]->history);
            if (capacity <= most)
                continue;
            most = capacity;
            longest = players->all[i];
        }
        uint32_t half = most / 2 > HS_HISTORY_FIRST ? most / 2 : HS_HISTORY_FIRST;
        if (longest == NULL)
            return;
        bool is_shorter = hs_history_shrink(longest->history, half);
        /* Update even if hs_history_shrink failed, because it may have dropped samples. */
        hs_players_update(players, longest);
        if (!is_shorter)
            return;
    }
}

size_t hs_match_count_bytes(const struct hs_match *match)
{
    const struct hs_players *players = &match->players;
    size_t bytes = sizeof *match + match->team_capacity * sizeof *match->teams +
                   hs_movers_bytes(&match->movers) + players->capacity * PLACE_BYTES +
                   players->accounts.capacity * sizeof *players->accounts.all;
    for (uint32_t i = 0; i < players->count; i++) {
        const struct hs_player *player = players->all[i];
        size_t ledger = hs_ledger_bytes(&player->ledger);
        bytes += sizeof *player + hs_history_bytes(player->history) +
                 (ledger > HS_LEDGER_RESERVE ? ledger : HS_LEDGER_RESERVE) +
                 hs_player_moves_charge(player->moves);
    }
    return bytes;
}

/* Reserves the bytes of a new player. If the arrays are full, also reserves the bytes of larger
   arrays. If the budget is too small, first shrinks the histories without samples. */
static bool reserve_place(struct hs_players *players, uint32_t max_samples, size_t *bytes)
{
    uint32_t places = players->capacity == 0 ? FIRST_PLACES : players->capacity;
    *bytes = hs_players_min_bytes(max_samples);
    if (players->count == players->capacity)
        *bytes += places * PLACE_BYTES;
    if (!hs_budget_has_spare(players->budget, *bytes))
        free_empty_histories(players);
    return hs_budget_reserve_spare(players->budget, *bytes);
}

static struct hs_player *make_player(const struct hs_players *players, struct hs_str name,
                                     uint32_t max_samples)
{
    struct hs_player *player = calloc(1, sizeof *player);
    if (player == NULL)
        return NULL;
    player->history = hs_history_create(
        &(struct hs_history_limits){.samples = max_samples, .budget = players->budget});
    if (player->history == NULL) {
        free(player);
        return NULL;
    }
    player->ledger.budget = players->budget;
    hs_name_set(&player->name, name);
    player->hash = hs_str_hash(name);
    return player;
}

enum hs_players_add hs_players_add(struct hs_players *players, struct hs_str name,
                                   uint32_t max_samples, struct hs_player **out)
{
    size_t bytes;
    if (players->count == players->limit && !evict_left(players))
        return HS_PLAYERS_FULL;
    if (!reserve_place(players, max_samples, &bytes))
        return HS_PLAYERS_FULL;
    struct hs_player *player = NULL;
    if (players->count < players->capacity || grow(players)) {
        /* The larger arrays are kept even if the player cannot be created, so their bytes stay
           reserved. */
        bytes = hs_players_min_bytes(max_samples);
        player = make_player(players, name, max_samples);
    }
    if (player == NULL) {
        hs_budget_release(players->budget, bytes);
        return HS_PLAYERS_NO_MEMORY;
    }
    players->all[players->count++] = player;
    players->present++;
    index_player(players, players->count - 1);
    *out = player;
    return HS_PLAYERS_ADDED;
}

void hs_players_drop_last(struct hs_players *players)
{
    struct hs_player *player = players->all[--players->count];
    players->present--;
    players->shooter = NULL;
    rebuild_index(players);
    destroy_player(player, players->budget);
}

static void forget_session(struct hs_players *players, struct hs_player *player)
{
    hs_ledger_end_session(&player->ledger);
    hs_player_moves_end_session(player->moves, players->budget);
}

void hs_players_forget_ended(struct hs_players *players, int64_t before_us)
{
    for (uint32_t i = 0; i < players->count; i++)
        if (players->all[i]->left && players->all[i]->left_us < before_us)
            forget_session(players, players->all[i]);
}

void hs_players_begin_session(struct hs_players *players, struct hs_player *player)
{
    player->former_session = player->session;
    player->session = ++players->sessions;
    hs_journal_session(players, player);
}

void hs_players_leave(struct hs_players *players, struct hs_player *player, int64_t left_us,
                      int64_t ended_us)
{
    hs_history_clear(player->history);
    hs_history_carry(player->history, NULL);
    hs_players_update(players, player);
    hs_accounts_park(players, player, left_us);
    player->was_moved = player->was_launched = player->has_spawned = false;
    player->left = true;
    player->has_left_before = true;
    player->left_us = left_us;
    player->ended_us = ended_us;
    players->present--;
    hs_journal_session(players, player);
}

void hs_players_rejoin(struct hs_players *players, struct hs_player *player)
{
    forget_session(players, player);
    player->left = false;
    player->round_trips.counts[0] = 0;
    struct hs_suspicion suspicion = player->standing.suspicion;
    player->standing = (struct hs_standing){.suspicion = suspicion};
    hs_accounts_take(players, player);
    players->present++;
    hs_players_begin_session(players, player);
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

/* Restores the order of the heap: moves `due` up or down from the free slot `i` until the order is
   correct. */
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

void hs_players_update(struct hs_players *players, struct hs_player *player)
{
    update_crowd(players, player);
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
        hs_players_update(players, player);
    }
}

/* ---- suspicion ---- */

static double share_left(const struct hs_suspicion *suspicion, int64_t time_us)
{
    int64_t age = time_us - suspicion->time_us;
    return age > 0 ? exp2(-(double)age / (double)HS_SUSPICION_HALF_LIFE_US) : 1;
}

double hs_suspicion_sum(const struct hs_suspicion *suspicion, int64_t time_us)
{
    double sum = 0;
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        sum += suspicion->hits[i];
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        sum += suspicion->moves[i];
    return sum > 0 ? sum * share_left(suspicion, time_us) : 0;
}

void hs_suspicion_decay(struct hs_suspicion *suspicion, int64_t time_us)
{
    double share = share_left(suspicion, time_us);
    for (int i = 0; i < HS_CHECK_COUNT; i++)
        suspicion->hits[i] *= share;
    for (int i = 0; i < HS_MOVE_CHECK_COUNT; i++)
        suspicion->moves[i] *= share;
    if (time_us > suspicion->time_us || hs_suspicion_sum(suspicion, time_us) == 0)
        suspicion->time_us = time_us;
}

double hs_suspicion_weight(const struct hs_ruleset *ruleset, enum hs_unit unit, double measured,
                           double limit)
{
    double scale = limit;
    if (unit == HS_UNIT_NONE)
        return 1;
    if (scale <= 0)
        scale = unit == HS_UNIT_LENGTH ? ruleset->hit.origin_tolerance : 1;
    double weight = fabs(measured - limit) / scale;
    /* If the scale is 0, `weight` is infinite or NaN, and the result is 1. */
    return weight < 1 ? weight : 1;
}
