/*
 * Hit verification: could the shot hit the target, if every player was where the shooter saw them?
 *
 * hs_hit_verify depends only on the match, the claim and `now`. It allocates nothing, changes
 * nothing, and returns the same result on every machine. hs_hit_record records the result for the
 * shooter.
 */
#ifndef HS_HIT_H
#define HS_HIT_H

#include <stdbool.h>
#include <stdint.h>

#include "ledger_entry.h"
#include "linkage.h"
#include "match.h"
#include "ruleset.h"
#include "vocabulary.h"
#include "work.h"

HS_PUBLIC_BEGIN

enum { HS_MAX_VICTIMS = 64, HS_MAX_DAMAGE = 160, HS_MAX_IGNORED = 16 };

struct hs_pellet_claim {
    struct hs_vec end;
    struct hs_str target; /* if absent, the target of the claim */
};

/* A posted claim. All numbers are finite and all names are valid. An absent name has ptr NULL. */
struct hs_hit_claim {
    uint64_t shot;
    struct hs_str shooter;
    struct hs_str weapon;       /* if absent, the weapon that the shooter held */
    struct hs_str target;       /* absent if the claim names no target */
    struct hs_str claimed_bone; /* name of a bone or a zone */
    int64_t hit_time_us;
    int64_t fire_time_us;      /* valid if has_fire_time */
    struct hs_vec start, end;  /* world coordinates; with pellets, `end` is not used */
    bool has_end, has_pellets; /* has_end: the claim contains `end`; has_pellets: the claim contains
                                  `pellets` */
    bool has_no_end;           /* a projectile claim without `end`: the end is computed from
                                  `velocity` and the flight time */
    struct hs_vec velocity;    /* at launch, length/s; valid if has_velocity */
    double radius;             /* length; valid if has_radius */
    double claimed_damage;     /* valid if has_claimed_damage */
    bool has_fire_time, has_radius, has_claimed_damage, has_velocity;
    enum hs_fuse fuse;
    const struct hs_pellet_claim *pellets;
    size_t pellet_count;          /* at most HS_MAX_PELLETS; 0: the claim has no pellets */
    const struct hs_str *victims; /* players claimed in addition to the target: in the blast, or
                                     behind the target */
    size_t victim_count;          /* at most HS_MAX_VICTIMS */
};

struct hs_check_row {
    enum hs_check check;
    enum hs_outcome outcome;
    enum hs_reason reason; /* the reason of a failure or of missing data; HS_REASON_OK on a pass */
    enum hs_mode mode;     /* enforce or shadow */
    enum hs_unit unit;     /* HS_UNIT_NONE: ignore measured and limit */
    double measured, limit;
    struct hs_name player; /* the player whose body was tested; empty: no body was tested */
    struct hs_name mover;  /* the mover that was touched; empty: no mover was touched */
    bool of_posted_shot;   /* the check ran when the shot was posted */
    bool of_whole_flight;  /* only for HS_CHECK_FLIGHT: `measured` is the flight time, not its
                              difference from the expected time */
    bool of_fire_time;     /* only for HS_CHECK_LATENCY: `measured` was computed from the fire time,
                              not from the claim's arrival */
};

struct hs_damage {
    struct hs_name player;
    double amount;
    enum hs_cause cause;
    uint16_t pellets;          /* number of pellets that caused `amount`; 1 for a single shot, 0 for
                                  a blast */
    struct hs_name bone, zone; /* empty: no bone, no zone */
    double distance; /* length; from the start to the contact or, for a blast, from the blast's
                        centre to the body */
};

struct hs_impact {
    bool present;
    struct hs_vec point, normal;       /* touched point, and surface normal there */
    struct hs_vec center;              /* centre of the shot's sphere at contact */
    double distance;                   /* length; how far the sphere's centre travelled */
    struct hs_name player, bone, zone; /* empty: no player was touched */
    struct hs_name mover;              /* empty: no mover was touched */
};

struct hs_rewind_info {
    bool present;                 /* a pose of the target was used */
    int64_t time_us, by_us;       /* the evaluated time, and `now` minus that time */
    int64_t from_us, to_us;       /* times of the two samples around the evaluated time */
    double alpha;                 /* weight of the later sample, in [0, 1) */
    bool clamped, held;           /* clamped: the newest sample was used for a later time; held: the
                                     earlier sample was used, because the body jumped between the
                                     two samples */
    uint16_t excluded_bone_count; /* number of the target's bones that have no position at
                                     time_us */
    uint16_t ignored_count;       /* number of bystanders that have no pose at time_us; at most
                                     HS_MAX_IGNORED */
    struct hs_name excluded_bones[HS_MAX_BONES];
    struct hs_name ignored[HS_MAX_IGNORED];
};

struct hs_pellet_result {
    enum hs_pellet_outcome outcome;
    enum hs_reason reason; /* HS_REASON_OK for a hit */
    struct hs_name player; /* the player who was hit; for a miss or a blocked pellet, the first
                              other player on its path */
    struct hs_name zone;
    double amount; /* damage */
    double margin; /* length; smallest gap to the claimed body; 0 for a hit */
};

/* A claimed victim who takes no damage. */
struct hs_refused_victim {
    struct hs_name player;
    enum hs_reason reason;
    bool has_measure;
    double measured, limit;
};

