/*
 * The webhook posts verdicts to a URL of the game's own tool. Requests from game servers add events
 * to a bounded queue and never wait. A thread sends the events in batches of at most
 * HS_WEBHOOK_BATCH. An event waits at most a second for more events in its batch. If the receiver
 * does not accept a batch, the thread sends the batch again after growing pauses, until the events
 * in the batch are too old. Thread-safe.
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
    unsigned kinds;  /* the kinds of events to send */
    size_t queue_bytes;
    unsigned age_seconds; /* older events are dropped */
};

/* Creates a webhook. hs_webhook_set_secret must be called before hs_webhook_start. `settings->url`
   and `metrics` must outlive the webhook. Returns NULL if memory runs out. Not thread-safe. */
struct hs_webhook *hs_webhook_create(const struct hs_webhook_settings *settings,
                                     struct hs_metrics *metrics);

/* Replaces the secret, which the webhook then owns. Returns whether the new secret differs from the
   old secret. */
bool hs_webhook_set_secret(struct hs_webhook *webhook, struct hs_secret *secret);

/* Starts the thread. Returns false on failure. */
bool hs_webhook_start(struct hs_webhook *webhook);

/* Tries for at most `wait_us` to send the waiting events, and frees the webhook. Unsent events
   count as dropped. Does nothing for NULL. */
void hs_webhook_stop(struct hs_webhook *webhook, int64_t wait_us);

/* Returns whether the webhook sends events of one of these kinds. */
bool hs_webhook_wants(const struct hs_webhook *webhook, unsigned kinds);

/* Adds an event to the queue. An event that does not fit counts as dropped. If memory ran out,
   `event` may be NULL; the lost event also counts as dropped. */
void hs_webhook_add(struct hs_webhook *webhook, struct hs_event *event);

struct hs_webhook_state {
    size_t waiting;    /* number of events that are not delivered yet */
    int64_t oldest_us; /* age of the oldest waiting event; 0: no event is waiting */
};

struct hs_webhook_state hs_webhook_state(struct hs_webhook *webhook);

#endif
