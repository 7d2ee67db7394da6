#include "service/delivery/webhook.h"

#include <curl/curl.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "api/json/buffer.h"
#include "service/delivery/post.h"
#include "service/system/clock.h"
#include "service/system/secret.h"
#include "service/system/sha256.h"
#include "service/system/thread.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

enum {
    GATHER_US = 1000000, /* how long the first event in a batch waits for more events */
    /* After a failure, the thread pauses for a random time between half of a limit and the limit.
       The limit is FIRST_PAUSE_US * 2^n after n earlier failures in a row, but at most
       LONGEST_PAUSE_US. */
    FIRST_PAUSE_US = 1000000,
    LONGEST_PAUSE_US = 60000000,
    END_PAUSE_US = 250000, /* pause after a failure during the shutdown */
    OVERHEAD = 64,         /* bytes that an item needs in addition to its event */
};

struct item {
    struct item *next;
    struct hs_event *event;
    int64_t added_us;
};

/* Events in the order in which they arrived. */
struct list {
    struct item *first, **last;
    size_t count;
};

struct hs_webhook {
    struct hs_webhook_settings settings;
    struct hs_metrics *metrics;
    pthread_mutex_t lock; /* guards the following members up to `is_ending` */
    pthread_cond_t wake;
    struct list queue, batch; /* only the webhook's thread changes `batch` */
    size_t bytes;             /* memory used by both lists */
    struct hs_secret *secret;
    bool is_ending;
    atomic_llong end_us; /* a running request is aborted at this time */
    bool is_running;
    pthread_t thread;
    struct hs_post *post; /* used only by the webhook's thread, like `failures` */
    unsigned failures;    /* failed requests in a row */
};

/* ---- lists ---- */

static void append(struct list *list, struct item *item)
{
    item->next = NULL;
    *list->last = item;
    list->last = &item->next;
    list->count++;
}

static struct item *take_first(struct list *list)
{
    struct item *item = list->first;
    list->first = item->next;
    if (list->first == NULL)
        list->last = &list->first;
    list->count--;
    return item;
}

static size_t cost_of(const struct hs_event *event)
{
    return sizeof *event + event->size + OVERHEAD;
}

/* Frees the first event of a list. The caller holds the lock. */
static void drop_first(struct hs_webhook *webhook, struct list *list)
{
    struct item *item = take_first(list);
    webhook->bytes -= cost_of(item->event);
    hs_event_release(item->event);
    free(item);
}

static void count_dropped(struct hs_webhook *webhook, enum hs_webhook_drop why, size_t events)
{
    hs_metrics_add(webhook->metrics, HS_METRIC_WEBHOOK_DROPPED, why, (int64_t)events);
}

/* Drops the events at the front of a list that are too old. The caller holds the lock. */
static void drop_old(struct hs_webhook *webhook, struct list *list)
{
    int64_t oldest_us = hs_clock_us() - (int64_t)webhook->settings.age_seconds * 1000000;
    size_t before = list->count;
    while (list->first != NULL && list->first->added_us < oldest_us)
        drop_first(webhook, list);
    if (list->count < before)
        count_dropped(webhook, HS_WEBHOOK_DROP_AGE, before - list->count);
}

/* ---- the thread ---- */

/* Waits until `until_us` or a signal on `wake`. The caller holds the lock, which is released during
   the wait. */
static void wait_until(struct hs_webhook *webhook, int64_t until_us)
{
    struct timespec until = hs_clock_timespec(until_us);
    pthread_cond_timedwait(&webhook->wake, &webhook->lock, &until);
}

/* Waits for events and moves the next events to the batch. The caller holds the lock, which is
   released during the wait. Returns false when the webhook is ending and no events are left. */
static bool take_batch(struct hs_webhook *webhook)
{
    struct list *queue = &webhook->queue;
    while (!webhook->is_ending && queue->count < HS_WEBHOOK_BATCH) {
        int64_t now_us = hs_clock_us();
        int64_t due_us = queue->first != NULL ? queue->first->added_us + GATHER_US : INT64_MAX;
        if (now_us >= due_us)
            break;
        if (queue->first == NULL)
            pthread_cond_wait(&webhook->wake, &webhook->lock);
        else
            wait_until(webhook, due_us);
    }
    drop_old(webhook, queue);
    while (queue->first != NULL && webhook->batch.count < HS_WEBHOOK_BATCH)
        append(&webhook->batch, take_first(queue));
    return webhook->batch.count > 0 || !webhook->is_ending;
}

static void write_body(const struct list *batch, struct hs_buffer *out)
{
    hs_buffer_puts(out, "{\"verdicts\":[");
    for (const struct item *item = batch->first; item != NULL; item = item->next) {
        hs_buffer_append(out, ",", item == batch->first ? 0 : 1);
        hs_buffer_append(out, item->event->json, item->event->size);
    }
    hs_buffer_puts(out, "]}");
}

