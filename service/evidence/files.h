/*
 * The places of the evidence store. A place is a file or a schema with the tables of tables.h.
 *
 * | place        | with SQLite              | with PostgreSQL                              |
 * |--------------|--------------------------|----------------------------------------------|
 * | a day (UTC)  | `evidence-2026-01-31.db` |                                              |
 * | all days     |                          | the schema `hindsight`                       |
 * | the cases    | `cases.db`               | the schema `hindsight_cases`                 |
 * | the spool    |                          | `spool.db`: verdicts not yet in the database |
 */
#ifndef HS_SERVICE_EVIDENCE_FILES_H
#define HS_SERVICE_EVIDENCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { HS_EVIDENCE_DAY = 11, HS_EVIDENCE_PATH = 4096 };

/* The length of a day in microseconds. Days are UTC. */
#define HS_EVIDENCE_DAY_US INT64_C(86400000000)

/* Names of places. The place of a day is named after that day. */
#define HS_EVIDENCE_ALL   "all"
#define HS_EVIDENCE_CASES "cases"
#define HS_EVIDENCE_SPOOL "spool"

struct hs_db_pool;
struct hs_metrics;

/* Where a service stores its evidence. */
struct hs_evidence_home {
    const char *directory; /* the data directory */
    bool is_postgres;
    const char *connection_file; /* for hs_db_open_postgres */
    /* Counts damaged files that readers skip; NULL: they are not counted. */
    struct hs_metrics *metrics;
    struct hs_db_pool *readers; /* idle connections to the database; NULL: each reader connects */
};

/* Returns whether a place is a schema of the database, not a file. */
bool hs_evidence_is_remote(const struct hs_evidence_home *home, const char *place);

/* Returns the PostgreSQL schema of a place. */
const char *hs_evidence_schema(const char *place);

/* Writes a day as 2026-01-31. */
void hs_evidence_day(time_t now, char day[HS_EVIDENCE_DAY]);

/* Returns the number of days from 1970-01-01 to a day. */
int64_t hs_evidence_day_number(const char *day);

/* Sets the time span of the verdicts in a place: *from_us <= time < *until_us. */
void hs_evidence_span(const char *place, int64_t *from_us, int64_t *until_us);

/* Writes the path of the file of a place. */
void hs_evidence_path(const char *directory, const char *place, char path[HS_EVIDENCE_PATH]);

/* Returns the days that have a file, newest first. With PostgreSQL, returns the place of all days
   instead. The caller calls free(). NULL: there are no days, or memory ran out. */
char (*hs_evidence_days(const struct hs_evidence_home *home, size_t *count))[HS_EVIDENCE_DAY];

/* Renames the damaged file of a day, so that the store no longer reads the file: appends
   `.damaged-` and the seconds since 1970 to its name. No connection may have the file open. */
void hs_evidence_move_aside(const char *directory, const char *day, time_t now);

/*
 * Removes old files, and never today's file. The age of a file is counted from the newest day
 * before `today` that has a file, not from `today`. So no file looks old on the day of a jump of
 * the wall clock, and an operator has a day to notice the jump. The function removes files that are
 * at least `keep_days` old. Then it removes the oldest files until the remaining files have at most
 * `keep_bytes` in total.
 */
void hs_evidence_remove_old(const char *directory, const char *today, unsigned keep_days,
                            uint64_t keep_bytes);

#endif
