#include "service/delivery/events.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>

#include "service/state/share.h"
#include "service/system/clock.h"

/* A tenant's newest events. Event number n is in places[n % HS_EVENTS_KEPT]. */
struct ring {
    struct hs_name tenant;
    uint64_t first;  /* number of the ring's first event */
    uint64_t next;   /* number of the next event */
    uint64_t oldest; /* number of the oldest event in the ring; `next` if the ring is empty */
    uint64_t closed; /* the value of `closings` when the ring's last stream ended */
    struct hs_subscription *subscriptions;
    struct hs_event *places[HS_EVENTS_KEPT];
};

struct hs_events {
    pthread_mutex_t lock; /* guards all subscriptions, and the members below except `streams` */
    uint64_t first;       /* number of the first event in the next new ring */
    uint64_t closings;    /* number of streams that have ended */
    struct ring *rings[HS_EVENTS_RINGS];
    size_t ring_count;
    struct hs_share *streams; /* has its own lock */
};

struct hs_subscription {
    struct hs_events *events;
    struct ring *ring;
    struct hs_subscription *next;
    struct hs_event_filter filter;
    uint64_t at;     /* number of the next event to read */
    bool is_restart; /* the client's last event came from an earlier process */
    int eventfd;     /* -1: not set */
    /* the eventfd was signalled, and hs_subscription_next has not found the end of the ring since
       then */
    bool is_reported;
};

struct hs_events *hs_events_create(void)
{
    struct hs_events *events = calloc(1, sizeof *events);
    struct hs_share *streams = hs_share_create(HS_EVENTS_STREAMS);
    if (events == NULL || streams == NULL) {
        hs_share_destroy(streams);
        free(events);
        return NULL;
    }
    events->first = (uint64_t)hs_clock_wall_us();
    events->streams = streams;
    pthread_mutex_init(&events->lock, NULL);
    return events;
}

static void destroy_ring(struct ring *ring)
{
    for (size_t place = 0; place < HS_EVENTS_KEPT; place++)
        hs_event_release(ring->places[place]);
    free(ring);
}

void hs_events_destroy(struct hs_events *events)
{
    if (events == NULL)
        return;
    for (size_t i = 0; i < events->ring_count; i++)
        destroy_ring(events->rings[i]);
    hs_share_destroy(events->streams);
    pthread_mutex_destroy(&events->lock);
    free(events);
}

/* Returns a tenant's ring, or NULL if the tenant has no ring. The caller holds the lock. */
static struct ring *find_ring(const struct hs_events *events, struct hs_str tenant)
{
    for (size_t i = 0; i < events->ring_count; i++)
        if (hs_str_equal(hs_name_str(&events->rings[i]->tenant), tenant))
            return events->rings[i];
    return NULL;
}

/* Removes the ring that has been without a stream for longest. There are fewer streams than rings,
   so some ring has no stream. The numbers of new rings start after those of the removed ring, and
   leave out one number. If the removed ring's tenant resumes a stream later, the tenant gets a gap
   instead of other events. The clock hides how many events the tenant had. The caller holds the
   lock. */
static void remove_ring(struct hs_events *events)
{
    size_t oldest = HS_EVENTS_RINGS;
    for (size_t i = 0; i < events->ring_count; i++)
        if (events->rings[i]->subscriptions == NULL &&
            (oldest == HS_EVENTS_RINGS || events->rings[i]->closed < events->rings[oldest]->closed))
            oldest = i;
    if (oldest == HS_EVENTS_RINGS)
        return;
    struct ring *ring = events->rings[oldest];
    uint64_t now = (uint64_t)hs_clock_wall_us();
    events->first = now > events->first ? now : events->first;
    if (events->first <= ring->next)
        events->first = ring->next + 1;
    events->rings[oldest] = events->rings[--events->ring_count];
    destroy_ring(ring);
}

/* Adds a ring for a tenant. Returns NULL if memory runs out. The caller holds the lock. */
static struct ring *add_ring(struct hs_events *events, struct hs_str tenant)
{
    if (events->ring_count == HS_EVENTS_RINGS)
        remove_ring(events);
    struct ring *ring = events->ring_count < HS_EVENTS_RINGS ? calloc(1, sizeof *ring) : NULL;
    if (ring == NULL)
        return NULL;
    hs_name_set(&ring->tenant, tenant);
    ring->first = ring->next = ring->oldest = events->first;
    events->rings[events->ring_count++] = ring;
    return ring;
}

bool hs_events_want(struct hs_events *events, struct hs_str tenant)
{
    pthread_mutex_lock(&events->lock);
    bool has_ring = find_ring(events, tenant) != NULL;
    pthread_mutex_unlock(&events->lock);
    return has_ring;
}

/* Wakes a tenant's streams. Streams in the same worker share an eventfd. One write to this eventfd
   wakes all these streams. */
static void wake_all(const struct ring *ring)
{
    int woken = -1;
    for (struct hs_subscription *each = ring->subscriptions; each != NULL; each = each->next) {
        if (each->is_reported || each->eventfd < 0)
            continue;
        if (each->eventfd != woken)
            eventfd_write(each->eventfd, 1);
        woken = each->eventfd;
        each->is_reported = true;
    }
}

