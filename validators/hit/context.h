/*
 * What the checks of one claim share: who and what the claim is about, looked up before any check
 * runs. Internal to validators/. Each check is a file in checks/; report.h writes what they find.
 */
#ifndef HS_HIT_CONTEXT_H
#define HS_HIT_CONTEXT_H

#include "validators/geometry/path.h"
#include "validators/history/rewind.h"
#include "validators/hit.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* A player at the time at which they are evaluated. */
struct hs_view {
    const struct hs_player *player; /* NULL: never seen */
    enum hs_rewind_status status;   /* of `bracket`; NO_HISTORY without a player */
    int64_t time_us;                /* looked at */
    struct hs_bracket bracket;
};

/* Something that hurts somebody. */
struct hs_landed {
    const struct hs_player *player;
    enum hs_cause cause;
    uint16_t zone;              /* HS_NONE: none */
    const struct hs_name *bone; /* NULL: none */
    double distance;            /* travel to the contact, or from the blast's centre */
    uint16_t pellets;
    double share; /* of a blast's damage that reaches there */
};

struct hs_encounter; /* what the claim's path meets; see encounter.h */
struct hs_volley;    /* what its pellets meet; see volley.h */

struct hs_hit_context {
    const struct hs_match *match;
    const struct hs_ruleset *ruleset;
    const struct hs_hit_claim *claim;
    int64_t now_us, hit_time_us;
    int64_t fire_time_us; /* as claimed, else hit_time: orders the claims of a shooter */
    int64_t eye_time_us;  /* the moment whose pose of the shooter counts */

    bool is_shot;                   /* a posted shot is judged, not a hit */
    const struct hs_ledger *ledger; /* of the shooter's session then; NULL: none is kept */
    const struct hs_ledger_numbers *used_numbers; /* of shots or of hits, after is_shot */
    const struct hs_ledger_numbers *paid_numbers; /* tell whether it was paid before */
    const struct hs_ledger_entry *posted;         /* a hit's posted shot; NULL: none */

    struct hs_view shooter; /* at eye_time */
    struct hs_view target;  /* at hit_time; player NULL also when nobody is claimed */
    bool claims_target;     /* somebody other than the shooter is claimed */
    bool claims_self;
    const struct hs_weapon *weapon; /* NULL: not known */
    uint16_t weapon_index;          /* with a weapon */

    bool lacks_weapon;    /* the shooter's history is known, and nothing names a weapon */
    bool is_weapon_stale; /* held before a restart, and perhaps changed since */

    bool has_path;           /* the trace is not degenerate and in the world */
    struct hs_vec direction; /* unit */
    double trace_length;     /* from start to end */
    struct hs_path path;     /* with the sweep extension */

    /* What the path met, or the pellets, once a check of stage PATH runs: one of the two is set. */
    const struct hs_encounter *encounter;
    const struct hs_volley *volley;

    struct hs_work work; /* cost of this claim so far */

    bool is_lenient;                        /* missed by no more than the padding */
    struct hs_landed landed[HS_MAX_DAMAGE]; /* what is paid if the verdict lets it */
    uint16_t landed_count;

    bool is_predicted;       /* hit_time_us follows from the shooter's ping, not from the claim */
    bool has_no_prediction;  /* it should, but the shooter's round trip is not known */
    bool shooter_not_needed; /* every check that looks at the shooter's history is off */
    bool launch_forgotten;   /* a projectile launched before the history of the shooter begins */

    struct hs_check_row unreported; /* what a check that is off writes to */
    struct hs_hit_result *out;
};

static inline enum hs_mode hs_hit_mode(const struct hs_hit_context *c, enum hs_check check)
{
    return c->ruleset->checks[check];
}

/* A player at a time. */
void hs_look(const struct hs_hit_context *c, struct hs_str name, int64_t time_us,
             struct hs_view *out);

/* Whether the player was alive, in their newest life and not protected at that time. HS_REASON_OK,
   or the reason why not. If a restart makes this uncertain, the reason of an unknown check. */
enum hs_reason hs_judge_life(const struct hs_view *view);

/* Radius of the sphere that the claim's weapon sweeps over map and movers; 0 without a weapon. */
double hs_world_radius(const struct hs_hit_context *c);

/* The shooter's own team. */
bool hs_are_team_mates(const struct hs_hit_context *c, const struct hs_view *view);

/* Looks up who and what a claim is about; `c` holds match, ruleset, claim, now, out, is_shot. */
void hs_hit_prepare(struct hs_hit_context *c);

/* Damage of the context's contact into the result; after the verdict is known. */
void hs_hit_damage(struct hs_hit_context *c);

/* The factor of a weapon's falloff at a distance. */
double hs_falloff(const struct hs_weapon *weapon, double distance);

#endif
