/* Reads the stored state of a player in a match, for tests. Failures end the test. */
#ifndef HS_TESTS_INSPECT_H
#define HS_TESTS_INSPECT_H

#include "validators/match/players.h"

const struct hs_history *hs_history_of(const struct hs_match *match, const char *player);

/* Returns the number of stored samples, or 0 if the player does not exist. */
uint32_t hs_samples_of(const struct hs_match *match, const char *player);

/* Return the sample with exactly this time, and the state that holds from it on. */
const struct hs_sample *hs_sample_at(const struct hs_match *match, const char *player,
                                     int64_t time_us);
const struct hs_state *hs_state_at(const struct hs_match *match, const char *player,
                                   int64_t time_us);

struct hs_match_info hs_info_of(const struct hs_match *match);

#endif
