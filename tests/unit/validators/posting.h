/* Posts entries of players to the match of the fixture. `post` and `place` return the result of the
   entry. */
#ifndef HS_TESTS_POSTING_H
#define HS_TESTS_POSTING_H

#include <check.h>

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

/* Places a player at the origin. */
static inline enum hs_frame_result place(int64_t time_us, const char *player)
{
    return post(time_us, hs_stage_entry(player, 0, 0, 0));
}

static inline void post_event(int64_t time_us, const char *player, enum hs_sample_event event,
                              double x)
{
    struct hs_player_frame entry = hs_stage_entry(player, x, 0, 0);
    entry.event = event;
    ck_assert_int_eq(post(time_us, entry), HS_FRAME_STORED);
}

/* Posts S at the origin and T at 20 m, for half a second. */
static inline void play_still(void)
{
    for (int ms = 500; ms <= 1000; ms += 50) {
        hs_stage_place(match, HS_MS(ms), "S", 0, 0, 0);
        hs_stage_place(match, HS_MS(ms), "T", 20, 0, 0);
    }
}

#endif
