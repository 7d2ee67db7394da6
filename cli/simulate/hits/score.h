/* What came of simulated claims, counted. */
#ifndef HS_SIMULATE_SCORE_H
#define HS_SIMULATE_SCORE_H

#include "cli/simulate/arena.h"
#include "cli/simulate/link.h"
#include "validators/hit.h"

/* Claims that are made out of honest ones, or that nobody may make. X(id, name, what it does) */
#define HS_FORGERY_LIST(X)                                                                         \
    X(BESIDE, "aim_beside", "the shot passes the body by more than its width")                     \
    X(START, "start_shifted", "fired from 1.5 to 4 m beside the own eye")                          \
    X(OLD, "time_old", "older than the rewind limit")                                              \
    X(SLACK, "time_slack", "off what the latency explains by more than the slack")                 \
    X(FUTURE, "time_future", "ahead by more than the future slack")                                \
    X(WALL, "wall_between", "legal but for a wall before the body")                                \
    X(ALIGNED, "pellets_aligned", "all pellets one way though the seed spreads them")              \
    X(RADIUS, "radius_grown", "five times as wide (a ray: 25 cm), and only then touching")         \
    X(DEAD, "dead_shooter", "fired by somebody dead for longer than the grace")                    \
    X(WEAPON, "wrong_weapon", "with a weapon not in the hands")                                    \
    X(EMPTY, "empty_weapon", "with an empty magazine, or while it is changed")                     \
    X(OTHER, "other_body", "another body is claimed, which the shot passes")                       \
    X(NUMBER, "same_number", "a number that was used, with another body")

enum hs_forgery {
#define X(id, name, text) HS_FORGERY_##id,
    HS_FORGERY_LIST(X)
#undef X
        HS_FORGERIES
};

const char *hs_forgery_name(enum hs_forgery kind);

struct hs_count {
    uint64_t reasons[HS_REASON_COUNT];
    uint64_t in_vain;      /* honest, but the game's own rules say no: fired after death */
    uint64_t would_reject; /* accepted, but for checks in shadow */
};

uint64_t hs_count_all(const struct hs_count *count); /* but for those in vain */
uint64_t hs_count_verdict(const struct hs_count *count, enum hs_verdict verdict);
void hs_count_add(struct hs_count *sum, const struct hs_count *more);

/*
 * The lower end of the 95 % confidence interval of a share, from `good` of `all`: Wilson, Probable
 * inference, the law of succession, and statistical inference, 1927. 0 of nothing.
 */
double hs_wilson_low(uint64_t good, uint64_t all);

/* Bursts fired at twice the pace. */
struct hs_burst_count {
    uint64_t bursts, shots, accepted;
    int64_t worst; /* accepted beyond what the weapon can fire; may be below 0 */
};

enum { HS_EXAMPLES = 64 };

struct hs_example {
    bool is_forged, is_shot;
    enum hs_link_kind link;
    enum hs_arm arm;
    enum hs_forgery forgery;
    enum hs_reason reason;
    double measured, limit; /* of the check that decided */
    double margin;          /* of a miss */
    double age, fire_age;   /* seconds before it was judged */
    uint64_t match;
};

struct hs_score {
    struct hs_count honest[HS_LINKS][HS_ARMS];
    struct hs_count shots[HS_LINKS]; /* posted, honest */
    struct hs_count forged[HS_FORGERIES];
    struct hs_burst_count bursts[HS_ARMS];
    struct hs_example examples[HS_EXAMPLES]; /* honest ones refused, forged ones not */
    unsigned example_count;
    unsigned hints; /* of any match: bits of enum hs_hint_code */
};

void hs_score_add(struct hs_score *sum, const struct hs_score *more);
void hs_score_example(struct hs_score *score, const struct hs_example *example);

/* Sums over everybody honest. */
struct hs_count hs_score_honest(const struct hs_score *score);

#define HS_GOAL_HONEST                                                                             \
    0.995                    /* of honest claims are accepted, over all and on each kind of link   \
                              */
#define HS_GOAL_FORGED 0.999 /* of each kind of forgery are rejected */
#define HS_GOAL_EXCESS 3     /* accepted shots of a burst beyond the legal count */

/*
 * Whether the goals are met; else the first that is not is told in `text` (256 bytes are enough).
 * The share of all honest claims counts as it is; a part of them, or a kind of forgery, misses its
 * goal where chance does not explain that its share is below: with few claims it may be.
 */
bool hs_score_meets_goals(const struct hs_score *score, char *text, size_t size);

#endif
