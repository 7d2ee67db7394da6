/*
 * A ruleset: every number a verdict depends on besides what the game posted. Lengths are the
 * game's own unit, times int64 microseconds, angles radians; the JSON form is in api/rulesets.
 *
 * A ruleset is built once (hs_ruleset_create, the adders, hs_ruleset_validate), then only read;
 * reading is safe from any thread.
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

/* An index that names nothing. */
#define HS_NONE 0xFFFFu

struct hs_history_rules {
    int64_t keep_us;        /* poses older than this, from the newest, are forgotten (but one) */
    int64_t max_gap_us;     /* longer gaps between two samples are not interpolated */
    int64_t max_forward_us; /* a frame further ahead of the newest is a clock jump */
    double world_bound;     /* length: no coordinate is further from 0 */
    double max_speed;       /* length/s: a faster move between samples is a teleport */
};

/* Where the moment of an instant hit comes from. */
enum hs_rewind_source {
    HS_REWIND_BY_CLAIM,     /* the claim's hit_time */
    HS_REWIND_BY_PREDICTION /* the shooter's prediction ping, back from now */
};

struct hs_rewind_rules {
    enum hs_rewind_source source;
    int64_t limit_us;         /* how far back a claim may look */
    int64_t future_slack_us;  /* how far ahead of `now` or of the newest pose */
    int64_t latency_slack_us; /* of a claim's time from the one its latency explains */
    double rtt_share;         /* of the round trip between what the server simulated and a claim */
    int64_t max_interp_us;    /* no more interpolation delay is believed */
    int64_t ping_spread_us;   /* round trips that differ by more are unstable */
    int64_t backstep_us;      /* how far fire times may run back by shot number */
};

struct hs_hit_rules {
    double min_trace;             /* length: shorter traces are degenerate */
    double sweep_extension;       /* length: the trace goes on this far beyond `end` */
    double claim_padding;         /* length: a miss by no more is accepted as lenient */
    double origin_tolerance;      /* length: from the shooter's rewound eye */
    double aim_tolerance_deg;     /* of the shot's direction from the shooter's looks */
    int64_t death_grace_us;       /* a shot so long after the shooter's death still counts */
    int64_t trajectory_window_us; /* two shots the same way within this are one */
    bool require_shot;            /* every hit needs a posted shot */
    bool friendly_fire;
    int64_t max_victims; /* claimed besides the target */
    uint16_t
        zone_priority[HS_MAX_ZONES]; /* zones that win over an earlier contact with the same body */
    uint16_t zone_priority_count;
};

struct hs_zone {
    struct hs_name name;
    double factor; /* of damage */
};

enum hs_weapon_type { HS_WEAPON_HITSCAN, HS_WEAPON_PROJECTILE, HS_WEAPON_MELEE, HS_WEAPON_TYPES };

struct hs_falloff_point {
    double distance; /* length, ascending */
    double factor;   /* of damage; linear between points, constant beyond them */
};

/* A burst at the impact. */
struct hs_blast {
    double radius; /* length; from the impact's centre to the nearest hitbox surface */
    double damage;
    double inner_radius; /* length; whole damage up to here, then linear to min_scale at radius */
    double min_scale;
    double self_scale;      /* of damage to the shooter; 0: none */
    bool occlusion;         /* the world shields */
    bool stack_with_direct; /* the direct victim takes both; else the larger */
    bool damages_unclaimed; /* else they are only reported */
};

struct hs_weapon {
    struct hs_name name;
    enum hs_weapon_type type;
    double damage;
    double range;            /* length; the longest trace */
    double radius;           /* length; of the sphere swept over bodies */
    double world_radius;     /* length; of the sphere swept over map and movers; 0 .. radius */
    double speed;            /* length/s; projectiles */
    double gravity;          /* length/s^2, downwards; projectiles */
    int64_t min_interval_us; /* between shots; 0 = any */
    int64_t max_flight_us;   /* projectiles */
    int64_t magazine;        /* rounds; 0: not counted */
    int64_t reload_us;       /* a pause this long refills the magazine */
    int64_t pellets;         /* of a shot, 1 .. 64 */
    double spread_deg;       /* half angle of their cone */
    int64_t pierce;          /* bodies a shot goes through */
    bool has_blast;
    struct hs_blast blast;
    struct hs_falloff_point falloff[HS_MAX_FALLOFF];
    uint16_t falloff_count;
    double zone_factor[HS_MAX_ZONES]; /* in force: the weapon's own, else the ruleset's */
    bool zone_own[HS_MAX_ZONES];      /* the weapon says so itself */
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
    struct hs_rig **rigs; /* owned, as each of them; room for the next power of two */
    uint16_t rig_count, default_rig;
    double reach; /* derived: of every stance of every rig, the largest */
    struct hs_weapon *weapons[HS_MAX_WEAPONS]; /* owned */
    uint16_t weapon_count;
    enum hs_mode checks[HS_CHECK_COUNT];
    enum hs_mode move_checks[HS_MOVE_CHECK_COUNT];
};

/*
 * The built-in rulesets are the same rules in different frames of reference: they differ in their
 * unit of length and in which way is up. Handedness is no part of a ruleset (docs/ruleset.md).
 */
struct hs_builtin_ruleset {
    const char *name;   /* of a unit ("metres") or of an engine ("unity") */
    double cm_per_unit; /* lengths are held in centimetres and divided: 110 cm is 1.1 m exactly */
    enum hs_up up;
};
enum { HS_BUILTIN_RULESETS = 7 };
extern const struct hs_builtin_ruleset hs_builtin_rulesets[HS_BUILTIN_RULESETS];

/*
 * Scalar defaults for a unit of length, without rigs, zones or weapons. NULL: out of memory.
 * The caller owns it.
 */
