#include "cli/simulate/timing/profiles.h"

#include <math.h>
#include <strings.h>

#define TWO_PI 6.28318530717958647692

static const struct profile {
    const char *name;
    double base_low, base_high;
    double jitter;           /* mean of an exponential one */
    double lognormal, sigma; /* median and deviation of the logarithm of another one */
    double queue, queue_most, queue_tau;
    double loss, loss_length;        /* share; mean length of a burst of losses, in packets */
    double stall_every, stall_least; /* length: least, and exponentially more */
    double stall_further;            /* in the mean */
    double handover_every, handover; /* deviation of a change of route */
    double outage_every, outage_low, outage_high;
} profiles[HS_TIMING_PROFILES] = {
    [HS_TIMING_LAN] = {.name = "LAN", .base_low = 0.0002, .base_high = 0.002, .jitter = 0.0002},
    [HS_TIMING_CABLE] = {.name = "CABLE",
                         .base_low = 0.010,
                         .base_high = 0.060,
                         .jitter = 0.003,
                         .loss = 0.001,
                         .loss_length = 1},
    [HS_TIMING_WIFI] = {.name = "WIFI",
                        .base_low = 0.005,
                        .base_high = 0.050,
                        .lognormal = 0.004,
                        .sigma = 1,
                        .loss = 0.015,
                        .loss_length = 4,
                        .stall_every = 10,
                        .stall_further = 0.080},
    [HS_TIMING_MOBILE] = {.name = "MOBILE",
                          .base_low = 0.040,
                          .base_high = 0.120,
                          .jitter = 0.015,
                          .loss = 0.02,
                          .loss_length = 1,
                          .stall_every = 15,
                          .stall_least = 0.100,
                          .stall_further = 0.200,
                          .handover_every = 60,
                          .handover = 0.030},
    [HS_TIMING_BAD] = {.name = "BAD",
                       .base_low = 0.060,
                       .base_high = 0.200,
                       .queue = 0.060,
                       .queue_most = 0.400,
                       .queue_tau = 2,
                       .loss = 0.04,
                       .loss_length = 1,
                       .stall_every = 20,
                       .stall_least = 0.300,
                       .stall_further = 0.500},
    [HS_TIMING_OUTAGE] = {.name = "OUTAGE",
                          .base_low = 0.010,
                          .base_high = 0.060,
                          .jitter = 0.003,
                          .loss = 0.001,
                          .loss_length = 1,
                          .outage_every = 150,
                          .outage_low = 3,
                          .outage_high = 10},
};

const char *hs_timing_profile_name(enum hs_timing_profile profile)
{
    return profiles[profile].name;
}

bool hs_timing_profile_parse(const char *name, enum hs_timing_profile *out)
{
    for (int i = 0; i < HS_TIMING_PROFILES; i++) {
        if (strcasecmp(profiles[i].name, name) == 0) {
            *out = (enum hs_timing_profile)i;
            return true;
        }
    }
    return false;
}

/* ---- chance ---- */

double hs_timing_exponential(struct hs_dice *dice, double mean)
{
    return -mean * log(1 - hs_dice_between(dice, 0, 1));
}

/* Box and Muller, A note on the generation of random normal deviates, 1958. */
double hs_timing_normal(struct hs_dice *dice)
{
    double radius = sqrt(-2 * log(1 - hs_dice_between(dice, 0, 1)));
    return radius * cos(hs_dice_between(dice, 0, TWO_PI));
}

/* ---- spells ---- */

static void next_spell(struct hs_timing_spell *spell)
{
    spell->from = spell->to + hs_timing_exponential(&spell->dice, spell->every);
    spell->to = spell->from + hs_dice_between(&spell->dice, spell->least, spell->most);
    if (spell->mean_further > 0)
        spell->to += hs_timing_exponential(&spell->dice, spell->mean_further);
    spell->coin = hs_dice_pick(&spell->dice, 2) == 1;
}

