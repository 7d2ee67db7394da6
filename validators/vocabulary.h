/*
 * The closed lists of the words in answers: verdicts, checks, reasons, flags. One X-macro
 * per list gives the enum, the names in JSON, the metric labels and the order in the documentation.
 */
#ifndef HS_VOCABULARY_H
#define HS_VOCABULARY_H

#include <stdbool.h>

#include "linkage.h"
#include "str.h"
#include "vec.h"

HS_PUBLIC_BEGIN

#define HS_VERDICTS(X)                                                                             \
    X(ACCEPTED, "accepted")                                                                        \
    X(REJECTED, "rejected")                                                                        \
    X(INCONCLUSIVE, "inconclusive")

#define HS_VERDICT_ID(id, ...) HS_VERDICT_##id,
enum hs_verdict { HS_VERDICTS(HS_VERDICT_ID) HS_VERDICT_COUNT };

/* What a failure of a check does: reject, only report, or nothing because the check is off. */
#define HS_MODES(X)                                                                                \
    X(ENFORCE, "enforce")                                                                          \
    X(SHADOW, "shadow")                                                                            \
    X(OFF, "off")

#define HS_MODE_ID(id, ...) HS_MODE_##id,
enum hs_mode { HS_MODES(HS_MODE_ID) HS_MODE_COUNT };

/*
 * The checks of a hit claim, in deciding order: the first enforced failure in this list gives the
 * reason. X(id, name, default mode, stage)
 *
 * The stage says what the check applies to:
 *   CLAIM  hit claims
 *   PATH   hit claims with a path, after the contacts of the path are known
 *   SHOT   hit claims and posted shots, each by itself
 *   KEPT   hit claims and posted shots; the result for a posted shot also holds for its hits
 */
#define HS_CHECKS(X)                                                                               \
    X(SHAPE, shape, ENFORCE, SHOT)                                                                 \
    X(IDENTITY, identity, ENFORCE, SHOT)                                                           \
    X(TRAJECTORY, trajectory, ENFORCE, CLAIM)                                                      \
    X(WEAPON, weapon, ENFORCE, KEPT)                                                               \
    X(FIRE_RATE, fire_rate, ENFORCE, KEPT)                                                         \
    X(REWIND, rewind, ENFORCE, SHOT)                                                               \
    X(LATENCY, latency, ENFORCE, SHOT)                                                             \
    X(LIFE, life, ENFORCE, KEPT)                                                                   \
    X(TEAM, team, ENFORCE, CLAIM)                                                                  \
    X(ORIGIN, origin, ENFORCE, KEPT)                                                               \
    X(AIM, aim, SHADOW, KEPT)                                                                      \
    X(RANGE, range, ENFORCE, CLAIM)                                                                \
    X(WORLD, world, ENFORCE, PATH)                                                                 \
    X(CONTACT, contact, ENFORCE, PATH)                                                             \
    X(BYSTANDER, bystander, ENFORCE, PATH)                                                         \
    X(PELLETS, pellets, ENFORCE, CLAIM)                                                            \
    X(FLIGHT, flight, ENFORCE, CLAIM)                                                              \
    X(BLAST, blast, ENFORCE, CLAIM)

#define HS_CHECK_ID(id, ...) HS_CHECK_##id,
enum hs_check { HS_CHECKS(HS_CHECK_ID) HS_CHECK_COUNT };

