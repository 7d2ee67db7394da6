#include "tests/support/play/inspect.h"

#include <check.h>
#include <string.h>

#include "tests/support/play/stage.h"

const struct hs_history *hs_history_of(const struct hs_match *match, const char *player)
{
    const struct hs_player *p = hs_players_find(&match->players, hs_stage_str(player));
    ck_assert_ptr_nonnull(p);
    return p->history;
}

uint32_t hs_samples_of(const struct hs_match *match, const char *player)
{
    struct hs_player_info info;
    return hs_match_find_player(match, hs_stage_str(player), &info) ? info.samples : 0;
}

const struct hs_sample *hs_sample_at(const struct hs_match *match, const char *player,
                                     int64_t time_us)
{
    const struct hs_history *history = hs_history_of(match, player);
    int64_t i = hs_history_find(history, time_us);
    ck_assert_int_ge(i, 0);
    const struct hs_sample *sample = hs_history_at(history, (uint32_t)i);
    ck_assert_int_eq(sample->time_us, time_us);
    return sample;
}

const struct hs_state *hs_state_at(const struct hs_match *match, const char *player,
                                   int64_t time_us)
{
    return hs_history_state(hs_history_of(match, player), hs_sample_at(match, player, time_us));
}

struct hs_match_info hs_info_of(const struct hs_match *match)
{
    struct hs_match_info out;
    memset(&out, 0xA5, sizeof out);
    hs_match_info(match, &out);
    return out;
}
