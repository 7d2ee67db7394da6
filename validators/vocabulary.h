/*
 * All the words that answers use: verdicts, checks, reasons, flags and so on. One X-macro per list
 * defines the enum, the names in JSON, the metric labels and the order in the documentation.
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

/* The modes of a check. ENFORCE: a failure causes a rejection. SHADOW: a failure is only reported.
   OFF: the check does not run. */
#define HS_MODES(X)                                                                                \
    X(ENFORCE, "enforce")                                                                          \
    X(SHADOW, "shadow")                                                                            \
    X(OFF, "off")

#define HS_MODE_ID(id, ...) HS_MODE_##id,
enum hs_mode { HS_MODES(HS_MODE_ID) HS_MODE_COUNT };

/*
 * The checks for hit claims and posted shots. If several enforced checks fail, the first of them in
 * this list decides the reason. X(id, name, default mode, stage)
 *
 * The stage defines what the check applies to:
 *   CLAIM  hit claims
 *   PATH   hit claims with a path, after the contacts of the path are known
 *   SHOT   hit claims and posted shots, each separately
 *   KEPT   hit claims and posted shots; the result for a posted shot is used for its hits too
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
    X(BINDING, binding, ENFORCE, CLAIM)                                                            \
    X(AIM, aim, ENFORCE, KEPT)                                                                     \
    X(RANGE, range, ENFORCE, CLAIM)                                                                \
    X(WORLD, world, ENFORCE, PATH)                                                                 \
    X(CONTACT, contact, ENFORCE, PATH)                                                             \
    X(BYSTANDER, bystander, ENFORCE, PATH)                                                         \
    X(PELLETS, pellets, ENFORCE, CLAIM)                                                            \
    X(FLIGHT, flight, ENFORCE, CLAIM)                                                              \
    X(BLAST, blast, ENFORCE, CLAIM)

#define HS_CHECK_ID(id, ...) HS_CHECK_##id,
enum hs_check { HS_CHECKS(HS_CHECK_ID) HS_CHECK_COUNT };

enum hs_check_stage {
    HS_CHECK_STAGE_CLAIM,
    HS_CHECK_STAGE_PATH,
    HS_CHECK_STAGE_SHOT, /* the checks in the stages SHOT and KEPT are about the shooter */
    HS_CHECK_STAGE_KEPT
};

/*
 * The reasons for a verdict. X(id, name, verdict, check of the reason, sentence with a measured
 * value, sentence without a measured value). A sentence may be NULL.
 *
 * api/detail.c writes the sentences to the `detail` of a check. It replaces these words:
 *   {m} {l}  measured value and limit
 *   {L}      "limit 5", or "minimum 5" if the measured value is less than 5
 *   {p}      the player that the check tested
 *   {v}      the wall or mover in the way
 *   {f} {h}  fire time and hit time
 *   {t}      fire time for the shooter, hit time for other players
 *   {n} {w}  number of the shot, weapon
 *   {c}      the kind of the item: "claim" or "shot"
 *   {s} {T}  the names of the item's members for its start and its time
 */
