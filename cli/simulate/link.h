/*
 * A player's connection: how long messages take, and which messages are lost. In each direction, a
 * message takes half of the base round trip plus a random jitter of 0 or more. Each message is
 * delayed or lost independently of the others. The link OUTAGE is a CABLE that fails in both
 * directions for 3 to 10 s, once in every 150 s. About half of the outages lose all messages; the
 * other outages deliver all messages late, together.
 */
#ifndef HS_SIMULATE_LINK_H
#define HS_SIMULATE_LINK_H

#include <stdbool.h>

#include "cli/simulate/dice.h"

enum hs_link_kind {
    HS_LINK_LAN,
    HS_LINK_CABLE,
    HS_LINK_WIFI,
    HS_LINK_MOBILE,
    HS_LINK_BAD,
    HS_LINK_OUTAGE,
    HS_LINKS,
    HS_LINK_STEADY = HS_LINKS, /* a base round trip of exactly 40 ms; not used in mixed matches */
    HS_LINKS_AND_STEADY
};

extern const char *const hs_link_names[HS_LINKS_AND_STEADY]; /* for example "LAN" */

/* The share of messages that are lost, on every kind of link. */
#define HS_LINK_LOSS 0.05

/* Each lost packet delays a command by this many seconds. The client repeats the command until the
   command arrives. */
#define HS_LINK_RESEND (1.0 / 30)

struct hs_link {
    enum hs_link_kind kind;
    double base;      /* round trip without jitter; seconds */
    double jitter;    /* mean jitter in each direction; seconds */
    uint64_t outages; /* seed for the times of the outages */
};

void hs_link_draw(enum hs_link_kind kind, struct hs_dice *dice, struct hs_link *out);

bool hs_link_loses(struct hs_dice *dice);

/* Returns how many seconds the outage at the time `at` still lasts; 0 between outages. Sets *loses
   to whether this outage loses messages instead of delaying them. */
double hs_link_outage(const struct hs_link *link, double at, bool *loses);

/* Returns the delay of a message in one direction, in seconds. Ignores outages. */
double hs_link_delay(const struct hs_link *link, struct hs_dice *dice);

/* Returns the delay, in seconds, of a message that is first sent at the time `at`, and repeated
   until it arrives. Includes the wait for the end of an outage. Sets *losses to the number of lost
   copies, not counting copies lost in an outage. */
double hs_link_command(const struct hs_link *link, double at, struct hs_dice *dice,
                       unsigned *losses);

/* Returns a round trip as a server measures it, in seconds. The round trip includes a wait of up to
   one client frame. */
double hs_link_ping(const struct hs_link *link, struct hs_dice *dice);

#endif
