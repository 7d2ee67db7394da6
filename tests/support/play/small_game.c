#include "tests/support/play/small_game.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/random.h"
#include "validators/moves.h"
#include "validators/shot.h"

struct hs_small_game_counts hs_small_game_counts;
void (*hs_small_game_verified)(const struct hs_match *match, const struct hs_hit_claim *hit,
                               const struct hs_shot_claim *shot,
                               const struct hs_hit_result *result);

static const char *const names[HS_SMALL_GAME_PLAYERS] = {"alice", "bob",  "carl",
                                                         "dora",  "emil", "fay"};

static struct hs_str name_of(int player)
{
    return (struct hs_str){names[player], strlen(names[player])};
}

/* Returns random numbers for one decision of the game. The numbers depend only on the seed, the
   tick and the number of the decision. */
static struct hs_random dice(const struct hs_small_game *traffic, int tick, int what)
{
    return hs_random_start(traffic->seed, (uint64_t)tick * 64 + (uint64_t)what);
}

static void out_of_memory(void)
{
    fprintf(stderr, "out of memory\n");
    exit(2);
}

struct hs_ruleset *hs_small_game_ruleset(void)
{
    struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    if (ruleset == NULL)
        out_of_memory();
    ruleset->move_checks[HS_MOVE_CHECK_SPEED] = HS_MODE_ENFORCE;
    for (int i = 0; i < ruleset->weapon_count; i++)
        ruleset->weapons[i]->require_shot = false; /* players claim hits without shots */
    return ruleset;
}

static uint64_t add_word(uint64_t hash, uint64_t word)
{
    for (int i = 0; i < 8; i++)
        hash = (hash ^ (word >> 8 * i & 0xff)) * UINT64_C(1099511628211);
    return hash;
}

static uint64_t add_real(uint64_t hash, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    return add_word(hash, word);
}

static struct hs_vec place_of(int player, int64_t time_us)
{
    double s = (double)time_us * 1e-6;
    return (struct hs_vec){4.0 * player, 1.5 * sin(s + player), 0};
}

/* ---- frames ---- */

static const struct hs_str owned[] = {{"rifle", 5}, {"bow", 3}};

static void name_weapons(int player, struct hs_player_frame *entry)
{
    entry->weapon = player % 2 == 0 ? HS_STR("rifle") : HS_STR("bow");
    if (player != 3)
        return;
    entry->fields |= HS_FIELD_WEAPONS;
    entry->weapons = owned;
    entry->weapon_count = 2;
}

static void say_again(const struct hs_small_game *traffic, int tick, int player,
                      struct hs_player_frame *entry)
{
    int since = tick - traffic->resync_tick;
    if (traffic->resync_tick == 0 || since < 0 || since >= HS_SMALL_GAME_RESYNC)
        return;
    entry->event = HS_EVENT_TELEPORT;
    if (since > 0)
        return;
    name_weapons(player, entry);
    entry->fields |= HS_FIELD_ALIVE | HS_FIELD_PROTECTED | HS_FIELD_RELOADING;
    entry->alive = true;
    entry->is_protected = entry->reloading = false;
}

static struct hs_player_frame entry_of(const struct hs_small_game *traffic, int tick, int player)
{
    struct hs_random random = dice(traffic, tick, player);
    struct hs_player_frame entry = {.player = name_of(player),
                                    .position =
                                        place_of(player, (int64_t)tick * HS_SMALL_GAME_TICK_US)};
    if (traffic->has_rtt) {
        entry.fields |= HS_FIELD_RTT;
        entry.rtt_us = 40000 + player * 10000;
    }
    if (tick == 0) {
        name_weapons(player, &entry);
        entry.team = player % 3 == 0 ? HS_STR("red") : HS_STR("blue");
        entry.fields |= HS_FIELD_LIFE | HS_FIELD_DAMAGE_SCALE;
        entry.life = player;
        entry.damage_scale = 1 + 0.25 * player;
    }
    if (hs_random_chance(&random, 0.01))
        entry.event = HS_EVENT_SPAWN;
    else if (hs_random_chance(&random, 0.01))
        entry.event = HS_EVENT_DEATH;
    else if (player == 5 && hs_random_chance(&random, 0.05))
        entry.event = HS_EVENT_LEAVE;
    if (hs_random_chance(&random, 0.02)) {
        entry.fields |= HS_FIELD_PROTECTED;
        entry.is_protected = hs_random_chance(&random, 0.3);
    }
    say_again(traffic, tick, player, &entry);
    return entry;
}

