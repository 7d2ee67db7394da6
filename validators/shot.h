/*
 * Verifies shots that are posted before their hits: may this player fire this weapon from this
 * place at this time? The client has already shown the shot. The answer confirms the shot, or tells
 * the client to undo it. Some results of the checks also count for the hits of the shot.
 */
#ifndef HS_SHOT_H
#define HS_SHOT_H

#include "hit.h"
#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_shot_claim {
    uint64_t shot;
    struct hs_str shooter, weapon; /* if `weapon` is absent, the weapon that the shooter held */
    int64_t time_us;               /* fire time */
    struct hs_vec origin;          /* world coordinates */
    struct hs_vec direction;       /* unit vector; valid if has_direction */
    bool has_direction, has_seed;
    bool is_cancel;                  /* withdraw the shot with this number (hs_shot_cancel) */
    bool has_time, has_origin;       /* always true, except with is_cancel */
    uint64_t seed;                   /* seed of the spread (spread.h); valid if has_seed */
    const struct hs_vec *directions; /* instead of a seed: the expected direction of each pellet;
                                        unit vectors */
    size_t direction_count;          /* at most HS_MAX_PELLETS */
};

/*
 * Verifies a shot with the checks in the stages SHOT and KEPT (vocabulary.h). Sets the checks,
 * verdict, reason, flags and `replay` in *out like hs_hit_verify. The server must advance a new
 * projectile by *forward_time_us, to where the client already shows this projectile. If
 * rewind.source is `prediction_ping`, hs_prediction_rules determine *forward_time_us. Does not
 * change the match.
 */
void hs_shot_verify(const struct hs_match *match, const struct hs_shot_claim *claim, int64_t now_us,
                    struct hs_hit_result *out, int64_t *forward_time_us);

/* Like hs_shot_verify, with at most `limit` work units; see hs_hit_verify_within. */
void hs_shot_verify_within(const struct hs_match *match, const struct hs_shot_claim *claim,
                           int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out,
                           int64_t *forward_time_us);

/* Remembers the fire time of a shot that could not be recorded. If a hit with this fire time has no
   posted shot, the hit is then inconclusive (not_recorded) instead of rejected. */
void hs_shot_lacked(struct hs_match *match, const struct hs_shot_claim *claim);

/*
 * Withdraws an accepted shot of the shooter's current session. Later hits of this shot have the
 * reason no_matching_shot. The damage of earlier hits is not undone. The shot's rate-of-fire token
 * returns to the weapon, unless a hit of the shot was accepted or may have been accepted.
 *
 * Sets verdict and reason in *out. The reason is `ok` if this call or an earlier call withdrew the
 * shot, and no_matching_shot if no such shot was accepted. The reason is not_recorded if memory
 * runs out, if the shot may have been posted but not recorded, or if `may_record` is false. Set
 * `may_record` to false if the journal cannot be saved.
 */
void hs_shot_cancel(struct hs_match *match, const struct hs_shot_claim *claim, bool may_record,
                    struct hs_hit_result *out);

/* Like hs_hit_record, for the result of a shot. The result must not be a replay. */
bool hs_shot_record(struct hs_match *match, const struct hs_shot_claim *claim,
                    const struct hs_hit_result *result, struct hs_str answer);

HS_PUBLIC_END

#endif