/* The reasons of a verdict. X(id, name, verdict it gives, check it belongs to) */
#define HS_REASONS(X)                                                                              \
    X(OK, "ok", ACCEPTED, CONTACT)                                                                 \
    X(OK_LENIENT, "ok_lenient", ACCEPTED, CONTACT)                                                 \
    X(UNKNOWN_TARGET_HISTORY, "unknown_target_history", INCONCLUSIVE, CONTACT)                     \
    X(UNKNOWN_SHOOTER_HISTORY, "unknown_shooter_history", INCONCLUSIVE, ORIGIN)                    \
    X(HISTORY_TOO_SHORT, "history_too_short", INCONCLUSIVE, CONTACT)                               \
    X(LOW_CONFIDENCE_GAP, "low_confidence_gap", INCONCLUSIVE, CONTACT)                             \
    X(HISTORY_GAP, "history_gap", INCONCLUSIVE, CONTACT)                                           \
    X(NOT_RECORDED, "not_recorded", INCONCLUSIVE, IDENTITY)                                        \
    X(OVER_BUDGET, "over_budget", INCONCLUSIVE, CONTACT)                                           \
    X(NO_WEAPON, "no_weapon", INCONCLUSIVE, WEAPON)                                                \
    X(DEGENERATE_TRACE, "degenerate_trace", REJECTED, SHAPE)                                       \
    X(COORDINATE_OUT_OF_WORLD, "coordinate_out_of_world", REJECTED, SHAPE)                         \
    X(DUPLICATE, "duplicate", REJECTED, IDENTITY)                                                  \
    X(NO_MATCHING_SHOT, "no_matching_shot", REJECTED, IDENTITY)                                    \
    X(DUPLICATE_TRAJECTORY, "duplicate_trajectory", REJECTED, TRAJECTORY)                          \
    X(UNKNOWN_WEAPON, "unknown_weapon", REJECTED, WEAPON)                                          \
    X(WEAPON_NOT_AVAILABLE, "weapon_not_available", REJECTED, WEAPON)                              \
    X(FIRE_RATE, "fire_rate", REJECTED, FIRE_RATE)                                                 \
    X(REWIND_LIMIT, "rewind_limit", REJECTED, REWIND)                                              \
    X(TIME_IN_FUTURE, "time_in_future", REJECTED, REWIND)                                          \
    X(TIME_MISMATCH, "time_mismatch", REJECTED, LATENCY)                                           \
    X(TIME_BACKWARDS, "time_backwards", REJECTED, LATENCY)                                         \
    X(SHOOTER_DEAD, "shooter_dead", REJECTED, LIFE)                                                \
    X(TARGET_DEAD, "target_dead", REJECTED, LIFE)                                                  \
    X(STALE_LIFE, "stale_life", REJECTED, LIFE)                                                    \
    X(TARGET_PROTECTED, "target_protected", REJECTED, LIFE)                                        \
    X(FRIENDLY_FIRE, "friendly_fire", REJECTED, TEAM)                                              \
    X(SELF_HIT, "self_hit", REJECTED, TEAM)                                                        \
    X(ORIGIN_MISMATCH, "origin_mismatch", REJECTED, ORIGIN)                                        \
    X(ORIGIN_OCCLUDED, "origin_occluded", REJECTED, ORIGIN)                                        \
    X(AIM_MISMATCH, "aim_mismatch", REJECTED, AIM)                                                 \
    X(OUT_OF_RANGE, "out_of_range", REJECTED, RANGE)                                               \
    X(OCCLUDED_WORLD, "occluded_world", REJECTED, WORLD)                                           \
    X(IMPACT_NOT_ON_SURFACE, "impact_not_on_surface", REJECTED, WORLD)                             \
    X(NO_INTERSECTION, "no_intersection", REJECTED, CONTACT)                                       \
    X(WRONG_TARGET, "wrong_target", REJECTED, CONTACT)                                             \
    X(BLOCKED_BY_PLAYER, "blocked_by_player", REJECTED, BYSTANDER)                                 \
    X(TOO_MANY_VICTIMS, "too_many_victims", REJECTED, SHAPE)                                       \
    X(PELLET_COUNT, "pellet_count", REJECTED, PELLETS)                                             \
    X(SPREAD_MISMATCH, "spread_mismatch", REJECTED, PELLETS)                                       \
    X(MUZZLE_VELOCITY, "muzzle_velocity", REJECTED, FLIGHT)                                        \
    X(FLIGHT_TIME, "flight_time", REJECTED, FLIGHT)                                                \
    X(BLAST_OCCLUDED, "blast_occluded", REJECTED, BLAST)                                           \
    X(OUTSIDE_BLAST, "outside_blast", REJECTED, BLAST)                                             \
    X(MALFORMED, "malformed", REJECTED, SHAPE)

#define HS_REASON_ID(id, ...) HS_REASON_##id,
enum hs_reason { HS_REASONS(HS_REASON_ID) HS_REASON_COUNT };

