/*
 * The data that the checks of one claim share: the players, weapon, times and path of the claim,
 * looked up before any check runs. Internal to validators/. Each check is a file in checks/.
 */
#ifndef HS_HIT_CONTEXT_H
#define HS_HIT_CONTEXT_H

#include "validators/base/ledger.h"
#include "validators/geometry/path.h"
#include "validators/history/rewind.h"
#include "validators/hit.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* Launch speeds may be wrong by this share, because games round velocities for the network. */
#define HS_SPEED_TOLERANCE 0.02

/* Directions may differ by this many degrees from the directions that a seed or posted `directions`
   give, because games round directions to float and to text. */
#define HS_SPREAD_TOLERANCE_DEG 0.1

/* A player at one time. */
struct hs_view {
    const struct hs_player *player; /* NULL: no frame ever named them */
    enum hs_rewind_status status;   /* status of `bracket`; NO_HISTORY if `player` is NULL */
    int64_t time_us;                /* the requested time */
    struct hs_bracket bracket;
};

/* How far a hit starts from the shooter's eye. */
enum hs_lean {
    HS_LEAN_NONE,   /* the start is at the eye, or leaning is not tested */
    HS_LEAN_SLIGHT, /* within hit.lean_share of the tolerance, which honest prediction can cause:
                       the eye must see the body */
    HS_LEAN_FAR     /* further from the eye: the eye must see the contact */
};

/* A contact or a blast that damages a player. */
struct hs_landed {
    const struct hs_player *player;
    enum hs_cause cause;
    uint16_t zone;              /* HS_NONE: no zone */
    const struct hs_name *bone; /* NULL: no bone */
    double distance;            /* along the path to the contact, or from the blast's centre */
    uint16_t pellets;           /* number of pellets; 0 for a blast */
    double share;               /* for a blast: share of its damage at that distance */
};

struct hs_hit_context {
    const struct hs_match *match;
    const struct hs_ruleset *ruleset;
    const struct hs_hit_claim *claim;
    int64_t now_us, hit_time_us;
    int64_t fire_time_us; /* as claimed, otherwise hit_time; determines the order of a shooter's
                             claims */
    int64_t eye_time_us;  /* time of the shooter's pose that is used */

    bool is_shot;                        /* the claim is a posted shot, not a hit */
    const struct hs_vec *shot_direction; /* as posted with the shot, not rounded; NULL if it was not
                                            posted */
    bool shot_spreads; /* the shot has a seed or directions; shot_direction is their middle */
    const struct hs_ledger *ledger; /* the ledger of the shooter's session at the fire time; NULL if
                                       it is no longer kept */
    const struct hs_ledger_numbers *used_numbers; /* in `ledger`: the numbers of shots if is_shot,
                                                     otherwise of hits */
    const struct hs_ledger_numbers *paid_numbers; /* like used_numbers, but also set for an ended
                                                     session */
    const struct hs_ledger_entry *posted;         /* NULL: the hit has no posted shot */

    struct hs_view shooter; /* at eye_time */
    struct hs_view target;  /* at hit_time; its player is NULL if no target is claimed */
    bool claims_target;     /* a player other than the shooter is claimed */
    bool claims_self;
    const struct hs_weapon *weapon; /* NULL: not known */
    uint16_t weapon_index;          /* valid if `weapon` is not NULL */

    bool lacks_weapon;    /* the shooter's history is known, but nothing names a weapon */
    bool is_weapon_stale; /* the weapon was last posted before a restart, so it may have changed */

    struct hs_vec eye;      /* the shooter's rewound eye; set if there is a pose */
    struct hs_vec near_eye; /* the position nearest to the start that the eye may have had between
                               two frames */
    double eye_moved;       /* length: how far the eye moved between these frames */
    enum hs_lean lean;      /* how far a hit's start is from near_eye */
    uint16_t passed_team;   /* shots pass through bodies of this team; HS_NONE: no such team */

    /* All ends of the claim are within HS_WORLD_COORDINATE_MAX. At larger coordinates, a double is
       too coarse to place a body. */
    bool has_path;
    struct hs_vec direction; /* unit direction at the start; only for claims without pellets */
    double trace_length;     /* from start to end */

    /* The bodies and obstacles on the path, or on the paths of the pellets. For checks of stage
       PATH one of these two members is set. */
    const struct hs_encounter *encounter;
    const struct hs_volley *volley;

    struct hs_work work; /* cost of this claim so far */

    bool bursts; /* the direct target is refused, but the blast at the impact still counts */

    bool is_lenient; /* the path missed the target by no more than claim_padding */
    uint16_t landed_count;

    bool is_predicted;      /* hit_time_us was computed from the shooter's ping, not claimed */
    bool has_no_prediction; /* hit_time_us should be computed, but no round trip is known */

    struct hs_hit_result *out;

    /* Large members. hs_hit_begin does not clear them, because this would cost more than many
       checks. */
    struct hs_path path;                    /* with the sweep extension */
    struct hs_landed landed[HS_MAX_DAMAGE]; /* damage to pay if the verdict allows it */
    /* A copy of the claim with the computed end, if the claim has no end. */
    struct hs_hit_claim completed;
};

static inline enum hs_mode hs_hit_mode(const struct hs_hit_context *c, enum hs_check check)
{
    return c->ruleset->checks[check];
}

static inline bool hs_world_is_enforced(const struct hs_hit_context *c)
{
    return hs_hit_mode(c, HS_CHECK_WORLD) == HS_MODE_ENFORCE;
}

static inline bool hs_hit_flies(const struct hs_hit_context *c)
{
    return c->weapon != NULL && c->weapon->type == HS_WEAPON_PROJECTILE;
}

