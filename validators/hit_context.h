/*
 * What the checks of one claim share, and the report they write. Internal to validators/: one
 * file a check (check_*.c), called in the order of hit.c.
 */
#ifndef HS_HIT_CONTEXT_H
#define HS_HIT_CONTEXT_H

#include "hit.h"
#include "path.h"
#include "players.h"
#include "rewind.h"
#include "work.h"

/* A player at the time that counts for him. */
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

    bool lacks_weapon;     /* the shooter's history is known, and nothing names a weapon */
    bool is_weapon_unsure; /* the one he held before a restart, and he may have changed it */

    bool has_path;           /* the trace is not degenerate and in the world */
    struct hs_vec direction; /* unit */
    double trace_length;     /* from start to end */
    struct hs_path path;     /* with the sweep extension */

    struct hs_work work; /* cost of this claim so far */

    bool is_lenient;                        /* missed by no more than the padding */
    struct hs_landed landed[HS_MAX_DAMAGE]; /* what is paid if the verdict lets it */
    uint16_t landed_count;

    bool is_predicted;       /* hit_time_us follows from the shooter's ping, not from the claim */
    bool has_no_prediction;  /* it should, and no round trip of his is known */
    bool shooter_not_needed; /* every check that looks at the shooter's history is off */
    bool launch_forgotten;   /* a projectile launched before the history of the shooter begins */

    struct hs_check_row unreported; /* what a check that is off writes to */
    struct hs_hit_result *out;
};

static inline enum hs_mode hs_hit_mode(const struct hs_hit_context *c, enum hs_check check)
{
    return c->ruleset->checks[check];
}

/* Rows of the report. A check that is off reports nothing. */
struct hs_check_row *hs_report_pass(struct hs_hit_context *c, enum hs_check check);
struct hs_check_row *hs_report_fail(struct hs_hit_context *c, enum hs_check check,
                                    enum hs_reason reason);
struct hs_check_row *hs_report_unknown(struct hs_hit_context *c, enum hs_check check,
                                       enum hs_reason reason);
/* Names the player of a view, and measures what their pose at its time lacks: how far the time is
   from their frames, or how far apart the frames around it are. */
void hs_report_lack(struct hs_check_row *row, const struct hs_hit_context *c,
                    const struct hs_view *view);

/* The row for a player without a pose; `unknown`: no frame ever showed them. */
struct hs_check_row *hs_report_missing(struct hs_hit_context *c, enum hs_check check,
                                       const struct hs_view *view, enum hs_reason unknown);
void hs_report_measure(struct hs_check_row *row, enum hs_unit unit, double measured, double limit);
void hs_report_player(struct hs_check_row *row, const struct hs_player *player);

/*
 * What was found of the posted shot stands for its hits too. True when there is a posted shot; its
 * row is then written, if it had one.
 */
bool hs_report_remembered(struct hs_hit_context *c, enum hs_check check);

/*
 * Nothing names a weapon, and the weapon check decides: no later check runs. What is instant and
 * what flies, how far and how thick, is not known, so that each of them could refuse an honest
 * claim.
 */
static inline bool hs_hit_stops_without_weapon(const struct hs_hit_context *c)
{
    return c->lacks_weapon && hs_hit_mode(c, HS_CHECK_WEAPON) == HS_MODE_ENFORCE;
}

/* The posted shot of a hit did not pass a check. */
bool hs_posted_failed(const struct hs_hit_context *c, enum hs_check check);

/* The posted shot was refused for something its hits do not carry on, as its time. */
bool hs_posted_was_refused(const struct hs_hit_context *c);

/* Prepares a claim. True: its estimated work fits, or the budget is still whole. */
bool hs_hit_may_begin(struct hs_hit_context *c, bool is_whole);

/* Sets the result of a claim that does not fit its budget. */
void hs_hit_give_up(struct hs_hit_context *c);

/* Empties a result: everything but the entries of its lists. */
void hs_hit_clear(struct hs_hit_result *out);

/* A player at a time. */
void hs_look(const struct hs_hit_context *c, struct hs_str name, int64_t time_us,
             struct hs_view *out);

/* Alive, in his newest life and not protected at that time: HS_REASON_OK, or why not; or that it is
   not known, as what says so was said before a restart. */
enum hs_reason hs_judge_life(const struct hs_view *view);

/* Radius of the sphere that the claim's weapon sweeps over map and movers; 0 without a weapon. */
double hs_world_radius(const struct hs_hit_context *c);

/* The shooter's own team. */
bool hs_are_team_mates(const struct hs_hit_context *c, const struct hs_view *view);

/* Looks up who and what a claim is about; `c` holds match, ruleset, claim, now, out, is_shot. */
void hs_hit_prepare(struct hs_hit_context *c);

/* Booking, shared by hits and shots; see hit.c. */
struct hs_player *hs_hit_shooter(struct hs_match *match, struct hs_str name);

/*
 * Books a number with its answer in the shooter's ledger, and the cadence of its weapon. If the
 * claim was accepted, also records the payment in the match's journal. A number that was used
 * before keeps its entry. False: out of memory; nothing is booked.
 */
bool hs_hit_book(struct hs_match *match, struct hs_player *shooter, bool is_shot,
                 const struct hs_ledger_entry *entry, const struct hs_hit_result *result);

/* Verdict and reason from the rows. */
void hs_hit_decide(struct hs_hit_context *c);

/* Why a pose is missing, as a reason; `unknown` names the case of no history at all. */
enum hs_reason hs_missing_pose_reason(enum hs_rewind_status status, enum hs_reason unknown);

struct hs_encounter; /* what the claim's path meets; see encounter.h */
struct hs_volley;    /* what its pellets meet; see volley.h */

/* The checks. Each writes at most one row, and what later steps need into the context. */
void hs_check_shape(struct hs_hit_context *c);
void hs_check_identity(struct hs_hit_context *c);
void hs_check_trajectory(struct hs_hit_context *c);
void hs_check_weapon(struct hs_hit_context *c);
void hs_check_fire_rate(struct hs_hit_context *c);
void hs_check_rewind(struct hs_hit_context *c);
void hs_check_latency(struct hs_hit_context *c);
void hs_check_life(struct hs_hit_context *c);
void hs_check_team(struct hs_hit_context *c);
void hs_check_origin(struct hs_hit_context *c);
void hs_check_aim(struct hs_hit_context *c);
void hs_check_range(struct hs_hit_context *c);
void hs_check_world(struct hs_hit_context *c, const struct hs_encounter *e);
void hs_check_pellet_world(struct hs_hit_context *c, const struct hs_volley *volley);
void hs_check_contact(struct hs_hit_context *c, const struct hs_encounter *e); /* and bystander */
void hs_check_pellet_contact(struct hs_hit_context *c, const struct hs_volley *volley);
void hs_check_pellets(struct hs_hit_context *c); /* their number and spread */
void hs_check_flight(struct hs_hit_context *c);
void hs_check_blast(struct hs_hit_context *c);

/* Damage of the context's contact into the result; after the verdict is known. */
void hs_hit_damage(struct hs_hit_context *c);

/* The factor of a weapon's falloff at a distance. */
double hs_falloff(const struct hs_weapon *weapon, double distance);

#endif
