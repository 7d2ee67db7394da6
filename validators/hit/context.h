/* The data that the checks of one claim share: the claim's players, weapon, times and path. The
   data is looked up before the first check runs. Each check is a file in checks/. Internal to
   validators/. */
#ifndef HS_HIT_CONTEXT_H
#define HS_HIT_CONTEXT_H

#include "validators/base/ledger.h"
#include "validators/geometry/path.h"
#include "validators/history/rewind.h"
#include "validators/hit.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* Allowed relative error of launch speeds, because games round velocities for the network. */
#define HS_SPEED_TOLERANCE 0.02

/* Allowed error of flight times: HS_FLIGHT_TOLERANCE_US, or 1 / HS_FLIGHT_SHARE of the flight time,
   whichever is longer. The share equals HS_SPEED_TOLERANCE: a launch speed that is wrong by 2 %
   changes the flight time by 2 %. */
#define HS_FLIGHT_TOLERANCE_US INT64_C(50000)
#define HS_FLIGHT_SHARE        50

/* Allowed angle between a direction and the direction expected from a seed or from posted
   `directions`, because games round directions to float and to text. */
#define HS_SPREAD_TOLERANCE_DEG 0.1

/* A player at one time. */
struct hs_view {
    const struct hs_player *player; /* NULL if no player has the name */
    enum hs_rewind_status status;   /* NO_HISTORY if `player` is NULL */
    int64_t time_us;                /* time for which the pose was requested */
    struct hs_bracket bracket;
};

/* How far the start of a hit is from the shooter's eye. */
enum hs_lean {
    HS_LEAN_NONE, /* the start is at the eye, or leaning is not tested */
    /* The distance is at most hit.lean_share times hit.origin_tolerance. Prediction by an honest
       client can cause such a distance. The eye must see a tested point of the body
       (hs_sight_of_body). */
    HS_LEAN_SLIGHT,
    HS_LEAN_FAR /* the distance is larger: the eye must see the contact */
};

/* Damage to one player from a contact or a blast. */
struct hs_landed {
    const struct hs_player *player;
    enum hs_cause cause;
    uint16_t zone;              /* HS_NONE: no zone */
    const struct hs_name *bone; /* NULL: no bone */
    /* Length along the path to the contact. For a blast, distance from the blast's centre. */
    double distance;
    uint16_t pellets; /* number of pellets; 0 for a blast */
    double share;     /* for a blast: share of its full damage */
};

struct hs_hit_context {
    const struct hs_match *match;
    const struct hs_ruleset *ruleset;
    const struct hs_hit_claim *claim;
    int64_t now_us, hit_time_us;
    /* The claimed or posted fire time. If there is no such time: hit_time. For a projectile, the
       launch time. */
    int64_t fire_time_us;
    int64_t eye_time_us; /* time of the shooter's pose */
    /* Time of the contact: usually hit_time. contact_us is earlier if the projectile exploded, or
       touched the target or the last body that it pierces, long before hit_time
       (hs_contact_time). */
    int64_t contact_us;

    bool is_shot; /* the claim is a posted shot, not a hit */
    /* The posted direction of the shot, not rounded; NULL if no direction was posted. */
    const struct hs_vec *shot_direction;
    bool shot_spreads; /* the shot has a seed or directions, so its pellets spread around
                          shot_direction */
    /* The ledger of the shooter; NULL if the fire time is in an earlier session, whose ledger is
       no longer kept. */
    const struct hs_ledger *ledger;
    /* The shot numbers in `ledger` if is_shot, otherwise the hit numbers. NULL if `ledger` is
       NULL. */
    const struct hs_ledger_numbers *used_numbers;
    /* Like used_numbers, but also set for a claim from an earlier session. */
    const struct hs_ledger_numbers *paid_numbers;
    const struct hs_ledger_entry *posted; /* the posted shot of a hit; NULL: none */

    struct hs_view shooter; /* at eye_time */
    struct hs_view target;  /* at the time of the hit; `player` is NULL if no target is claimed */
    bool claims_target;     /* the claimed target is a player other than the shooter */
    bool claims_self;
    const struct hs_weapon *weapon; /* NULL: unknown */
    uint16_t weapon_index;          /* valid if `weapon` is not NULL */

    bool lacks_weapon; /* nothing names a weapon, although the shooter has a pose */
    /* The weapon in the shooter's hand was last posted before a restore, so `weapon` is NULL. */
    bool is_weapon_stale;

