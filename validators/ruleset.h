/*
 * A ruleset: all numbers that a verdict depends on, except posted data. Lengths are in the game's
 * unit, times in microseconds, angles in degrees. api/rulesets has the JSON form.
 *
 * First build a ruleset (hs_ruleset_create, the adders, hs_ruleset_validate, hs_ruleset_finish);
 * then only read it. Reading is safe from any thread.
 */
#ifndef HS_RULESET_H
#define HS_RULESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "linkage.h"
#include "moves_rules.h"
#include "rig.h"
#include "str.h"
#include "vocabulary.h"

HS_PUBLIC_BEGIN

enum { HS_MAX_RIGS = 256, HS_MAX_WEAPONS = 128, HS_MAX_ZONES = 32, HS_MAX_FALLOFF = 16 };

/* An invalid index. */
#define HS_NONE 0xFFFFu

/*
 * The scalar fields. Each row defines a member of a struct, its key in the document, its default
 * and its range:
 *
 *   X(kind, member, key, default, low, high)
 *
 * `kind` is an enum hs_scalar_kind. Defaults and ranges are in the unit of the document, but
 * default lengths are in centimetres. rules/fields.c builds the tables at the end of this header
 * from these rows. openapi.yaml describes the fields for users.
 */
#define HS_SCALAR_TYPE_REAL                                     double
#define HS_SCALAR_TYPE_LENGTH                                   double
#define HS_SCALAR_TYPE_SECONDS                                  int64_t
#define HS_SCALAR_TYPE_COUNT                                    int64_t
#define HS_SCALAR_TYPE_BOOL                                     bool
#define HS_SCALAR_MEMBER(kind, member, key, initial, low, high) HS_SCALAR_TYPE_##kind member;

/* clang-format off */
#define HS_HISTORY_FIELDS(X)                                                                       \
    /* keeps the poses of this period before the newest pose, and one pose before that period */   \
    X(SECONDS, keep_us, "keep", 1.0, 0.05, 60)                                                     \
    /* poses are not interpolated between two samples that are further apart than this */          \
    X(SECONDS, max_gap_us, "max_gap", 0.15, 0.001, 60)                                             \
    /* the largest allowed coordinate */                                                           \
    X(LENGTH, world_bound, "world_bound", 1e7, 1, 1e12)                                            \
    /* length/s; a faster movement between two samples counts as a jump */                         \
    X(LENGTH, max_speed, "max_speed", 20000, 1e-3, 1e9)                                            \
    /* a frame that is later than the newest frame by more than this is a clock jump */            \
    X(SECONDS, max_forward_us, "max_forward", 5, 0.1, 3600)

#define HS_REWIND_FIELDS(X)                                                                        \
    /* how far before `now` the time of a claim may be */                                          \
    X(SECONDS, limit_us, "limit", 0.4, 0, 60)                                                      \
    /* how far the time of a claim may be after `now`, or after the newest pose */                 \
    X(SECONDS, future_slack_us, "future_slack", 0.05, 0, 5)                                        \
    /* how much earlier a claim's time may be than the time expected from rtt and interp */        \
    X(SECONDS, older_slack_us, "older_slack", 0.1, 0, 60)                                          \
    /* how much later a claim's time may be than the time expected from rtt and interp */          \
    X(SECONDS, newer_slack_us, "newer_slack", 0.03, 0, 60)                                         \
    /* the offset of a claim is hit_time minus the time expected from rtt and interp. The offsets  \
       of two claims within two seconds may differ by at most this */                              \
    X(SECONDS, jump_slack_us, "jump_slack", 0.13, 0, 60)                                           \
    /* the expected hit_time is `now` minus interp minus this share of the round trip */           \
    X(REAL, rtt_share, "rtt_share", 1, 0, 2)                                                       \
    /* a larger posted interp counts as this value */                                              \
    X(SECONDS, max_interp_us, "max_interp", 0.1, 0, 5)                                             \
    /* if recent round trips differ by more than this, the latency is unstable */                  \
    X(SECONDS, ping_spread_us, "ping_spread", 0.2, 0, 60)                                          \
    /* how much earlier a shot may be fired than the last accepted shot with a lower number */     \
    X(SECONDS, backstep_us, "backstep", 0.02, 0, 60)