uint64_t hs_small_game_frames(const struct hs_small_game *traffic, struct hs_match *match, int tick)
{
    struct hs_player_frame players[HS_SMALL_GAME_PLAYERS];
    struct hs_mover_frame lift = {.mover = HS_STR("lift"), .position = {6, 0.2 * (tick % 40), 0}};
    enum hs_frame_result results[HS_SMALL_GAME_PLAYERS + 1];
    unsigned flags = 0;
    for (int i = 0; i < HS_SMALL_GAME_PLAYERS; i++)
        players[i] = entry_of(traffic, tick, i);
    if (tick == 0) {
        lift.fields = HS_MOVER_BOX | HS_MOVER_SOLID;
        lift.is_solid = true;
        lift.half_extents = (struct hs_vec){0.5, 0.5, 0.5};
    }
    if (tick == traffic->resync_tick) {
        lift.fields |= HS_MOVER_SOLID;
        lift.is_solid = true;
    }
    struct hs_frame frame = {.time_us = (int64_t)tick * HS_SMALL_GAME_TICK_US,
                             .players = players,
                             .player_count = HS_SMALL_GAME_PLAYERS,
                             .movers = &lift,
                             .mover_count = 1};
    if (!hs_match_post_frame(match, &frame, results, &flags))
        out_of_memory();
    uint64_t hash = flags & ~(1u << HS_FRAME_FLAG_UNFLAGGED_JUMP);
    for (int i = 0; i <= HS_SMALL_GAME_PLAYERS; i++)
        hash = add_word(hash, (uint64_t)results[i]);
    return hash;
}

/* ---- moves ---- */

/* Makes a move. One item in nine is repeated a little later. Players run; one player has a fast
   clock. */
static struct hs_move move_of(const struct hs_small_game *traffic, int tick, int player)
{
    struct hs_random random = dice(traffic, tick, 8 + player);
    double speed = player == 1 ? 1.3 : 1.0;
    int64_t now_us = (int64_t)tick * HS_SMALL_GAME_TICK_US;
    int64_t late_us = (int64_t)(30000 * hs_random_unit(&random));
    struct hs_move move = {.player = name_of(player),
                           .fields = HS_MOVE_HAS_SEQ | HS_MOVE_HAS_POSITION,
                           .kind = hs_random_chance(&random, 0.05) ? HS_MOVE_OLD : HS_MOVE_NEW,
                           .seq = (uint64_t)tick,
                           .epoch = player == 2 && tick > 150 ? 2 : 1,
                           .timestamp_us = 1000000 + (int64_t)((double)now_us * speed),
                           .received_us = now_us + late_us,
                           .dilation = 1,
                           .mode = HS_STR("walking"),
                           .position = place_of(player, now_us)};
    if (hs_random_chance(&random, 0.7)) {
        move.fields |= HS_MOVE_HAS_ACK;
        move.ack_us = now_us - 60000;
    }
    if (hs_random_chance(&random, 0.3)) {
        move.fields |= HS_MOVE_HAS_SERVER_POSITION;
        move.server_position = move.position;
        move.server_position.x += hs_random_between(&random, -3, 3);
    }
    if (hs_random_chance(&random, 0.03))
        move.position.x += 9;
    return move;
}

static uint64_t judge_move(struct hs_match *match, const struct hs_move *move)
{
    struct hs_move_result result;
    if (!hs_match_check_move(match, move, &result))
        out_of_memory();
    hs_small_game_counts.moves++;
    hs_small_game_counts.move_replays += result.replayed;
    uint64_t hash = add_word(14695981039346656037u, (uint64_t)result.reason);
    hash = add_word(hash, (uint64_t)result.verdict * 8 + (uint64_t)result.position);
    hash = add_word(hash, (uint64_t)result.replayed * 4 + (uint64_t)result.force_update * 2 +
                              (uint64_t)result.is_resolving);
    hash = add_word(hash, (uint64_t)result.delta_us);
    hash = add_word(hash, (uint64_t)result.credit_us);
    hash = add_word(hash, (uint64_t)result.discrepancy_us);
    hash = add_word(hash, (uint64_t)result.lifetime_us);
    hash = add_word(hash, result.raised);
    hash = add_real(add_real(hash, result.speed), result.error);
    hash = add_real(add_word(hash, result.corrected_mode), result.corrected.x);
    for (uint16_t i = 0; i < result.failure_count; i++)
        hash =
            add_real(add_real(add_word(hash, result.failures[i].check), result.failures[i].limit),
                     result.failures[i].measured);
    return hash;
}