struct hs_hit_result {
    /* The entry with the stored answer, if the same claim was answered before; otherwise NULL. If
       `replay` is not NULL, only `replay`, `digest` and `work` are set. The pointer is valid until
       a result is recorded or a frame is stored. */
    const struct hs_ledger_entry *replay;
    struct hs_digest digest; /* digest of the claim or shot; 0 for a cancellation */
    enum hs_verdict verdict;
    enum hs_reason reason;
    unsigned flags; /* bits of enum hs_flag */
    double damage_total;
    struct hs_impact impact;
    bool has_margin;
    double margin;        /* length; for a miss: smallest gap between shot and target */
    uint16_t weapon;      /* ruleset index of the evaluated weapon; HS_NONE: unknown */
    int64_t now_us;       /* arrival of the claim at the game server */
    int64_t fire_time_us; /* the evaluated fire time */
    int64_t eye_time_us;  /* the evaluated time of the shooter's pose; `now` if the claim has no
                             fire time */
    bool shot_was_posted;
    int64_t sleep_us; /* posted shot: how long the client waits before it shows its predicted
                         projectile */
    int64_t remaining_flight_us; /* posted projectile: flight time that is left after the server has
                                    advanced the projectile by *forward_time_us (hs_shot_verify);
                                    -1: no projectile */
    struct hs_vec end;           /* end of the evaluated trace */
    bool is_instant; /* a hit with an instant weapon, evaluated at the claim's hit_time */
    bool has_offset;
    int64_t offset_us; /* hit_time minus the time expected from rtt and interp; valid if
                          has_offset */
    uint64_t work;     /* cost of this claim in work units; set for replays too */
    uint16_t check_count, would_reject_count, damage_count;
    uint16_t pellet_count, refused_count, unclaimed_count;
    /* The counts above say how many entries of each list below are set. The other entries are not
       cleared, because clearing them would cost more than the evaluation. */
    struct hs_check_row checks[HS_CHECK_COUNT];  /* checks that ran, in order of precedence */
    enum hs_reason would_reject[HS_CHECK_COUNT]; /* failures of checks in shadow mode */
    struct hs_rewind_info rewind;
    struct hs_damage damage[HS_MAX_DAMAGE]; /* one entry per (player, cause, zone) */
    struct hs_pellet_result pellets[HS_MAX_PELLETS];
    struct hs_refused_victim refused[HS_MAX_VICTIMS];
    struct hs_name unclaimed[HS_MAX_VICTIMS]; /* players in the blast, not named by the claim */
};

/* Returns a hash of all members of the claim. A claim that is sent again has the same hash. */
struct hs_digest hs_hit_digest(const struct hs_hit_claim *claim);

/* Verifies a claim. `now_us` is the time when the game server received the claim. Does not change
   the match. Many threads may call this function at once, as long as no thread changes the
   match. */
void hs_hit_verify(const struct hs_match *match, const struct hs_hit_claim *claim, int64_t now_us,
                   struct hs_hit_result *out);

/*
 * Like hs_hit_verify, with at most `limit` work units (0: no limit). Evaluation stops when its work
 * exceeds the limit. Set `is_whole` to true if no earlier claim used a part of the limit. If
 * `is_whole` is false, evaluation does not even start for a claim whose estimated work (hit/work.h)
 * exceeds the limit. If evaluation stops or does not start, the reason is HS_REASON_OVER_BUDGET,
 * and the result must not be recorded.
 */
void hs_hit_verify_within(const struct hs_match *match, const struct hs_hit_claim *claim,
                          int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out);

/*
 * Adds the shooter to the match, so that their claims can be recorded. Adding a shooter changes no
 * verdict. Returns false if memory runs out or the match is full. In this case the claim's result
 * cannot be recorded: pass the result to hs_hit_withhold, so that the claim deals no damage. If the
 * claim is sent again, it is evaluated again.
 *
 * hs_hit_withhold changes the verdict of a result to `inconclusive`, and its reason to `reason`.
 * The function only changes results that are accepted or have the reason no_matching_shot. A result
 * with no_matching_shot changes because the missing shot may have been posted but not recorded.
 */
bool hs_hit_admit(struct hs_match *match, struct hs_str shooter);
void hs_hit_withhold(struct hs_hit_result *result, enum hs_reason reason);

/*
 * Records a result for the shooter: the shot number with its answer, cadence, counters per reason,
 * damage, suspicion. The result must not be a replay. `answer` is the reply to repeat if the same
 * claim is sent again. Returns false and records nothing if memory runs out, or if the shooter is
 * not in the match and the match is full. In this case, pass the result to hs_hit_withhold before
 * you send it.
 */
bool hs_hit_record(struct hs_match *match, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, struct hs_str answer);

/* Estimates the work units of the most expensive claim with this weapon in a match without a
   map. */
uint64_t hs_weapon_work(const struct hs_ruleset *ruleset, const struct hs_weapon *weapon);

/* Returns the largest number of hitboxes in a rig. Hitboxes cause most of a claim's work. */
uint64_t hs_ruleset_hitboxes(const struct hs_ruleset *ruleset);

HS_PUBLIC_END

#endif
