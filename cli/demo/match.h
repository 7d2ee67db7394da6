/*
 * The demo's match: a simulated skirmish (cli/simulate), presented as a recording. Half of the
 * players are honest, on links from good to bad. Each of the other players uses one kind of cheat,
 * which turns the player's hits into forged claims. If a hit cannot be forged, the cheat claims
 * nothing. A player claims a shot only if the shot hits somebody on the player's own screen. The
 * seed determines the whole match.
 */
#ifndef HS_DEMO_MATCH_H
#define HS_DEMO_MATCH_H

#include "cli/play/recording.h"
#include "cli/simulate/skirmish.h"

#define HS_WHO_HONEST "honest"

enum hs_demo_cheat {
    HS_DEMO_CLAIM_FORGER,
    HS_DEMO_THROUGH_TIME,
    HS_DEMO_RADIUS_FORGER,
    HS_DEMO_WALL_FORGER,
    HS_DEMO_ORIGIN_FORGER,
    HS_DEMO_CHEAT_COUNT
};

extern const struct hs_demo_cheat_kind {
    const char *label;
    enum hs_forgery forgery, next;     /* the two forgeries between which the cheat alternates */
    const char *reason, *other_reason; /* the expected reasons for a rejection */
    const char *flag;                  /* the flag expected on every claim, or NULL */
} hs_demo_cheats[HS_DEMO_CHEAT_COUNT];

/* Opens a recording of a match that lasts `seconds` seconds. The match is simulated while the
   recording is read. Returns NULL if memory runs out. */
struct hs_recording *hs_demo_open(uint64_t seed, double seconds);

/* Returns the skirmish behind a recording that hs_demo_open opened. The skirmish is simulated up to
   the entry that was read last. The pointer is valid while the recording is open. */
const struct hs_skirmish *hs_demo_skirmish(const struct hs_recording *recording);

/* Returns how many shots of honest players have hit nobody on the shooter's screen so far. */
size_t hs_demo_honest_misses(const struct hs_skirmish *skirmish);

/* Computes a player's pose on the server at `time` (seconds). Returns false if the player is
   unknown, or if `time` is before the first frame. */
bool hs_demo_pose(const struct hs_skirmish *skirmish, const char *player, double time,
                  struct hs_sim_pose *out);

#endif
