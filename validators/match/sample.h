/* Turns a player's entry in a posted frame into a sample of the player's history. Internal to
   validators/. */
#ifndef HS_SAMPLE_H
#define HS_SAMPLE_H

#include "validators/history/ring.h"
#include "validators/match.h"
#include "validators/match/players.h"

struct hs_posted_sample {
    struct hs_sample sample;
    /* The values that the sample inherits from the previous sample. In inherited.state, posted
       values have already replaced the inherited values. */
    struct hs_inherited inherited;
    struct hs_posted_pose *posted_pose; /* NULL if neither bones nor an eye were posted */
};

/*
 * Computes the sample of an entry from the posted values and the values inherited from the player's
 * previous sample. `player` is NULL for a new player. Returns HS_FRAME_STORED, or the reason why
 * the entry is refused; after a refusal, `out` is undefined. out->posted_pose points into `space`.
 * Changes nothing in the match, except that it adds the name of a new team.
 */
enum hs_frame_result hs_sample_resolve(struct hs_match *match, const struct hs_player *player,
                                       const struct hs_player_frame *entry, int64_t time_us,
                                       union hs_posted_pose_space *space,
                                       struct hs_posted_sample *out);

#endif
