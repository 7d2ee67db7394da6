/* Learns hints from claims (validators/hints.h). The rules in hints_rules.c decide whether a
   claim shows a mistake, and hints.c counts their answers. Internal to validators/. */
#ifndef HS_HIT_HINTS_H
#define HS_HIT_HINTS_H

#include "validators/hit.h"
#include "validators/match/players.h"
#include "validators/work.h"

/* Learns from an evaluated claim. Does not change verdicts, and allocates no memory. */
void hs_hints_learn(struct hs_match *match, const struct hs_player *shooter,
                    const struct hs_hit_claim *claim, const struct hs_hit_result *result);

/* The data that the rules use about a claim. */
struct hs_claim_facts {
    const struct hs_match *match;
    struct hs_hints *hints;
    const struct hs_hit_claim *claim;
    const struct hs_hit_result *result;
    const struct hs_player *shooter;
    const struct hs_sample *newest; /* the shooter's newest sample, or NULL */
    /* Positions of the shooter at the fire time; set if `newest` is set. */
    struct hs_vec root, eye;
    double eye_height; /* eye height of the stance, length; set if `newest` is set */
    /* Distance from the eye to `start`, and the largest allowed distance; set if `newest` is
       set. */
    double off, tolerance;
    /* True: `root` and `eye` are from the evaluated time. False: `root` and `eye` are from the
       newest sample. */
    bool has_pose;
    bool keeps_offset;   /* `start` has the same offset from the root as in most claims */
    bool is_explained;   /* an earlier rule in the table explains the claim */
    struct hs_work work; /* for tests of the path */
    /* Seconds: times of the claim, of its arrival and of the newest frame. */
    double time, now, frames;
    /* The newest frame was refused because its time is far from the times of the other frames. */
    bool frames_jump;
    double measured, expected; /* set by a rule that answers yes */
};

/* A rule's answer: does the claim show the mistake? */
enum hs_says { HS_SAYS_NOTHING, HS_SAYS_NO, HS_SAYS_YES };

struct hs_hint_rule {
    enum hs_says (*says)(struct hs_claim_facts *f);
    bool needs_sample; /* skip the rule if the shooter has no sample */
    /* The mistake becomes a hint if more than this share of the rule's YES and NO answers are
       YES. */
    double share;
    enum hs_unit unit;
    /* %m: `measured`; %e: `expected`; %p: the posted unit; %a: the unit that the ruleset
       assumes. */
    const char *sentence;
};
extern const struct hs_hint_rule hs_hint_rules[HS_HINT_COUNT];

/* One posted unit is `factor` assumed units long. */
struct hs_hint_unit {
    double factor;
    const char *posted, *assumed;
};
enum { HS_HINT_UNITS = 6 };
extern const struct hs_hint_unit hs_hint_units[HS_HINT_UNITS];

/* Learns which offset from the root to `start` most claims have, and sets keeps_offset. */
void hs_hints_learn_offset(struct hs_claim_facts *f);

#endif