#define HS_HIT_FIELDS(X)                                                                           \
    /* a shorter trace has no direction, so the claim is refused */                                \
    X(LENGTH, min_trace, "min_trace", 1e-4, 0, 1e6)                                                \
    /* the trace continues this far beyond `end` */                                                \
    X(LENGTH, sweep_extension, "sweep_extension", 10, 0, 1e6)                                      \
    /* a shot that misses by at most this length is accepted, with the flag `lenient` */           \
    X(LENGTH, claim_padding, "claim_padding", 0, 0, 1e6)                                           \
    /* largest distance between the start and the shooter's rewound eye */                         \
    X(LENGTH, origin_tolerance, "origin_tolerance", 25, 0, 1e9)                                    \
    /* a start is near the eye if its distance is at most this share of origin_tolerance. If the   \
       start is near, the eye must see the touched body; if not, the eye must see the contact */   \
    X(REAL, lean_share, "lean_share", 0.6, 0, 1)                                                   \
    /* largest angle between the shot's direction and the shooter's aim */                         \
    X(REAL, aim_tolerance_deg, "aim_tolerance_deg", 5, 0, 180)                                     \
    /* largest angle between a claimed path and the direction of its posted shot */                \
    X(REAL, binding_tolerance_deg, "binding_tolerance_deg", 0.5, 0, 180)                           \
    /* hits with the same start and end must be fired more than this time apart. If half of        \
       min_interval is shorter but not 0, this half applies instead */                             \
    X(SECONDS, trajectory_window_us, "trajectory_window", 0.1, 0, 60)                              \
    /* every hit needs a posted shot */                                                            \
    X(BOOL, require_shot, "require_shot", 0, 0, 1)                                                 \
    /* a shot up to this time after the shooter's death still counts */                            \
    X(SECONDS, death_grace_us, "death_grace", 0.08, 0, 5)                                          \
    /* largest number of players claimed in addition to the target */                              \
    X(COUNT, max_victims, "max_victims", 64, 0, 64)                                                \
    /* shots do not pass through the shooter's team mates */                                       \
    X(BOOL, teammates_block, "teammates_block", 1, 0, 1)                                           \
    X(BOOL, friendly_fire, "friendly_fire", 0, 0, 1)

#define HS_WEAPON_FIELDS(X)                                                                        \
    X(REAL, damage, "damage", 0, 0, 1e9)                                                           \
    /* maximum length of a trace */                                                                \
    X(LENGTH, range, "range", 1e7, 0, 1e12)                                                        \
    /* radius of the sphere that is tested against bodies */                                       \
    X(LENGTH, radius, "radius", 0, 0, 1e6)                                                         \
    /* radius of the sphere that is tested against map and movers; 0 .. radius */                  \
    X(LENGTH, world_radius, "world_radius", 0, 0, 1e6)                                             \
    /* length/s; only for projectiles */                                                           \
    X(LENGTH, speed, "speed", 0, 0, 1e12)                                                          \
    /* length/s^2, downwards; only for projectiles */                                              \
    X(LENGTH, gravity, "gravity", 0, 0, 1e12)                                                      \
    /* smallest time between two shots; 0: no limit */                                             \
    X(SECONDS, min_interval_us, "min_interval", 0, 0, 3600)                                        \
    /* rounds in a full magazine; 0: not counted */                                                \
    X(COUNT, magazine, "magazine", 0, 0, 1e6)                                                      \
    /* a pause this long refills the magazine */                                                   \
    X(SECONDS, reload_us, "reload", 0, 0, 3600)                                                    \
    /* number of pellets per shot */                                                               \
    X(COUNT, pellets, "pellets", 1, 1, 64)                                                         \
    /* half angle of the pellets' cone */                                                          \
    X(REAL, spread_deg, "spread_deg", 0, 0, 80)                                                    \
    /* how many bodies a shot passes through */                                                    \
    X(COUNT, pierce, "pierce", 0, 0, 64)                                                           \
    /* maximum flight time; only for projectiles */                                                \
    X(SECONDS, max_flight_us, "max_flight", 10, 0, 3600)                                           \
    /* every hit with this weapon needs a posted shot */                                           \
    X(BOOL, require_shot, "require_shot", 0, 0, 1)

#define HS_BLAST_FIELDS(X)                                                                         \
    /* how far the blast reaches, from its centre to the nearest hitbox surface of a victim */     \
    X(LENGTH, radius, "radius", 0, 1e-6, 1e9)                                                      \
    X(REAL, damage, "damage", 0, 0, 1e9)                                                           \
    /* full damage up to this distance; beyond it, the share of the damage falls linearly to       \
       min_scale at `radius` */                                                                    \
    X(LENGTH, inner_radius, "inner_radius", 0, 0, 1e9)                                             \
    X(REAL, min_scale, "min_scale", 1, 0, 1)                                                       \
    /* factor on damage to the shooter; 0: no damage */                                            \
    X(REAL, self_scale, "self_scale", 0, 0, 1e3)                                                   \
    /* the world shields victims who cannot be seen from the blast */                              \
    X(BOOL, occlusion, "occlusion", 1, 0, 1)                                                       \
    /* a direct victim who is also in the blast takes both damages; false: only the larger one */  \
    X(BOOL, stack_with_direct, "stack_with_direct", 0, 0, 1)
