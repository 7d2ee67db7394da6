#include "service/record/queue.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "service/record/stream.h"
#include "service/system/clock.h"
#include "service/system/files.h"
#include "service/system/thread.h"
#include "service/watch/log.h"

/* OVERHEAD is added to the size of each item, so that the limit also bounds the memory for many
   short lines. */
enum { OVERHEAD = 64, PIECE = 65536 };

struct item {
    struct item *next;
    struct hs_buffer text;
    /* a large part of the line, written after `text`; ptr NULL: the line consists of `text` only */
    struct hs_str body;
    void (*done)(void *holder);
    void *holder;
    bool unbound; /* the item is queued even if it does not fit the limit */
};

struct hs_line_queue {
    pthread_mutex_t lock; /* guards the list, `bytes`, `ending` and `failed` */
    /* `wake` is for the queue's thread, `written` for threads that wait for space. */
    pthread_cond_t wake, written;
    struct item *first, **last;
    atomic_size_t bytes;
    size_t max_bytes;
    bool ending, failed;
    pthread_t thread;
    int file; /* only the queue's thread uses `file` and the following members */
    size_t held;
    char piece[PIECE]; /* collects short lines, to write them together */
};

/* ---- the file ---- */

/* Returns false on failure. The file may then end with part of a line, so nothing more may be
   written. */
static bool write_all(int file, const char *bytes, size_t size)
{
    return hs_file_write(file, &(struct iovec){(void *)(uintptr_t)bytes, size}, 1);
}

static bool flush(struct hs_line_queue *queue)
{
    size_t held = queue->held;
    queue->held = 0;
    return write_all(queue->file, queue->piece, held);
}

static bool write_bytes(struct hs_line_queue *queue, const char *bytes, size_t size)
{
    if (size > PIECE - queue->held && !flush(queue))
        return false;
    if (size > PIECE)
        return write_all(queue->file, bytes, size);
    memcpy(queue->piece + queue->held, bytes, size);
    queue->held += size;
    return true;
}

static bool write_flat(struct hs_line_queue *queue, struct hs_str body)
{
    char part[4096];
    for (size_t at = 0; at < body.len;) {
        size_t size = body.len - at < sizeof part ? body.len - at : sizeof part;
        memcpy(part, body.ptr + at, size);
        hs_stream_flatten(part, size);
        if (!write_bytes(queue, part, size))
            return false;
        at += size;
    }
    return true;
}

static bool write_item(struct hs_line_queue *queue, const struct item *item)
{
    if (!write_bytes(queue, item->text.data, item->text.len))
        return false;
    return item->body.ptr == NULL ||
           (write_flat(queue, item->body) && write_bytes(queue, "}\n", 2));
}

/* Prepares a file for further lines. If the last line has no newline, because an earlier writer was
   interrupted, adds the newline. Refuses a file that does not start like a recording (errno
   EBADMSG). */
static bool continue_file(const char *path, int file)
{
    static const char start[] = "{\"format\":\"" HS_STREAM_FORMAT "\"";
    struct stat status;
    char first[sizeof start] = "", last = '\n';
    if (fstat(file, &status) != 0)
        return false;
    if (!S_ISREG(status.st_mode) || status.st_size == 0)
        return true;
    int reader = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = reader >= 0 ? pread(reader, first, sizeof start - 1, 0) : -1;
    bool known = got > 0 && pread(reader, &last, 1, status.st_size - 1) == 1;
    if (reader >= 0)
        close(reader);
    if (known && memcmp(first, start, (size_t)got) != 0) {
        errno = EBADMSG;
        return false;
    }
    return known && (last == '\n' || write_all(file, "\n", 1));
}

/* ---- the thread ---- */

static void free_item(struct item *item)
{
    hs_buffer_free(&item->text);
    if (item->done != NULL)
        item->done(item->holder);
    free(item);
}

/* Waits for lines. NULL: the queue is being closed, and is empty. The caller holds the lock, which
   is released during the wait. */
static struct item *wait_for_items(struct hs_line_queue *queue)
{
    while (queue->first == NULL && !queue->ending)
        pthread_cond_wait(&queue->wake, &queue->lock);
    struct item *items = queue->first;
    queue->first = NULL;
    queue->last = &queue->first;
    return items;
}

static void fail(struct hs_line_queue *queue)
{
    hs_log(HS_LOG_ERROR, "the recording cannot be written and ends here",
           HS_LOG_TEXT("detail", strerror(errno)));
    pthread_mutex_lock(&queue->lock);
    queue->failed = true;
    pthread_cond_broadcast(&queue->written);
    pthread_mutex_unlock(&queue->lock);
}

/* An item counts towards the limit until it is written. */
static void write_items(struct hs_line_queue *queue, struct item *items, bool *failed)
{
    while (items != NULL) {
        struct item *item = items;
        items = item->next;
        bool last = items == NULL;
        if (!*failed && !(write_item(queue, item) && (!last || flush(queue)))) {
            *failed = true;
            fail(queue);
        }
        pthread_mutex_lock(&queue->lock);
        queue->bytes -= item->text.len + OVERHEAD;
        pthread_cond_broadcast(&queue->written);
        pthread_mutex_unlock(&queue->lock);
        free_item(item);
    }
}

