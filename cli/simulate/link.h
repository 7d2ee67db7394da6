/*
 * A player's connection: how long messages take, and which messages are lost. In each direction,
 * the delay of a message is half of the base round trip plus a jitter that is never negative. Each
 * message is delayed or lost independently of other messages. The link OUTAGE is a CABLE that fails
 * for some seconds in both directions, on average every 150 s. Half of the outages lose all
 * messages; the other outages deliver them late, all at once.
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
    HS_LINK_STEADY = HS_LINKS, /* base round trip of exactly 40 ms, for results at one latency; not
                                  used in mixed matches */
    HS_LINKS_AND_STEADY
};

extern const char *const hs_link_names[HS_LINKS_AND_STEADY]; /* for example "LAN" */

/* Share of messages that are lost; the same for every kind of link. */
#define HS_LINK_LOSS 0.05

/* Seconds by which each loss delays a command, because a client repeats the command in its next
   packets until it arrives. */
#define HS_LINK_RESEND (1.0 / 30)

struct hs_link {
    enum hs_link_kind kind;
    double base;      /* round trip without jitter; seconds */
    double jitter;    /* mean jitter per direction; seconds */
    uint64_t outages; /* seed for the times of outages */
};

void hs_link_draw(enum hs_link_kind kind, struct hs_dice *dice, struct hs_link *out);

bool hs_link_loses(struct hs_dice *dice);

/* Returns the seconds from `at` to the end of the outage at that time; 0 between outages.
   `loses`: whether this outage loses messages instead of delaying them. */
double hs_link_outage(const struct hs_link *link, double at, bool *loses);

/* Returns the delay of a message in one direction, in seconds, without outages. */
double hs_link_delay(const struct hs_link *link, struct hs_dice *dice);

/* Returns the delay, in seconds, of a message that is first sent at the time `at`, and then sent
   again until it arrives. The delay includes the wait for the end of an outage. *losses counts the
   losses outside outages. */
double hs_link_command(const struct hs_link *link, double at, struct hs_dice *dice,
                       unsigned *losses);

/* Returns a round trip as a server measures it. The round trip includes a wait of up to one frame
   of the client. */
double hs_link_ping(const struct hs_link *link, struct hs_dice *dice);

#endif
