/* How suspicious a player's claims were lately. Internal to validators/. */
#ifndef HS_SUSPICION_H
#define HS_SUSPICION_H

#include "validators/match/players.h"

/* The sum halves every ten minutes of match time. */
#define HS_SUSPICION_HALF_LIFE_US INT64_C(600000000)

/* The decayed sum at a time; times before the last change count as the last change. */
double hs_suspicion_at(const struct hs_player *player, int64_t time_us);

/*
 * Adds one refusal. Reasons that latency alone can cause (a claim too far in the past or the
 * future; one that fits no latency while latency is unstable) add nothing: a slow connection is
 * not an offence.
 */
void hs_suspicion_add_one(struct hs_player *player, int64_t time_us); /* whatever the reason */
void hs_suspicion_add(struct hs_player *player, enum hs_reason reason, bool unstable_latency,
                      int64_t time_us);

#endif