static void log_result(const struct hs_webhook *webhook, long status, const char *error)
{
    if (status >= 200 && status <= 299) {
        if (webhook->failures > 0)
            hs_log(HS_LOG_INFO, "the webhook is accepted again",
                   HS_LOG_NUMBER("failures", webhook->failures));
    } else if (status > 0) {
        hs_log(HS_LOG_WARN, "the webhook was refused", HS_LOG_NUMBER("status", status));
    } else {
        hs_log(HS_LOG_WARN, "the webhook failed", HS_LOG_TEXT("detail", error));
    }
}

/* Sends the batch once. The caller holds the lock, which is released during the request. Returns
   whether the receiver accepted the batch. */
static bool send_batch(struct hs_webhook *webhook)
{
    char signature[HS_SIGNATURE_SIZE], key[HS_SHA256_HEX], error[256] = "out of memory";
    struct hs_buffer body = {0};
    long status = 0;
    write_body(&webhook->batch, &body);
    if (!body.failed) {
        struct hs_str bytes = {body.data, body.len};
        hs_webhook_sign(webhook->secret, (int64_t)time(NULL), bytes, signature);
        hs_sha256_hex(body.data, body.len, key);
        pthread_mutex_unlock(&webhook->lock);
        status =
            hs_post_send(webhook->post,
                         &(struct hs_post_headers){.signature = signature, .idempotency_key = key},
                         bytes, error);
        pthread_mutex_lock(&webhook->lock);
    }
    hs_buffer_free(&body);
    log_result(webhook, status, error);
    bool is_accepted = status >= 200 && status <= 299;
    hs_metrics_add(webhook->metrics, HS_METRIC_WEBHOOK_REQUESTS,
                   is_accepted  ? HS_WEBHOOK_ACCEPTED
                   : status > 0 ? HS_WEBHOOK_REFUSED
                                : HS_WEBHOOK_FAILED,
                   1);
    return is_accepted;
}

/* Returns the length of the pause after a failure. The length is partly random, so that several
   services do not retry at the same time. */
static int64_t pause_us(unsigned failures)
{
    uint32_t random = 0;
    int64_t longest_us = LONGEST_PAUSE_US;
    if (failures < 6)
        longest_us = (int64_t)FIRST_PAUSE_US << failures;
    if (getrandom(&random, sizeof random, GRND_NONBLOCK) != (ssize_t)sizeof random)
        random = 0; /* getrandom fails only early after boot or in a sandbox */
    return longest_us / 2 + longest_us / 2 * (int64_t)(random >> 16) / 65536;
}

/* Waits after a failure. The caller holds the lock, which is released during the wait. */
static void pause_sending(struct hs_webhook *webhook)
{
    int64_t until_us = hs_clock_us() + pause_us(webhook->failures);
    while (!webhook->is_ending && hs_clock_us() < until_us)
        wait_until(webhook, until_us);
    if (!webhook->is_ending)
        return;
    until_us = hs_clock_us() + END_PAUSE_US;
    for (int64_t now_us = 0; now_us < until_us; now_us = hs_clock_us())
        wait_until(webhook, until_us);
}

/* Drops all events because the shutdown has timed out. The caller holds the lock. */
static void drop_rest(struct hs_webhook *webhook)
{
    size_t count = webhook->batch.count + webhook->queue.count;
    count_dropped(webhook, HS_WEBHOOK_DROP_END, count);
    hs_log(HS_LOG_WARN, "verdicts were not delivered to the webhook",
           HS_LOG_NUMBER("verdicts", count));
    while (webhook->batch.count > 0)
        drop_first(webhook, &webhook->batch);
    while (webhook->queue.count > 0)
        drop_first(webhook, &webhook->queue);
}

/* Sends the batch again and again until the receiver accepts the batch, its events are too old, or
   the shutdown times out. The caller holds the lock, which is released during requests and
   pauses. */
static void deliver_batch(struct hs_webhook *webhook)
{
    struct list *batch = &webhook->batch;
    while (batch->count > 0) {
        if (webhook->is_ending && hs_clock_us() >= atomic_load(&webhook->end_us)) {
            drop_rest(webhook);
            return;
        }
        if (send_batch(webhook)) {
            hs_metrics_add(webhook->metrics, HS_METRIC_WEBHOOK_DELIVERED, 0, (int64_t)batch->count);
            webhook->failures = 0;
            break;
        }
        pause_sending(webhook);
        webhook->failures++;
        drop_old(webhook, batch);
    }
    while (batch->count > 0)
        drop_first(webhook, batch);
}

