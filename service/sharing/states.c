#include "service/sharing/states.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>

#include "service/checkpoint/kept_match.h"
#include "service/service.h"
#include "service/state/registry.h"
#include "service/store/matches.h"
#include "service/system/clock.h"
#include "service/system/thread.h"
#include "service/watch/log.h"

enum {
    TURN_US = 250000,
    /* If more than this many sent bytes are unacknowledged, the thread waits before it writes the
       next state. The wait saves memory, and limits how many states a broken connection loses. */
    BACKLOG_BYTES = 2 << 20,
    LOOK_US = 1000,
};

struct hs_sharing {
    struct hs_service *service;
    struct hs_bytes state, packed; /* reused for all matches */
    unsigned connections;          /* hs_store_connections at the last check */
    int64_t until_us;              /* deadline for the final states; 0: not stopping yet */
    size_t given_up;
    pthread_t thread;
    pthread_mutex_t lock; /* guards the following members */
    pthread_cond_t wake;
    bool is_ending;
};

/* Values that `begin` copies from a match just before the state of the match is copied. */
struct captured {
    struct hs_shared_match *shared;
    uint64_t mark;
    int64_t used_us;
    const struct hs_service *service;
    bool is_complete; /* the owner hands off all later moves (hs_kept_match_hand_off) */
};

static void begin(void *context, struct hs_match_slot *slot)
{
    struct captured *captured = context;
    captured->mark = hs_shared_match_mark(captured->shared);
    captured->used_us = slot->used_us;
    captured->is_complete = atomic_load(&captured->service->draining);
}

/* Waits until at most BACKLOG_BYTES of the sent bytes are unacknowledged. Returns false if the
   store is down, or the deadline for the final states has passed. */
static bool wait_for_store(const struct hs_sharing *sharing)
{
    const struct hs_store *store = sharing->service->store;
    while (hs_store_is_up(store, HS_STORE_BULK)) {
        if (hs_store_backlog(store, HS_STORE_BULK) <= BACKLOG_BYTES)
            return true;
        if (sharing->until_us != 0 && hs_clock_us() >= sharing->until_us)
            return false;
        struct timespec pause = hs_clock_timespec(LOOK_US);
        nanosleep(&pause, NULL);
    }
    return false;
}

static void write_state(struct hs_sharing *sharing, struct hs_match_slot *slot,
                        struct hs_shared_match *shared, int64_t now_us)
{
    struct hs_bytes *state = &sharing->state;
    struct captured captured = {.shared = shared, .service = sharing->service};
    bool is_final = sharing->until_us != 0;
    state->len = 0;
    state->failed = false;
    hs_kept_state_begin(state);
    bool is_open = hs_kept_match_copy(slot, state, begin, &captured);
    if (!is_open || !hs_kept_state_end(state, &sharing->packed))
        return;
    hs_shared_match_captured(shared, captured.used_us, now_us, state->len);
    const struct hs_str bytes = {(const char *)sharing->packed.data, sharing->packed.len};
    enum hs_shared_state kind = is_final               ? HS_SHARED_FINAL
                                : captured.is_complete ? HS_SHARED_COMPLETE
                                                       : HS_SHARED_PARTIAL;
    if (hs_shared_match_write(shared, HS_STORE_BULK, bytes, captured.mark, kind) && is_final)
        sharing->given_up++;
}

static void share(void *context, struct hs_match_slot *slot)
{
    struct hs_sharing *sharing = context;
    struct hs_shared_match *shared = atomic_load(&slot->shared);
    int64_t now_us = hs_clock_us();
    if (shared == NULL)
        return;
    hs_registry_lock(slot);
    bool is_open = !slot->closed, is_lost = hs_shared_match_is_lost(shared);
    int64_t used_us = slot->used_us;
    if (is_open && is_lost)
        hs_kept_match_moved(sharing->service, slot);
    hs_registry_unlock(slot);
    /* While this service drains, other replicas take over its matches. So changed states are
       written at once. */
    bool hurries = atomic_load(&sharing->service->draining);
    bool is_due =
        sharing->until_us != 0 || hs_shared_match_is_due(shared, used_us, now_us, hurries);
    if (is_open && !is_lost && is_due && wait_for_store(sharing))
        write_state(sharing, slot, shared, now_us);
}

/* If a link has connected to the store again, the store may have lost its data. So all states must
   be written again. */
static void look_at_store(struct hs_sharing *sharing)
{
    unsigned connections = hs_store_connections(sharing->service->store);
    if (connections != sharing->connections)
        hs_shared_matches_rewrite(sharing->service->shared);
    sharing->connections = connections;
}

/* Waits for TURN_US. Returns false if the thread must stop. */
static bool wait_for_turn(struct hs_sharing *sharing)
{
    struct timespec until = hs_clock_timespec(hs_clock_us() + TURN_US);
    pthread_mutex_lock(&sharing->lock);
    int result = 0;
    while (!sharing->is_ending && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&sharing->wake, &sharing->lock, &until);
    bool is_ending = sharing->is_ending;
    pthread_mutex_unlock(&sharing->lock);
    return !is_ending;
}

static void *run(void *context)
{
    struct hs_sharing *sharing = context;
    while (wait_for_turn(sharing)) {
        look_at_store(sharing);
        hs_shared_matches_close_again(sharing->service->shared);
        (void)hs_registry_visit(sharing->service->registry, share, sharing);
    }
    return NULL;
}

static void destroy(struct hs_sharing *sharing)
{
    pthread_cond_destroy(&sharing->wake);
    pthread_mutex_destroy(&sharing->lock);
    free(sharing->state.data);
    free(sharing->packed.data);
    free(sharing);
}

struct hs_sharing *hs_sharing_start(struct hs_service *service)
{
    struct hs_sharing *sharing = calloc(1, sizeof *sharing);
    if (sharing == NULL)
        return NULL;
    sharing->service = service;
    pthread_mutex_init(&sharing->lock, NULL);
    hs_clock_condition(&sharing->wake);
    if (hs_thread_start(&sharing->thread, run, sharing))
        return sharing;
    destroy(sharing);
    return NULL;
}

void hs_sharing_stop(struct hs_sharing *sharing, int64_t wait_us)
{
    if (sharing == NULL)
        return;
    pthread_mutex_lock(&sharing->lock);
    sharing->is_ending = true;
    pthread_cond_signal(&sharing->wake);
    pthread_mutex_unlock(&sharing->lock);
    pthread_join(sharing->thread, NULL);
    sharing->until_us = hs_clock_us() + wait_us;
    (void)hs_registry_visit(sharing->service->registry, share, sharing);
    if (sharing->given_up > 0)
        hs_log(HS_LOG_INFO, "the final states of matches were sent to the store",
               HS_LOG_NUMBER("matches", sharing->given_up));
    destroy(sharing);
}
