#include "service/watch/log.h"

#include "api/json/escape.h"
#include "validators/vocabulary.h"

#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAME(id, name) name,
static const char *const level_names[] = {HS_LOG_LEVELS(NAME)};
static const struct hs_vocabulary levels = {level_names, HS_LOG_LEVEL_COUNT};

static atomic_int threshold = HS_LOG_INFO;

bool hs_log_level_parse(const char *name, enum hs_log_level *level)
{
    int found = hs_vocabulary_find(&levels, hs_str_of(name));
    if (found >= 0)
        *level = (enum hs_log_level)found;
    return found >= 0;
}

void hs_log_set_level(enum hs_log_level level)
{
    atomic_store_explicit(&threshold, (int)level, memory_order_relaxed);
}

bool hs_log_enabled(enum hs_log_level level)
{
    return (int)level <= atomic_load_explicit(&threshold, memory_order_relaxed);
}

static void put_time(struct hs_buffer *line)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    struct tm utc;
    gmtime_r(&now.tv_sec, &utc);
    char text[32];
    strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%S", &utc);
    hs_buffer_printf(line, "{\"ts\":\"%s.%06ldZ\"", text, now.tv_nsec / 1000);
}

/* ---- writing ---- */

/* LINE_MAX_BYTES: maximum length of a line. A line of this length fits into one page of a pipe, so
   each line is written completely or not at all. */
enum { LINE_MAX_BYTES = 4096, SPACE_FOR_CUT = 16 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* a thread holds this lock from poll until
                                                            write has returned */
/* dropped lines that are not reported yet; guarded by `lock` */
static unsigned long long unread;
static atomic_ullong all_dropped;

static bool is_writable(void)
{
    struct pollfd poller = {.fd = STDERR_FILENO, .events = POLLOUT};
    return poll(&poller, 1, 0) == 1 && (poller.revents & POLLOUT) != 0;
}

static void write_line(const struct hs_buffer *line)
{
    if (!line->failed && write(STDERR_FILENO, line->data, line->len) < 0) {
        /* ignore the failure, because the service can report it nowhere else */
    }
}

static void put_fields(struct hs_buffer *line, enum hs_log_level level, const char *msg,
                       const struct hs_log_field *fields, size_t count)
{
    put_time(line);
    hs_buffer_printf(line, ",\"level\":\"%s\",\"msg\":", level_names[level]);
    hs_escape_json(line, hs_str_of(msg));
    for (size_t i = 0; i < count; i++) {
        size_t before = line->len;
        if (fields[i].text != NULL && fields[i].text[0] == '\0')
            continue;
        hs_buffer_printf(line, ",\"%s\":", fields[i].name);
        if (fields[i].text != NULL)
            hs_escape_json(line, hs_str_of(fields[i].text));
        else
            hs_buffer_printf(line, "%lld", (long long)fields[i].number);
        if (line->len > LINE_MAX_BYTES - SPACE_FOR_CUT) {
            line->len = before;
            hs_buffer_puts(line, ",\"cut\":true");
            break;
        }
    }
    hs_buffer_puts(line, "}\n");
}

/* Writes how many lines were dropped. The caller holds `lock`, and stderr must accept bytes. */
static void write_unread(void)
{
    struct hs_buffer line = {0};
    const struct hs_log_field fields[] = {HS_LOG_TEXT("kind", "not read"),
                                          HS_LOG_NUMBER("lines", unread)};
    put_fields(&line, HS_LOG_WARN, "log lines left out", fields, 2);
    write_line(&line);
    hs_buffer_free(&line);
    unread = 0;
}

void hs_log_fields(enum hs_log_level level, const char *msg, const struct hs_log_field *fields,
                   size_t count)
{
    if (!hs_log_enabled(level))
        return;
    struct hs_buffer line = {0};
    put_fields(&line, level, msg, fields, count);
    pthread_mutex_lock(&lock);
    if (unread > 0 && is_writable())
        write_unread();
    if (is_writable()) {
        write_line(&line);
    } else {
        unread++;
        atomic_fetch_add_explicit(&all_dropped, 1, memory_order_relaxed);
    }
    pthread_mutex_unlock(&lock);
    hs_buffer_free(&line);
}

/* ---- limits ---- */

static unsigned long long this_second(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (unsigned long long)now.tv_sec << 32;
}

bool hs_log_allowed(struct hs_log_limit *limit)
{
    if (limit->per_second == 0)
        return true;
    unsigned long long second = this_second(), seen = atomic_load(&limit->window), next;
    do {
        next = (seen >> 32 << 32) == second ? seen + 1 : second + 1;
        if ((next & UINT32_MAX) > limit->per_second) {
            atomic_fetch_add(&limit->dropped, 1);
            atomic_fetch_add_explicit(&all_dropped, 1, memory_order_relaxed);
            return false;
        }
    } while (!atomic_compare_exchange_weak(&limit->window, &seen, next));
    return true;
}

void hs_log_report(struct hs_log_limit *limit, bool now)
{
    if (atomic_load(&limit->dropped) == 0 ||
        (!now && (atomic_load(&limit->window) >> 32 << 32) == this_second()))
        return;
    unsigned long long dropped = atomic_exchange(&limit->dropped, 0);
    if (dropped > 0)
        hs_log(HS_LOG_WARN, "log lines left out", HS_LOG_TEXT("kind", limit->kind),
               HS_LOG_NUMBER("lines", dropped));
}

uint64_t hs_log_dropped(void)
{
    return atomic_load_explicit(&all_dropped, memory_order_relaxed);
}
