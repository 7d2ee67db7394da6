#include "tests/support/play/duel.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "validators/shot.h"
#include "validators/snapshot.h"

struct hs_duel hs_duel;

static const struct hs_match_limits limits = {.players = 8, .samples = 64, .movers = 4};

void hs_duel_set_up(void)
{
    hs_duel.ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[1]);
    ck_assert_ptr_nonnull(hs_duel.ruleset);
    ck_assert_str_eq(hs_builtin_rulesets[1].name, "metres");
    hs_duel.match = hs_match_create(hs_duel.ruleset, &limits);
    ck_assert_ptr_nonnull(hs_duel.match);
    hs_duel.last_shot = 0;
}

void hs_duel_tear_down(void)
{
    hs_match_destroy(hs_duel.match);
    hs_ruleset_destroy(hs_duel.ruleset);
}

void hs_duel_begin_anew(void)
{
    struct hs_bytes bytes = {0};
    hs_match_save(hs_duel.match, &bytes);
    ck_assert(!bytes.failed);
    hs_match_destroy(hs_duel.match);
    ck_assert_int_eq(hs_match_load(hs_duel.ruleset, &limits, bytes.data, bytes.len, &hs_duel.match),
                     HS_MATCH_LOADED);
    free(bytes.data);
}

void hs_duel_post_frame(const struct hs_frame *frame)
{
    enum hs_frame_result results[8];
    unsigned flags = 0;
    ck_assert(hs_match_post_frame(hs_duel.match, frame, results, &flags));
    for (size_t i = 0; i < frame->player_count + frame->mover_count; i++)
        ck_assert_int_eq(results[i], HS_FRAME_STORED);
}

void hs_duel_post(int ms, const struct hs_player_frame *alice, const struct hs_player_frame *bob)
{
    struct hs_player_frame players[2];
    memset(players, 0, sizeof players);
    if (alice != NULL)
        players[0] = *alice;
    if (bob != NULL)
        players[1] = *bob;
    players[0].player = HS_STR("alice");
    players[1].player = HS_STR("bob");
    players[1].position.x = 20;
    hs_duel_post_frame(&(struct hs_frame){
        .time_us = (int64_t)ms * HS_DUEL_MS, .players = players, .player_count = 2});
}

void hs_duel_play(int from_ms, int to_ms)
{
    for (int ms = from_ms; ms <= to_ms; ms += HS_DUEL_TICK_MS)
        hs_duel_post(ms, NULL, NULL);
}

enum hs_reason hs_duel_hit_with(int ms, struct hs_str weapon, uint64_t shot)
{
    struct hs_hit_claim claim = {.shot = shot,
                                 .shooter = HS_STR("alice"),
                                 .target = HS_STR("bob"),
                                 .weapon = weapon,
                                 .hit_time_us = (int64_t)ms * HS_DUEL_MS,
                                 .start = {0, 0, 1.6},
                                 .end = {20, 0, 1.6}};
    static struct hs_hit_result result;
    hs_hit_verify(hs_duel.match, &claim, claim.hit_time_us, &result);
    ck_assert_ptr_null(result.replay);
    ck_assert(hs_hit_record(hs_duel.match, &claim, &result, HS_STR("{}")));
    if (result.verdict != HS_VERDICT_ACCEPTED)
        ck_assert_double_eq(result.damage_total, 0);
    return result.reason;
}

enum hs_reason hs_duel_hit(int ms)
{
    return hs_duel_hit_with(ms, HS_STR("rifle"), ++hs_duel.last_shot);
}

enum hs_reason hs_duel_shoot_at(int now_ms, int ms, struct hs_str weapon, uint64_t shot)
{
    struct hs_shot_claim claim = {.shot = shot,
                                  .shooter = HS_STR("alice"),
                                  .weapon = weapon,
                                  .time_us = (int64_t)ms * HS_DUEL_MS,
                                  .origin = {0, 0, 1.6},
                                  .direction = {1, 0, 0},
                                  .has_direction = true};
    static struct hs_hit_result result;
    int64_t forward_us;
    hs_shot_verify(hs_duel.match, &claim, (int64_t)now_ms * HS_DUEL_MS, &result, &forward_us);
    ck_assert(hs_shot_record(hs_duel.match, &claim, &result, HS_STR("{}")));
    return result.reason;
}

enum hs_reason hs_duel_shoot(int ms, uint64_t shot)
{
    return hs_duel_shoot_at(ms, ms, HS_STR("rifle"), shot);
}

double hs_duel_suspicion(void)
{
    struct hs_player_info info;
    ck_assert(hs_match_find_player(hs_duel.match, HS_STR("alice"), &info));
    return info.suspicion;
}