/* Remarks on a verdict. They never cause a rejection. */
#define HS_FLAGS(X)                                                                                \
    X(REGION_MISMATCH, "region_mismatch")     /* the claimed bone is not the touched one */        \
    X(DAMAGE_FORGED, "damage_forged")         /* claimed more than the weapon's maximum */         \
    X(RADIUS_FORGED, "radius_forged")         /* claimed radius differs by more than 1 % */        \
    X(UNSTABLE_LATENCY, "unstable_latency")   /* recent round trips differ widely */               \
    X(TARGET_DEAD_NOW, "target_dead_now")     /* hit while alive, now dead: no second kill */      \
    X(UNVERIFIED_IMPACT, "unverified_impact") /* no contact for the explosion: used as claimed */  \
    X(CLAMPED_TO_NEWEST, "clamped_to_newest") /* evaluated at the newest pose */                   \
    X(SHOT_JUMP, "shot_jump")                 /* the shot number is far from earlier ones */       \
    X(LENIENT, "lenient")                     /* a miss within the claim padding */                \
    X(MOVER_UNKNOWN, "mover_unknown")         /* a mover without a pose was not tested */          \
    X(DURING_BURST, "during_burst")           /* the shooter's moves came in a packet burst */

#define HS_FLAG_ID(id, ...) HS_FLAG_##id,
enum hs_flag { HS_FLAGS(HS_FLAG_ID) HS_FLAG_COUNT };

/* Likely mistakes of an integration, the most basic first (hints.h). X(id, name) */
#define HS_HINTS(X)                                                                                \
    X(MILLISECONDS, "milliseconds")                                                                \
    X(CLOCK, "clock")                                                                              \
    X(UNIT_OF_CLAIMS, "unit_of_claims")                                                            \
    X(UNIT_OF_RULESET, "unit_of_ruleset")                                                          \
    X(AXES, "axes")                                                                                \
    X(UP_AXIS, "up_axis")                                                                          \
    X(EYE_HEIGHT, "eye_height")                                                                    \
    X(FIRE_TIME, "fire_time")                                                                      \
    X(START, "start")                                                                              \
    X(INTERP_TWICE, "interp_twice")                                                                \
    X(WEAPON, "weapon")                                                                            \
    X(RTT, "rtt")                                                                                  \
    X(RTT_UNIT, "rtt_unit")

#define HS_HINT_ID(id, ...) HS_HINT_##id,
enum hs_hint_code { HS_HINTS(HS_HINT_ID) HS_HINT_COUNT };

/* The checks of a move, in deciding order as for hit claims. X(id, name, default mode, reason of a
   move that fails the check while it is enforced) */
#define HS_MOVE_CHECKS(X)                                                                          \
    X(FAST_CLOCK_PROVEN, "fast_clock_proven", ENFORCE, FAST_CLOCK_PROVEN)                          \
    X(FAST_CLOCK_SUSPECTED, "fast_clock_suspected", SHADOW, FAST_CLOCK_SUSPECTED)                  \
    X(TIMING_DISCREPANCY, "timing_discrepancy", SHADOW, TIMING_DISCREPANCY)                        \
    X(TELEPORT, "teleport", SHADOW, UNANNOUNCED_TELEPORT)                                          \
    X(SPEED, "speed", SHADOW, TOO_FAST)                                                            \
    X(ACCELERATION, "acceleration", SHADOW, TOO_MUCH_ACCELERATION)                                 \
    X(GRAVITY, "gravity", SHADOW, GRAVITY_VIOLATION)

#define HS_MOVE_CHECK_ID(id, ...) HS_MOVE_CHECK_##id,
enum hs_move_check { HS_MOVE_CHECKS(HS_MOVE_CHECK_ID) HS_MOVE_CHECK_COUNT };

/* The results of a move. X(id, name, verdict it gives) */
#define HS_MOVE_REASONS(X)                                                                         \
    X(OK, "ok", ACCEPTED)                                                                          \
    X(RESET, "reset", ACCEPTED)                                                                    \
    X(STALE, "stale", REJECTED)                                                                    \
    X(DUPLICATE, "duplicate", REJECTED)                                                            \
    X(TOO_SMALL, "too_small", REJECTED)                                                            \
    X(RESET_TOO_SOON, "reset_too_soon", REJECTED)                                                  \
    X(BAD_TIMESTAMP, "bad_timestamp", REJECTED)                                                    \
    X(EPOCH_TOO_SOON, "epoch_too_soon", REJECTED)                                                  \
    X(CAPACITY, "capacity", REJECTED)                                                              \
    X(FAST_CLOCK_PROVEN, "fast_clock_proven", REJECTED)                                            \
    X(FAST_CLOCK_SUSPECTED, "fast_clock_suspected", REJECTED)                                      \
    X(TIMING_DISCREPANCY, "timing_discrepancy", REJECTED)                                          \
    X(UNANNOUNCED_TELEPORT, "unannounced_teleport", REJECTED)                                      \
    X(TOO_FAST, "too_fast", REJECTED)                                                              \
    X(TOO_MUCH_ACCELERATION, "too_much_acceleration", REJECTED)                                    \
    X(GRAVITY_VIOLATION, "gravity_violation", REJECTED)                                            \
    X(MALFORMED, "malformed", REJECTED)