static void *deliver(void *context)
{
    struct hs_webhook *webhook = context;
    pthread_mutex_lock(&webhook->lock);
    while (take_batch(webhook))
        deliver_batch(webhook);
    pthread_mutex_unlock(&webhook->lock);
    return NULL;
}

/* ---- events ---- */

bool hs_webhook_wants(const struct hs_webhook *webhook, unsigned kinds)
{
    return webhook != NULL && (webhook->settings.kinds & kinds) != 0;
}

/* Returns whether the queue has space for `cost` bytes. The caller holds the lock. */
static bool has_space(const struct hs_webhook *webhook, size_t cost)
{
    return webhook->bytes < webhook->settings.queue_bytes &&
           cost <= webhook->settings.queue_bytes - webhook->bytes;
}

void hs_webhook_add(struct hs_webhook *webhook, struct hs_event *event)
{
    struct item *item = event != NULL ? malloc(sizeof *item) : NULL;
    if (item == NULL) {
        count_dropped(webhook, HS_WEBHOOK_DROP_MEMORY, 1);
        return;
    }
    item->event = hs_event_retain(event);
    pthread_mutex_lock(&webhook->lock);
    bool fits = has_space(webhook, cost_of(event));
    if (fits) {
        /* set under the lock, so that the queue is sorted by time */
        item->added_us = hs_clock_us();
        webhook->bytes += cost_of(event);
        append(&webhook->queue, item);
        if (webhook->queue.count == 1 || webhook->queue.count == HS_WEBHOOK_BATCH)
            pthread_cond_signal(&webhook->wake);
    }
    pthread_mutex_unlock(&webhook->lock);
    if (fits)
        return;
    hs_event_release(event);
    free(item);
    count_dropped(webhook, HS_WEBHOOK_DROP_QUEUE, 1);
}

struct hs_webhook_state hs_webhook_state(struct hs_webhook *webhook)
{
    pthread_mutex_lock(&webhook->lock);
    const struct list *queue = &webhook->queue, *batch = &webhook->batch;
    const struct item *oldest = batch->first != NULL ? batch->first : queue->first;
    struct hs_webhook_state state = {.waiting = queue->count + batch->count};
    if (oldest != NULL)
        state.oldest_us = hs_clock_us() - oldest->added_us;
    pthread_mutex_unlock(&webhook->lock);
    return state;
}

/* ---- start and end ---- */

static void destroy(struct hs_webhook *webhook)
{
    hs_post_close(webhook->post);
    hs_secret_free(webhook->secret);
    pthread_cond_destroy(&webhook->wake);
    pthread_mutex_destroy(&webhook->lock);
    free(webhook);
    curl_global_cleanup();
}

struct hs_webhook *hs_webhook_create(const struct hs_webhook_settings *settings,
                                     struct hs_metrics *metrics)
{
    struct hs_webhook *webhook = calloc(1, sizeof *webhook);
    if (webhook == NULL || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
        free(webhook);
        return NULL;
    }
    webhook->settings = *settings;
    webhook->metrics = metrics;
    webhook->queue.last = &webhook->queue.first;
    webhook->batch.last = &webhook->batch.first;
    atomic_init(&webhook->end_us, INT64_MAX);
    pthread_mutex_init(&webhook->lock, NULL);
    hs_clock_condition(&webhook->wake);
    webhook->post = hs_post_open(webhook->settings.url, &webhook->end_us);
    if (webhook->post != NULL)
        return webhook;
    destroy(webhook);
    return NULL;
}

bool hs_webhook_set_secret(struct hs_webhook *webhook, struct hs_secret *secret)
{
    pthread_mutex_lock(&webhook->lock);
    struct hs_secret *before = webhook->secret;
    webhook->secret = secret;
    pthread_mutex_unlock(&webhook->lock);
    bool differs = before == NULL || before->size != secret->size ||
                   memcmp(before->bytes, secret->bytes, secret->size) != 0;
    hs_secret_free(before);
    return differs;
}

bool hs_webhook_start(struct hs_webhook *webhook)
{
    webhook->is_running = hs_thread_start(&webhook->thread, deliver, webhook);
    return webhook->is_running;
}

void hs_webhook_stop(struct hs_webhook *webhook, int64_t wait_us)
{
    if (webhook == NULL)
        return;
    pthread_mutex_lock(&webhook->lock);
    webhook->is_ending = true;
    atomic_store(&webhook->end_us, hs_clock_us() + wait_us);
    pthread_cond_signal(&webhook->wake);
    pthread_mutex_unlock(&webhook->lock);
    if (webhook->is_running)
        pthread_join(webhook->thread, NULL);
    destroy(webhook);
}