    /* The shooter's rewound eye; set if there is a pose and the check `origin` is on. */
    struct hs_vec eye;
    /* Between two frames, the eye may have been anywhere on a segment. near_eye is the point of the
       segment that is nearest to the claim's start. */
    struct hs_vec near_eye;
    double eye_moved; /* distance that the eye moved between the two frames */
    enum hs_lean lean;
    uint16_t passed_team; /* shots pass through bodies of this team; HS_NONE: through no team */

    /* The start and all ends are within HS_WORLD_COORDINATE_MAX. At larger coordinates, a double
       is too coarse to place a body. */
    bool has_path;
    struct hs_vec direction; /* unit direction at the start; only for claims without pellets */
    double trace_length;     /* from start to end */

    /* `encounter`: what is on the path of a claim without pellets. `volley`: what is on the paths
       of the pellets. While a check of stage PATH runs, exactly one of these two pointers is not
       NULL. */
    const struct hs_encounter *encounter;
    const struct hs_volley *volley;

    struct hs_work work; /* work spent on this claim, and its limit */

    bool bursts; /* the direct hit does not count, but the blast counts */

    bool is_lenient; /* the path missed the target by at most claim_padding */
    uint16_t landed_count;

    bool is_predicted;      /* hit_time_us was computed from the shooter's ping */
    bool has_no_prediction; /* the rules predict hit_time_us from the ping, but the ping is
                               unknown */

    /* The number of pellets that the claim lists. If the shot has only one path, `claim` has no
       pellets, and its end and target are the end and target of the first pellet. */
    size_t listed_pellets;

    struct hs_hit_result *out;

