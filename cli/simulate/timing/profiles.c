#include "cli/simulate/timing/profiles.h"

#include <math.h>

const char *const hs_timing_profile_names[HS_TIMING_PROFILES] = {"LAN",    "CABLE", "WIFI",
                                                                 "MOBILE", "BAD",   "OUTAGE"};

static const struct profile {
    double base[2]; /* min and max of the base delay */
    double jitter;  /* mean of an exponential jitter */
    struct {
        double median, sigma; /* `sigma`: standard deviation of the logarithm of the jitter */
    } lognormal;              /* a jitter with a log-normal distribution */
    struct {
        double deviation, max, tau;
    } queue;
    struct {
        double share, length; /* `length`: mean length of a loss run, in packets */
    } loss;
    struct hs_timing_disturbance stall, outage, handover;
    double reroute; /* standard deviation of the change of the base delay at a handover */
} profiles[HS_TIMING_PROFILES] = {
    [HS_TIMING_LAN] = {.base = {0.0002, 0.002}, .jitter = 0.0002},
    [HS_TIMING_CABLE] = {.base = {0.010, 0.060}, .jitter = 0.003, .loss = {0.001, 1}},
    [HS_TIMING_WIFI] = {.base = {0.005, 0.050},
                        .lognormal = {0.004, 1},
                        .loss = {0.015, 4},
                        .stall = {10, 0, 0, 0.080}},
    [HS_TIMING_MOBILE] = {.base = {0.040, 0.120},
                          .jitter = 0.015,
                          .loss = {0.02, 1},
                          .stall = {15, 0.100, 0.100, 0.200},
                          .handover = {60, 0.010, 0.100, 0},
                          .reroute = 0.030},
    [HS_TIMING_BAD] = {.base = {0.060, 0.200},
                       .queue = {0.060, 0.400, 2},
                       .loss = {0.04, 1},
                       .stall = {20, 0.300, 0.300, 0.500}},
    [HS_TIMING_OUTAGE] = {.base = {0.010, 0.060},
                          .jitter = 0.003,
                          .loss = {0.001, 1},
                          .outage = {150, 3, 10, 0}},
};

/* ---- random numbers ---- */

static double exponential(struct hs_dice *dice, double mean)
{
    return -mean * log(1 - hs_dice_between(dice, 0, 1));
}

/* Source: Box and Muller, "A note on the generation of random normal deviates", 1958. */
double hs_timing_normal(struct hs_dice *dice)
{
    double radius = sqrt(-2 * log(1 - hs_dice_between(dice, 0, 1)));
    return radius * cos(hs_dice_between(dice, 0, 2 * M_PI));
}

/* ---- disturbances ---- */

static void next_spell(struct hs_timing_spell *spell)
{
    const struct hs_timing_disturbance *kind = &spell->kind;
    spell->from = spell->to + exponential(&spell->dice, kind->every);
    spell->to = spell->from + hs_dice_between(&spell->dice, kind->min, kind->max);
    if (kind->mean_further > 0)
        spell->to += exponential(&spell->dice, kind->mean_further);
    spell->coin = hs_dice_pick(&spell->dice, 2) == 1;
}

struct hs_timing_spell hs_timing_spell_start(double at, struct hs_timing_disturbance kind,
                                             struct hs_dice dice)
{
    struct hs_timing_spell spell = {.kind = kind, .from = at, .to = at, .dice = dice};
    if (kind.every > 0)
        next_spell(&spell);
    return spell;
}

bool hs_timing_spell_on(struct hs_timing_spell *spell, double at)
{
    if (spell->kind.every <= 0)
        return false;
    while (at >= spell->to)
        next_spell(spell);
    return at >= spell->from;
}

/* ---- connections ---- */

void hs_timing_lines_start(enum hs_timing_profile profile, struct hs_dice *dice, double at,
                           struct hs_timing_line *up, struct hs_timing_line *down)
{
    const struct profile *p = &profiles[profile];
    struct hs_dice outages = {hs_dice_next(dice)}, handovers = {hs_dice_next(dice)};
    double base = hs_dice_between(dice, p->base[0], p->base[1]);
    struct hs_timing_line *lines[2] = {up, down};
    for (int i = 0; i < 2; i++) {
        struct hs_dice own = {hs_dice_next(dice)}, stalls = {hs_dice_next(dice)};
        /* The base delays of the two directions differ by up to 10 %. */
        *lines[i] =
            (struct hs_timing_line){.profile = profile,
                                    .base = base * hs_dice_between(&own, 0.95, 1.05),
                                    .queue = hs_timing_normal(&own),
                                    .queue_at = at,
                                    .newest = at,
                                    .stall = hs_timing_spell_start(at, p->stall, stalls),
                                    .outage = hs_timing_spell_start(at, p->outage, outages),
                                    .handover = hs_timing_spell_start(at, p->handover, handovers),
                                    .handed_over = at,
                                    .dice = own};
    }
}

/* Changes the base delay at a handover. Most of the change is common to both directions. */
static void hand_over(struct hs_timing_line *line, const struct profile *p, double at)
{
    if (!hs_timing_spell_on(&line->handover, at) || line->handed_over >= line->handover.from)
        return;
    struct hs_dice shared = line->handover.dice;
    line->handed_over = line->handover.from;
    line->base += p->reroute * (0.9 * hs_timing_normal(&shared) +
                                sqrt(1 - 0.9 * 0.9) * hs_timing_normal(&line->dice));
    line->base = fmin(fmax(line->base, p->base[0] / 2), 2 * p->base[1]);
}

static double queue_of(struct hs_timing_line *line, const struct profile *p, double at)
{
    double keep = exp((line->queue_at - at) / p->queue.tau);
    line->queue = line->queue * keep + sqrt(1 - keep * keep) * hs_timing_normal(&line->dice);
    line->queue_at = at;
    /* The mean of the queue is one standard deviation above 0, so the queue is empty for a sixth of
       the time. */
    return fmin(fmax(0, p->queue.deviation * (1 + line->queue)), p->queue.max);
}

static bool loses(struct hs_timing_line *line, const struct profile *p)
{
    if (p->loss.share <= 0)
        return false;
    double ends = 1 / p->loss.length, begins = ends * p->loss.share / (1 - p->loss.share);
    line->in_loss = hs_dice_between(&line->dice, 0, 1) < (line->in_loss ? 1 - ends : begins);
    return line->in_loss;
}

bool hs_timing_line_send(struct hs_timing_line *line, double at, double *arrives)
{
    const struct profile *p = &profiles[line->profile];
    if (p->handover.every > 0)
        hand_over(line, p, at);
    double delay = line->base;
    if (p->jitter > 0)
        delay += exponential(&line->dice, p->jitter);
    if (p->lognormal.median > 0)
        delay += p->lognormal.median * exp(p->lognormal.sigma * hs_timing_normal(&line->dice));
    if (p->queue.deviation > 0)
        delay += queue_of(line, p, at);
    bool is_out = hs_timing_spell_on(&line->outage, at);
    if (loses(line, p) || (is_out && !line->outage.coin))
        return false;
    double there = is_out ? line->outage.to + delay : at + delay;
    if (hs_timing_spell_on(&line->stall, fmax(there, line->newest)))
        there = line->stall.to;
    *arrives = line->newest = fmax(there, line->newest);
    return true;
}
