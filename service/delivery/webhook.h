/*
 * The webhook posts verdicts in batches to the URL of a game's own tool. Requests of game servers
 * add events to a bounded queue and never wait. One thread sends the events in batches of at most
 * HS_WEBHOOK_BATCH. An event waits at most a second for its batch to fill. A batch that was not
 * accepted is sent again, with growing pauses, until its events are too old. Thread-safe.
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
    const char *url; /* must outlive the webhook */
    unsigned kinds;  /* which events are sent */
    size_t queue_bytes;
    unsigned age_seconds; /* older events are dropped */
};

/* Creates a webhook, which needs hs_webhook_set_secret before hs_webhook_start. The metrics must
   outlive the webhook. NULL: out of memory. Call it from one thread. */
struct hs_webhook *hs_webhook_create(const struct hs_webhook_settings *settings,
                                     struct hs_metrics *metrics);

/* Replaces the secret, and takes ownership of it. The next request is signed with the new secret.
   Returns whether the new secret differs from the previous one. */
bool hs_webhook_set_secret(struct hs_webhook *webhook, struct hs_secret *secret);

/* Starts the thread. Returns false on failure. */
bool hs_webhook_start(struct hs_webhook *webhook);

/* Sends the waiting events, for at most `wait_us`, and frees the webhook. Events that were not sent
   in this time count as dropped. Does nothing for NULL. */
void hs_webhook_stop(struct hs_webhook *webhook, int64_t wait_us);

/* Returns whether the webhook sends events of one of these kinds. */
bool hs_webhook_wants(const struct hs_webhook *webhook, unsigned kinds);

/* Adds an event to the queue. An event that does not fit is dropped and counted. `event` NULL: the
   event could not be created, because memory ran out; it counts as dropped. */
void hs_webhook_add(struct hs_webhook *webhook, struct hs_event *event);

struct hs_webhook_state {
    size_t waiting;    /* events that no request has delivered yet */
    int64_t oldest_us; /* age of the oldest waiting event; 0: no event waits */
};

struct hs_webhook_state hs_webhook_state(struct hs_webhook *webhook);

#endif
