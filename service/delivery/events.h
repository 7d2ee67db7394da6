/*
 * The newest verdicts of each tenant, for streams (`GET /v1/events`). A ring keeps the tenant's
 * newest HS_EVENTS_KEPT verdicts, so that an interrupted stream can resume. The tenant's first
 * stream creates the ring; the ring does not contain earlier verdicts. If HS_EVENTS_RINGS tenants
 * have rings, a new ring takes the place of the ring that has been without a stream for longest.
 *
 * Events in a ring are numbered without gaps. The first number is at least the service's start time
 * in microseconds, so every number from an earlier process is lower. If a tenant gets a ring again,
 * its numbers are higher than those in the tenant's earlier ring.
 *
 * Thread-safe; no call waits for a stream.
 */
#ifndef HS_SERVICE_DELIVERY_EVENTS_H
#define HS_SERVICE_DELIVERY_EVENTS_H

#include "service/delivery/event.h"

enum {
    HS_EVENTS_KEPT = 4096,  /* max events in a ring; about 0.6 KiB each */
    HS_EVENTS_RINGS = 256,  /* max tenants with a ring */
    HS_EVENTS_STREAMS = 64, /* max streams, over all tenants; less than HS_EVENTS_RINGS */
};

struct hs_events;

/* A stream's position in the ring. Only one thread at a time may use a subscription. */
struct hs_subscription;

/* Returns NULL if memory runs out. */
struct hs_events *hs_events_create(void);
/* All subscriptions must already be closed. Does nothing for NULL. */
void hs_events_destroy(struct hs_events *events);

/* Returns whether a tenant has a ring. `tenant` is empty in a service without tokens. */
bool hs_events_want(struct hs_events *events, struct hs_str tenant);

/* Adds an event to the tenant's ring and wakes the tenant's streams. Does nothing if there is no
   ring. */
void hs_events_add(struct hs_events *events, struct hs_str tenant, struct hs_event *event);

struct hs_event_filter {
    unsigned kinds;
    struct hs_name match;  /* empty: all matches */
    enum hs_reason reason; /* HS_REASON_COUNT: all reasons */
};

/* Creates a subscription that starts after event number `after`, or with the next new event if
   `after` is 0. Returns NULL if there are too many streams, or memory runs out. */
struct hs_subscription *hs_events_subscribe(struct hs_events *events, struct hs_str tenant,
                                            const struct hs_event_filter *filter, uint64_t after);
/* Does nothing for NULL. */
void hs_events_unsubscribe(struct hs_subscription *subscription);

/* Returns the number of open subscriptions. */
size_t hs_events_streams(struct hs_events *events);

/* Sets the eventfd that wakes the stream when an event arrives. After a wake-up, the eventfd is not
   written again until hs_subscription_next has returned HS_SUBSCRIPTION_NONE. The eventfd must
   outlive the subscription. */
void hs_subscription_wake(struct hs_subscription *subscription, int eventfd);

enum hs_subscription_found {
    HS_SUBSCRIPTION_EVENT,
    /* events were lost: newer events replaced these events, the service has restarted, or another
       tenant took the place of the ring */
    HS_SUBSCRIPTION_GAP,
    HS_SUBSCRIPTION_NONE, /* no more events yet */
};

struct hs_subscription_next {
    /* number of the last event that was returned or skipped; a stream resumes after this number */
    uint64_t number;
    struct hs_event *event; /* the caller must release it */
    bool is_counted; /* for a gap: `missed` is known; false after a restart, or in a new ring */
    /* number of all lost events of the tenant, even if the filter excludes some of them */
    uint64_t missed;
};

enum hs_subscription_found hs_subscription_next(struct hs_subscription *subscription,
                                                struct hs_subscription_next *out);

/* Returns whether there are events or a gap that hs_subscription_next has not read yet. */
bool hs_subscription_has_news(const struct hs_subscription *subscription);

/* Returns whether newer events have replaced events that the subscription has not read. */
bool hs_subscription_is_overtaken(const struct hs_subscription *subscription);

#endif