struct hs_timing_spell hs_timing_spell_start(double at, double every, double least, double most,
                                             double mean_further, struct hs_dice dice)
{
    struct hs_timing_spell spell = {.from = at,
                                    .to = at,
                                    .every = every,
                                    .least = least,
                                    .most = most,
                                    .mean_further = mean_further,
                                    .dice = dice};
    if (every > 0)
        next_spell(&spell);
    return spell;
}

bool hs_timing_spell_on(struct hs_timing_spell *spell, double at)
{
    if (spell->every <= 0)
        return false;
    while (at >= spell->to)
        next_spell(spell);
    return at >= spell->from;
}

/* ---- lines ---- */

void hs_timing_lines_start(enum hs_timing_profile profile, struct hs_dice *dice, double at,
                           struct hs_timing_line *up, struct hs_timing_line *down)
{
    const struct profile *p = &profiles[profile];
    struct hs_dice outages = {hs_dice_next(dice)}, handovers = {hs_dice_next(dice)};
    double base = hs_dice_between(dice, p->base_low, p->base_high);
    struct hs_timing_line *lines[2] = {up, down};
    for (int i = 0; i < 2; i++) {
        struct hs_dice own = {hs_dice_next(dice)}, stalls = {hs_dice_next(dice)};
        /* There and back differ by up to a tenth. */
        *lines[i] = (struct hs_timing_line){
            .profile = profile,
            .base = base * hs_dice_between(&own, 0.95, 1.05),
            .queue = hs_timing_normal(&own),
            .queue_at = at,
            .newest = at,
            .stall = hs_timing_spell_start(at, p->stall_every, p->stall_least, p->stall_least,
                                           p->stall_further, stalls),
            .outage = hs_timing_spell_start(at, p->outage_every, p->outage_low, p->outage_high, 0,
                                            outages),
            .handover = hs_timing_spell_start(at, p->handover_every, 0.010, 0.100, 0, handovers),
            .handed_over = at,
            .dice = own};
    }
}

/* Most of a change of route is the same both ways. */
static void hand_over(struct hs_timing_line *line, const struct profile *p, double at)
{
    if (!hs_timing_spell_on(&line->handover, at) || line->handed_over >= line->handover.from)
        return;
    struct hs_dice shared = line->handover.dice;
    line->handed_over = line->handover.from;
    line->base += p->handover * (0.9 * hs_timing_normal(&shared) +
                                 sqrt(1 - 0.9 * 0.9) * hs_timing_normal(&line->dice));
    line->base = fmin(fmax(line->base, p->base_low / 2), 2 * p->base_high);
}

static double queue_of(struct hs_timing_line *line, const struct profile *p, double at)
{
    double keep = exp((line->queue_at - at) / p->queue_tau);
    line->queue = line->queue * keep + sqrt(1 - keep * keep) * hs_timing_normal(&line->dice);
    line->queue_at = at;
    /* One deviation above empty in the mean: empty a sixth of the time. */
    return fmin(fmax(0, p->queue * (1 + line->queue)), p->queue_most);
}

static bool loses(struct hs_timing_line *line, const struct profile *p)
{
    if (p->loss <= 0)
        return false;
    double ends = 1 / p->loss_length, begins = ends * p->loss / (1 - p->loss);
    line->in_loss = hs_dice_between(&line->dice, 0, 1) < (line->in_loss ? 1 - ends : begins);
    return line->in_loss;
}

bool hs_timing_line_send(struct hs_timing_line *line, double at, double *arrives)
{
    const struct profile *p = &profiles[line->profile];
    if (p->handover_every > 0)
        hand_over(line, p, at);
    double delay = line->base;
    if (p->jitter > 0)
        delay += hs_timing_exponential(&line->dice, p->jitter);
    if (p->lognormal > 0)
        delay += p->lognormal * exp(p->sigma * hs_timing_normal(&line->dice));
    if (p->queue > 0)
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
