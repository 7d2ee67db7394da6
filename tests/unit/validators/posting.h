/* Posts entries of players to the match of the fixture. Returns what became of the entry. */
#ifndef HS_TESTS_POSTING_H
#define HS_TESTS_POSTING_H

#include "tests/support/play/fixture.h"

static inline enum hs_frame_result post_flags(int64_t time_us, struct hs_player_frame entry,
                                              unsigned *flags)
{
    return hs_stage_post(match, time_us, &entry, flags);
}

static inline enum hs_frame_result post(int64_t time_us, struct hs_player_frame entry)
{
    return post_flags(time_us, entry, NULL);
}

/* At the origin. */
static inline enum hs_frame_result place(int64_t time_us, const char *player)
{
    return post(time_us, hs_stage_entry(player, 0, 0, 0));
}

#endif
