#include "service/store/link.h"

#include <nettle/base16.h>
#include <nettle/sha1.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "service/store/connect.h"
#include "service/system/clock.h"
#include "service/system/thread.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

struct list {
    struct hs_store_call *first, **end;
};

struct hs_store_link {
    struct hs_store_link_settings settings;
    int wake; /* eventfd that wakes the sleeping thread */
    atomic_bool is_up, is_slow;
    atomic_llong latency_us; /* the latency of the newest reply, or the longest wait of a command
                                that became late after that reply, whichever is longer */
    atomic_size_t backlog;
    pthread_t thread;
    /* Guards the following members. The thread releases the lock before it calls a callback,
       because the caller of hs_store_link_submit may hold a lock that the callback needs. */
    pthread_mutex_t lock;
    bool is_ending;
    int64_t end_us;
    redisContext *redis; /* NULL: the link is down; only the thread sets it */
    /* Sent commands without a reply, oldest first. Only the thread removes commands. */
    struct list sent;
    /* Commands whose script was unknown to the server. When `sent` is empty, these commands are
       sent again, with the whole script. */
    struct list again;
    struct list newer;    /* new commands, which must be sent after the commands in `again` */
    int64_t next_late_us; /* no command becomes late before this time */
    int64_t sent_us;      /* when a command was last sent */
    int64_t moved_us;     /* the last time at which bytes arrived, or at which a full socket
                             accepted bytes again */
    int64_t look_us;      /* when the sleeping thread wakes up by itself */
    /* Only the thread uses the following members. */
    unsigned late_count; /* consecutive late commands */
    const char *address; /* the next address to try */
    int64_t pause_us;
    bool has_logged; /* the log already contains the message that the link is down */
};

static void append(struct list *list, struct hs_store_call *call)
{
    call->next = NULL;
    *list->end = call;
    list->end = &call->next;
}

static struct hs_store_call *take_all(struct list *list)
{
    struct hs_store_call *first = list->first;
    list->first = NULL;
    list->end = &list->first;
    return first;
}

/* ---- commands ---- */

void hs_store_script_init(struct hs_store_script *script, const char *text)
{
    struct sha1_ctx context;
    uint8_t digest[SHA1_DIGEST_SIZE];
    script->text = text;
    sha1_init(&context);
    sha1_update(&context, strlen(text), (const uint8_t *)text);
    sha1_digest(&context, sizeof digest, digest);
    base16_encode_update(script->sha1, sizeof digest, digest);
    script->sha1[sizeof script->sha1 - 1] = '\0';
}

/* Encodes the command in the Redis protocol. Returns false if memory runs out. */
static bool format(struct hs_store_call *call, const struct hs_store_script *script,
                   const struct hs_str *arguments, size_t count)
{
    const char *texts[HS_STORE_ARGUMENTS + 2];
    size_t sizes[HS_STORE_ARGUMENTS + 2], all = 0;
    if (script != NULL) {
        texts[0] = "EVALSHA";
        texts[1] = script->sha1;
        sizes[0] = strlen(texts[0]);
        sizes[1] = strlen(texts[1]);
        all = 2;
    }
    for (size_t i = 0; i < count && i < HS_STORE_ARGUMENTS; i++) {
        texts[all] = arguments[i].ptr;
        sizes[all++] = arguments[i].len;
    }
    int size = redisFormatCommandArgv(&call->bytes, (int)all, texts, sizes);
    if (size < 0)
        return false;
    call->script = script;
    call->size = (size_t)size;
    call->count = (int)all;
    if (script != NULL)
        call->head = (size_t)snprintf(NULL, 0, "*%d\r\n$7\r\nEVALSHA\r\n$40\r\n%s\r\n", call->count,
                                      script->sha1);
    return true;
}

/* Replaces EVALSHA with EVAL and the text of the script, because the server does not have the
   script. Returns false if memory runs out. */
static bool send_whole_script(struct hs_store_call *call)
{
    const char *text = call->script->text;
    size_t room = strlen(text) + 64, rest = call->size - call->head;
    char *bytes = malloc(room + rest);
    if (bytes == NULL)
        return false;
    int head = snprintf(bytes, room, "*%d\r\n$4\r\nEVAL\r\n$%zu\r\n%s\r\n", call->count,
                        strlen(text), text);
    memcpy(bytes + head, call->bytes + call->head, rest);
    redisFreeCommand(call->bytes);
    call->bytes = bytes;
    call->size = (size_t)head + rest;
    call->script = NULL; /* so that this function runs only once for each command */
    return true;
}

