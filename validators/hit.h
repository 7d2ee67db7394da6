/*
 * Hit verification: is a claim "my shot hit that player" possible, given where everybody was at
 * the time the shooter saw it?
 *
 * hs_hit_verify is a pure function of (ruleset, history, claim, now). It allocates nothing,
 * changes nothing, and answers the same on every machine. hs_hit_note books the answer on the
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
    struct hs_str target; /* absent: the claim's */
};

/* A claim as posted. Numbers are finite; names are valid; ptr NULL: absent. */
struct hs_hit_claim {
    uint64_t shot;
    struct hs_str shooter;
    struct hs_str weapon;       /* absent: the one held at the time */
    struct hs_str target;       /* absent: nobody claimed */
    struct hs_str claimed_bone; /* a bone or a zone */
    int64_t hit_time_us;
    int64_t fire_time_us;     /* with has_fire_time */
    struct hs_vec start, end; /* world, length; with pellets `end` is the first pellet's */
    struct hs_vec velocity;   /* at the launch, length/s; with has_velocity */
    double radius;            /* with has_radius */
    double claimed_damage;    /* with has_claimed_damage */
    bool has_fire_time, has_radius, has_claimed_damage, has_velocity;
    enum hs_fuse fuse;
    const struct hs_pellet_claim *pellets;
    size_t pellet_count;          /* at most HS_MAX_PELLETS; 0: not a claim by pellets */
    const struct hs_str *victims; /* claimed besides the target: in the blast, or behind it */
    size_t victim_count;          /* at most HS_MAX_VICTIMS */
};

/* What one check found. */
struct hs_check_row {
    enum hs_check check;
    enum hs_outcome outcome;
    enum hs_reason reason; /* of a failure or of what is missing; HS_REASON_OK on a pass */
    enum hs_mode mode;     /* enforce or shadow */
    enum hs_unit unit;     /* HS_UNIT_NONE: measured and limit mean nothing */
    double measured, limit;
    struct hs_name player; /* the body concerned; empty: none */
    struct hs_name mover;  /* the part of the world concerned; empty: none that moves */
    bool of_posted_shot;   /* found when the shot of this hit was posted */
    bool of_whole_flight;  /* flight: `measured` is how long it took, not how far it is off */
};

struct hs_damage {
    struct hs_name player;
    double amount;
    enum hs_cause cause;
    uint16_t pellets;          /* that make it up; 1 for a single shot, 0 for a blast */
    struct hs_name bone, zone; /* empty: none */
    double distance;           /* length; of a blast: from its centre to the nearest surface */
};

struct hs_impact {
    bool present;
    struct hs_vec point, normal, center; /* touched surface; sphere's centre then */
    double distance;                     /* travel of the centre */
    struct hs_name player, bone, zone;   /* empty: the world */
    struct hs_name mover;                /* of the world; empty: a part that does not move */
};

struct hs_rewind_info {
    bool present;           /* a pose of the target was used */
    int64_t time_us, by_us; /* the time judged, and now minus it */
    int64_t from_us, to_us;
    double alpha;
    bool clamped, held;
    uint16_t excluded_bone_count; /* bones of the target without a place then */
    uint16_t ignored_count;       /* bystanders without a pose then */
    struct hs_name excluded_bones[HS_MAX_BONES];
    struct hs_name ignored[HS_MAX_IGNORED]; /* the first of them */
};

struct hs_pellet_result {
    enum hs_pellet_outcome outcome;
    enum hs_reason reason; /* HS_REASON_OK of a hit */
    struct hs_name player; /* touched, or in the way */
    struct hs_name zone;
    double amount;
    double margin; /* smallest gap to the claimed body, 0 of a hit */
};

/* A claimed victim that is not hurt. */
struct hs_refused_victim {
    struct hs_name player;
    enum hs_reason reason;
    bool has_measure;
    double measured, limit;
};