#define HS_MOVE_ID(id, ...) HS_MOVE_##id,
enum hs_move_reason { HS_MOVE_REASONS(HS_MOVE_ID) HS_MOVE_REASON_COUNT };

/* Units of `measured` and `limit`. */
#define HS_UNITS(X)                                                                                \
    X(NONE, "none")                                                                                \
    X(LENGTH, "length")                                                                            \
    X(SECONDS, "seconds")                                                                          \
    X(SPEED, "length_per_second")                                                                  \
    X(ACCELERATION, "length_per_second_squared")                                                   \
    X(DEGREES, "degrees")                                                                          \
    X(COUNTED, "count")

#define HS_UNIT_ID(id, ...) HS_UNIT_##id,
enum hs_unit { HS_UNITS(HS_UNIT_ID) HS_UNIT_COUNT };

/* Results of a posted player or mover sample. */
#define HS_FRAME_RESULTS(X)                                                                        \
    X(STORED, "stored")                                                                            \
    X(DUPLICATE_TIME, "duplicate_time")                                                            \
    X(TOO_OLD, "too_old")                                                                          \
    X(TIME_JUMP, "time_jump")                                                                      \
    X(BAD_ROTATION, "bad_rotation")                                                                \
    X(BAD_BONES, "bad_bones")                                                                      \
    X(UNKNOWN_RIG, "unknown_rig")                                                                  \
    X(UNKNOWN_STANCE, "unknown_stance")                                                            \
    X(UNKNOWN_WEAPON, "unknown_weapon")                                                            \
    X(COORDINATE_OUT_OF_WORLD, "coordinate_out_of_world")                                          \
    X(NO_HITBOXES, "no_hitboxes")                                                                  \
    X(CAPACITY, "capacity")                                                                        \
    X(MALFORMED, "malformed")

#define HS_FRAME_ID(id, ...) HS_FRAME_##id,
enum hs_frame_result { HS_FRAME_RESULTS(HS_FRAME_ID) HS_FRAME_RESULT_COUNT };

/* Events of a player in a frame. */
enum hs_sample_event {
    HS_EVENT_NONE,
    HS_EVENT_SPAWN,
    HS_EVENT_TELEPORT,
    HS_EVENT_DEATH,
    HS_EVENT_LEAVE,
    HS_SAMPLE_EVENT_COUNT
};

/* What a check found. */
enum hs_outcome {
    HS_OUTCOME_PASS,
    HS_OUTCOME_FAIL,
    HS_OUTCOME_UNKNOWN, /* the data to decide is missing */
    HS_OUTCOME_COUNT
};

enum hs_pellet_outcome {
    HS_PELLET_HIT,
    HS_PELLET_MISS,     /* touches nobody claimed */
    HS_PELLET_OCCLUDED, /* the world is in front of the claimed body */
    HS_PELLET_BLOCKED,  /* another body is in front of the claimed body */
    HS_PELLET_REFUSED,  /* the body takes no damage; see `reason` */
    HS_PELLET_UNKNOWN,  /* no pose of the claimed body */
    HS_PELLET_OUTCOME_COUNT
};

enum hs_cause { HS_CAUSE_DIRECT, HS_CAUSE_BLAST, HS_CAUSE_COUNT };

/* What makes a projectile explode. */
enum hs_fuse { HS_FUSE_ANY, HS_FUSE_CONTACT, HS_FUSE_TIMED, HS_FUSE_PROXIMITY, HS_FUSE_COUNT };

