#include "cli/simulate/link.h"

#include <math.h>

/* The mean absolute value of a standard normal variate: sqrt(2 / pi). */
#define MEAN_OF_NORMAL 0.79788456080286536

const char *const hs_link_names[HS_LINKS_AND_STEADY] = {"LAN", "CABLE",  "WIFI", "MOBILE",
                                                        "BAD", "OUTAGE", "40MS"};

static const struct {
    double low, high, jitter; /* ms; the base round trip is between `low` and `high` */
} kinds[HS_LINKS_AND_STEADY] = {{20, 30, 1},    {30, 60, 3}, {40, 90, 8}, {80, 150, 12},
                                {150, 200, 20}, {30, 60, 3}, {40, 40, 1}};

/* Seconds. There is one outage in each period of this length. */
#define OUTAGE_EVERY 150.0
#define OUTAGE_MIN   3.0
#define OUTAGE_MAX   10.0

struct outage {
    double from, to;
    bool loses; /* true: messages are lost; false: messages are delayed */
};

void hs_link_draw(enum hs_link_kind kind, struct hs_dice *dice, struct hs_link *out)
{
    double base = hs_dice_between(dice, kinds[kind].low * 1e-3, kinds[kind].high * 1e-3);
    *out = (struct hs_link){kind, base, kinds[kind].jitter * 1e-3, 0};
    if (kind == HS_LINK_OUTAGE)
        out->outages = hs_dice_next(dice);
}

/* Returns the outage in the period that contains the time `at`. */
static struct outage outage_around(const struct hs_link *link, double at)
{
    double span = floor(at / OUTAGE_EVERY);
    struct hs_dice dice = {link->outages + (uint64_t)(int64_t)span};
    double from = span * OUTAGE_EVERY + hs_dice_between(&dice, 0, OUTAGE_EVERY - OUTAGE_MAX);
    double to = from + hs_dice_between(&dice, OUTAGE_MIN, OUTAGE_MAX);
    return (struct outage){from, to, hs_dice_pick(&dice, 2) == 1};
}

double hs_link_outage(const struct hs_link *link, double at, bool *loses)
{
    *loses = false;
    if (link->kind != HS_LINK_OUTAGE)
        return 0;
    struct outage outage = outage_around(link, at);
    if (at < outage.from || at >= outage.to)
        return 0;
    *loses = outage.loses;
    return outage.to - at;
}

bool hs_link_loses(struct hs_dice *dice)
{
    return hs_dice_between(dice, 0, 1) < HS_LINK_LOSS;
}

double hs_link_delay(const struct hs_link *link, struct hs_dice *dice)
{
    return link->base / 2 + link->jitter * fabs(hs_dice_normal(dice)) / MEAN_OF_NORMAL;
}

double hs_link_command(const struct hs_link *link, double at, struct hs_dice *dice,
                       unsigned *losses)
{
    bool loses;
    *losses = 0;
    while (hs_link_loses(dice))
        ++*losses;
    return hs_link_outage(link, at, &loses) + hs_link_delay(link, dice) + *losses * HS_LINK_RESEND;
}

double hs_link_ping(const struct hs_link *link, struct hs_dice *dice)
{
    double there = hs_link_delay(link, dice), back = hs_link_delay(link, dice);
    return there + hs_dice_between(dice, 0, 1.0 / 60) + back;
}
