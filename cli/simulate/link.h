/*
 * A player's connection: how long messages take, and which never come. One way takes half of the
 * base round trip and a jitter that only ever adds; each message is delayed and lost on its own.
 */
#ifndef HS_SIMULATE_LINK_H
#define HS_SIMULATE_LINK_H

#include <stdbool.h>

#include "cli/simulate/dice.h"

/* X(id, name, least and largest base round trip in ms, jitter in ms) */
#define HS_LINK_LIST(X)                                                                            \
    X(LAN, "LAN", 20, 30, 1)                                                                       \
    X(CABLE, "CABLE", 30, 60, 3)                                                                   \
    X(WIFI, "WIFI", 40, 90, 8)                                                                     \
    X(MOBILE, "MOBILE", 80, 150, 12)                                                               \
    X(BAD, "BAD", 150, 200, 20)

enum hs_link_kind {
#define X(id, name, low, high, jitter) HS_LINK_##id,
    HS_LINK_LIST(X)
#undef X
        HS_LINKS
};

const char *hs_link_name(enum hs_link_kind kind);

/* Of the kind that has this name, letters of either case. False: there is none. */
bool hs_link_parse(const char *name, enum hs_link_kind *out);

/* Of a hundred messages this many are lost, on every kind of link. */
#define HS_LINK_LOSS 0.05

/* What a client has to say is in its next packets too until it was heard: a lost message comes so
   much later, for each time it is lost. Seconds. */
#define HS_LINK_RESEND (1.0 / 30)

struct hs_link {
    enum hs_link_kind kind;
    double base;   /* round trip without jitter; seconds */
    double jitter; /* mean of what a way takes longer; seconds */
};

void hs_link_draw(enum hs_link_kind kind, struct hs_dice *dice, struct hs_link *out);

bool hs_link_loses(struct hs_dice *dice);

/* Seconds one way. */
double hs_link_delay(const struct hs_link *link, struct hs_dice *dice);

/* The same for a message that is sent again until it arrives; *losses is how often it was lost. */
double hs_link_command(const struct hs_link *link, struct hs_dice *dice, unsigned *losses);

/* A round trip as a server measures it: there, up to a frame of the client, and back. */
double hs_link_ping(const struct hs_link *link, struct hs_dice *dice);

#endif
