/*
 * The mistakes that hints name: what a claim says about each, and the sentence. Internal to
 * validators/; hints.c counts.
 */
#ifndef HS_HINTS_RULES_H
#define HS_HINTS_RULES_H

#include "validators/hit.h"
#include "validators/match/players.h"

/* What is known of a claim. */
struct hs_claim_facts {
    const struct hs_match *match;
    const struct hs_hit_claim *claim;
    const struct hs_hit_result *result;
    const struct hs_player *shooter;
    const struct hs_sample *newest; /* of the shooter; NULL: no sample */
    struct hs_vec root, eye;        /* of the shooter when they fired; with `newest` */
    double eye_height;              /* of the stance, length; with `newest` */
    double off, tolerance;          /* of `start` from the eye, length; with `newest` */
    bool has_pose;                  /* root and eye are of the moment that was judged */
    bool keeps_offset;              /* as most claims do */
    bool is_explained;              /* a mistake before this one in the table explains the claim */
    double time, now, frames;       /* of the claim, its arrival and the newest frame; seconds */
    bool frames_jump;               /* the newest frame was refused: its time is too far ahead */
    double measured, expected;      /* set by a rule that speaks for its mistake */
};

/* Whether a claim shows a mistake. */
enum hs_says { HS_SAYS_NOTHING, HS_SAYS_AGAINST, HS_SAYS_FOR };

struct hs_hint_rule {
    enum hs_says (*says)(struct hs_claim_facts *f, struct hs_hints *hints);
    double share; /* of the claims that speak: more must speak for the mistake */
    enum hs_unit unit;
    /* %m and %e are `measured` and `expected`; %p and %a the unit that is posted and the one that
       is assumed. */
    const char *sentence;
};
extern const struct hs_hint_rule hs_hint_rules[HS_HINT_COUNT];

/* Lengths of the game in lengths of the ruleset, or of claims in those of frames. */
struct hs_hint_unit {
    double factor;
    const char *posted, *assumed;
};
enum { HS_HINT_UNITS = 6 };
extern const struct hs_hint_unit hs_hint_units[HS_HINT_UNITS];

/* Keeps the offset from root to `start` that most claims share; sets `keeps_offset`. */
void hs_hints_keep_offset(struct hs_claim_facts *f, struct hs_hints *hints);

#endif
