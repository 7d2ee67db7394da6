#include "cli/simulate/link.h"

#include <math.h>

/* Mean distance of a normal variate from 0: sqrt(2 / pi). */
#define MEAN_OF_NORMAL 0.79788456080286536

const char *const hs_link_names[HS_LINKS_AND_STEADY] = {"LAN",    "CABLE", "WIFI",
                                                        "MOBILE", "BAD",   "40MS"};

static const struct {
    double low, high, jitter; /* ms; bounds of the base round trip */
} kinds[HS_LINKS_AND_STEADY] = {{20, 30, 1},   {30, 60, 3},    {40, 90, 8},
                                {80, 150, 12}, {150, 200, 20}, {40, 40, 1}};

void hs_link_draw(enum hs_link_kind kind, struct hs_dice *dice, struct hs_link *out)
{
    double base = hs_dice_between(dice, kinds[kind].low * 1e-3, kinds[kind].high * 1e-3);
    *out = (struct hs_link){kind, base, kinds[kind].jitter * 1e-3};
}

bool hs_link_loses(struct hs_dice *dice)
{
    return hs_dice_between(dice, 0, 1) < HS_LINK_LOSS;
}

double hs_link_delay(const struct hs_link *link, struct hs_dice *dice)
{
    return link->base / 2 + link->jitter * fabs(hs_dice_normal(dice)) / MEAN_OF_NORMAL;
}

double hs_link_command(const struct hs_link *link, struct hs_dice *dice, unsigned *losses)
{
    *losses = 0;
    while (hs_link_loses(dice))
        ++*losses;
    return hs_link_delay(link, dice) + *losses * HS_LINK_RESEND;
}

double hs_link_ping(const struct hs_link *link, struct hs_dice *dice)
{
    double there = hs_link_delay(link, dice), back = hs_link_delay(link, dice);
    return there + hs_dice_between(dice, 0, 1.0 / 60) + back;
}
