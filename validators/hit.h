/*
 * Hit verification: could the shooter's shot hit the target, with every player at the place where
 * the shooter saw them?
 *
 * hs_hit_verify is a pure function of (ruleset, history, claim, now). The function allocates
 * nothing, changes nothing, and gives the same result on every machine. hs_hit_record records the
 * result for the shooter.
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
    struct hs_str target; /* if absent, the claim's target */
};

/* A claim as posted. Numbers are finite, names are valid. An absent name has ptr NULL. */
struct hs_hit_claim {
    uint64_t shot;
    struct hs_str shooter;
    struct hs_str weapon;       /* if absent, the weapon held at the time */
    struct hs_str target;       /* absent if the claim names no target */
    struct hs_str claimed_bone; /* bone or zone */
    int64_t hit_time_us;
    int64_t fire_time_us;      /* valid if has_fire_time */
    struct hs_vec start, end;  /* world, length; with pellets, `end` is the end of the first
                                  pellet's path */
    bool has_end, has_pellets; /* `end` was posted; `pellets` was posted */
    bool has_no_end;           /* the claim is for a projectile and lacks `end`; `velocity` and the
                                  times give the end */
    struct hs_vec velocity;    /* at launch, length/s; valid if has_velocity */
    double radius;             /* length; valid if has_radius */
    double claimed_damage;     /* valid if has_claimed_damage */
    bool has_fire_time, has_radius, has_claimed_damage, has_velocity;
    enum hs_fuse fuse;
    const struct hs_pellet_claim *pellets;
    size_t pellet_count;          /* at most HS_MAX_PELLETS; 0: the claim has no pellets */
    const struct hs_str *victims; /* other claimed players: in the blast, or behind the target */
    size_t victim_count;          /* at most HS_MAX_VICTIMS */
};

/* The finding of one check. */
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
    bool of_whole_flight;  /* in a row of the check flight: `measured` is the flight time, not an
                              error */
    bool of_fire_time;     /* in a row of the check latency: the fire time was compared, not the
                              arrival of the claim */
};

struct hs_damage {
    struct hs_name player;
    double amount;
    enum hs_cause cause;
    uint16_t pellets;          /* number of pellets that add up to this damage; 1 for a single shot,
                                  0 for a blast */
    struct hs_name bone, zone; /* empty: none */
    double distance;           /* length; from the start to the contact, or from the centre of a
                                  blast to the body */
};

struct hs_impact {
    bool present;
    struct hs_vec point, normal;       /* touched point and normal of the surface */
    struct hs_vec center;              /* centre of the sphere at contact */
    double distance;                   /* travel of the centre, length */
    struct hs_name player, bone, zone; /* empty: the shot touched the world */
    struct hs_name mover;              /* empty: no mover was touched */
};

struct hs_rewind_info {
    bool present;           /* a pose of the target was used */
    int64_t time_us, by_us; /* the evaluated time, and `now` minus that time */
    int64_t from_us, to_us;
    double alpha;
    bool clamped, held;
    uint16_t excluded_bone_count; /* bones of the target without a position at that time */
    uint16_t ignored_count; /* bystanders without a pose at that time; at most HS_MAX_IGNORED */
    struct hs_name excluded_bones[HS_MAX_BONES];
    struct hs_name ignored[HS_MAX_IGNORED]; /* their names */
};

struct hs_pellet_result {
    enum hs_pellet_outcome outcome;
    enum hs_reason reason; /* HS_REASON_OK for a hit */
    struct hs_name player; /* the player who was touched, or whose body is in front of the claimed
                              body */
    struct hs_name zone;
    double amount;
    double margin; /* smallest gap to the claimed body, length; 0 for a hit */
};

/* A claimed victim who takes no damage. */
struct hs_refused_victim {
    struct hs_name player;
    enum hs_reason reason;
    bool has_measure;
    double measured, limit;
};

