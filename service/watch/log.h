/*
 * The log on stderr. A line is a JSON object with `ts`, `level`, `msg` and the fields of the event,
 * at most 4096 bytes. If a line would be longer, the log leaves out the last fields of the line and
 * adds the field `cut`. Each line is one write, so lines from different threads never mix. Logging
 * never waits. While stderr accepts no bytes, lines are dropped, and the number of dropped lines is
 * logged later. Thread-safe.
 */
#ifndef HS_SERVICE_LOG_H
#define HS_SERVICE_LOG_H

#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define HS_LOG_LEVELS(X)                                                                           \
    X(ERROR, "error")                                                                              \
    X(WARN, "warn")                                                                                \
    X(INFO, "info")                                                                                \
    X(DEBUG, "debug")

#define X(id, name) HS_LOG_##id,
enum hs_log_level { HS_LOG_LEVELS(X) HS_LOG_LEVEL_COUNT };
#undef X

bool hs_log_level_parse(const char *name, enum hs_log_level *level);

/* Sets the level of the log, which is HS_LOG_INFO at first. Only lines with this level, or with an
   earlier level in HS_LOG_LEVELS, are written. */
void hs_log_set_level(enum hs_log_level level);
bool hs_log_enabled(enum hs_log_level level);

struct hs_log_field {
    const char *name; /* a string literal */
    const char *text; /* NULL: the field is `number` */
    int64_t number;
};

#define HS_LOG_TEXT(name, value)   ((struct hs_log_field){(name), (value), 0})
#define HS_LOG_NUMBER(name, value) ((struct hs_log_field){(name), NULL, (int64_t)(value)})

/* Writes one line. Leaves out fields with the text "". */
void hs_log_fields(enum hs_log_level level, const char *msg, const struct hs_log_field *fields,
                   size_t count);

/* Writes one line, for example: hs_log(HS_LOG_INFO, "listening", HS_LOG_TEXT("address",
   address)) */
#define hs_log(level, msg, ...)                                                                    \
    hs_log_fields((level), (msg), (const struct hs_log_field[]){__VA_ARGS__},                      \
                  sizeof((const struct hs_log_field[]){__VA_ARGS__}) /                             \
                      sizeof(struct hs_log_field))

/* A rate limit for log lines of one kind, which clients or other servers can cause. Set
   `per_second` and `kind`, and set the other members to 0. */
struct hs_log_limit {
    unsigned per_second; /* 0: no limit */
    const char *kind;    /* a string literal, for the line that reports dropped lines */
    /* upper 32 bits: the current second; lower 32 bits: lines written in this second */
    atomic_ullong window;
    atomic_ullong dropped; /* dropped lines that are not reported yet */
};

/* Returns whether another line may be written now. If not, counts the line as dropped. */
bool hs_log_allowed(struct hs_log_limit *limit);

/* Logs how many lines were dropped in a second. If `now` is false, logs the number only after the
   second is over. Logs nothing if no lines were dropped. Call this function a few times a
   second. */
void hs_log_report(struct hs_log_limit *limit, bool now);

/* Returns how many lines were dropped so far, because of rate limits or because stderr accepted no
   bytes. */
uint64_t hs_log_dropped(void);

#endif