/* Counts the call in the metrics and reports its result. */
static void end_call(struct hs_store_link *link, struct hs_store_call *call,
                     enum hs_store_result result, redisReply *reply)
{
    struct hs_metrics *metrics = link->settings.metrics;
    atomic_fetch_sub(&link->backlog, call->size);
    redisFreeCommand(call->bytes);
    if (result == HS_STORE_OK)
        hs_metrics_observe(metrics, HS_METRIC_STORE_DURATION, call->op,
                           (double)(hs_clock_us() - call->began_us) * 1e-6);
    else
        hs_metrics_add(metrics, HS_METRIC_STORE_FAILED, call->op, 1);
    call->done(call, result, &reply);
    freeReplyObject(reply);
}

static void lose_all(struct hs_store_link *link, struct hs_store_call *call)
{
    while (call != NULL) {
        struct hs_store_call *next = call->next; /* `done` may free the call */
        end_call(link, call, HS_STORE_LOST, NULL);
        call = next;
    }
}

/* ---- late commands ---- */

static void in_time(struct hs_store_link *link)
{
    link->late_count = 0;
    atomic_store(&link->is_slow, false);
}

static void be_late(struct hs_store_link *link, struct hs_store_call *call, int64_t now_us)
{
    call->late_us = INT64_MAX; /* a command is late only once, even if it is sent again */
    if (atomic_load(&link->latency_us) < now_us - call->began_us)
        atomic_store(&link->latency_us, now_us - call->began_us);
    if (++link->late_count >= HS_STORE_LATE_MAX)
        atomic_store(&link->is_slow, true);
    if (call->late != NULL)
        call->late(call);
}

/* Returns the time at which the server's silence began. Call this function only while a reply is
   missing. */
static int64_t silent_since_us(const struct hs_store_link *link)
{
    const struct hs_store_call *oldest = link->sent.first;
    return oldest->sent_us > link->moved_us ? oldest->sent_us : link->moved_us;
}

/* Call this function only for a patient link. Returns the time at which the command becomes late if
   the server sends nothing more. */
static int64_t patient_late_us(const struct hs_store_link *link, const struct hs_store_call *call)
{
    int64_t late_us = silent_since_us(link) + call->budget_us;
    int64_t latest_us = call->began_us + HS_STORE_PATIENCE_US;
    return late_us < latest_us ? late_us : latest_us;
}

/* Reports the commands that have become late by `now_us`. The caller holds the lock. The lock is
   released during each callback. During a callback, other threads may append commands, but only
   this thread removes commands. */
static void report_late_of(struct hs_store_link *link, const struct list *list, int64_t now_us)
{
    for (struct hs_store_call *call = list->first; call != NULL; call = call->next) {
        if (link->settings.is_patient && call->late_us <= now_us && call->budget_us > 0)
            call->late_us = patient_late_us(link, call);
        if (call->late_us <= now_us) {
            pthread_mutex_unlock(&link->lock);
            be_late(link, call, now_us);
            pthread_mutex_lock(&link->lock);
        } else if (call->late_us < link->next_late_us) {
            link->next_late_us = call->late_us;
        }
    }
}

static void report_late(struct hs_store_link *link, int64_t now_us)
{
    if (now_us < link->next_late_us)
        return;
    link->next_late_us = INT64_MAX;
    report_late_of(link, &link->sent, now_us);
    report_late_of(link, &link->again, now_us);
    report_late_of(link, &link->newer, now_us);
}

/* ---- the connection ---- */

static void log_down(struct hs_store_link *link, const char *detail)
{
    if (!link->has_logged)
        hs_log(HS_LOG_WARN, "the store cannot be used: matches continue in memory",
               HS_LOG_TEXT("store", link->settings.addresses), HS_LOG_TEXT("detail", detail));
    link->has_logged = true;
}

static void disconnect(struct hs_store_link *link, const char *detail)
{
    log_down(link, detail);
    pthread_mutex_lock(&link->lock);
    if (link->redis != NULL)
        redisFree(link->redis);
    link->redis = NULL;
    bool was_up = atomic_exchange(&link->is_up, false);
    struct hs_store_call *lost[] = {take_all(&link->again), take_all(&link->sent),
                                    take_all(&link->newer)};
    pthread_mutex_unlock(&link->lock);
    if (was_up)
        link->settings.changed(link->settings.context, false);
    for (size_t i = 0; i < sizeof lost / sizeof lost[0]; i++)
        lose_all(link, lost[i]);
}