/* clang-format off */
#define HS_REASONS(X)                                                                              \
    X(OK, "ok", ACCEPTED, CONTACT, NULL, NULL)                                                     \
    X(OK_LENIENT, "ok_lenient", ACCEPTED, CONTACT, NULL, NULL)                                     \
    X(UNKNOWN_TARGET_HISTORY, "unknown_target_history", INCONCLUSIVE, CONTACT, NULL,               \
      "no frame ever showed {p}")                                                                  \
    X(UNKNOWN_SHOOTER_HISTORY, "unknown_shooter_history", INCONCLUSIVE, ORIGIN, NULL,              \
      "no frame ever showed the shooter")                                                          \
    X(HISTORY_TOO_SHORT, "history_too_short", INCONCLUSIVE, CONTACT,                               \
      "{t} s is {m} s before the oldest frame of {p}",                                             \
      "the state of {p} was last reported before a restart")                                       \
    X(LOW_CONFIDENCE_GAP, "low_confidence_gap", INCONCLUSIVE, CONTACT,                             \
      "the frames of {p} around {t} s are {m} s apart, {L} s",                                     \
      "no hitbox of {p} has a known position at {t} s")                                                     \
    X(HISTORY_GAP, "history_gap", INCONCLUSIVE, CONTACT,                                           \
      "{t} s is {m} s after the newest frame of {p}, {L} s",                                       \
      "the newest frame of {p} is too far before {t} s")                                           \
    X(NOT_RECORDED, "not_recorded", INCONCLUSIVE, IDENTITY, NULL,                                  \
      "the service cannot remember the verdict now")                                               \
    X(NUMBER_FORGOTTEN, "number_forgotten", INCONCLUSIVE, IDENTITY, NULL,                          \
      "the numbers of shots up to {f} s are no longer known, and {n} may be one of them")          \
    X(OVER_BUDGET, "over_budget", INCONCLUSIVE, CONTACT, NULL, NULL)                               \
    X(NO_WEAPON, "no_weapon", INCONCLUSIVE, WEAPON, NULL,                                          \
      "neither the {c} nor a frame names a weapon")                                                \
    X(DEGENERATE_TRACE, "degenerate_trace", REJECTED, SHAPE,                                       \
      "the trace is {m} long, but must be longer than {l}", NULL)                                  \
    X(COORDINATE_OUT_OF_WORLD, "coordinate_out_of_world", REJECTED, SHAPE,                         \
      "a coordinate is {m} from 0, {L}", NULL)                                                     \
    X(DUPLICATE, "duplicate", REJECTED, IDENTITY, NULL,                                            \
      "the number {n} was used before")                                                            \
    X(NO_MATCHING_SHOT, "no_matching_shot", REJECTED, IDENTITY,                                    \
      "shot {n} was fired {m} s before now, {L} s",                                                \
      "shot {n} was not posted with this weapon, or was refused")                                  \
    X(DUPLICATE_TRAJECTORY, "duplicate_trajectory", REJECTED, TRAJECTORY,                          \
      "an accepted claim with the same path was fired {m} s earlier or later, but the times must " \
      "differ by more than {l} s", NULL)                                                           \
    X(UNKNOWN_WEAPON, "unknown_weapon", REJECTED, WEAPON, NULL,                                    \
      "the ruleset has no weapon {w}")                                                             \
    X(WEAPON_NOT_AVAILABLE, "weapon_not_available", REJECTED, WEAPON,                              \
      "the weapon fired {m} rounds without a reload, {L}",                                         \
      "the shooter did not hold or own the weapon at {f} s, or it was reloading or empty")         \
    X(FIRE_RATE, "fire_rate", REJECTED, FIRE_RATE,                                                 \
      "the shot came {m} s before the weapon's rate of fire allows it, {L} s", NULL)               \
    X(REWIND_LIMIT, "rewind_limit", REJECTED, REWIND,                                              \
      "the time of the {c} is {m} s before now, {L} s", NULL)                                      \
    X(TIME_IN_FUTURE, "time_in_future", REJECTED, REWIND,                                          \
      "the time of the {c} is {m} s after now, {L} s", NULL)                                       \
    X(TIME_MISMATCH, "time_mismatch", REJECTED, LATENCY,                                           \
      "{T} differs by {m} s from the time expected from rtt and interp, {L} s", NULL)              \
    X(TIME_BACKWARDS, "time_backwards", REJECTED, LATENCY,                                         \
      "the shot was fired {m} s before an accepted shot with a lower number, {L} s", NULL)         \
    X(LATENCY_JUMP, "latency_jump", REJECTED, LATENCY,                                             \
      "within 2 s, the difference between {T} and the time expected from rtt and interp changed "  \
      "by {m} s, {L} s", NULL)                                                                     \
    X(SHOOTER_DEAD, "shooter_dead", REJECTED, LIFE,                                                \
      "the shooter was dead for {m} s at {f} s, {L} s", NULL)                                      \
    X(TARGET_DEAD, "target_dead", REJECTED, LIFE,                                                  \
      "{p} was dead for {m} s at {h} s",                                                           \
      "{p} was dead at {h} s")                                                                     \
    X(STALE_LIFE, "stale_life", REJECTED, LIFE,                                                    \
      "{p} was in an earlier life at {h} s, spawns since then: {m}",                               \
      "{p} was in an earlier life at {h} s")                                                       \
    X(TARGET_PROTECTED, "target_protected", REJECTED, LIFE, NULL,                                  \
      "{p} was protected at {h} s")                                                                \
    X(FRIENDLY_FIRE, "friendly_fire", REJECTED, TEAM, NULL,                                        \
      "{p} is on the shooter's team")                                                              \
    X(SELF_HIT, "self_hit", REJECTED, TEAM, NULL,                                                  \
      "the target is the shooter")                                                                 \
    X(ORIGIN_MISMATCH, "origin_mismatch", REJECTED, ORIGIN,                                        \
      "{s} is {m} from the shooter's eye at {f} s, {L}", NULL)                                     \
    X(ORIGIN_OCCLUDED, "origin_occluded", REJECTED, ORIGIN,                                        \
      "{v} is {m} from the shooter's eye, between the eye and {s}, which is {l} from the eye",     \
      NULL)                                                                                        \
    X(DIRECTION_MISMATCH, "direction_mismatch", REJECTED, BINDING,                                 \
      "the path is {m} degrees from the direction of the shot, {L} degrees", NULL)                 \
    X(AIM_MISMATCH, "aim_mismatch", REJECTED, AIM,                                                 \
      "the path is {m} degrees from the shooter's aim at {f} s, {L} degrees", NULL)                \
    X(OUT_OF_RANGE, "out_of_range", REJECTED, RANGE,                                               \
      "the trace is {m} long, {L}", NULL)                                                          \
    X(OCCLUDED_WORLD, "occluded_world", REJECTED, WORLD,                                           \
      "{v} is in the way at {m}, before the target at {l}",                                        \
      "{v} is in the way")                                                                         \
    X(IMPACT_NOT_ON_SURFACE, "impact_not_on_surface", REJECTED, WORLD,                             \
      "the nearest surface is {m} from the claimed end, {L}", NULL)                                \
    X(NO_INTERSECTION, "no_intersection", REJECTED, CONTACT,                                       \
      "the path misses {p} by {m}, {L}",                                                           \
      "the path does not touch {p}")                                                               \
    X(WRONG_TARGET, "wrong_target", REJECTED, CONTACT,                                             \
      "the path touches {p} and misses the target by {m}, {L}", NULL)                              \
    X(BLOCKED_BY_PLAYER, "blocked_by_player", REJECTED, BYSTANDER,                                 \
      "{p} is in the way at {m}, before the target at {l}",                                        \
      "{p} is in the way")                                                                         \
    X(TOO_MANY_VICTIMS, "too_many_victims", REJECTED, SHAPE,                                       \
      "additional_targets has {m} names, {L}", NULL)                                               \
    X(PELLET_COUNT, "pellet_count", REJECTED, PELLETS,                                             \
      "the claim has {m} pellets, {L}", NULL)                                                      \
    X(SPREAD_MISMATCH, "spread_mismatch", REJECTED, PELLETS,                                       \
      "a pellet is {m} degrees from another pellet or from its expected direction, {L} degrees",   \
      NULL)                                                                                        \
    X(MUZZLE_VELOCITY, "muzzle_velocity", REJECTED, FLIGHT,                                        \
      "the launch speed is {m} per second, {L}", NULL)                                             \
    X(FLIGHT_TIME, "flight_time", REJECTED, FLIGHT,                                                \
      "the flight time differs by {m} s from the time that the path takes, {L} s", NULL)           \
    X(BLAST_OCCLUDED, "blast_occluded", REJECTED, BLAST, NULL,                                     \
      "the world hides {p} from the blast")                                                        \
    X(OUTSIDE_BLAST, "outside_blast", REJECTED, BLAST,                                             \
      "{p} is {m} from the blast, {L}", NULL)                                                      \
    X(MALFORMED, "malformed", REJECTED, SHAPE, NULL, NULL)
