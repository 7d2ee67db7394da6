/*
 * One player of a posted frame, made ready for his history: what the sample says, what it inherits
 * from the one before it in time, and why it is refused. Internal to validators/.
 */
#ifndef HS_SAMPLE_H
#define HS_SAMPLE_H

#include "validators/history/ring.h"
#include "validators/match.h"
#include "validators/match/players.h"

struct hs_posted_sample {
    struct hs_sample sample;
    struct hs_state state;
    struct hs_extra *extra; /* NULL: neither bones nor eye were posted */
};

/*
 * Resolves an entry at a time. `player`: the one of that name, whose sample before that time it
 * inherits from; NULL: he is new. HS_FRAME_STORED when it can be stored; else why not, and `out` is
 * not to be used. Its `extra` is in `room`, which needs not be set before. A team named for the
 * first time is noted in the match, and nothing else changes there.
 */
enum hs_frame_result hs_sample_resolve(struct hs_match *match, const struct hs_player *player,
                                       const struct hs_player_frame *entry, int64_t time_us,
                                       union hs_extra_room *room, struct hs_posted_sample *out);

#endif