static bool connect_next(struct hs_store_link *link)
{
    char detail[256] = "";
    const char *address = link->address;
    size_t len = strcspn(address, ",");
    link->address = address[len] == ',' ? address + len + 1 : link->settings.addresses;
    redisContext *redis = hs_store_connect(address, link->settings.secret,
                                           hs_clock_us() + HS_STORE_TIMEOUT_US, detail);
    if (redis == NULL) {
        disconnect(link, detail);
        return false;
    }
    link->address = address; /* try this address first the next time */
    link->pause_us = HS_STORE_PAUSE_US;
    if (link->has_logged)
        hs_log(HS_LOG_INFO, "the store can be used again",
               HS_LOG_TEXT("store", link->settings.addresses));
    link->has_logged = false;
    in_time(link);
    pthread_mutex_lock(&link->lock);
    link->redis = redis;
    link->moved_us = hs_clock_us();
    link->next_late_us = INT64_MAX;
    link->look_us = INT64_MIN; /* the thread is awake */
    atomic_store(&link->is_up, true);
    pthread_mutex_unlock(&link->lock);
    link->settings.changed(link->settings.context, true);
    return true;
}

/* ---- sending and receiving; the lock is held ---- */

/* Returns the time at which the thread must wake up even without an event. */
static int64_t next_look_us(const struct hs_store_link *link)
{
    if (link->sent.first == NULL)
        return link->moved_us + HS_STORE_PING_US;
    int64_t timeout_us = silent_since_us(link) + HS_STORE_TIMEOUT_US;
    return link->next_late_us < timeout_us ? link->next_late_us : timeout_us;
}

static void send_call(struct hs_store_link *link, struct hs_store_call *call, int64_t now_us)
{
    append(&link->sent, call);
    call->sent_us = link->sent_us = now_us;
    if (link->settings.is_patient && call->budget_us > 0 && call->late_us != INT64_MAX)
        call->late_us = patient_late_us(link, call);
    if (call->late_us < link->next_late_us)
        link->next_late_us = call->late_us;
    redisAppendFormattedCommand(link->redis, call->bytes, call->size);
    hs_metrics_add(link->settings.metrics, HS_METRIC_STORE_SENT_BYTES, 0, (int64_t)call->size);
}

static void send_list(struct hs_store_link *link, struct hs_store_call *call, int64_t now_us)
{
    while (call != NULL) {
        struct hs_store_call *next = call->next;
        send_call(link, call, now_us);
        call = next;
    }
}

/* Sends a new command. If older commands must be sent again first, appends the new command to
   `newer`. */
static void send_new(struct hs_store_link *link, struct hs_store_call *call)
{
    atomic_fetch_add(&link->backlog, call->size);
    if (link->again.first == NULL) {
        send_call(link, call, call->began_us);
        return;
    }
    append(&link->newer, call);
    if (call->late_us < link->next_late_us)
        link->next_late_us = call->late_us;
}

/* Sends the command on the calling thread. Waking the link's thread instead would take as long as
   Redis needs for the command. */
bool hs_store_link_submit(struct hs_store_link *link, struct hs_store_call *call,
                          const struct hs_store_script *script, const struct hs_str *arguments,
                          size_t count)
{
    if (!atomic_load(&link->is_up) || atomic_load(&link->backlog) > HS_STORE_BACKLOG ||
        !format(call, script, arguments, count))
        return false;
    call->began_us = hs_clock_us();
    call->late_us = call->budget_us > 0 ? call->began_us + call->budget_us : INT64_MAX;
    int is_written = 1;
    bool must_wake = false;
    pthread_mutex_lock(&link->lock);
    bool fine = link->redis != NULL && !link->is_ending;
    if (fine) {
        send_new(link, call);
        bool has_failed = redisBufferWrite(link->redis, &is_written) != REDIS_OK;
        /* Wake the thread if the connection broke, if bytes remain to be sent, or if this command
           becomes late before the thread wakes by itself. */
        must_wake = has_failed || is_written == 0 || call->late_us < link->look_us;
    }
    pthread_mutex_unlock(&link->lock);
    if (!fine)
        redisFreeCommand(call->bytes);
    else if (must_wake)
        eventfd_write(link->wake, 1);
    return fine;
}

/* Returns whether this error means that the server is not usable at the moment. */
static bool is_unusable(const redisReply *reply)
{
    static const char *const errors[] = {"READONLY", "LOADING", "MASTERDOWN", "NOAUTH"};
    for (size_t i = 0; i < sizeof errors / sizeof errors[0]; i++)
        if (strncmp(reply->str, errors[i], strlen(errors[i])) == 0)
            return true;
    return false;
}

