/*
 * Forges the honest claims in a recording before they are sent, so that an operator can see how the
 * service answers cheats.
 */
#ifndef HS_PLAY_FORGE_H
#define HS_PLAY_FORGE_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/play/recording.h"

/* X(id, name, what the cheat does) */
#define HS_CHEATS(X)                                                                               \
    X(SHIFT_ORIGIN, "shift-origin", "fires from a point where the shooter's eye never was")        \
    X(SHIFT_TIME, "shift-time", "picks a moment 0.1 s further back than the rewind limit")         \
    X(FUTURE_TIME, "future-time", "picks a moment 0.1 s beyond the slack for the future")          \
    X(AIM_AHEAD, "aim-ahead", "aims at the target's newest position, not at the one seen")         \
    X(REVERSE_AIM, "reverse-aim", "claims the hit with a shot in the opposite direction")          \
    X(GROW_RADIUS, "grow-radius", "claims a large radius, and shoots beside the body")             \
    X(FORGE_DAMAGE, "forge-damage", "claims 999 damage (the service computes its own)")            \
    X(WRONG_BONE, "wrong-bone", "claims the bone with the highest damage (the touched bone counts)")

enum hs_cheat {
    HS_CHEAT_NONE,
#define X(id, name, text) HS_CHEAT_##id,
    HS_CHEATS(X)
#undef X
        HS_CHEAT_COUNT
};

extern const char *const hs_cheat_names[HS_CHEAT_COUNT];

struct hs_forge;

/* Creates a forger for one match. `ruleset` need not stay valid after the call. Returns NULL if
   memory runs out. */
struct hs_forge *hs_forge_create(enum hs_cheat cheat, const json_t *ruleset);
void hs_forge_destroy(struct hs_forge *forge);

/* Records the poses in an entry, and forges the entry's claims in place. Call this function for
   each request of the match, in order. */
void hs_forge_entry(struct hs_forge *forge, struct hs_recording_entry *entry);

#endif