struct hs_ruleset *hs_ruleset_create(double cm_per_unit);

/* That built-in ruleset: scalars, a humanoid, and a few weapons. NULL: out of memory. */
struct hs_ruleset *hs_ruleset_create_builtin(const struct hs_builtin_ruleset *builtin);

/* The built-in zones, humanoid (with its zones) and weapons alone; false: out of memory or room.
   The humanoid stands along the ruleset's `up`, which must be set before. */
bool hs_ruleset_add_builtin_zones(struct hs_ruleset *ruleset);
void hs_ruleset_add_builtin_moves(struct hs_ruleset *ruleset,
                                  double cm_per_unit); /* ways of moving */
bool hs_ruleset_add_builtin_rig(struct hs_ruleset *ruleset, double cm_per_unit);
bool hs_ruleset_add_builtin_weapons(struct hs_ruleset *ruleset, double cm_per_unit);

/* Whether a weapon has the damage, lengths and rate of a built-in bow or rocket, in one of the
   built-in units. */
bool hs_weapon_is_builtin_projectile(const struct hs_weapon *weapon);

void hs_ruleset_destroy(struct hs_ruleset *ruleset);

/*
 * Adders. They return the index, or HS_NONE when memory or room is out; zones already there are
 * returned as they are. A new rig or weapon is zeroed but for its name and is filled in place.
 */
uint16_t hs_ruleset_add_zone(struct hs_ruleset *ruleset, struct hs_str name, double factor);
uint16_t hs_ruleset_add_rig(struct hs_ruleset *ruleset, struct hs_str name);
uint16_t hs_ruleset_add_weapon(struct hs_ruleset *ruleset, struct hs_str name);

/* Index of a name, or HS_NONE. */
uint16_t hs_ruleset_find_move_mode(const struct hs_ruleset *ruleset, struct hs_str name);
uint16_t hs_ruleset_find_zone(const struct hs_ruleset *ruleset, struct hs_str name);
uint16_t hs_ruleset_find_rig(const struct hs_ruleset *ruleset, struct hs_str name);
uint16_t hs_ruleset_find_weapon(const struct hs_ruleset *ruleset, struct hs_str name);

/*
 * What is wrong with a ruleset as a whole: names that point nowhere, values out of range, rigs
 * without hitboxes. `report` is called for each fault with a JSON pointer into the document form
 * and a sentence. Returns the number of faults; 0 means the ruleset can be used.
 */
typedef void hs_ruleset_report(void *context, const char *pointer, const char *fault);
size_t hs_ruleset_validate(const struct hs_ruleset *ruleset, hs_ruleset_report *report,
                           void *context);

/* Fills what is derived: zone factors of weapons, reach of rigs. Call after the last change. */
void hs_ruleset_finish(struct hs_ruleset *ruleset);

/*
 * What a ruleset allows but its author probably did not mean: a rig that extends along another axis
 * than `up`, a length that looks like another unit, a weapon without a rate of fire. `report`
 * (NULL: only count) is called for each with a JSON pointer and a sentence, as hs_ruleset_validate
 * does. Returns the number of warnings; the built-in rulesets have none. The ruleset must be valid
 * and finished.
 */
size_t hs_ruleset_warn(const struct hs_ruleset *ruleset, hs_ruleset_report *report, void *context);

/*
 * A scalar field: where it stands in the document and in the struct, its default and its range.
 * One table drives defaults, decoding, encoding and validation.
 */
enum hs_scalar_kind {
    HS_SCALAR_REAL,    /* double */
    HS_SCALAR_LENGTH,  /* double, in the unit of length; the default is in centimetres */
    HS_SCALAR_AREA,    /* double, in its square; the default is in square centimetres */
    HS_SCALAR_SECONDS, /* int64_t, microseconds */
    HS_SCALAR_COUNT,   /* int64_t, a whole number */
    HS_SCALAR_BOOL,    /* bool */
};
struct hs_scalar {
    const char *section, *key; /* "rewind", "limit"; sections inside others as "moves/credit"; a
                                  weapon's fields have no section */
    size_t offset;             /* in struct hs_ruleset, or in struct hs_weapon */
    enum hs_scalar_kind kind;
    double initial;
    double low, high; /* inclusive, in the document's unit */
    const char *text; /* one line for the reader */
};
extern const struct hs_scalar hs_ruleset_scalars[];
extern const size_t hs_ruleset_scalar_count;
extern const struct hs_scalar hs_blast_scalars[]; /* offsets in struct hs_weapon */
extern const size_t hs_blast_scalar_count;
extern const struct hs_scalar hs_move_mode_scalars[]; /* offsets in struct hs_move_mode */
extern const size_t hs_move_mode_scalar_count;
extern const struct hs_scalar hs_weapon_scalars[];
extern const size_t hs_weapon_scalar_count;

/* The value as a number of the document (seconds, 0 or 1), and back. */
double hs_scalar_get(const struct hs_scalar *scalar, const void *base);
void hs_scalar_set(const struct hs_scalar *scalar, void *base, double value);

const char *hs_weapon_type_name(enum hs_weapon_type type);
bool hs_weapon_type_parse(struct hs_str name, enum hs_weapon_type *out);
const char *hs_shape_name(enum hs_shape shape);
bool hs_shape_parse(struct hs_str name, enum hs_shape *out);
const char *hs_prevention_name(enum hs_prevention prevention);
bool hs_prevention_parse(struct hs_str name, enum hs_prevention *out);
const char *hs_rewind_source_name(enum hs_rewind_source source);
bool hs_rewind_source_parse(struct hs_str name, enum hs_rewind_source *out);
const char *hs_up_name(enum hs_up up); /* "+z" */
bool hs_up_parse(struct hs_str name, enum hs_up *out);

HS_PUBLIC_END

#endif