/* clang-format on */

struct hs_history_rules {
    enum hs_same_time same_time;
    HS_HISTORY_FIELDS(HS_SCALAR_MEMBER)
};

struct hs_rewind_rules {
    enum hs_rewind_source source;
    HS_REWIND_FIELDS(HS_SCALAR_MEMBER)
};

struct hs_hit_rules {
    enum hs_resolve resolve;
    HS_HIT_FIELDS(HS_SCALAR_MEMBER)
    uint16_t zone_priority[HS_MAX_ZONES]; /* if a shot touches several zones of a body, the zone
                                             that comes first in this list counts */
    uint16_t zone_priority_count;
};

struct hs_zone {
    struct hs_name name;
    double factor; /* factor on damage */
};

struct hs_falloff_point {
    double distance; /* length, in ascending order */
    double factor;   /* factor on damage: interpolated linearly between two points, constant before
                        the first and after the last */
};

/* An explosion at the impact. */
struct hs_blast {
    HS_BLAST_FIELDS(HS_SCALAR_MEMBER)
    enum hs_unclaimed unclaimed;
};

struct hs_weapon {
    struct hs_name name;
    enum hs_weapon_type type;
    enum hs_fuse fuse;     /* a claim can choose another fuse only if this is HS_FUSE_ANY */
    enum hs_motion motion; /* only for projectiles */
    HS_WEAPON_FIELDS(HS_SCALAR_MEMBER)
    bool has_world_radius; /* if false, hs_ruleset_finish sets `world_radius` of a projectile to
                              `radius` */
    bool has_require_shot; /* if false, hs_ruleset_finish sets `require_shot` to true for
                              projectiles and for weapons with several pellets */
    bool has_blast;
    struct hs_blast blast;
    struct hs_falloff_point falloff[HS_MAX_FALLOFF];
    uint16_t falloff_count;
    double zone_factor[HS_MAX_ZONES]; /* factor on damage to each zone */
    bool zone_own[HS_MAX_ZONES];      /* true: the weapon sets this factor; false: the factor is
                                         from the ruleset's zone */
};

struct hs_ruleset {
    struct hs_name name;
    enum hs_up up;
    struct hs_history_rules history;
    struct hs_rewind_rules rewind;
    struct hs_moves_rules moves;
    struct hs_hit_rules hit;
    struct hs_zone zones[HS_MAX_ZONES];
    uint16_t zone_count;
    struct hs_rig **rigs; /* the array and each rig are owned */
    uint16_t rig_count, default_rig;
    double reach;                              /* derived; largest reach of a stance in any rig */
    struct hs_weapon *weapons[HS_MAX_WEAPONS]; /* owned */
    uint16_t weapon_count;
    enum hs_mode checks[HS_CHECK_COUNT];
    enum hs_mode move_checks[HS_MOVE_CHECK_COUNT];
};

/*
 * The built-in rulesets contain the same rules, but differ in the unit of length and in the up
 * axis. A ruleset says nothing about handedness (docs/ruleset.md).
 */
struct hs_builtin_ruleset {
    const char *name;   /* name of a unit ("metres") or of an engine ("unity") */
    double cm_per_unit; /* lengths in centimetres are divided by this number, so 110 cm is exactly
                           1.1 m */
    enum hs_up up;
};
enum { HS_BUILTIN_RULESETS = 7 };
extern const struct hs_builtin_ruleset hs_builtin_rulesets[HS_BUILTIN_RULESETS];

/*
 * Creates a ruleset with default scalars and without rigs, zones or weapons. `cm_per_unit` is the
 * ruleset's unit of length in centimetres. The caller owns the ruleset. Returns NULL if out of
 * memory.
 */
struct hs_ruleset *hs_ruleset_create(double cm_per_unit);

/* Creates a complete built-in ruleset. The caller owns the ruleset. Returns NULL if out of
   memory. */
struct hs_ruleset *hs_ruleset_create_builtin(const struct hs_builtin_ruleset *builtin);

/* These functions add one part of the built-in ruleset to `ruleset`: zones, movement modes, the
   humanoid rig with its zones, or weapons. A function that returns a bool returns false if memory
   runs out or a list is full. The rig stands along the ruleset's `up`, so set `up` first. */
