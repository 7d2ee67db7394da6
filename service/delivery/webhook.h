/*
 * The webhook: posts verdicts in batches to the URL of a game's own tool. Requests of game servers
 * add events to a bounded queue and never wait. One thread sends them in batches of at most
 * HS_WEBHOOK_BATCH. An event waits at most a second for others. A batch that was not accepted is
 * sent again, with growing pauses, until its events are too old. Thread-safe.
 */
#ifndef HS_SERVICE_DELIVERY_WEBHOOK_H
#define HS_SERVICE_DELIVERY_WEBHOOK_H

#include <stdbool.h>

#include "service/delivery/event.h"
#include "service/delivery/signature.h"

enum { HS_WEBHOOK_BATCH = 100 };

struct hs_metrics;
struct hs_webhook;

struct hs_webhook_settings {
    const char *url; /* outlives the webhook */
    unsigned kinds;  /* which events are sent */
    size_t queue_bytes;
    unsigned age_seconds; /* older events are dropped */
};

/* Creates a webhook, which needs hs_webhook_set_secret before hs_webhook_start. The metrics outlive
   it. NULL: out of memory. Call it from one thread. */
struct hs_webhook *hs_webhook_create(const struct hs_webhook_settings *settings,
                                     struct hs_metrics *metrics);

/* Replaces the secret, and takes ownership of it. The next request is signed with it. Returns
   whether it differs from the previous secret. */
bool hs_webhook_set_secret(struct hs_webhook *webhook, struct hs_secret *secret);

/* Starts the thread. False: it cannot be started. */
bool hs_webhook_start(struct hs_webhook *webhook);

/* Sends the waiting events, for at most `wait_us`, and frees the webhook. Events that were not sent
   by then are counted as dropped. Does nothing for NULL. */
void hs_webhook_stop(struct hs_webhook *webhook, int64_t wait_us);

/* Returns whether the webhook takes an event of one of these kinds. */
bool hs_webhook_wants(const struct hs_webhook *webhook, unsigned kinds);

/* Adds an event to the queue. An event that does not fit is dropped and counted. `event` NULL: no
   memory was left to make it; this counts as dropped. */
void hs_webhook_add(struct hs_webhook *webhook, struct hs_event *event);

struct hs_webhook_state {
    size_t waiting;    /* events that no request has delivered yet */
    int64_t oldest_us; /* age of the oldest of them; 0: none waits */
};

struct hs_webhook_state hs_webhook_state(struct hs_webhook *webhook);

#endif