struct hs_hit_result {
    /* If not NULL, the same claim was answered before, and this is the earlier answer. In this case
       no other member except `work` is set. Valid until the match records a result or stores a
       frame. */
    const struct hs_ledger_entry *replay;
    enum hs_verdict verdict;
    enum hs_reason reason;
    unsigned flags; /* bits of enum hs_flag */
    double damage_total;
    struct hs_impact impact;
    bool has_margin;
    double margin;        /* length; for a miss: smallest gap between sphere and target */
    uint16_t weapon;      /* ruleset index of the evaluated weapon; HS_NONE: unknown */
    int64_t now_us;       /* arrival of the claim at the game server */
    int64_t fire_time_us; /* the fire time used for the evaluation */
    int64_t eye_time_us;  /* time of the shooter's pose that was used; `now` if the claim has no
                             fire time */
    bool shot_was_posted;
    int64_t sleep_us; /* posted shot: how long the client waits before it shows its predicted
                         projectile */
    int64_t remaining_flight_us; /* remaining flight time of a posted projectile after forward_time;
                                    -1: no projectile */
    struct hs_vec end;           /* end of the evaluated trace */
    bool is_instant; /* the hit_time of the claim was used, and the weapon fires no projectile */
    bool has_offset;
    int64_t offset_us; /* hit_time minus the time that rtt and interp explain; valid if
                          has_offset */
    uint64_t work;     /* cost of this claim in work units; set for replays too */
    uint16_t check_count, would_reject_count, damage_count;
    uint16_t pellet_count, refused_count, unclaimed_count;
    /* The lists. Only the counted entries are written, because clearing whole lists would cost
       more than the evaluation. */
    struct hs_check_row checks[HS_CHECK_COUNT];  /* checks that ran, in deciding order */
    enum hs_reason would_reject[HS_CHECK_COUNT]; /* failures of checks in shadow mode */
    struct hs_rewind_info rewind;
    struct hs_damage damage[HS_MAX_DAMAGE]; /* one entry per (player, cause, zone) */
    struct hs_pellet_result pellets[HS_MAX_PELLETS];
    struct hs_refused_victim refused[HS_MAX_VICTIMS];
    struct hs_name unclaimed[HS_MAX_VICTIMS]; /* in the blast, but not claimed */
};

/* A hash of everything decoded from the claim. The same claim sent again has the same hash. */
struct hs_digest hs_hit_digest(const struct hs_hit_claim *claim);

/* Verifies a claim. `now_us` is the time when the game server received the claim. Reads only; safe
   to call from many threads at once while no thread changes the match. */
void hs_hit_verify(const struct hs_match *match, const struct hs_hit_claim *claim, int64_t now_us,
                   struct hs_hit_result *out);

/*
 * Like hs_hit_verify, with at most `limit` work units (0: no limit). `is_whole` means that no
 * earlier claim used a part of the limit, so the claim always starts. If `is_whole` is false, a
 * claim whose estimate (hit/work.h) exceeds the limit does not start. A claim that exceeds the
 * limit while it runs is stopped. If a claim does not start or is stopped, the reason is
 * HS_REASON_OVER_BUDGET, and the result must not be recorded.
 */
void hs_hit_verify_within(const struct hs_match *match, const struct hs_hit_claim *claim,
                          int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out);

/*
 * Adds the shooter to the match, so that their claims can be recorded. Adding a shooter changes no
 * verdict. Returns false if out of memory, or if the match is full. In this case the result cannot
 * be recorded, and a retry of the claim is evaluated again. So call hs_hit_withhold: it makes the
 * result inconclusive for `reason`, so that the claim deals no damage. hs_hit_withhold changes only
 * accepted results and results with the reason no_matching_shot. The missing shot may be one that
 * could not be recorded.
 */
bool hs_hit_admit(struct hs_match *match, struct hs_str shooter);
void hs_hit_withhold(struct hs_hit_result *result, enum hs_reason reason);

/*
 * Records a result for the shooter: the shot number with its answer, cadence, counters per reason,
 * damage, suspicion. The result must not be a replay. `answer` is the reply to repeat when the same
 * claim comes again. Returns false and records nothing if out of memory, or if the match is full
 * and does not know the shooter. In this case the caller must not send an accepted result: use
 * hs_hit_withhold.
 */
bool hs_hit_record(struct hs_match *match, const struct hs_hit_claim *claim,
                   const struct hs_hit_result *result, struct hs_str answer);

/* Returns the estimated work units of the most expensive claim with a weapon, if the match has no
   map. */
uint64_t hs_weapon_work(const struct hs_ruleset *ruleset, const struct hs_weapon *weapon);

/* Returns the number of hitboxes of the largest rig. Hitboxes cause most of the work of a claim. */
uint64_t hs_ruleset_hitboxes(const struct hs_ruleset *ruleset);

HS_PUBLIC_END

#endif
