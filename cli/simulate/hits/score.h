/* Counts of the verdicts on simulated claims, and the goals. */
#ifndef HS_SIMULATE_SCORE_H
#define HS_SIMULATE_SCORE_H

#include "cli/simulate/arena.h"
#include "cli/simulate/forgery.h"
#include "cli/simulate/hits/cheats.h"
#include "cli/simulate/link.h"
#include "validators/hit.h"

struct hs_count {
    uint64_t reasons[HS_REASON_COUNT];
    uint64_t in_vain;      /* honest shots that the game's own rules forbid; not in `reasons` */
    uint64_t would_reject; /* accepted claims that checks in shadow mode would have rejected */
};

uint64_t hs_count_all(const struct hs_count *count); /* without `in_vain` */
uint64_t hs_count_verdict(const struct hs_count *count, enum hs_verdict verdict);

/* Returns the lower end of the 95 % confidence interval of a share, `good` out of `all`, or 0 if
   `all` is 0. The formula is from Wilson, "Probable inference, the law of succession, and
   statistical inference", 1927. */
double hs_wilson_low(uint64_t good, uint64_t all);

/* Results of volleys that were fired at twice the rate of the weapon. */
struct hs_burst_count {
    uint64_t bursts, shots, accepted;
    int64_t worst; /* largest excess of accepted shots over the number that the weapon can fire; may
                      be negative */
};

enum { HS_EXAMPLES = 64 };

struct hs_example {
    bool is_shot;
    enum hs_link_kind link;
    enum hs_arm arm;
    enum hs_forgery forgery; /* HS_FORGERIES: honest */
    enum hs_reason reason;
    double measured, limit; /* measured value and limit of the deciding check */
    double margin;          /* for a miss, the smallest gap between shot and target; length */
    /* seconds from hit_time to the arrival; seconds from fire_time to the arrival */
    double age, fire_age;
    uint64_t match;
};

struct hs_score {
    struct hs_count honest[HS_LINKS][HS_ARMS];
    struct hs_count shots[HS_LINKS]; /* posted shots of honest players */
    struct hs_count forged[HS_FORGERIES];
    struct hs_burst_count bursts[HS_ARMS];
    struct hs_cheat_count cheats[HS_CHEATS][HS_LINKS_AND_STEADY];
    struct hs_example examples[HS_EXAMPLES]; /* honest claims that were not accepted, and forged
                                                claims that were not rejected */
    unsigned example_count;
    unsigned hints; /* hints in any match, as bits of enum hs_hint_code */
};

void hs_score_add(struct hs_score *sum, const struct hs_score *more);

/* Adds an example if there is space for it. */
void hs_score_example(struct hs_score *score, const struct hs_example *example);

/* Returns the sum over all honest claims. */
struct hs_count hs_score_honest(const struct hs_score *score);

/* The min share of honest claims that must be accepted, over all links and on each kind of link. */
#define HS_GOAL_HONEST 0.995
/* The min share of honest claims that must be accepted on BAD and on OUTAGE, where a few claims
   arrive seconds late. */
#define HS_GOAL_HONEST_POOR 0.99
#define HS_GOAL_FORGED      0.999 /* min share of each kind of forgery that must be rejected */
#define HS_GOAL_EXCESS      3 /* max number of accepted shots of a volley beyond the legal number */

/*
 * Returns whether all goals are met. If not, `text` (at least 256 bytes) names the first goal that
 * is missed. A low share of few claims may be chance, so a goal is missed only if the upper end of
 * the 95 % interval is below the goal.
 */
bool hs_score_meets_goals(const struct hs_score *score, char *text, size_t size);

#endif
