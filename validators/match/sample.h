/* Turns one player of a posted frame into a sample of their history. Internal to validators/. */
#ifndef HS_SAMPLE_H
#define HS_SAMPLE_H

#include "validators/history/ring.h"
#include "validators/match.h"
#include "validators/match/players.h"

struct hs_posted_sample {
    struct hs_sample sample;
    struct hs_inherited inherited;      /* the inherited values; `state` also contains the values
                                           that the entry posts */
    struct hs_posted_pose *posted_pose; /* NULL: neither bones nor eye were posted */
};

/*
 * Computes the sample of an entry, from the posted values and from the values inherited from the
 * sample before `time_us`. `player`: the player of that name, or NULL for a new player. Returns
 * HS_FRAME_STORED, or the reason to refuse the entry. If the entry is refused, `out` must not be
 * used. out->posted_pose points into `space`. Changes nothing in the match, except that the name of
 * a new team is added.
 */
enum hs_frame_result hs_sample_resolve(struct hs_match *match, const struct hs_player *player,
                                       const struct hs_player_frame *entry, int64_t time_us,
                                       union hs_posted_pose_space *space,
                                       struct hs_posted_sample *out);

#endif