bool hs_ruleset_add_builtin_zones(struct hs_ruleset *ruleset);
void hs_ruleset_add_builtin_moves(struct hs_ruleset *ruleset, double cm_per_unit);
bool hs_ruleset_add_builtin_rig(struct hs_ruleset *ruleset, double cm_per_unit);
bool hs_ruleset_add_builtin_weapons(struct hs_ruleset *ruleset, double cm_per_unit);

void hs_ruleset_destroy(struct hs_ruleset *ruleset);

/*
 * Each of these functions adds an entry and returns its index. Each function returns HS_NONE if
 * memory runs out or the list is full. If the zone already exists, hs_ruleset_add_zone returns its
 * index and changes nothing. A new rig or weapon is all zero except for its name.
 */
uint16_t hs_ruleset_add_zone(struct hs_ruleset *ruleset, struct hs_str name, double factor);
uint16_t hs_ruleset_add_rig(struct hs_ruleset *ruleset, struct hs_str name);
uint16_t hs_ruleset_add_weapon(struct hs_ruleset *ruleset, struct hs_str name);

/* Returns the index of the entry with this name, or HS_NONE. */
uint16_t hs_ruleset_find_move_mode(const struct hs_ruleset *in, struct hs_str name);
uint16_t hs_ruleset_find_zone(const struct hs_ruleset *in, struct hs_str name);
uint16_t hs_ruleset_find_rig(const struct hs_ruleset *in, struct hs_str name);
uint16_t hs_ruleset_find_weapon(const struct hs_ruleset *in, struct hs_str name);

/*
 * Finds the faults in a ruleset, for example unknown names, values out of range, or rigs without
 * hitboxes. Calls `report` (unless it is NULL) for each fault, with a sentence and a JSON pointer
 * to the value in the document. Returns the number of faults; 0 means that the ruleset is valid.
 */
typedef void hs_ruleset_report(void *context, const char *pointer, const char *fault);
size_t hs_ruleset_validate(const struct hs_ruleset *ruleset, hs_ruleset_report *report,
                           void *context);

/* Computes the derived members. Call this after the last change to the ruleset. */
void hs_ruleset_finish(struct hs_ruleset *ruleset);

/*
 * Finds likely mistakes in a valid and finished ruleset, for example a length in another unit, or a
 * weapon without a rate of fire. Calls `report` (unless it is NULL) for each mistake, like
 * hs_ruleset_validate. Returns the number of mistakes.
 */
size_t hs_ruleset_warn(const struct hs_ruleset *ruleset, hs_ruleset_report *report, void *context);

/*
 * A scalar field. Defaults, decoding, encoding and validation of a ruleset all use the tables of
 * scalar fields below.
 */
enum hs_scalar_kind {
    HS_SCALAR_REAL,    /* double */
    HS_SCALAR_LENGTH,  /* double, in the unit of length; default in centimetres */
    HS_SCALAR_AREA,    /* double, in the unit of length squared; default in square centimetres */
    HS_SCALAR_SECONDS, /* int64_t, microseconds */
    HS_SCALAR_COUNT,   /* int64_t, a whole number */
    HS_SCALAR_BOOL,    /* bool */
};
struct hs_scalar {
    /* For example, the section "rewind" and the key "limit". A nested section is written as
       "moves/credit". `section` is NULL for a field of a weapon, blast or movement mode. */
    const char *section, *key;
    size_t offset; /* in struct hs_ruleset, or in the struct that is named in the comment of the
                      table below */
    enum hs_scalar_kind kind;
    double initial;
    double low, high; /* inclusive, in the unit of the document */
};
extern const struct hs_scalar hs_ruleset_scalars[];
extern const size_t hs_ruleset_scalar_count;
extern const struct hs_scalar hs_blast_scalars[]; /* offsets in struct hs_weapon */
extern const size_t hs_blast_scalar_count;
extern const struct hs_scalar hs_move_mode_scalars[]; /* offsets in struct hs_move_mode */
extern const size_t hs_move_mode_scalar_count;
extern const struct hs_scalar hs_weapon_scalars[]; /* offsets in struct hs_weapon */
extern const size_t hs_weapon_scalar_count;

/* Read and write a value in the document's unit: seconds for times, 0 or 1 for a bool. `base` is
   the struct that contains the field. */
double hs_scalar_get(const struct hs_scalar *scalar, const void *base);
void hs_scalar_set(const struct hs_scalar *scalar, void *base, double value);

HS_PUBLIC_END

#endif
