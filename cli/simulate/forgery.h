/*
 * Claims that must not be accepted, made out of honest ones. Whether a forgery is one is settled by
 * what the server showed, not by the library that judges it: a forged shot passes the body it
 * claims by a clear margin, a wall between two people is in the way.
 */
#ifndef HS_SIMULATE_FORGERY_H
#define HS_SIMULATE_FORGERY_H

#include "cli/simulate/client.h"
#include "cli/simulate/hits/score.h"

struct hs_forger {
    const struct hs_game *game;
    struct hs_dice dice;
    double now; /* seconds: when the claim is judged */
    /* The earliest and the latest hit_time that one of the shooter's round trips explains. */
    double expected[2];
};

/*
 * A forgery of an accepted claim, with the same number. False: this claim gives none of that kind,
 * as no wall stands between its shooter and anybody. Not for HS_FORGERY_DEAD and _EMPTY.
 */
bool hs_forge_honest(struct hs_forger *forger, enum hs_forgery kind, const struct hs_mail *honest,
                     struct hs_mail *out);

/*
 * A shot somebody fires who may not, with what he holds, at whom he could hit. False: he holds
 * nothing that hits at once, or sees nobody.
 */
bool hs_forge_shot(struct hs_forger *forger, unsigned who, struct hs_mail *out);

#endif