void hs_events_add(struct hs_events *events, struct hs_str tenant, struct hs_event *event)
{
    struct hs_event *old = NULL;
    pthread_mutex_lock(&events->lock);
    struct ring *ring = find_ring(events, tenant);
    if (ring != NULL) {
        struct hs_event **place = &ring->places[ring->next % HS_EVENTS_KEPT];
        old = *place;
        *place = hs_event_retain(event);
        ring->next++;
        if (ring->next - ring->oldest > HS_EVENTS_KEPT)
            ring->oldest++;
        wake_all(ring);
    }
    pthread_mutex_unlock(&events->lock);
    hs_event_release(old);
}

/* ---- subscriptions ---- */

struct hs_subscription *hs_events_subscribe(struct hs_events *events, struct hs_str tenant,
                                            const struct hs_event_filter *filter, uint64_t after)
{
    struct hs_subscription *subscription = malloc(sizeof *subscription);
    if (subscription == NULL || !hs_share_reserve(events->streams, tenant, 1)) {
        free(subscription);
        return NULL;
    }
    pthread_mutex_lock(&events->lock);
    struct ring *ring = find_ring(events, tenant);
    if (ring == NULL)
        ring = add_ring(events, tenant);
    if (ring != NULL) {
        bool is_ours = after == 0 || (after + 1 >= ring->first && after < ring->next);
        *subscription = (struct hs_subscription){.events = events,
                                                 .ring = ring,
                                                 .next = ring->subscriptions,
                                                 .filter = *filter,
                                                 .at = after == 0 ? ring->next
                                                       : is_ours  ? after + 1
                                                                  : ring->oldest,
                                                 .is_restart = !is_ours,
                                                 .eventfd = -1};
        ring->subscriptions = subscription;
    }
    pthread_mutex_unlock(&events->lock);
    if (ring != NULL)
        return subscription;
    hs_share_release(events->streams, tenant, 1);
    free(subscription);
    return NULL;
}

void hs_events_unsubscribe(struct hs_subscription *subscription)
{
    if (subscription == NULL)
        return;
    struct hs_events *events = subscription->events;
    struct ring *ring = subscription->ring;
    pthread_mutex_lock(&events->lock);
    struct hs_subscription **link = &ring->subscriptions;
    while (*link != subscription)
        link = &(*link)->next;
    *link = subscription->next;
    ring->closed = ++events->closings;
    struct hs_name tenant =
        ring->tenant; /* from now on, another tenant may take the ring's place */
    pthread_mutex_unlock(&events->lock);
    hs_share_release(events->streams, hs_name_str(&tenant), 1);
    free(subscription);
}

size_t hs_events_streams(struct hs_events *events)
{
    return hs_share_used(events->streams);
}

void hs_subscription_wake(struct hs_subscription *subscription, int eventfd)
{
    pthread_mutex_lock(&subscription->events->lock);
    subscription->eventfd = eventfd;
    pthread_mutex_unlock(&subscription->events->lock);
}

static bool passes(const struct hs_event_filter *filter, const struct hs_event *event)
{
    return (filter->kinds & event->kinds) != 0 &&
           (filter->match.text[0] == '\0' ||
            hs_str_equal(hs_name_str(&filter->match), hs_name_str(&event->match))) &&
           (filter->reason == HS_REASON_COUNT || hs_event_has_reason(event, filter->reason));
}

/* Finds a subscription's next event or gap. The caller holds the lock. */
static enum hs_subscription_found find_next(struct hs_subscription *subscription,
                                            struct hs_subscription_next *out)
{
    const struct ring *ring = subscription->ring;
    *out = (struct hs_subscription_next){.is_counted = !subscription->is_restart};
    if (subscription->is_restart || subscription->at < ring->oldest) {
        out->missed = subscription->is_restart ? 0 : ring->oldest - subscription->at;
        subscription->is_restart = false;
        subscription->at = ring->oldest;
        out->number = subscription->at - 1;
        return HS_SUBSCRIPTION_GAP;
    }
    while (subscription->at < ring->next) {
        struct hs_event *event = ring->places[subscription->at % HS_EVENTS_KEPT];
        out->number = subscription->at++;
        if (passes(&subscription->filter, event)) {
            out->event = hs_event_retain(event);
            return HS_SUBSCRIPTION_EVENT;
        }
    }
    subscription->is_reported = false;
    out->number = subscription->at - 1;
    return HS_SUBSCRIPTION_NONE;
}

enum hs_subscription_found hs_subscription_next(struct hs_subscription *subscription,
                                                struct hs_subscription_next *out)
{
    pthread_mutex_lock(&subscription->events->lock);
    enum hs_subscription_found found = find_next(subscription, out);
    pthread_mutex_unlock(&subscription->events->lock);
    return found;
}

bool hs_subscription_has_news(const struct hs_subscription *subscription)
{
    pthread_mutex_lock(&subscription->events->lock);
    bool has_news = subscription->is_restart || subscription->at < subscription->ring->next;
    pthread_mutex_unlock(&subscription->events->lock);
    return has_news;
}

bool hs_subscription_is_overtaken(const struct hs_subscription *subscription)
{
    pthread_mutex_lock(&subscription->events->lock);
    bool is_overtaken = subscription->at < subscription->ring->oldest;
    pthread_mutex_unlock(&subscription->events->lock);
    return is_overtaken;
}
