/*
 * The log: one JSON object a line on stderr, `ts`, `level`, `msg`, then the fields of the event.
 * A line goes out in one write, so lines of several threads never mix, and has at most 4096 bytes:
 * of one that would be longer the last fields are left out, and it says `cut`. Nobody waits for a
 * reader that does not read: then lines are left out, counted, and their number is written as soon
 * as somebody reads again. Thread-safe.
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

enum hs_log_level {
#define X(id, name) HS_LOG_##id,
    HS_LOG_LEVELS(X)
#undef X
        HS_LOG_LEVEL_COUNT
};

bool hs_log_level_parse(const char *name, enum hs_log_level *level);

/* Lines above this level are dropped; HS_LOG_INFO from the start. */
void hs_log_set_level(enum hs_log_level level);
bool hs_log_enabled(enum hs_log_level level);

struct hs_log_field {
    const char *name; /* a literal */
    const char *text; /* NULL: the field is `number` */
    int64_t number;
};

#define HS_LOG_TEXT(name, value)   ((struct hs_log_field){(name), (value), 0})
#define HS_LOG_NUMBER(name, value) ((struct hs_log_field){(name), NULL, (int64_t)(value)})

/* Writes one line. Fields whose text is "" are left out. */
void hs_log_fields(enum hs_log_level level, const char *msg, const struct hs_log_field *fields,
                   size_t count);

/* hs_log(HS_LOG_INFO, "listening", HS_LOG_TEXT("address", address)) */
#define hs_log(level, msg, ...)                                                                    \
    hs_log_fields((level), (msg), (const struct hs_log_field[]){__VA_ARGS__},                      \
                  sizeof((const struct hs_log_field[]){__VA_ARGS__}) /                             \
                      sizeof(struct hs_log_field))

/* A bound on lines of one kind that a peer can cause. Start from a zeroed struct with the first two
   members set. */
struct hs_log_limit {
    unsigned per_second;   /* 0: no bound */
    const char *kind;      /* a literal: what is left out, in the line that says so */
    atomic_ullong window;  /* the second being counted, and how many lines in its low 32 bits */
    atomic_ullong dropped; /* not reported yet */
};

/* Whether one more line may go out now; counted as left out when not. */
bool hs_log_allowed(struct hs_log_limit *limit);

/* Writes how many lines were left out, if any, once their second is over (or `now`). To be called
   every now and then. */
void hs_log_report(struct hs_log_limit *limit, bool now);

/* Lines left out so far, for their number or because nobody read them. */
uint64_t hs_log_dropped(void);

#endif
