/* The files of the evidence store: `evidence-2026-01-31.db`, one for each day (UTC). */
#ifndef HS_SERVICE_EVIDENCE_FILES_H
#define HS_SERVICE_EVIDENCE_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

enum { HS_EVIDENCE_DAY = 11, HS_EVIDENCE_PATH = 4096 };

/* Writes a day as 2026-01-31. */
void hs_evidence_day(time_t now, char day[HS_EVIDENCE_DAY]);

/* Returns the number of days from 1970-01-01 to a day. */
int64_t hs_evidence_day_number(const char *day);

/* Writes the path of the file of a day. */
void hs_evidence_path(const char *directory, const char *day, char path[HS_EVIDENCE_PATH]);

/* Writes the path of the file of reviewed verdicts (cases.h). False: there is no such file. */
bool hs_evidence_cases_path(const char *directory, char path[HS_EVIDENCE_PATH]);

/* Returns the days that have a file, the newest first, for free(). NULL: none, or memory is out. */
char (*hs_evidence_days(const char *directory, size_t *count))[HS_EVIDENCE_DAY];

/* Gives the damaged file of a day another name, which no function of the store reads: the same with
   `.damaged-` and the seconds since 1970 behind it. Nobody may have it open. */
void hs_evidence_move_aside(const char *directory, const char *day, time_t now);

/*
 * Removes the files of days that are at least `keep_days` before the newest file before `today`.
 * Then removes the oldest files until the rest has at most `keep_bytes`. Today's file stays. So a
 * jump of the wall clock makes no file older on that day, and there is a day to notice it.
 */
void hs_evidence_remove_old(const char *directory, const char *today, unsigned keep_days,
                            uint64_t keep_bytes);

#endif
