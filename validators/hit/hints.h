/*
 * Learning hints from claims (validators/hints.h): hints_rules.c says what a claim shows about each
 * mistake, hints.c counts. Internal to validators/.
 */
#ifndef HS_HIT_HINTS_H
#define HS_HIT_HINTS_H

#include "validators/hit.h"
#include "validators/match/players.h"

/* Learns from an evaluated claim. Changes no verdict; allocates nothing. */
void hs_hints_learn(struct hs_match *match, const struct hs_player *shooter,
                    const struct hs_hit_claim *claim, const struct hs_hit_result *result);

/* What is known of a claim. */
struct hs_claim_facts {
    const struct hs_match *match;
    struct hs_hints *hints;
    const struct hs_hit_claim *claim;
    const struct hs_hit_result *result;
    const struct hs_player *shooter;
    const struct hs_sample *newest; /* the shooter's newest sample; NULL: none */
    struct hs_vec root, eye;        /* the shooter's, at the fire time; set with `newest` */
    double eye_height;              /* eye height of the stance, length; set with `newest` */
    double off, tolerance;     /* distance of `start` from the eye, length; set with `newest` */
    bool has_pose;             /* root and eye are of the evaluated time */
    bool keeps_offset;         /* `start` has the offset from the root that most claims share */
    bool is_explained;         /* an earlier mistake in the table explains the claim */
    double time, now, frames;  /* seconds: time of the claim, its arrival, the newest frame */
    bool frames_jump;          /* the newest frame was refused: its time is too far ahead */
    double measured, expected; /* set by a rule that says yes */
};

/* Whether a claim shows a mistake. */
enum hs_says { HS_SAYS_NOTHING, HS_SAYS_NO, HS_SAYS_YES };

struct hs_hint_rule {
    enum hs_says (*says)(struct hs_claim_facts *f);
    bool needs_sample; /* the rule says nothing without a sample of the shooter */
    double share;      /* more than this share of the claims that say yes or no must say yes */
    enum hs_unit unit;
    /* %m and %e are `measured` and `expected`; %p and %a the posted and the assumed unit. */
    const char *sentence;
};
extern const struct hs_hint_rule hs_hint_rules[HS_HINT_COUNT];

/* The length of the posted unit in the assumed unit. */
struct hs_hint_unit {
    double factor;
    const char *posted, *assumed;
};
enum { HS_HINT_UNITS = 6 };
extern const struct hs_hint_unit hs_hint_units[HS_HINT_UNITS];

/* Learns the offset from root to `start` that most claims share; sets `keeps_offset`. */
void hs_hints_learn_offset(struct hs_claim_facts *f);

#endif