/* clang-format on */

#define HS_REASON_ID(id, ...) HS_REASON_##id,
enum hs_reason { HS_REASONS(HS_REASON_ID) HS_REASON_COUNT };

/* The flags of a verdict. A flag never causes a rejection. */
#define HS_FLAGS(X)                                                                                \
    X(REGION_MISMATCH, "region_mismatch")     /* the claimed bone was not touched */               \
    X(DAMAGE_FORGED, "damage_forged")         /* claimed damage is more than the weapon can do */  \
    X(RADIUS_FORGED, "radius_forged")         /* claimed radius is wrong by more than 1 % */       \
    X(UNSTABLE_LATENCY, "unstable_latency")   /* recent round trips differ widely */               \
    X(TARGET_DEAD_NOW, "target_dead_now")     /* the target was alive, but is dead now */          \
    X(UNVERIFIED_IMPACT, "unverified_impact") /* no contact found: blast at the claimed end */     \
    X(CLAMPED_TO_NEWEST, "clamped_to_newest") /* the newest pose was used for a later time */      \
    X(LENIENT, "lenient")                     /* the shot missed by at most claim_padding */       \
    X(MOVER_UNKNOWN, "mover_unknown")         /* a mover without a pose was not tested */          \
    X(DURING_BURST, "during_burst")           /* the shooter's moves came in a packet burst */     \
    X(AIM_UNKNOWN, "aim_unknown")             /* no frame or posted shot contains the aim */       \
    X(DAMAGE_CUT, "damage_cut")               /* more bodies were hurt than an answer lists */

