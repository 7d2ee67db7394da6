/*
 * The newest verdicts of each tenant, for streams (`GET /v1/events`). A ring keeps the newest
 * HS_EVENTS_KEPT verdicts, so a stream that was interrupted can resume. A tenant gets a ring when
 * the first stream of the tenant begins. Earlier verdicts are not stored here.
 *
 * Each event has a number. The numbers of a tenant increase by one. The first number is the time in
 * microseconds at which the service started, so every number of an earlier process is lower.
 *
 * Thread-safe; no call waits for a stream.
 */
#ifndef HS_SERVICE_DELIVERY_EVENTS_H
#define HS_SERVICE_DELIVERY_EVENTS_H

#include "service/delivery/event.h"

enum {
    HS_EVENTS_KEPT = 4096,  /* max events in a ring; an event has about 0.6 KiB */
    HS_EVENTS_RINGS = 256,  /* max tenants with a ring */
    HS_EVENTS_STREAMS = 64, /* max streams of all tenants */
};

struct hs_events;

/* The position of a stream in the ring of its tenant. Only one thread at a time may use a
   subscription. */
struct hs_subscription;

/* NULL: out of memory. */
struct hs_events *hs_events_create(void);
/* Close all subscriptions first. Does nothing for NULL. */
void hs_events_destroy(struct hs_events *events);

/* Returns whether a tenant has a ring. ptr NULL or len 0: the service has no tenants. */
bool hs_events_want(struct hs_events *events, struct hs_str tenant);

/* If a tenant has a ring, adds an event to it and wakes the streams of the tenant. */
void hs_events_add(struct hs_events *events, struct hs_str tenant, struct hs_event *event);

/* The filter of a stream. */
struct hs_event_filter {
    unsigned kinds;
    struct hs_name match;  /* empty: all matches */
    enum hs_reason reason; /* HS_REASON_COUNT: all reasons */
};

/* Creates a subscription. The subscription begins after event number `after`, or with the next new
   event if `after` is 0. NULL: too many streams or tenants, or out of memory. */
struct hs_subscription *hs_events_subscribe(struct hs_events *events, struct hs_str tenant,
                                            const struct hs_event_filter *filter, uint64_t after);
/* Does nothing for NULL. */
void hs_events_unsubscribe(struct hs_subscription *subscription);

/* Returns the number of subscriptions. */
size_t hs_events_streams(struct hs_events *events);

/* Sets the eventfd to which the service writes when an event arrives. After such a write, the
   service writes again only after hs_subscription_next has found no event. The eventfd must outlive
   the subscription. */
void hs_subscription_wake(struct hs_subscription *subscription, int eventfd);

enum hs_subscription_found {
    HS_SUBSCRIPTION_EVENT,
    HS_SUBSCRIPTION_GAP,  /* events were lost: the ring has overtaken the subscription */
    HS_SUBSCRIPTION_NONE, /* there is no further event yet */
};

struct hs_subscription_next {
    uint64_t number; /* the last event that was found or skipped; a stream resumes after it */
    struct hs_event *event; /* retained for the caller */
    bool is_counted;        /* for a gap: `missed` is known */
    uint64_t missed; /* number of lost events of the tenant, including events that do not match the
                        filter */
};

enum hs_subscription_found hs_subscription_next(struct hs_subscription *subscription,
                                                struct hs_subscription_next *out);

/* Returns whether hs_subscription_next may find something. */
bool hs_subscription_has_news(const struct hs_subscription *subscription);

/* Returns whether the ring has overtaken the subscription. */
bool hs_subscription_is_overtaken(const struct hs_subscription *subscription);

#endif
