#include "cli/simulate/link.h"

#include <math.h>
#include <strings.h>

/* A normal variate is so far from 0 in the mean: sqrt(2 / pi). */
#define MEAN_OF_NORMAL 0.79788456080286536

static const struct {
    const char *name;
    double low, high, jitter; /* seconds */
} kinds[HS_LINKS] = {
#define X(id, name, low, high, jitter) {name, (low)*1e-3, (high)*1e-3, (jitter)*1e-3},
    HS_LINK_LIST(X)
#undef X
};

const char *hs_link_name(enum hs_link_kind kind)
{
    return kinds[kind].name;
}

bool hs_link_parse(const char *name, enum hs_link_kind *out)
{
    for (int i = 0; i < HS_LINKS; i++) {
        if (strcasecmp(kinds[i].name, name) == 0) {
            *out = (enum hs_link_kind)i;
            return true;
        }
    }
    return false;
}

void hs_link_draw(enum hs_link_kind kind, struct hs_dice *dice, struct hs_link *out)
{
    *out = (struct hs_link){.kind = kind,
                            .base = hs_dice_between(dice, kinds[kind].low, kinds[kind].high),
                            .jitter = kinds[kind].jitter};
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