#define HS_FLAG_ID(id, ...) HS_FLAG_##id,
enum hs_flag { HS_FLAGS(HS_FLAG_ID) HS_FLAG_COUNT };

/* Likely mistakes of an integration (hints.h). A mistake can also cause hints further down in this
   list, so correct the topmost mistake first. X(id, name) */
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
    X(HIT_TIME, "hit_time")                                                                        \
    X(TARGET_HEIGHT, "target_height")                                                              \
    X(WEAPON, "weapon")                                                                            \
    X(RTT, "rtt")                                                                                  \
    X(RTT_UNIT, "rtt_unit")                                                                        \
    X(AIM, "aim")

#define HS_HINT_ID(id, ...) HS_HINT_##id,
enum hs_hint_code { HS_HINTS(HS_HINT_ID) HS_HINT_COUNT };

/* The checks for moves. If several enforced checks fail, the first of them in this list decides the
   reason. X(id, name, default mode, the reason of a move that fails the check) */
#define HS_MOVE_CHECKS(X)                                                                          \
    X(FAST_CLOCK_PROVEN, "fast_clock_proven", ENFORCE, FAST_CLOCK_PROVEN)                          \
    X(FAST_CLOCK_SUSPECTED, "fast_clock_suspected", SHADOW, FAST_CLOCK_SUSPECTED)                  \
    X(TIMING_DISCREPANCY, "timing_discrepancy", SHADOW, TIMING_DISCREPANCY)                        \
    X(TELEPORT, "teleport", SHADOW, UNANNOUNCED_TELEPORT)                                          \
    X(SPEED, "speed", SHADOW, TOO_FAST)                                                            \
    X(ACCELERATION, "acceleration", SHADOW, TOO_MUCH_ACCELERATION)                                 \
    X(GRAVITY, "gravity", SHADOW, GRAVITY_VIOLATION)                                               \
    X(PATH, "path", SHADOW, THROUGH_WORLD)                                                         \
    X(GROUND, "ground", SHADOW, NO_GROUND)                                                         \
    X(BASE, "base", SHADOW, OFF_BASE)                                                              \
    X(STANCE, "stance", SHADOW, STANCE_MISMATCH)

#define HS_MOVE_CHECK_ID(id, ...) HS_MOVE_CHECK_##id,
enum hs_move_check { HS_MOVE_CHECKS(HS_MOVE_CHECK_ID) HS_MOVE_CHECK_COUNT };

