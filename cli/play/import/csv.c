#include "cli/play/import/csv.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/play/lines.h"

enum { MAX_COLUMNS = 64 };

struct hs_csv {
    struct hs_lines *lines;
    char path[256];
    char *header; /* the first line; `names` points into it */
    char *names[MAX_COLUMNS];
    char *cells[MAX_COLUMNS];
    int columns;
    int bad_column; /* column of the last cell in this row that was not a number; -1: none */
};

bool hs_csv_fail(const struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX], const char *format, ...)
{
    int used = snprintf(error, HS_PLAY_ERROR_MAX, "%s, line %zu: ", csv->path, csv->lines->number);
    va_list arguments;
    va_start(arguments, format);
    if (used > 0 && used < HS_PLAY_ERROR_MAX)
        vsnprintf(error + used, (size_t)(HS_PLAY_ERROR_MAX - used), format, arguments);
    va_end(arguments);
    return false;
}

/* Splits a line at its commas, in place. Returns the number of cells, or -1 if there are more than
   MAX_COLUMNS. */
static int cut(char *line, char *cells[MAX_COLUMNS])
{
    int count = 0;
    for (char *at = line;; at++) {
        if (count == MAX_COLUMNS)
            return -1;
        cells[count++] = at;
        at = strchr(at, ',');
        if (at == NULL)
            return count;
        *at = '\0';
    }
}

struct hs_csv *hs_csv_open(const char *path, char error[HS_PLAY_ERROR_MAX])
{
    struct hs_csv *csv = calloc(1, sizeof(*csv));
    errno = ENOMEM;
    if (csv == NULL || (csv->lines = hs_lines_open(path)) == NULL) {
        snprintf(error, HS_PLAY_ERROR_MAX, "cannot read %s: %s", path, strerror(errno));
        hs_csv_close(csv);
        return NULL;
    }
    snprintf(csv->path, sizeof(csv->path), "%s", path);
    const char *line = hs_lines_next(csv->lines);
    csv->header = line != NULL ? strdup(line) : NULL;
    csv->columns = csv->header != NULL ? cut(csv->header, csv->names) : -1;
    csv->bad_column = -1;
    if (csv->columns < 1) {
        snprintf(error, HS_PLAY_ERROR_MAX, "%s, line 1: %s", path,
                 csv->lines->error != NULL ? csv->lines->error : "must name the columns");
        hs_csv_close(csv);
        return NULL;
    }
    return csv;
}

void hs_csv_close(struct hs_csv *csv)
{
    if (csv == NULL)
        return;
    hs_lines_close(csv->lines);
    free(csv->header);
    free(csv);
}

int hs_csv_column(const struct hs_csv *csv, const char *name)
{
    for (int i = 0; i < csv->columns; i++) {
        if (strcmp(csv->names[i], name) == 0)
            return i;
    }
    return -1;
}

enum hs_recording_result hs_csv_next(struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX])
{
    char *line = hs_lines_next(csv->lines);
    csv->bad_column = -1;
    if (line == NULL && csv->lines->error == NULL)
        return HS_RECORDING_END;
    if (line == NULL) {
        hs_csv_fail(csv, error, "%s", csv->lines->error);
        return HS_RECORDING_BAD;
    }
    int cells = cut(line, csv->cells);
    if (cells != csv->columns) {
        hs_csv_fail(csv, error, "the row does not have %d cells", csv->columns);
        return HS_RECORDING_BAD;
    }
    return HS_RECORDING_ENTRY;
}

const char *hs_csv_text(const struct hs_csv *csv, int column)
{
    return csv->cells[column];
}

bool hs_csv_number(struct hs_csv *csv, int column, double *out)
{
    char *end;
    double value = strtod(csv->cells[column], &end);
    if (end == csv->cells[column] || *end != '\0' || !isfinite(value)) {
        csv->bad_column = column;
        return false;
    }
    *out = value;
    return true;
}

bool hs_csv_fault(const struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX])
{
    if (csv->bad_column < 0)
        return false;
    hs_csv_fail(csv, error, "%s must be a number, not \"%.40s\"", csv->names[csv->bad_column],
                csv->cells[csv->bad_column]);
    return true;
}

double hs_csv_progress(const struct hs_csv *csv)
{
    return hs_lines_progress(csv->lines);
}
