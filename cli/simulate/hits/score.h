/* Counts the verdicts on simulated claims, and compares them with the goals. */
#ifndef HS_SIMULATE_SCORE_H
#define HS_SIMULATE_SCORE_H

#include "cli/simulate/arena.h"
#include "cli/simulate/forgery.h"
#include "cli/simulate/hits/cheats.h"
#include "cli/simulate/link.h"
#include "validators/hit.h"

struct hs_count {
    uint64_t reasons[HS_REASON_COUNT];
    uint64_t in_vain;      /* honest shots that the game's rules forbid; not in `reasons` */
    uint64_t would_reject; /* accepted claims that failed a check in shadow mode */
};

uint64_t hs_count_all(const struct hs_count *count); /* without `in_vain` */
uint64_t hs_count_verdict(const struct hs_count *count, enum hs_verdict verdict);

/* Returns the lower end of the 95 % confidence interval for the share `good` / `all`, or 0 if `all`
   is 0. Source: Wilson, "Probable inference, the law of succession, and statistical inference",
   1927. */
double hs_wilson_low(uint64_t good, uint64_t all);

/* Results of volleys that were fired at twice the weapon's rate. */
struct hs_burst_count {
    uint64_t bursts, shots, accepted;
    int64_t worst; /* accepted shots minus the number that the weapon can fire, in the worst
                      volley */
};

enum { HS_EXAMPLES = 64 };

/* A verdict that went wrong. */
struct hs_example {
    bool is_shot;
    enum hs_link_kind link;
    enum hs_arm arm;
    enum hs_forgery forgery; /* HS_FORGERIES: honest */
    enum hs_reason reason;
    double measured, limit; /* the value that the deciding check measured, and the limit of this
                               check */
    double margin;          /* for a miss, the smallest gap between shot and target; metres */
    double age, fire_age;   /* seconds from hit_time, and from fire_time, to the arrival */
    uint64_t match;
};

struct hs_score {
    struct hs_count honest[HS_LINKS][HS_ARMS];
    struct hs_count shots[HS_LINKS]; /* posted shots of honest players */
    struct hs_count forged[HS_FORGERIES];
    struct hs_burst_count bursts[HS_ARMS];
    struct hs_cheat_count cheats[HS_CHEATS][HS_LINKS_AND_STEADY];
    struct hs_example examples[HS_EXAMPLES]; /* honest claims with a verdict other than accepted,
                                                and forged claims with a verdict other than
                                                rejected */
    unsigned example_count;
    unsigned hints; /* one bit for each enum hs_hint_code; 1: some match got this hint */
};

void hs_score_add(struct hs_score *sum, const struct hs_score *more);

/* Adds an example, or drops it if there are HS_EXAMPLES already. */
void hs_score_example(struct hs_score *score, const struct hs_example *example);

/* Returns the counts of all honest claims, added over all links and weapons. */
struct hs_count hs_score_honest(const struct hs_score *score);

/* At least this share of the honest claims must be accepted. This goal applies to all links
   together, and to each link except BAD and OUTAGE. */
#define HS_GOAL_HONEST 0.995
/* On each of the links BAD and OUTAGE, where a few claims arrive late, at least this share of the
   honest claims must be accepted. */
#define HS_GOAL_HONEST_POOR 0.99
#define HS_GOAL_FORGED      0.999 /* at least this share of each kind of forgery must be rejected */
#define HS_GOAL_EXCESS      3     /* the highest allowed value of hs_burst_count.worst */

/*
 * Returns whether all goals are met. If not, `text` (at least 256 bytes) names the first goal that
 * is missed. A share misses its goal only if the upper end of its 95 % interval is below the goal.
 * If there are few claims, a share below the goal may be due to chance.
 */
bool hs_score_meets_goals(const struct hs_score *score, char *text, size_t size);

#endif