/* The reasons for the verdict on a move. X(id, name, verdict) */
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
    X(NOT_IN_CONTROL, "not_in_control", REJECTED)                                                  \
    X(FAST_CLOCK_PROVEN, "fast_clock_proven", REJECTED)                                            \
    X(FAST_CLOCK_SUSPECTED, "fast_clock_suspected", REJECTED)                                      \
    X(TIMING_DISCREPANCY, "timing_discrepancy", REJECTED)                                          \
    X(UNANNOUNCED_TELEPORT, "unannounced_teleport", REJECTED)                                      \
    X(TOO_FAST, "too_fast", REJECTED)                                                              \
    X(TOO_MUCH_ACCELERATION, "too_much_acceleration", REJECTED)                                    \
    X(GRAVITY_VIOLATION, "gravity_violation", REJECTED)                                            \
    X(THROUGH_WORLD, "through_world", REJECTED)                                                    \
    X(NO_GROUND, "no_ground", REJECTED)                                                            \
    X(UNKNOWN_BASE, "unknown_base", REJECTED)                                                      \
    X(OFF_BASE, "off_base", REJECTED)                                                              \
    X(STANCE_MISMATCH, "stance_mismatch", REJECTED)                                                \
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

/* The results of posting one player or mover in a frame. */
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

/* An event that a frame reports for a player. */
enum hs_sample_event {
    HS_EVENT_NONE,
    HS_EVENT_SPAWN,
    HS_EVENT_TELEPORT,
    HS_EVENT_DEATH,
    HS_EVENT_LEAVE,
    HS_EVENT_LAUNCH, /* the server threw the player, for example by a knock-back or a jump pad */
    HS_SAMPLE_EVENT_COUNT
};

enum hs_outcome {
    HS_OUTCOME_PASS,
    HS_OUTCOME_FAIL,
    HS_OUTCOME_UNKNOWN, /* data that the check needs is missing */
    HS_OUTCOME_COUNT
};

enum hs_pellet_outcome {
    HS_PELLET_HIT,
    HS_PELLET_MISS,     /* the pellet touches no claimed player */
    HS_PELLET_OCCLUDED, /* the world is in front of the claimed body */
    HS_PELLET_BLOCKED,  /* another body is in front of the claimed body */
    HS_PELLET_REFUSED,  /* the claimed body takes no damage; see `reason` */
    HS_PELLET_UNKNOWN,  /* the claimed body has no pose */
    HS_PELLET_OUTCOME_COUNT
};

enum hs_cause { HS_CAUSE_DIRECT, HS_CAUSE_BLAST, HS_CAUSE_COUNT };

/* The event that makes a projectile explode. */
enum hs_fuse { HS_FUSE_ANY, HS_FUSE_CONTACT, HS_FUSE_TIMED, HS_FUSE_PROXIMITY, HS_FUSE_COUNT };

/* What moves a projectile: its speed and gravity, or the game server. In the second case, the game
   server posts where the projectile lands. */
enum hs_motion { HS_MOTION_BALLISTIC, HS_MOTION_SERVER, HS_MOTION_COUNT };

/* Who takes the direct damage of a shot: the player whom the claim names, or the first player on
   the path. */
enum hs_resolve { HS_RESOLVE_CLAIMED, HS_RESOLVE_TOUCHED, HS_RESOLVE_COUNT };

enum hs_move_kind {
    HS_MOVE_NEW,     /* all checks apply */
    HS_MOVE_PENDING, /* the client may still extend this move, so it is checked, but gets no ack and
                        no correction */
    HS_MOVE_OLD,     /* an important move that is sent again; treated like HS_MOVE_PENDING */
    HS_MOVE_KIND_COUNT
};

/* What the body did in a move, as the client reports it. */
enum hs_move_flag { HS_MOVE_CROUCHED, HS_MOVE_JUMPED, HS_MOVE_FLAG_COUNT };

enum hs_weapon_type {
    HS_WEAPON_HITSCAN,
    HS_WEAPON_PROJECTILE,
    HS_WEAPON_MELEE,
    HS_WEAPON_TYPE_COUNT
};