/* Returns whether shot and hit happen at the same time, which is the claim's hit_time. */
static inline bool hs_hit_is_instant(const struct hs_hit_context *c)
{
    return !c->is_shot && c->weapon != NULL && !hs_hit_flies(c) && !c->is_predicted;
}

/* Returns whether the claim is a hit of a projectile that the game server moved. The place and time
   of such a hit come from the game server. */
static inline bool hs_hit_is_driven(const struct hs_hit_context *c)
{
    return !c->is_shot && hs_hit_flies(c) && c->weapon->motion == HS_MOTION_SERVER;
}

/* Returns the fuse that made the projectile explode. If the weapon allows any fuse, the claim names
   the fuse; otherwise the weapon does. */
static inline enum hs_fuse hs_hit_fuse(const struct hs_hit_context *c)
{
    return c->weapon->fuse != HS_FUSE_ANY ? c->weapon->fuse : c->claim->fuse;
}

/* Returns the name of the direct victim: the claimed player, or with hit.resolve `touched`, the
   first player on the path. */
static inline struct hs_str hs_hit_target(const struct hs_hit_context *c)
{
    return c->claims_target && c->target.player != NULL ? hs_name_str(&c->target.player->name)
                                                        : c->claim->target;
}

/* Returns the radius of the sphere that the weapon sweeps against map and movers; 0 without a
   weapon. */
static inline double hs_world_radius(const struct hs_hit_context *c)
{
    return c->weapon != NULL ? c->weapon->world_radius : 0;
}

/* Returns the accepted shots of the claim's weapon in all sessions of the shooter, or NULL if there
   are no such shots. */
static inline const struct hs_cadence *hs_hit_cadence(const struct hs_hit_context *c)
{
    const struct hs_player *shooter = c->shooter.player;
    return shooter != NULL ? hs_ledger_cadence(&shooter->ledger, c->weapon_index) : NULL;
}

static inline const struct hs_state *hs_newest_state(const struct hs_history *history)
{
    return hs_history_state(history, hs_history_at(history, hs_history_count(history) - 1));
}

/* Adds damage that is paid if the verdict allows it. */
static inline void hs_land(struct hs_hit_context *c, const struct hs_landed *landed)
{
    if (c->landed_count < HS_MAX_DAMAGE)
        c->landed[c->landed_count++] = *landed;
}

void hs_find_view(const struct hs_hit_context *c, struct hs_str name, int64_t time_us,
                  struct hs_view *out);

/* Returns the allowed distance of a chord from the curve of a flight. This distance is small
   compared with the world radius of the weapon. */
double hs_hit_chord_error(const struct hs_hit_context *c);

/* Calls hs_flight_times for the claim's projectile, from start to end, with a launch speed. */
bool hs_hit_flight_times(const struct hs_hit_context *c, double speed, double *low, double *high,
                         double *needed);

/* Returns the unit direction in which a projectile must be launched to reach the end in
   `seconds`. */
struct hs_vec hs_hit_launch(const struct hs_hit_context *c, double seconds);

/* Computes the unit direction of a claimed pellet. Returns false if the pellet's trace has length
   0. */
bool hs_pellet_direction(const struct hs_hit_context *c, size_t pellet, struct hs_vec *out);

/* Computes the directions that the hit's posted shot expects, from its seed or its `directions`.
   Returns the number of directions: 0 if the shot has neither seed nor directions, or was not
   posted. */
size_t hs_posted_directions(const struct hs_hit_context *c, struct hs_vec out[HS_MAX_PELLETS]);

/* Returns HS_REASON_OK if the player was alive, in their newest life and not protected at the
   view's time, otherwise the reason. If the state at that time is stale, returns the reason for
   missing data. */
enum hs_reason hs_verify_life(const struct hs_view *view);

/* Returns whether the claim names this player in `additional_targets`. */
bool hs_hit_lists(const struct hs_hit_context *c, struct hs_str name);

/* Returns whether a failure with this reason only concerns the direct target, so that a blast at
   the impact may still count (checks/blast.c). */
bool hs_reason_is_about_target(enum hs_reason reason);

/* Returns whether the player is on the shooter's team. */
bool hs_are_team_mates(const struct hs_hit_context *c, const struct hs_view *view);

/* Looks up the data that the checks of a claim need. The caller first calls hs_hit_begin, sets
   `claim` and `is_shot`, and calls hs_hit_find_earlier. */
void hs_hit_prepare(struct hs_hit_context *c);

/* Clears a context, and sets the arguments of hs_hit_verify_within. */
void hs_hit_begin(struct hs_hit_context *c, const struct hs_match *match, int64_t now_us,
                  uint64_t limit, struct hs_hit_result *out);

/* Finds the shooter. Returns the entry of the shooter's earlier claim with the same number, or
   NULL. */
const struct hs_ledger_entry *hs_hit_find_earlier(struct hs_hit_context *c);

/*
 * Evaluates the claim in `c` into its result. `earlier` comes from hs_hit_find_earlier. If
 * `earlier` has the digest of this claim, the answer in `earlier` is repeated. Otherwise this
 * function runs the checks, decides the verdict and computes the damage. `is_whole`: see
 * hs_hit_verify_within.
 */
void hs_hit_evaluate(struct hs_hit_context *c, const struct hs_ledger_entry *earlier,
                     struct hs_digest digest, bool is_whole);

/* Clears a result, except for the entries of its lists. */
void hs_hit_clear(struct hs_hit_result *out);

/* Writes all damage into the result. Call this function after the verdict is known. */
void hs_hit_damage(struct hs_hit_context *c);

/* Returns the factor that frames set for the shooter's damage; 1 if the shooter has no pose. */
double hs_damage_scale(const struct hs_hit_context *c);

/* Returns the factor of a weapon's falloff at this distance. */
double hs_falloff(const struct hs_weapon *weapon, double distance);

#endif
