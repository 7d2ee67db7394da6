#include "service/log.h"

#include "api/escape.h"

#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

static const char *const level_names[HS_LOG_LEVEL_COUNT] = {
#define X(id, name) name,
    HS_LOG_LEVELS(X)
#undef X
};

static atomic_int threshold = HS_LOG_INFO;

const char *hs_log_level_name(enum hs_log_level level)
{
    return level_names[level];
}

bool hs_log_level_parse(const char *name, enum hs_log_level *level)
{
    for (size_t i = 0; i < HS_LOG_LEVEL_COUNT; i++) {
        if (strcmp(level_names[i], name) == 0) {
            *level = (enum hs_log_level)i;
            return true;
        }
    }
    return false;
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

void hs_log_fields(enum hs_log_level level, const char *msg, const struct hs_log_field *fields,
                   size_t count)
{
    if (!hs_log_enabled(level))
        return;
    struct hs_buffer line = {0};
    put_time(&line);
    hs_buffer_printf(&line, ",\"level\":\"%s\",\"msg\":", level_names[level]);
    hs_escape_json(&line, (struct hs_str){msg, strlen(msg)});
    for (size_t i = 0; i < count; i++) {
        if (fields[i].text != NULL && fields[i].text[0] == '\0')
            continue;
        hs_buffer_printf(&line, ",\"%s\":", fields[i].name);
        if (fields[i].text != NULL)
            hs_escape_json(&line, (struct hs_str){fields[i].text, strlen(fields[i].text)});
        else
            hs_buffer_printf(&line, "%lld", (long long)fields[i].number);
    }
    hs_buffer_puts(&line, "}\n");
    if (!line.failed && write(STDERR_FILENO, line.data, line.len) < 0) {
        /* Nowhere left to say it. */
    }
    hs_buffer_free(&line);
}

bool hs_log_allowed(struct hs_log_limit *limit, unsigned *dropped)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (atomic_exchange(&limit->second, (long long)now.tv_sec) != (long long)now.tv_sec)
        atomic_store(&limit->count, 0);
    if (atomic_fetch_add(&limit->count, 1) >= limit->per_second) {
        atomic_fetch_add(&limit->dropped, 1);
        return false;
    }
    *dropped = atomic_exchange(&limit->dropped, 0);
    return true;
}
