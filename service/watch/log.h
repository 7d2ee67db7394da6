/*
 * The log on stderr. A line is a JSON object with `ts`, `level`, `msg` and the fields of the event.
 * Each line is one write, so lines of several threads never mix. A line has at most 4096 bytes. A
 * line that would be too long is written without its last fields, and with the field `cut`. Logging
 * never waits for a reader. While stderr accepts no bytes, lines are dropped and counted, and their
 * number is logged later. Thread-safe.
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

/* Sets the level. Lines with a later level in HS_LOG_LEVELS are dropped. The default level is
   HS_LOG_INFO. */
void hs_log_set_level(enum hs_log_level level);
bool hs_log_enabled(enum hs_log_level level);

struct hs_log_field {
    const char *name; /* a literal */
    const char *text; /* NULL: the field is `number` */
    int64_t number;
};

#define HS_LOG_TEXT(name, value)   ((struct hs_log_field){(name), (value), 0})
#define HS_LOG_NUMBER(name, value) ((struct hs_log_field){(name), NULL, (int64_t)(value)})

/* Writes one line. Skips fields whose text is "". */
void hs_log_fields(enum hs_log_level level, const char *msg, const struct hs_log_field *fields,
                   size_t count);

/* Writes one line, for example: hs_log(HS_LOG_INFO, "listening", HS_LOG_TEXT("address",
   address)) */
#define hs_log(level, msg, ...)                                                                    \
    hs_log_fields((level), (msg), (const struct hs_log_field[]){__VA_ARGS__},                      \
                  sizeof((const struct hs_log_field[]){__VA_ARGS__}) /                             \
                      sizeof(struct hs_log_field))

/* A rate limit for one kind of line that a peer can cause. The caller sets the first two members
   and zeroes the rest. */
struct hs_log_limit {
    unsigned per_second;   /* 0: no limit */
    const char *kind;      /* a literal, for the line that reports dropped lines */
    atomic_ullong window;  /* the high 32 bits are the current second, the low 32 bits the number of
                              lines written in this second */
    atomic_ullong dropped; /* dropped lines that are not reported yet */
};

/* Returns whether one more line may be written now. If not, counts the line as dropped. */
bool hs_log_allowed(struct hs_log_limit *limit);

/* Logs how many lines were dropped, if any. Does nothing until the second in which they were
   dropped is over, unless `now` is set. Call it a few times a second. */
void hs_log_report(struct hs_log_limit *limit, bool now);

/* Returns the number of lines that were dropped so far, because of limits or because stderr
   accepted no bytes. */
uint64_t hs_log_dropped(void);

#endif
