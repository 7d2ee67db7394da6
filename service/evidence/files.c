#include "service/evidence/files.h"

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "service/system/array.h"
#include "service/watch/log.h"

#define NAME_PREFIX "evidence-"
#define NAME_SUFFIX ".db"

/* A SQLite file that is in use has two companion files. Their names end with `-wal` and `-shm`. */
static const char *const suffixes[] = {"", "-wal", "-shm"};
enum { SUFFIXES = sizeof suffixes / sizeof suffixes[0] };

void hs_evidence_day(time_t now, char day[HS_EVIDENCE_DAY])
{
    struct tm utc;
    gmtime_r(&now, &utc);
    strftime(day, HS_EVIDENCE_DAY, "%Y-%m-%d", &utc);
}

bool hs_evidence_is_remote(const struct hs_evidence_home *home, const char *place)
{
    return home->is_postgres && strcmp(place, HS_EVIDENCE_SPOOL) != 0;
}

const char *hs_evidence_schema(const char *place)
{
    return strcmp(place, HS_EVIDENCE_CASES) == 0 ? "hindsight_cases" : "hindsight";
}

static bool is_day(const char *place)
{
    return strlen(place) == HS_EVIDENCE_DAY - 1;
}

void hs_evidence_span(const char *place, int64_t *from_us, int64_t *until_us)
{
    *from_us = is_day(place) ? hs_evidence_day_number(place) * HS_EVIDENCE_DAY_US : 0;
    *until_us = is_day(place) ? *from_us + HS_EVIDENCE_DAY_US : INT64_MAX;
}

void hs_evidence_path(const char *directory, const char *place, char path[HS_EVIDENCE_PATH])
{
    snprintf(path, HS_EVIDENCE_PATH, "%s/%s%s" NAME_SUFFIX, directory,
             is_day(place) ? NAME_PREFIX : "", place);
}

static bool read_day(const char *name, char day[HS_EVIDENCE_DAY])
{
    size_t prefix = strlen(NAME_PREFIX), digits = HS_EVIDENCE_DAY - 1;
    if (strlen(name) != prefix + digits + strlen(NAME_SUFFIX) ||
        strncmp(name, NAME_PREFIX, prefix) != 0 || strcmp(name + prefix + digits, NAME_SUFFIX) != 0)
        return false;
    memcpy(day, name + prefix, digits);
    day[digits] = '\0';
    for (size_t i = 0; i < digits; i++)
        if (i == 4 || i == 7 ? day[i] != '-' : day[i] < '0' || day[i] > '9')
            return false;
    return true;
}

static int newest_first(const void *a, const void *b)
{
    return -strcmp(a, b);
}

/* Appends a place. Returns the list, which may have moved; NULL: out of memory. */
static char (*add_place(char (*places)[HS_EVIDENCE_DAY], size_t *count, size_t *capacity,
                        const char *place))[HS_EVIDENCE_DAY]
{
    char(*more)[HS_EVIDENCE_DAY] = hs_array_grow(places, *count, capacity, sizeof places[0]);
    if (more != NULL)
        snprintf(more[(*count)++], HS_EVIDENCE_DAY, "%s", place);
    return more;
}

static char (*days_of(const char *directory, size_t *count))[HS_EVIDENCE_DAY]
{
    char(*days)[HS_EVIDENCE_DAY] = NULL, day[HS_EVIDENCE_DAY];
    size_t capacity = 0;
    *count = 0;
    DIR *list = opendir(directory);
    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        if (!read_day(entry->d_name, day))
            continue;
        void *more = add_place(days, count, &capacity, day);
        if (more == NULL)
            break;
        days = more;
    }
    if (list != NULL)
        closedir(list);
    if (*count > 0)
        qsort(days, *count, sizeof days[0], newest_first);
    return days;
}

char (*hs_evidence_days(const struct hs_evidence_home *home, size_t *count))[HS_EVIDENCE_DAY]
{
    size_t capacity = 0;
    if (!home->is_postgres)
        return days_of(home->directory, count);
    *count = 0;
    return add_place(NULL, count, &capacity, HS_EVIDENCE_ALL);
}

static uint64_t size_of(const char *directory, const char *day)
{
    char path[HS_EVIDENCE_PATH], file[HS_EVIDENCE_PATH + 8];
    uint64_t size = 0;
    hs_evidence_path(directory, day, path);
    for (int i = 0; i < SUFFIXES; i++) {
        struct stat status;
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        if (stat(file, &status) == 0)
            size += (uint64_t)status.st_size;
    }
    return size;
}

static void remove_day(const char *directory, const char *day)
{
    char path[HS_EVIDENCE_PATH], file[HS_EVIDENCE_PATH + 8];
    hs_evidence_path(directory, day, path);
    for (int i = 0; i < SUFFIXES; i++) {
        snprintf(file, sizeof file, "%s%s", path, suffixes[i]);
        unlink(file);
    }
    hs_log(HS_LOG_INFO, "old evidence was removed", HS_LOG_TEXT("day", day));
}

void hs_evidence_move_aside(const char *directory, const char *day, time_t now)
{
    char path[HS_EVIDENCE_PATH], from[HS_EVIDENCE_PATH + 8], to[HS_EVIDENCE_PATH + 48];
    hs_evidence_path(directory, day, path);
    for (int i = 0; i < SUFFIXES; i++) {
        snprintf(from, sizeof from, "%s%s", path, suffixes[i]);
        snprintf(to, sizeof to, "%s.damaged-%lld%s", path, (long long)now, suffixes[i]);
        rename(from, to);
    }
    hs_log(HS_LOG_ERROR, "a damaged file of the evidence store was moved aside",
           HS_LOG_TEXT("path", path));
}

static int number_of(const char *digits, int count)
{
    int number = 0;
    for (int i = 0; i < count; i++)
        number = 10 * number + (digits[i] - '0');
    return number;
}

int64_t hs_evidence_day_number(const char *day)
{
    struct tm utc = {0};
    utc.tm_year = number_of(day, 4) - 1900;
    utc.tm_mon = number_of(day + 5, 2) - 1;
    utc.tm_mday = number_of(day + 8, 2);
    return (int64_t)timegm(&utc) / 86400;
}

void hs_evidence_remove_old(const char *directory, const char *today, unsigned keep_days,
                            uint64_t keep_bytes)
{
    size_t count;
    uint64_t bytes = 0;
    const char *last = NULL; /* the newest day before today */
    char(*days)[HS_EVIDENCE_DAY] = days_of(directory, &count);
    for (size_t i = 0; i < count; i++) {
        bytes += size_of(directory, days[i]);
        bool is_today = strcmp(days[i], today) >= 0;
        last = last == NULL && !is_today ? days[i] : last;
        bool is_old = !is_today && hs_evidence_day_number(last) - hs_evidence_day_number(days[i]) >=
                                       (int64_t)keep_days;
        if (!is_today && (is_old || bytes > keep_bytes))
            remove_day(directory, days[i]);
    }
    free(days);
}
