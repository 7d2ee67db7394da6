/* A table in a CSV file (plain or gzip): the first line names the columns, no cell is quoted. */
#ifndef HS_PLAY_CSV_H
#define HS_PLAY_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/play/recording.h"

struct hs_csv;

/* Opens the file and reads its first line. Returns NULL with a message in `error` on failure. */
struct hs_csv *hs_csv_open(const char *path, char error[HS_PLAY_ERROR_MAX]);
void hs_csv_close(struct hs_csv *csv);

/* Returns the index of a column, or -1. */
int hs_csv_column(const struct hs_csv *csv, const char *name);

/* Reads the next row. END: no row is left. BAD: `error` contains a message with the number of the
   line. */
enum hs_recording_result hs_csv_next(struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX]);

/* Returns a cell of the row read last, valid until the next row. */
const char *hs_csv_text(const struct hs_csv *csv, int column);

/* Reads a cell as a finite number. Returns false if the cell is not a finite number; *out is
   unchanged. The fault is kept until the next row, so a caller may read all cells and then call
   hs_csv_fault once. */
bool hs_csv_number(struct hs_csv *csv, int column, double *out);

/* Returns whether a cell of this row was not a number. If so, writes a message to `error`. */
bool hs_csv_fault(const struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX]);

/* Writes "FILE, line N: " and the formatted text to `error`. Always returns false. */
bool hs_csv_fail(const struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

double hs_csv_progress(const struct hs_csv *csv); /* 0 .. 1 */

#endif
