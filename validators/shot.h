/*
 * Shots posted before their hits: may this player fire this weapon from this place at this time?
 * The client has already shown the shot. The answer confirms it, or tells the client to undo it.
 * The results of the checks are kept for the hits of the shot.
 */
#ifndef HS_SHOT_H
#define HS_SHOT_H

#include "hit.h"
#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_shot_claim {
    uint64_t shot;
    struct hs_str shooter, weapon; /* if `weapon` is absent, the weapon held at the time */
    int64_t time_us;               /* fire time */
    struct hs_vec origin;          /* world, length */
    struct hs_vec direction;       /* unit vector; valid if has_direction */
    bool has_direction, has_seed;
    bool is_cancel;                  /* withdraws the shot of this number: hs_shot_cancel */
    bool has_time, has_origin;       /* always set, except with is_cancel */
    uint64_t seed;                   /* seed of the spread */
    const struct hs_vec *directions; /* expected direction of each pellet, unit vectors; instead of
                                        a seed */
    size_t direction_count;          /* at most HS_MAX_PELLETS */
};

/*
 * Verifies a shot with the checks of the stages SHOT and KEPT (vocabulary.h). Sets rows, verdict,
 * reason, flags and `replay` of `out` like hs_hit_verify. The server must advance a new projectile
 * by *forward_time_us: the projectile is then where the client already shows it. If rewind.source
 * is `prediction_ping`, *forward_time_us comes from hs_prediction_rules. Reads only.
 */
void hs_shot_verify(const struct hs_match *match, const struct hs_shot_claim *claim, int64_t now_us,
                    struct hs_hit_result *out, int64_t *forward_time_us);

/* Like hs_shot_verify, with at most `limit` work units; see hs_hit_verify_within. */
void hs_shot_verify_within(const struct hs_match *match, const struct hs_shot_claim *claim,
                           int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out,
                           int64_t *forward_time_us);
/* Remembers that a shot could not be recorded, whatever its verdict was. Until the shot is sent
   again, its hits have the reason not_recorded, and are not rejected because of a missing shot. */
void hs_shot_lacked(struct hs_match *match, const struct hs_shot_claim *claim);

/*
 * Withdraws an accepted shot of the shooter's session. Later hits of this shot have the reason
 * no_matching_shot. The damage of earlier hits stays. The rate-of-fire token of the shot returns to
 * the weapon, unless a hit of the shot was accepted or may have been accepted. So each token is
 * used for at most one shot. Sets verdict and reason of `out`. The reason is ok if this call or an
 * earlier call withdrew the shot; no_matching_shot if no such shot was accepted; not_recorded if
 * out of memory. The reason is also not_recorded if `may_record` is false, because the owner cannot
 * keep the record.
 */
void hs_shot_cancel(struct hs_match *match, const struct hs_shot_claim *claim, bool may_record,
                    struct hs_hit_result *out);

/* Records a result that is not a replay; see hs_hit_record. */
bool hs_shot_record(struct hs_match *match, const struct hs_shot_claim *claim,
                    const struct hs_hit_result *result, struct hs_str answer);

HS_PUBLIC_END

#endif