static void *write_lines(void *context)
{
    struct hs_line_queue *queue = context;
    bool failed = false;
    for (;;) {
        pthread_mutex_lock(&queue->lock);
        struct item *items = wait_for_items(queue);
        pthread_mutex_unlock(&queue->lock);
        if (items == NULL)
            return NULL;
        write_items(queue, items, &failed);
    }
}

/* ---- the queue ---- */

static int open_file(const char *path, char error[256])
{
    /* The file contains names and positions of players, so only its owner may read it. */
    int file = open(path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
    if (file >= 0 && flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        snprintf(error, 256, "%.180s: another process writes to it", path);
    else if (file < 0 || !continue_file(path, file))
        snprintf(error, 256, "%.180s: %.60s", path,
                 errno == EBADMSG ? "is no recording, so choose another file" : strerror(errno));
    else
        return file;
    if (file >= 0)
        close(file);
    return -1;
}

static void destroy(struct hs_line_queue *queue)
{
    pthread_cond_destroy(&queue->written);
    pthread_cond_destroy(&queue->wake);
    pthread_mutex_destroy(&queue->lock);
    free(queue);
}

struct hs_line_queue *hs_line_queue_open(const char *path, size_t max_bytes, char error[256])
{
    int file = open_file(path, error);
    if (file < 0)
        return NULL;
    struct hs_line_queue *queue = calloc(1, sizeof *queue);
    if (queue != NULL) {
        pthread_mutex_init(&queue->lock, NULL);
        pthread_cond_init(&queue->wake, NULL);
        hs_clock_condition(&queue->written);
        queue->file = file;
        queue->max_bytes = max_bytes;
        queue->last = &queue->first;
        if (hs_thread_start(&queue->thread, write_lines, queue))
            return queue;
        destroy(queue);
    }
    snprintf(error, 256, "out of memory");
    close(file);
    return NULL;
}

void hs_line_queue_close(struct hs_line_queue *queue)
{
    if (queue == NULL)
        return;
    pthread_mutex_lock(&queue->lock);
    queue->ending = true;
    pthread_cond_signal(&queue->wake);
    pthread_mutex_unlock(&queue->lock);
    pthread_join(queue->thread, NULL);
    if (close(queue->file) != 0)
        hs_log(HS_LOG_ERROR, "the recording may be incomplete",
               HS_LOG_TEXT("detail", strerror(errno)));
    destroy(queue);
}

/* The caller holds the lock. */
static bool has_space(const struct hs_line_queue *queue, size_t cost)
{
    return queue->bytes < queue->max_bytes && cost <= queue->max_bytes - queue->bytes;
}

bool hs_line_queue_wait(struct hs_line_queue *queue, size_t bytes, int64_t until_us)
{
    struct timespec until = hs_clock_timespec(until_us);
    int result = 0;
    pthread_mutex_lock(&queue->lock);
    while (!queue->failed && !has_space(queue, bytes + OVERHEAD) && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&queue->written, &queue->lock, &until);
    bool fits = !queue->failed && has_space(queue, bytes + OVERHEAD);
    pthread_mutex_unlock(&queue->lock);
    return fits;
}

static bool put(struct hs_line_queue *queue, struct item *item)
{
    size_t cost = item->text.len + OVERHEAD;
    pthread_mutex_lock(&queue->lock);
    bool fits = !queue->failed && (has_space(queue, cost) || item->unbound);
    if (fits) {
        queue->bytes += cost;
        *queue->last = item;
        queue->last = &item->next;
        pthread_cond_signal(&queue->wake);
    }
    pthread_mutex_unlock(&queue->lock);
    return fits;
}

static bool put_text(struct hs_line_queue *queue, struct hs_buffer *text, const struct item *rest)
{
    struct item *item = text->failed ? NULL : malloc(sizeof *item);
    if (item == NULL)
        return false;
    *item = *rest;
    item->text = *text;
    if (!put(queue, item)) {
        free(item);
        return false;
    }
    *text = (struct hs_buffer){0};
    return true;
}

bool hs_line_queue_put(struct hs_line_queue *queue, struct hs_buffer *lines)
{
    return put_text(queue, lines, &(struct item){0});
}

bool hs_line_queue_put_last(struct hs_line_queue *queue, struct hs_buffer *lines)
{
    return put_text(queue, lines, &(struct item){.unbound = true});
}

bool hs_line_queue_put_around(struct hs_line_queue *queue, struct hs_buffer *head,
                              struct hs_str body, void (*done)(void *holder), void *holder)
{
    if (put_text(queue, head, &(struct item){.body = body, .done = done, .holder = holder}))
        return true;
    done(holder);
    return false;
}

size_t hs_line_queue_bytes(struct hs_line_queue *queue)
{
    return queue->bytes;
}
