#include "service/store/store.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/system/clock.h"
#include "service/system/secret.h"
#include "service/watch/metrics.h"

struct hs_store {
    struct hs_store_link *links[HS_STORE_LANES];
    struct hs_secret *secret; /* NULL: no password */
    struct hs_metrics *metrics;
    pthread_mutex_t lock;    /* guards writes to `up` and its metric */
    atomic_int up;           /* number of links that are up */
    atomic_uint connections; /* how many connections all links together have made */
    atomic_bool ends_asking;
};

static void change(void *context, bool is_up)
{
    struct hs_store *store = context;
    atomic_fetch_add(&store->connections, is_up ? 1 : 0);
    pthread_mutex_lock(&store->lock);
    int before = atomic_fetch_add(&store->up, is_up ? 1 : -1);
    hs_metrics_set(store->metrics, HS_METRIC_STORE_UP, 0,
                   before + (is_up ? 1 : -1) == HS_STORE_LANES);
    pthread_mutex_unlock(&store->lock);
}

struct hs_store *hs_store_start(const char *addresses, const char *password_file,
                                struct hs_metrics *metrics, char error[256])
{
    struct hs_store *store = calloc(1, sizeof *store);
    char why[256] = "";
    snprintf(error, 256, "out of memory or threads");
    if (store == NULL)
        return NULL;
    store->metrics = metrics;
    pthread_mutex_init(&store->lock, NULL);
    if (password_file[0] != '\0') {
        store->secret = hs_secret_read(password_file, 1, why);
        if (store->secret == NULL)
            snprintf(error, 256, "the password file %.100s %.120s", password_file, why);
    }
    struct hs_store_link_settings settings = {.addresses = addresses,
                                              .secret = store->secret,
                                              .metrics = metrics,
                                              .changed = change,
                                              .context = store};
    bool fine = password_file[0] == '\0' || store->secret != NULL;
    for (int i = 0; i < HS_STORE_LANES && fine; i++) {
        settings.is_patient = i == HS_STORE_READS;
        store->links[i] = hs_store_link_start(&settings);
        fine = store->links[i] != NULL;
    }
    if (fine)
        return store;
    hs_store_stop(store, 0);
    return NULL;
}

void hs_store_wait_until_up(const struct hs_store *store, int64_t wait_us)
{
    int64_t until_us = hs_clock_us() + wait_us;
    while (atomic_load(&store->up) < HS_STORE_LANES && hs_clock_us() < until_us)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void hs_store_stop(struct hs_store *store, int64_t wait_us)
{
    if (store == NULL)
        return;
    int64_t until_us = hs_clock_us() + wait_us;
    for (int i = 0; i < HS_STORE_LANES; i++) {
        int64_t left_us = until_us - hs_clock_us();
        hs_store_link_stop(store->links[i], left_us > 0 ? left_us : 0);
    }
    /* A callback of one link may use another link, so free the links only after all links have
       stopped. */
    for (int i = 0; i < HS_STORE_LANES; i++)
        hs_store_link_free(store->links[i]);
    hs_secret_free(store->secret);
    pthread_mutex_destroy(&store->lock);
    free(store);
}

bool hs_store_submit(struct hs_store *store, enum hs_store_lane lane, struct hs_store_call *call,
                     const struct hs_store_script *script, const struct hs_str *arguments,
                     size_t count)
{
    return hs_store_link_submit(store->links[lane], call, script, arguments, count);
}

/* ---- waiting ---- */

/* A call that hs_store_ask waits for. The link and the waiting thread share the call. The last user
   of the call frees the call. */
struct waiting {
    struct hs_store_call call; /* must be first: callbacks cast its address to the structure */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool has_ended, is_late, is_abandoned;
    enum hs_store_result result;
    struct redisReply *reply;
};

static void free_waiting(struct waiting *waiting)
{
    pthread_cond_destroy(&waiting->changed);
    pthread_mutex_destroy(&waiting->lock);
    free(waiting);
}

static void end_waiting(struct hs_store_call *call, enum hs_store_result result,
                        struct redisReply **reply)
{
    struct waiting *waiting = (struct waiting *)call;
    pthread_mutex_lock(&waiting->lock);
    bool is_abandoned = waiting->is_abandoned;
    waiting->has_ended = true;
    waiting->result = result;
    if (!is_abandoned) {
        waiting->reply = *reply;
        *reply = NULL;
        pthread_cond_signal(&waiting->changed);
    }
    pthread_mutex_unlock(&waiting->lock);
    if (is_abandoned)
        free_waiting(waiting);
}

static void late_waiting(struct hs_store_call *call)
{
    struct waiting *waiting = (struct waiting *)call;
    pthread_mutex_lock(&waiting->lock);
    waiting->is_late = true;
    pthread_cond_signal(&waiting->changed);
    pthread_mutex_unlock(&waiting->lock);
}

void hs_store_end_asking(struct hs_store *store)
{
    atomic_store(&store->ends_asking, true);
}

enum hs_store_result hs_store_ask(struct hs_store *store, enum hs_store_lane lane,
                                  enum hs_store_op op, int64_t wait_us,
                                  const struct hs_store_script *script,
                                  const struct hs_str *arguments, size_t count,
                                  struct redisReply **reply)
{
    *reply = NULL;
    struct waiting *waiting = atomic_load(&store->ends_asking) ? NULL : calloc(1, sizeof *waiting);
    if (waiting == NULL)
        return HS_STORE_LOST;
    waiting->call = (struct hs_store_call){
        .op = op, .budget_us = wait_us, .late = late_waiting, .done = end_waiting};
    pthread_mutex_init(&waiting->lock, NULL);
    pthread_cond_init(&waiting->changed, NULL);
    if (!hs_store_submit(store, lane, &waiting->call, script, arguments, count)) {
        free_waiting(waiting);
        return HS_STORE_LOST;
    }
    pthread_mutex_lock(&waiting->lock);
    while (!waiting->has_ended && !waiting->is_late)
        pthread_cond_wait(&waiting->changed, &waiting->lock);
    enum hs_store_result result = waiting->has_ended ? waiting->result : HS_STORE_LOST;
    bool has_ended = waiting->has_ended;
    *reply = waiting->reply;
    waiting->is_abandoned = !has_ended;
    pthread_mutex_unlock(&waiting->lock);
    if (has_ended)
        free_waiting(waiting);
    return result;
}

/* ---- state ---- */

bool hs_store_is_up(const struct hs_store *store, enum hs_store_lane lane)
{
    return hs_store_link_is_up(store->links[lane]);
}

bool hs_store_is_late(const struct hs_store *store, enum hs_store_lane lane, int64_t budget_us)
{
    return hs_store_link_is_late(store->links[lane], budget_us);
}

unsigned hs_store_connections(const struct hs_store *store)
{
    return atomic_load(&store->connections);
}

size_t hs_store_backlog(const struct hs_store *store, enum hs_store_lane lane)
{
    return hs_store_link_backlog(store->links[lane]);
}