enum hs_move_kind {
    HS_MOVE_NEW,     /* all checks apply */
    HS_MOVE_PENDING, /* the next move may extend it: timing only */
    HS_MOVE_OLD,     /* an important move sent again: never an offence */
    HS_MOVE_KIND_COUNT
};

enum hs_weapon_type {
    HS_WEAPON_HITSCAN,
    HS_WEAPON_PROJECTILE,
    HS_WEAPON_MELEE,
    HS_WEAPON_TYPE_COUNT
};

/* What a blast does to players that its claim does not name: they are reported, or also damaged. */
enum hs_unclaimed { HS_UNCLAIMED_REPORT, HS_UNCLAIMED_DAMAGE, HS_UNCLAIMED_COUNT };

enum hs_shape { HS_SHAPE_SPHERE, HS_SHAPE_CAPSULE, HS_SHAPE_BOX, HS_SHAPE_COUNT };

/* What limits the simulated time of a move. */
enum hs_prevention {
    HS_PREVENTION_CREDIT,     /* time that the server granted and the client has not used */
    HS_PREVENTION_RESOLUTION, /* the payback of the compatible check */
    HS_PREVENTION_COUNT
};

/* What gives the time of an instant hit. */
enum hs_rewind_source {
    HS_REWIND_BY_CLAIM,      /* the claim's hit_time */
    HS_REWIND_BY_PREDICTION, /* the shooter's prediction ping, back from now */
    HS_REWIND_SOURCE_COUNT
};

/* Remarks on a stored sample, one bit each. */
#define HS_FRAME_FLAGS(X)                                                                          \
    X(UNFLAGGED_JUMP, "unflagged_jump")       /* moved faster than history.max_speed */            \
    X(HISTORY_FULL, "history_full")           /* a sample inside the window was dropped */         \
    X(HISTORY_RESTARTED, "history_restarted") /* three frames agreed on a new clock */

#define HS_FRAME_FLAG_ID(id, ...) HS_FRAME_FLAG_##id,
enum hs_frame_flag { HS_FRAME_FLAGS(HS_FRAME_FLAG_ID) HS_FRAME_FLAG_COUNT };

/* The names of a list: member i of the enum is names[i] on the wire. */
struct hs_vocabulary {
    const char *const *names;
    int count;
};

/* The member of that name, or -1. */
int hs_vocabulary_find(const struct hs_vocabulary *vocabulary, struct hs_str name);

/* Every list. Each has its names, hs_<list>_words, and the name of a member, hs_<list>_name, whose
   argument must be a member. */
#define HS_VOCABULARIES(X)                                                                         \
    X(verdict)                                                                                     \
    X(mode)                                                                                        \
    X(check)                                                                                       \
    X(reason)                                                                                      \
    X(flag)                                                                                        \
    X(hint_code)                                                                                   \
    X(unit)                                                                                        \
    X(outcome)                                                                                     \
    X(pellet_outcome)                                                                              \
    X(cause)                                                                                       \
    X(fuse)                                                                                        \
    X(move_check)                                                                                  \
    X(move_reason)                                                                                 \
    X(move_kind)                                                                                   \
    X(frame_result)                                                                                \
    X(frame_flag)                                                                                  \
    X(sample_event)                                                                                \
    X(weapon_type)                                                                                 \
    X(unclaimed)                                                                                   \
    X(shape)                                                                                       \
    X(prevention)                                                                                  \
    X(rewind_source)                                                                               \
    X(up)

#define X(list)                                                                                    \
    extern const struct hs_vocabulary hs_##list##_words;                                           \
    const char *hs_##list##_name(enum hs_##list member);
HS_VOCABULARIES(X)
#undef X

/* The verdict that a reason gives. */
enum hs_verdict hs_reason_verdict(enum hs_reason reason);

/* True: a verdict for this reason is not recorded, so the same claim sent again is evaluated
   again. */
bool hs_reason_is_retryable(enum hs_reason reason);
enum hs_check hs_reason_check(enum hs_reason reason);
enum hs_mode hs_check_default_mode(enum hs_check check);
enum hs_verdict hs_move_reason_verdict(enum hs_move_reason reason);
enum hs_mode hs_move_check_default_mode(enum hs_move_check check);

/* The reason for a rejected move if this check is enforced and fails. */
enum hs_move_reason hs_move_check_reason(enum hs_move_check check);

HS_PUBLIC_END

#endif