struct hs_hit_result {
    /* Not NULL: the claim was judged before, and this is what was answered; nothing else is set.
       Valid until the next note or frame of the match. */
    const struct hs_ledger_entry *replay;
    enum hs_verdict verdict;
    enum hs_reason reason;
    unsigned flags; /* bits of enum hs_flag */
    double damage_total;
    struct hs_impact impact;
    bool has_margin;
    double margin;        /* a miss: smallest gap between the sphere and any hitbox of the target */
    uint16_t weapon;      /* ruleset index of the weapon judged by; HS_NONE: not known */
    int64_t now_us;       /* when the claim was received */
    int64_t fire_time_us; /* judged by */
    int64_t eye_time_us;  /* whose pose of the shooter counted: `now` without a fire time */
    bool shot_was_posted;
    uint64_t work; /* cost of this claim in work units; set for replays too */
    uint16_t check_count, would_reject_count, damage_count;
    uint16_t pellet_count, refused_count, unclaimed_count;
    /* The lists. Only the entries counted above are ever written: clearing them all would cost
       more than judging. */
    struct hs_check_row checks[HS_CHECK_COUNT];  /* those that ran, in deciding order */
    enum hs_reason would_reject[HS_CHECK_COUNT]; /* failures of checks in shadow */
    struct hs_rewind_info rewind;
    struct hs_damage damage[HS_MAX_DAMAGE]; /* one entry a (player, cause, zone) */
    struct hs_pellet_result pellets[HS_MAX_PELLETS];
    struct hs_refused_victim refused[HS_MAX_VICTIMS];
    struct hs_name unclaimed[HS_MAX_VICTIMS]; /* in the blast, and not claimed */
};

/* Everything decoded of a claim, as a hash: the same claim sent again has the same. */
struct hs_digest hs_hit_digest(const struct hs_hit_claim *claim);

/* `now_us`: when the game server received the claim. Reads only; safe from many threads at once
   while nobody posts frames. */
void hs_hit_verify(const struct hs_match *match, const struct hs_hit_claim *claim, int64_t now_us,
                   struct hs_hit_result *out);

/*
 * The same with at most `limit` work units (0: no limit). A claim whose estimate (hit_work.h) does
 * not fit is not begun, unless `is_whole`: nothing of the budget is spent yet. A claim that passes
 * the limit is given up. Both get HS_REASON_OVER_BUDGET and must not be booked.
 */
void hs_hit_verify_within(const struct hs_match *match, const struct hs_hit_claim *claim,
                          int64_t now_us, uint64_t limit, bool is_whole, struct hs_hit_result *out);

/*
 * Makes the shooter known, so that their claims can be booked. This changes no verdict. False: out
 * of memory, or the match is full. The result cannot be remembered then, and a retry would be
 * judged again. hs_hit_withhold turns such a result into one that pays nothing: inconclusive for
 * `reason`, if it was accepted or lacks a posted shot that could not be remembered either.
 */
bool hs_hit_admit(struct hs_match *match, struct hs_str shooter);
void hs_hit_withhold(struct hs_hit_result *result, enum hs_reason reason);

/*
 * Books a result that is no replay on the shooter: the number with its answer, the cadence,
 * counters per reason, damage, suspicion. `answer`: the reply to give again when the same claim
 * comes again. False: out of memory, or the match is full and does not know the shooter. Nothing is
 * booked then, and the caller must not answer an accepted result: use hs_hit_withhold.
 */
bool hs_hit_note(struct hs_match *match, const struct hs_hit_claim *claim,
                 const struct hs_hit_result *result, struct hs_str answer);

/* Estimated work units of the most expensive claim with a weapon, without a map. */
uint64_t hs_weapon_work(const struct hs_ruleset *ruleset, const struct hs_weapon *weapon);

/* Hitboxes of the largest rig, which most of that work is for. */
uint64_t hs_ruleset_hitboxes(const struct hs_ruleset *ruleset);

HS_PUBLIC_END

#endif