/* How players in a blast are treated if the claim does not name them: they are only reported, or
   they are also damaged. */
enum hs_unclaimed { HS_UNCLAIMED_REPORT, HS_UNCLAIMED_DAMAGE, HS_UNCLAIMED_COUNT };

enum hs_shape { HS_SHAPE_SPHERE, HS_SHAPE_CAPSULE, HS_SHAPE_BOX, HS_SHAPE_COUNT };

/* What limits the simulated time of a move. */
enum hs_prevention {
    HS_PREVENTION_CREDIT,     /* time that the server granted and the client has not used */
    HS_PREVENTION_RESOLUTION, /* the payback of the compatible check (clock/compat.h) */
    HS_PREVENTION_COUNT
};

/* Which pose of a player is kept if several poses are posted with the same time. */
enum hs_same_time { HS_SAME_TIME_FIRST, HS_SAME_TIME_LAST, HS_SAME_TIME_COUNT };

/* The source of the time to which an instant hit rewinds the players. */
enum hs_rewind_source {
    HS_REWIND_BY_CLAIM,      /* the claim's hit_time */
    HS_REWIND_BY_PREDICTION, /* `now` minus the shooter's prediction ping */
    HS_REWIND_SOURCE_COUNT
};

/* The flags of a posted frame. */
#define HS_FRAME_FLAGS(X)                                                                          \
    X(UNFLAGGED_JUMP, "unflagged_jump")       /* something moved faster than history.max_speed */  \
    X(HISTORY_FULL, "history_full")           /* a sample inside the window was dropped */         \
    X(HISTORY_RESTARTED, "history_restarted") /* three frames agreed on a new clock */

#define HS_FRAME_FLAG_ID(id, ...) HS_FRAME_FLAG_##id,
enum hs_frame_flag { HS_FRAME_FLAGS(HS_FRAME_FLAG_ID) HS_FRAME_FLAG_COUNT };

/* The names in a list. JSON contains names[i] for member i of the enum. */
struct hs_vocabulary {
    const char *const *names;
    int count;
};

/* Returns the member with this name, or -1. */
int hs_vocabulary_find(const struct hs_vocabulary *vocabulary, struct hs_str name);

/* All lists. For each list, hs_<list>_words contains the names, and hs_<list>_name returns the name
   of a member. The argument of hs_<list>_name must be a member. */
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
    X(motion)                                                                                      \
    X(resolve)                                                                                     \
    X(move_check)                                                                                  \
    X(move_reason)                                                                                 \
    X(move_kind)                                                                                   \
    X(move_flag)                                                                                   \
    X(frame_result)                                                                                \
    X(frame_flag)                                                                                  \
    X(sample_event)                                                                                \
    X(weapon_type)                                                                                 \
    X(unclaimed)                                                                                   \
    X(shape)                                                                                       \
    X(prevention)                                                                                  \
    X(same_time)                                                                                   \
    X(rewind_source)                                                                               \
    X(up)

#define X(list)                                                                                    \
    extern const struct hs_vocabulary hs_##list##_words;                                           \
    const char *hs_##list##_name(enum hs_##list member);
HS_VOCABULARIES(X)
#undef X

/* Returns the verdict for a reason. */
enum hs_verdict hs_reason_verdict(enum hs_reason reason);

/* Returns whether verdicts with this reason are not recorded. A claim with such a verdict is
   evaluated again when it is sent again. */
bool hs_reason_is_retryable(enum hs_reason reason);

/* Each of these functions returns one column of a list above. */
enum hs_check hs_reason_check(enum hs_reason reason);
enum hs_mode hs_check_default_mode(enum hs_check check);
enum hs_check_stage hs_check_stage(enum hs_check check);
enum hs_verdict hs_move_reason_verdict(enum hs_move_reason reason);
enum hs_mode hs_move_check_default_mode(enum hs_move_check check);

/* Returns the reason for rejecting a move that fails this check. A failure of the check `base` can
   also have the reason HS_MOVE_UNKNOWN_BASE. */
enum hs_move_reason hs_move_check_reason(enum hs_move_check check);

HS_PUBLIC_END

#endif
