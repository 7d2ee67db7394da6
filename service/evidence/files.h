/*
 * The places of the evidence store. A place is a file or a schema with the tables of tables.h.
 *
 * | place        | with SQLite              | with PostgreSQL                              |
 * |--------------|--------------------------|----------------------------------------------|
 * | a day (UTC)  | `evidence-2026-01-31.db` |                                              |
 * | all days     |                          | the schema `hindsight`                       |
 * | reviewed     | `cases.db`               | the schema `hindsight_cases`                 |
 * | the spool    |                          | `spool.db`: verdicts not yet in the database |
 */
#ifndef HS_SERVICE_EVIDENCE_FILES_H
#define HS_SERVICE_EVIDENCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { HS_EVIDENCE_DAY = 11, HS_EVIDENCE_PATH = 4096 };

/* Length of a day in microseconds. All days are UTC. */
#define HS_EVIDENCE_DAY_US INT64_C(86400000000)

/* Names of places. The place of a day has the date as its name. */
#define HS_EVIDENCE_ALL   "all"
#define HS_EVIDENCE_CASES "cases"
#define HS_EVIDENCE_SPOOL "spool"

struct hs_db_pool;
struct hs_metrics;

/* Where a service stores its evidence. */
struct hs_evidence_home {
    const char *directory; /* the data directory */
    bool is_postgres;
    const char *connection_file; /* the argument `file` of hs_db_open_postgres */
    /* Counts the damaged files that readers skip; may be NULL. */
    struct hs_metrics *metrics;
    struct hs_db_pool *readers; /* NULL: each reader opens a connection */
};

/* Returns true if the place is a schema in the database, and false if the place is a file. */
bool hs_evidence_is_remote(const struct hs_evidence_home *home, const char *place);

/* Returns the name of the schema for a place. */
const char *hs_evidence_schema(const char *place);

/* Writes the date (UTC) as 2026-01-31. */
void hs_evidence_day(time_t now, char day[HS_EVIDENCE_DAY]);

/* Returns the number of days from 1970-01-01 to a date. */
int64_t hs_evidence_day_number(const char *day);

/* Sets the time span of the verdicts in a place: *from_us <= time < *until_us. */
void hs_evidence_span(const char *place, int64_t *from_us, int64_t *until_us);

/* Writes the path of the file for a place. */
void hs_evidence_path(const char *directory, const char *place, char path[HS_EVIDENCE_PATH]);

/* Returns the dates that have a file, newest first. With PostgreSQL, returns only HS_EVIDENCE_ALL.
   Free the result with free(). NULL: there are no files, or memory ran out. */
char (*hs_evidence_days(const struct hs_evidence_home *home, size_t *count))[HS_EVIDENCE_DAY];

/* Renames a damaged file, so that the store no longer reads the file. Appends `.damaged-` and the
   seconds since 1970 to the name. No connection may have the file open. `day`: the place of the
   file. */
void hs_evidence_move_aside(const char *directory, const char *day, time_t now);

/*
 * Removes files that are at least `keep_days` old. Then removes the oldest files until the
 * remaining files have at most `keep_bytes` in total. Never removes today's file.
 *
 * The age of a file is counted from the date of the newest file before `today`, not from `today`.
 * So if the wall clock jumps ahead, no file looks old on the day of the jump, and an operator has a
 * day to notice the jump.
 */
void hs_evidence_remove_old(const char *directory, const char *today, unsigned keep_days,
                            uint64_t keep_bytes);

#endif