uint64_t hs_small_game_moves(const struct hs_small_game *traffic, struct hs_match *match, int tick)
{
    uint64_t hash = 0;
    for (int player = 0; player < HS_SMALL_GAME_PLAYERS; player++) {
        struct hs_random random = dice(traffic, tick, 16 + player);
        int back = hs_random_chance(&random, 0.11) ? hs_random_index(&random, 40) : 0;
        struct hs_move move = move_of(traffic, tick, player);
        if (!hs_random_chance(&random, 0.1))
            hash = add_word(hash, judge_move(match, &move));
        if (back == 0 || back > tick)
            continue;
        move = move_of(traffic, tick - back, player);
        hash = add_word(hash, judge_move(match, &move));
    }
    return hash;
}

/* ---- shots and hits ---- */

static struct hs_str answer_of(uint64_t number, char text[32])
{
    int len = snprintf(text, 32, "\"answer\":%llu", (unsigned long long)number);
    return (struct hs_str){text, (size_t)len};
}

static uint64_t hash_result(const struct hs_hit_result *result)
{
    hs_small_game_counts.verdicts++;
    hs_small_game_counts.replays += result->replay != NULL;
    if (result->replay != NULL)
        return hs_str_hash((struct hs_str){result->replay->answer, result->replay->answer_size});
    uint64_t hash = add_word(14695981039346656037u, (uint64_t)result->reason);
    hash = add_word(add_real(hash, result->damage_total), result->flags);
    for (uint16_t i = 0; i < result->check_count; i++) {
        const struct hs_check_row *row = &result->checks[i];
        hash = add_word(hash, (uint64_t)row->check * 4 + (uint64_t)row->outcome);
        if (row->unit != HS_UNIT_NONE)
            hash = add_real(add_real(hash, row->measured), row->limit);
    }
    return hash;
}

/* Verifies shot number k of a tick, which is posted before its hit. */
static uint64_t judge_shot(const struct hs_small_game *traffic, struct hs_match *match, int tick,
                           int k, int64_t now_us)
{
    struct hs_random random = dice(traffic, tick, 24 + k);
    int shooter = hs_random_index(&random, HS_SMALL_GAME_PLAYERS);
    struct hs_vec origin = place_of(shooter, (int64_t)(tick - 1) * HS_SMALL_GAME_TICK_US);
    origin.z = 1.6;
    const struct hs_vec directions[2] = {{1, 0, 0}, {0, 1, 0}};
    struct hs_shot_claim claim = {.shot = (uint64_t)tick * 8 + (uint64_t)k,
                                  .shooter = name_of(shooter),
                                  .time_us = (int64_t)(tick - 1) * HS_SMALL_GAME_TICK_US,
                                  .origin = origin,
                                  .direction = {1, 0, 0},
                                  .has_direction = hs_random_chance(&random, 0.5),
                                  .has_seed = hs_random_chance(&random, 0.5),
                                  .seed = 77};
    if (!claim.has_seed) {
        claim.directions = directions;
        claim.direction_count = 2;
    }
    struct hs_hit_result result;
    int64_t forward_us;
    char text[32];
    hs_shot_verify(match, &claim, now_us, &result, &forward_us);
    if (hs_small_game_verified != NULL && result.replay == NULL)
        hs_small_game_verified(match, NULL, &claim, &result);
    uint64_t hash = hash_result(&result);
    if (result.replay == NULL)
        hs_shot_record(match, &claim, &result, answer_of(claim.shot + 1000000, text));
    return hash;
}

static uint64_t judge_hit(const struct hs_small_game *traffic, struct hs_match *match, int tick,
                          int k, int64_t now_us)
{
    /* the same numbers as for the shot, so that hit and shot have the same shooter */
    struct hs_random random = dice(traffic, tick, 24 + k);
    int shooter = hs_random_index(&random, HS_SMALL_GAME_PLAYERS);
    int target = (shooter + 1 + hs_random_index(&random, 5)) % HS_SMALL_GAME_PLAYERS;
    int64_t time_us = (int64_t)(tick - 1) * HS_SMALL_GAME_TICK_US;
    struct hs_vec start = place_of(shooter, time_us), end = place_of(target, time_us);
    start.z = 1.6;
    end.z = hs_random_between(&random, 0.5, 2.0);
    struct hs_hit_claim claim = {.shot = (uint64_t)tick * 8 + (uint64_t)k,
                                 .shooter = name_of(shooter),
                                 .target = name_of(target),
                                 .hit_time_us = time_us,
                                 .start = start,
                                 .end = end};
    struct hs_hit_result result;
    char text[32];
    hs_hit_verify(match, &claim, now_us, &result);
    if (hs_small_game_verified != NULL && result.replay == NULL)
        hs_small_game_verified(match, &claim, NULL, &result);
    uint64_t hash = hash_result(&result);
    if (result.replay == NULL)
        hs_hit_record(match, &claim, &result, answer_of(claim.shot, text));
    return hash;
}