    /* hs_hit_begin does not clear the large members from here on, because clearing them would take
       longer than many checks. */
    struct hs_path path;
    struct hs_landed landed[HS_MAX_DAMAGE]; /* damage that counts if the claim is accepted */
    /* A copy of the claim with another end; used if the claim has no end, or lists pellets. */
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

/* Returns whether the fire time was claimed or posted, not computed. */
static inline bool hs_hit_knows_fire_time(const struct hs_hit_context *c)
{
    return c->claim->has_fire_time || c->posted != NULL;
}

static inline int64_t hs_flight_tolerance(int64_t flown_us)
{
    int64_t share_us = flown_us / HS_FLIGHT_SHARE;
    return share_us > HS_FLIGHT_TOLERANCE_US ? share_us : HS_FLIGHT_TOLERANCE_US;
}

/* Returns whether the claim is a hit with an instant weapon, and its hit_time was claimed, not
   computed. */
static inline bool hs_hit_is_instant(const struct hs_hit_context *c)
{
    return !c->is_shot && c->weapon != NULL && !hs_hit_flies(c) && !c->is_predicted;
}

/* Returns whether the claim is a hit of a projectile that the game server moved. The game server
   posts the place and the time of such a hit. */
static inline bool hs_hit_is_driven(const struct hs_hit_context *c)
{
    return !c->is_shot && hs_hit_flies(c) && c->weapon->motion == HS_MOTION_SERVER;
}

/* Returns the fuse that made the projectile explode: the weapon's fuse, or the claimed fuse if the
   weapon allows any fuse. */
static inline enum hs_fuse hs_hit_fuse(const struct hs_hit_context *c)
{
    return c->weapon->fuse != HS_FUSE_ANY ? c->weapon->fuse : c->claim->fuse;
}

/* Returns the name of the direct target: the claimed player, or the first player on the path if
   hit.resolve is `touched`. */
static inline struct hs_str hs_hit_target(const struct hs_hit_context *c)
{
    return c->claims_target && c->target.player != NULL ? hs_name_str(&c->target.player->name)
                                                        : c->claim->target;
}

/* Returns the radius of the sphere that is swept against map and movers; 0 without a weapon. */
static inline double hs_world_radius(const struct hs_hit_context *c)
{
    return c->weapon != NULL ? c->weapon->world_radius : 0;
}

/* Returns the cadence of the claim's weapon over all sessions of the shooter, or NULL if the
   shooter never fired this weapon. */
static inline const struct hs_cadence *hs_hit_cadence(const struct hs_hit_context *c)
{
    const struct hs_player *shooter = c->shooter.player;
    return shooter != NULL ? hs_ledger_cadence(&shooter->ledger, c->weapon_index) : NULL;
}

static inline const struct hs_state *hs_newest_state(const struct hs_history *history)
{
    return hs_history_state(history, hs_history_at(history, hs_history_count(history) - 1));
}

/* Adds damage that counts if the claim is accepted. If the list is full, sets the flag damage_cut
   instead. */
static inline void hs_land(struct hs_hit_context *c, const struct hs_landed *landed)
{
    if (c->landed_count < HS_MAX_DAMAGE)
        c->landed[c->landed_count++] = *landed;
    else
        c->out->flags |= 1u << HS_FLAG_DAMAGE_CUT;
}

void hs_find_view(const struct hs_hit_context *c, struct hs_str name, int64_t time_us,
                  struct hs_view *out);

/* Returns the allowed distance between a flight's curve and its chords: a tenth of the weapon's
   world radius, but at least a millionth of its range. */
double hs_hit_chord_error(const struct hs_hit_context *c);

/* Calls hs_flight_times for a projectile launched at `speed` from the start to the end of the
   claim. */
bool hs_hit_flight_times(const struct hs_hit_context *c, double speed, double *low, double *high,
                         double *needed);

/* Returns the unit direction of a launch that reaches the end in `seconds`. */
struct hs_vec hs_hit_launch(const struct hs_hit_context *c, double seconds);

/* Returns whether a pellet of the claim can hit a player other than the claim's target: a pellet
   names another player, or hit.resolve is `touched`. The target of such a claim is verified for
   each pellet, so that a target who cannot be hurt does not spare the other players. */
bool hs_hit_aims_at_others(const struct hs_hit_context *c);

/* Computes the unit direction of a claimed pellet. Returns false if its trace has length 0. */
bool hs_pellet_direction(const struct hs_hit_context *c, size_t pellet, struct hs_vec *out);

/* Computes the pellet directions expected from the seed or the `directions` of the hit's posted
   shot. Returns the number of directions. The number is 0 if there is no posted shot. The number is
   also 0 if the shot has no `directions` and lacks a seed or a direction. */
size_t hs_posted_directions(const struct hs_hit_context *c, struct hs_vec out[HS_MAX_PELLETS]);

/* Returns HS_REASON_OK if the player was alive, not protected, and in their newest life at the
   view's time, otherwise the reason. If this reason would follow from stale state, returns
   HS_REASON_HISTORY_TOO_SHORT instead. */
enum hs_reason hs_verify_life(const struct hs_view *view);

/* Returns whether the claim's `additional_targets` contain this player. */
bool hs_hit_lists(const struct hs_hit_context *c, struct hs_str name);

/* Returns whether this reason only concerns the direct target, so that a blast at the impact may
   still count (checks/blast.c). */
bool hs_reason_is_about_target(enum hs_reason reason);

/* Returns whether the player is on the shooter's team. */
bool hs_are_team_mates(const struct hs_hit_context *c, const struct hs_view *view);

/* Looks up the data that the checks need. Before this call, call hs_hit_begin, set `claim` and
   `is_shot`, and call hs_hit_find_earlier. */
void hs_hit_prepare(struct hs_hit_context *c);

/* Clears a context and stores the arguments of hs_hit_verify_within in it. */
void hs_hit_begin(struct hs_hit_context *c, const struct hs_match *match, int64_t now_us,
                  uint64_t limit, struct hs_hit_result *out);

/* Finds the shooter. Returns the entry of their earlier claim with the same number, or NULL. */
const struct hs_ledger_entry *hs_hit_find_earlier(struct hs_hit_context *c);

/* Evaluates the claim: runs the checks, decides the verdict and computes the damage. `earlier` is
   the result of hs_hit_find_earlier. If `earlier` has the digest of this claim, the stored answer
   of `earlier` is repeated instead. `is_whole`: see hs_hit_verify_within. */
void hs_hit_evaluate(struct hs_hit_context *c, const struct hs_ledger_entry *earlier,
                     struct hs_digest digest, bool is_whole);

/* Clears a result. The entries of its lists are not cleared. */
void hs_hit_clear(struct hs_hit_result *out);

/* Computes the damage of an accepted claim. Call this after the verdict is decided. */
void hs_hit_damage(struct hs_hit_context *c);

/* Returns the shooter's damage factor, as posted in frames; 1 if the shooter has no pose. */
double hs_damage_scale(const struct hs_hit_context *c);

/* Returns the weapon's falloff factor at this distance. */
double hs_falloff(const struct hs_weapon *weapon, double distance);

#endif
