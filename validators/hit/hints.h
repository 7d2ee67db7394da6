/*
 * Learns hints from claims (validators/hints.h). hints_rules.c decides whether a claim shows a
 * mistake, and hints.c counts these answers. Internal to validators/.
 */
#ifndef HS_HIT_HINTS_H
#define HS_HIT_HINTS_H

#include "validators/hit.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* Learns from an evaluated claim. Changes no verdict; allocates nothing. */
void hs_hints_learn(struct hs_match *match, const struct hs_player *shooter,
                    const struct hs_hit_claim *claim, const struct hs_hit_result *result);

/* The facts about a claim that the rules use. */
struct hs_claim_facts {
    const struct hs_match *match;
    struct hs_hints *hints;
    const struct hs_hit_claim *claim;
    const struct hs_hit_result *result;
    const struct hs_player *shooter;
    const struct hs_sample *newest; /* the shooter's newest sample; NULL: no sample */
    struct hs_vec root, eye;        /* of the shooter at the fire time; set if `newest` is set */
    double eye_height;              /* eye height of the stance, length; set if `newest` is set */
    double off, tolerance;    /* distance of `start` from the eye, and the largest allowed distance;
                                 set if `newest` is set */
    bool has_pose;            /* `root` and `eye` are of the evaluated time, not of another
                                 sample */
    bool keeps_offset;        /* `start` has the offset from the root that most claims have */
    bool is_explained;        /* a rule that is earlier in the table explains the claim */
    struct hs_work work;      /* work of testing the path again */
    double time, now, frames; /* seconds: time of the claim, its arrival, the newest frame */
    bool frames_jump;         /* the newest frame was refused, because its time is far ahead */
    double measured, expected; /* set by a rule whose answer is yes */
};

/* The answer of a rule to the question whether a claim shows a mistake. */
enum hs_says { HS_SAYS_NOTHING, HS_SAYS_NO, HS_SAYS_YES };

struct hs_hint_rule {
    enum hs_says (*says)(struct hs_claim_facts *f);
    bool needs_sample; /* the rule does not run if the shooter has no sample */
    double share; /* the mistake becomes a hint if more than this share of all YES and NO answers of
                     `says` are YES */
    enum hs_unit unit;
    /* %m and %e: `measured` and `expected`. %p and %a: the posted unit, and the unit that the
       ruleset assumes. */
    const char *sentence;
};
extern const struct hs_hint_rule hs_hint_rules[HS_HINT_COUNT];

/* `factor` is the length of one posted unit, in assumed units. */
struct hs_hint_unit {
    double factor;
    const char *posted, *assumed;
};
enum { HS_HINT_UNITS = 6 };
extern const struct hs_hint_unit hs_hint_units[HS_HINT_UNITS];

/* Learns the offset from root to `start` that most claims have. Sets `keeps_offset`. */
void hs_hints_learn_offset(struct hs_claim_facts *f);

#endif