uint64_t hs_small_game_shots(const struct hs_small_game *traffic, struct hs_match *match, int tick)
{
    uint64_t hash = 0;
    int64_t now_us = (int64_t)tick * HS_SMALL_GAME_TICK_US;
    for (int k = 0; k < 4 && tick > 0; k++) {
        struct hs_random random = dice(traffic, tick, 40 + k);
        if (hs_random_chance(&random, 0.5))
            hash = add_word(hash, judge_shot(traffic, match, tick, k, now_us));
        if (hs_random_chance(&random, 0.8))
            hash = add_word(hash, judge_hit(traffic, match, tick, k, now_us));
        int back = hs_random_index(&random, 60);
        if (back == 0 || back >= tick || hs_random_chance(&random, 0.7))
            continue;
        hash = add_word(hash, judge_shot(traffic, match, tick - back, k, now_us));
        hash = add_word(hash, judge_hit(traffic, match, tick - back, k, now_us));
    }
    return hash;
}

/* ---- times at the ends of the range ---- */

enum { END_MOVES = 12 };
#define LAST_US INT64_C(9000000000000000)

static void spawn_all(struct hs_match *match)
{
    struct hs_player_frame players[HS_SMALL_GAME_PLAYERS];
    enum hs_frame_result results[HS_SMALL_GAME_PLAYERS];
    struct hs_match_info times;
    unsigned flags = 0;
    hs_match_info(match, &times);
    for (int i = 0; i < HS_SMALL_GAME_PLAYERS; i++)
        players[i] = (struct hs_player_frame){
            .player = name_of(i), .event = HS_EVENT_SPAWN, .position = place_of(i, 0)};
    struct hs_frame frame = {
        .time_us = times.newest_us < LAST_US ? times.newest_us + HS_SMALL_GAME_TICK_US : LAST_US,
        .players = players,
        .player_count = HS_SMALL_GAME_PLAYERS};
    if (!hs_match_post_frame(match, &frame, results, &flags))
        out_of_memory();
}

static int64_t some_time(struct hs_random *random, int64_t near_us)
{
    static const int64_t ends_us[] = {-LAST_US, LAST_US, 0, 1, 20000000, 60000000};
    int which = hs_random_index(random, 12);
    if (which < 6)
        return ends_us[which];
    int64_t time_us = near_us + INT64_C(1000) * hs_random_index(random, 3000) - 200000;
    return time_us > LAST_US ? LAST_US : time_us < -LAST_US ? -LAST_US : time_us;
}

static const char *judge_end(struct hs_match *match, const struct hs_move *move)
{
    const struct hs_moves_rules *rules = &hs_match_ruleset(match)->moves;
    struct hs_move_result result;
    if (!hs_match_check_move(match, move, &result))
        out_of_memory();
    if (result.replayed)
        return NULL; /* the saved state may have any rules, so nothing more can be tested */
    bool is_delta = result.delta_us >= 0 &&
                    (double)result.delta_us <= (double)rules->max_delta_us * move->dilation + 1;
    if (!is_delta)
        return "more than max_delta is simulated";
    if (result.credit_us < 0)
        return "credit is owed";
    return isfinite(result.speed) && isfinite(result.error) ? NULL : "a value that is not a number";
}

const char *hs_small_game_ends_of_time(uint64_t seed, struct hs_match *match)
{
    struct hs_random random = hs_random_start(seed, 1);
    const char *fault = NULL;
    spawn_all(match);
    spawn_all(match);
    for (int player = 0; player < HS_SMALL_GAME_PLAYERS; player++) {
        struct hs_move move = {.player = name_of(player),
                               .epoch = UINT64_MAX,
                               .timestamp_us = 1000000,
                               .mode = HS_STR("walking"),
                               .dilation = 1};
        for (int i = 0; i < END_MOVES && fault == NULL; i++) {
            move.fields = hs_random_chance(&random, 0.5) ? HS_MOVE_HAS_POSITION : 0;
            move.position = place_of(player, i);
            if (hs_random_chance(&random, 0.5)) {
                move.fields |= HS_MOVE_HAS_ACK;
                move.ack_us = some_time(&random, move.received_us);
            }
            move.received_us = some_time(&random, move.received_us);
            move.timestamp_us = some_time(&random, move.timestamp_us);
            if (hs_random_chance(&random, 0.1))
                /* 1000 is the largest allowed number */
                move.dilation = 1000 * hs_random_unit(&random);
            struct hs_moves_info info;
            if (hs_match_moves_info(match, move.player, &info) && info.present)
                move.epoch = info.epoch;
            fault = judge_end(match, &move);
        }
    }
    return fault;
}