/* Handles the reply to the oldest command. Releases the lock during the command's callback. Returns
   false, with the reason in `detail`, if the connection must be closed. */
static bool take_reply(struct hs_store_link *link, redisReply *reply, char detail[256])
{
    struct hs_store_call *call = link->sent.first;
    bool is_error = reply->type == REDIS_REPLY_ERROR;
    if (call == NULL || (is_error && is_unusable(reply))) {
        snprintf(detail, 256, "%s", is_error ? reply->str : "a reply that belongs to no command");
        freeReplyObject(reply);
        return false;
    }
    link->sent.first = call->next;
    if (link->sent.first == NULL)
        link->sent.end = &link->sent.first;
    size_t before = call->size;
    atomic_store(&link->latency_us, hs_clock_us() - call->began_us);
    if (is_error && call->script != NULL && strncmp(reply->str, "NOSCRIPT", 8) == 0 &&
        send_whole_script(call)) {
        freeReplyObject(reply);
        atomic_fetch_add(&link->backlog, call->size - before);
        append(&link->again, call);
        return true;
    }
    if (call->late_us != INT64_MAX)
        in_time(link);
    pthread_mutex_unlock(&link->lock);
    end_call(link, call, is_error ? HS_STORE_REFUSED : HS_STORE_OK, reply);
    pthread_mutex_lock(&link->lock);
    return true;
}

static bool receive(struct hs_store_link *link, char detail[256])
{
    void *reply = NULL;
    bool fine = redisBufferRead(link->redis) == REDIS_OK;
    while (fine && redisGetReplyFromReader(link->redis, &reply) == REDIS_OK && reply != NULL)
        fine = take_reply(link, reply, detail);
    if (link->redis->err != 0)
        snprintf(detail, 256, "%s", link->redis->errstr);
    return fine && link->redis->err == 0;
}

/* ---- the PING of an idle link ---- */

static void end_ping(struct hs_store_call *call, enum hs_store_result result,
                     struct redisReply **reply)
{
    (void)result;
    (void)reply;
    free(call);
}

static void ping(struct hs_store_link *link, int64_t now_us)
{
    const struct hs_str name = HS_STR("PING");
    struct hs_store_call *call = calloc(1, sizeof *call);
    if (call == NULL || !format(call, NULL, &name, 1)) {
        free(call);
        return;
    }
    call->op = HS_STORE_PING;
    call->done = end_ping;
    call->began_us = now_us;
    /* A slow PING counts as a late command, so the link detects a slow store before any request has
       to wait. */
    call->late_us = now_us + HS_STORE_SLOW_US;
    send_new(link, call);
}

/* ---- the thread ---- */

static bool has_timed_out(const struct hs_store_link *link, int64_t now_us)
{
    return link->sent.first != NULL && now_us - silent_since_us(link) > HS_STORE_TIMEOUT_US;
}

static void clear_wake(const struct hs_store_link *link)
{
    eventfd_t times;
    (void)eventfd_read(link->wake, &times); /* non-blocking */
}

/* Sends remaining bytes, and a PING if the link was idle for HS_STORE_PING_US. Returns the time at
   which the thread must wake up. The caller holds the lock. */
static int64_t prepare_sleep(struct hs_store_link *link, int *is_written)
{
    int64_t now_us = hs_clock_us();
    if (link->sent.first == NULL && now_us - link->moved_us >= HS_STORE_PING_US)
        ping(link, now_us);
    redisBufferWrite(link->redis, is_written);
    int64_t look_us = next_look_us(link);
    /* Shortly after a command, the thread sleeps for at most HS_STORE_SLOW_US, so that the next
       command need not wake the thread. */
    if (now_us - link->sent_us < HS_STORE_SLOW_US && look_us > now_us + HS_STORE_SLOW_US)
        look_us = now_us + HS_STORE_SLOW_US;
    link->look_us = look_us;
    return look_us;
}

/* Receives replies, sends waiting commands, and reports late commands. The caller holds the lock.
   Returns false, with the reason in `detail`, if the connection must be closed. */
static bool handle_events(struct hs_store_link *link, short events, char detail[256])
{
    int64_t now_us = hs_clock_us();
    link->look_us = INT64_MIN; /* the thread is awake */
    if (events != 0)
        link->moved_us = now_us;
    if ((events & ~POLLOUT) != 0 && !receive(link, detail))
        return false;
    if (link->sent.first == NULL) {
        send_list(link, take_all(&link->again), now_us);
        send_list(link, take_all(&link->newer), now_us);
    }
    report_late(link, now_us);
    if (!has_timed_out(link, now_us))
        return true;
    snprintf(detail, 256, "no reply in time");
    return false;
}

