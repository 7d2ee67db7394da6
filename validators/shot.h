/*
 * Shots posted before their hits: may this player fire this weapon from there at that time? The
 * answer confirms or rolls back a shot the client has already shown; its findings are remembered
 * for the hits of the shot.
 */
#ifndef HS_SHOT_H
#define HS_SHOT_H

#include "hit.h"
#include "linkage.h"

HS_PUBLIC_BEGIN

struct hs_shot_claim {
    uint64_t shot;
    struct hs_str shooter, weapon; /* weapon absent: the one held at the time */
    int64_t time_us;               /* when it was fired */
    struct hs_vec origin;          /* world, length */
    struct hs_vec direction;       /* unit, with has_direction */
    bool has_direction, has_seed;
    uint64_t seed;                   /* of the spread */
    const struct hs_vec *directions; /* expected of each pellet, unit; instead of a seed */
    size_t direction_count;          /* at most HS_MAX_PELLETS */
};

/*
 * Judges a shot: shape, identity, weapon, fire_rate, rewind, latency, life, origin, aim. Rows,
 * verdict, reason, flags and `replay` of `out` are set as by hs_hit_verify. `forward_time_us`: how
 * far a new projectile is to be ticked ahead to be where the client already shows it. Reads only.
 */
void hs_shot_verify(const struct hs_match *match, const struct hs_shot_claim *claim, int64_t now_us,
                    struct hs_hit_result *out, int64_t *forward_time_us);

/* The same with at most `limit` work units; see hs_hit_verify_within. */
void hs_shot_verify_within(const struct hs_match *match, const struct hs_shot_claim *claim,
                           int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out,
                           int64_t *forward_time_us);
/* Remembers that a shot was not booked, whatever its verdict. Until it is sent again, its hits get
   not_recorded and are not refused for lack of it. */
void hs_shot_lacked(struct hs_match *match, const struct hs_shot_claim *claim);

/* Books a result that is no replay; see hs_hit_note. */
bool hs_shot_note(struct hs_match *match, const struct hs_shot_claim *claim,
                  const struct hs_hit_result *result, struct hs_str answer);

HS_PUBLIC_END

#endif
