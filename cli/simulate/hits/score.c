#include "cli/simulate/hits/score.h"

#include <math.h>
#include <stdio.h>

uint64_t hs_count_all(const struct hs_count *count)
{
    uint64_t all = 0;
    for (int i = 0; i < HS_REASON_COUNT; i++)
        all += count->reasons[i];
    return all;
}

uint64_t hs_count_verdict(const struct hs_count *count, enum hs_verdict verdict)
{
    uint64_t sum = 0;
    for (int i = 0; i < HS_REASON_COUNT; i++)
        if (hs_reason_verdict((enum hs_reason)i) == verdict)
            sum += count->reasons[i];
    return sum;
}

static void add_count(struct hs_count *sum, const struct hs_count *more)
{
    for (int i = 0; i < HS_REASON_COUNT; i++)
        sum->reasons[i] += more->reasons[i];
    sum->in_vain += more->in_vain;
    sum->would_reject += more->would_reject;
}

double hs_wilson_low(uint64_t good, uint64_t all)
{
    const double z = 1.959963984540054;
    if (all == 0)
        return 0;
    double n = (double)all, p = (double)good / n, z2 = z * z;
    return (p + z2 / (2 * n) - z * sqrt(p * (1 - p) / n + z2 / (4 * n * n))) / (1 + z2 / n);
}

static void add_bursts(struct hs_burst_count *sum, const struct hs_burst_count *more)
{
    if (more->bursts > 0 && (sum->bursts == 0 || more->worst > sum->worst))
        sum->worst = more->worst;
    sum->bursts += more->bursts;
    sum->shots += more->shots;
    sum->accepted += more->accepted;
}

void hs_score_add(struct hs_score *sum, const struct hs_score *more)
{
    for (int link = 0; link < HS_LINKS; link++) {
        for (int arm = 0; arm < HS_ARMS; arm++)
            add_count(&sum->honest[link][arm], &more->honest[link][arm]);
        add_count(&sum->shots[link], &more->shots[link]);
    }
    for (int kind = 0; kind < HS_FORGERIES; kind++)
        add_count(&sum->forged[kind], &more->forged[kind]);
    for (int arm = 0; arm < HS_ARMS; arm++)
        add_bursts(&sum->bursts[arm], &more->bursts[arm]);
    for (int i = 0; i < HS_CHEATS; i++)
        for (int link = 0; link < HS_LINKS_AND_STEADY; link++)
            hs_cheat_add(&sum->cheats[i][link], &more->cheats[i][link]);
    for (unsigned i = 0; i < more->example_count; i++)
        hs_score_example(sum, &more->examples[i]);
    sum->hints |= more->hints;
}

void hs_score_example(struct hs_score *score, const struct hs_example *example)
{
    if (score->example_count < HS_EXAMPLES)
        score->examples[score->example_count++] = *example;
}

static void add_link(struct hs_count *sum, const struct hs_score *score, int link)
{
    for (int arm = 0; arm < HS_ARMS; arm++)
        add_count(sum, &score->honest[link][arm]);
}

struct hs_count hs_score_honest(const struct hs_score *score)
{
    struct hs_count sum = {0};
    for (int link = 0; link < HS_LINKS; link++)
        add_link(&sum, score, link);
    return sum;
}

/* Returns whether too few claims got `verdict`. There are too few if the 95 % confidence interval
   for the share of claims with this verdict is completely below the goal. Returns false if there
   are no claims. */
static bool falls_short(const struct hs_count *count, enum hs_verdict verdict, double goal)
{
    uint64_t all = hs_count_all(count), good = hs_count_verdict(count, verdict);
    return all > 0 && 1 - hs_wilson_low(all - good, all) < goal;
}

static bool honest_are_accepted(const struct hs_score *score, char *text, size_t size)
{
    struct hs_count honest = hs_score_honest(score);
    uint64_t all = hs_count_all(&honest);
    uint64_t good = hs_count_verdict(&honest, HS_VERDICT_ACCEPTED);
    snprintf(text, size, "%llu of %llu honest claims are accepted", (unsigned long long)good,
             (unsigned long long)all);
    if (all == 0 || falls_short(&honest, HS_VERDICT_ACCEPTED, HS_GOAL_HONEST))
        return false;
    for (int link = 0; link < HS_LINKS; link++) {
        struct hs_count sum = {0};
        bool is_poor = link == HS_LINK_BAD || link == HS_LINK_OUTAGE;
        double goal = is_poor ? HS_GOAL_HONEST_POOR : HS_GOAL_HONEST;
        add_link(&sum, score, link);
        snprintf(text, size, "%s: less than %g %% of claims or shots are accepted",
                 hs_link_names[link], 100 * goal);
        if (falls_short(&sum, HS_VERDICT_ACCEPTED, goal) ||
            falls_short(&score->shots[link], HS_VERDICT_ACCEPTED, goal))
            return false;
    }
    return true;
}

bool hs_score_meets_goals(const struct hs_score *score, char *text, size_t size)
{
    if (!honest_are_accepted(score, text, size))
        return false;
    for (int kind = 0; kind < HS_FORGERIES; kind++) {
        snprintf(text, size, "%s: less than %g %% are rejected", hs_forgery_names[kind],
                 100 * HS_GOAL_FORGED);
        if (falls_short(&score->forged[kind], HS_VERDICT_REJECTED, HS_GOAL_FORGED))
            return false;
    }
    for (int arm = 0; arm < HS_ARMS; arm++) {
        snprintf(text, size, "%s at twice its rate: %lld shots too many", hs_arm_names[arm],
                 (long long)score->bursts[arm].worst);
        if (score->bursts[arm].bursts > 0 && score->bursts[arm].worst > HS_GOAL_EXCESS)
            return false;
    }
    for (int i = 0; i < HS_CHEATS; i++) {
        snprintf(text, size, "%s: wins more than its limit on %s", hs_cheats[i].name,
                 hs_link_names[HS_LINK_STEADY]);
        if (hs_cheats[i].is_judged &&
            !hs_cheat_is_within(&hs_cheats[i], &score->cheats[i][HS_LINK_STEADY]))
            return false;
    }
    for (int code = 0; code < HS_HINT_COUNT; code++) {
        snprintf(text, size, "hint %s about an integration without mistakes",
                 hs_hint_code_name((enum hs_hint_code)code));
        if ((score->hints & 1u << code) != 0)
            return false;
    }
    text[0] = '\0';
    return true;
}