/* Waits for the socket or for another thread, and handles the events. Returns false, with the
   reason in `detail`, if the connection must be closed. */
static bool exchange(struct hs_store_link *link, char detail[256])
{
    int is_written = 0;
    pthread_mutex_lock(&link->lock);
    int64_t until_us = prepare_sleep(link, &is_written);
    bool fine = link->redis->err == 0;
    if (!fine)
        snprintf(detail, 256, "%s", link->redis->errstr);
    struct pollfd polls[] = {
        {.fd = link->redis->fd, .events = (short)(POLLIN | (is_written != 0 ? 0 : POLLOUT))},
        {.fd = link->wake, .events = POLLIN}};
    pthread_mutex_unlock(&link->lock);
    if (!fine)
        return false;
    int64_t left_us = until_us - hs_clock_us();
    struct timespec left = hs_clock_timespec(left_us > 0 ? left_us : 0);
    int ready = ppoll(polls, 2, &left, NULL);
    if (ready > 0 && polls[1].revents != 0)
        clear_wake(link);
    pthread_mutex_lock(&link->lock);
    fine = handle_events(link, ready > 0 ? polls[0].revents : 0, detail);
    pthread_mutex_unlock(&link->lock);
    return fine;
}

/* Returns whether the thread must end: the link is being stopped, and no reply is missing or
   `end_us` has passed. */
static bool must_end(struct hs_store_link *link)
{
    pthread_mutex_lock(&link->lock);
    bool is_idle = link->redis == NULL || (link->sent.first == NULL && link->again.first == NULL);
    bool must = link->is_ending && (is_idle || hs_clock_us() >= link->end_us);
    pthread_mutex_unlock(&link->lock);
    return must;
}

static void pause_before_retry(struct hs_store_link *link)
{
    struct pollfd polls[] = {{.fd = link->wake, .events = POLLIN}};
    if (poll(polls, 1, (int)(link->pause_us / 1000)) > 0)
        clear_wake(link);
    link->pause_us *= 2;
    if (link->pause_us > HS_STORE_LONGEST_PAUSE_US)
        link->pause_us = HS_STORE_LONGEST_PAUSE_US;
}

static void *work(void *context)
{
    struct hs_store_link *link = context;
    while (!must_end(link)) {
        char detail[256] = "";
        if (link->redis == NULL && !connect_next(link))
            pause_before_retry(link);
        else if (!exchange(link, detail))
            disconnect(link, detail);
    }
    link->has_logged = true; /* stopping is not a failure, so `disconnect` must not log it */
    disconnect(link, "");
    return NULL;
}

/* ---- life ---- */

void hs_store_link_free(struct hs_store_link *link)
{
    if (link == NULL)
        return;
    if (link->wake >= 0)
        close(link->wake);
    pthread_mutex_destroy(&link->lock);
    free(link);
}

struct hs_store_link *hs_store_link_start(const struct hs_store_link_settings *settings)
{
    struct hs_store_link *link = calloc(1, sizeof *link);
    if (link == NULL)
        return NULL;
    link->settings = *settings;
    link->address = settings->addresses;
    link->pause_us = HS_STORE_PAUSE_US;
    link->sent.end = &link->sent.first;
    link->again.end = &link->again.first;
    link->newer.end = &link->newer.first;
    pthread_mutex_init(&link->lock, NULL);
    link->wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (link->wake >= 0 && hs_thread_start(&link->thread, work, link))
        return link;
    hs_store_link_free(link);
    return NULL;
}

void hs_store_link_stop(struct hs_store_link *link, int64_t wait_us)
{
    if (link == NULL)
        return;
    pthread_mutex_lock(&link->lock);
    link->is_ending = true;
    link->end_us = hs_clock_us() + wait_us;
    pthread_mutex_unlock(&link->lock);
    eventfd_write(link->wake, 1);
    pthread_join(link->thread, NULL);
}

bool hs_store_link_is_up(const struct hs_store_link *link)
{
    return atomic_load(&link->is_up);
}

bool hs_store_link_is_late(const struct hs_store_link *link, int64_t budget_us)
{
    return !atomic_load(&link->is_up) ||
           (atomic_load(&link->is_slow) && atomic_load(&link->latency_us) >= budget_us);
}

size_t hs_store_link_backlog(const struct hs_store_link *link)
{
    return atomic_load(&link->backlog);
}
