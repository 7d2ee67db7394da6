/* Reads a table from a CSV file (plain or gzip). The first line names the columns. Cells are not
   quoted. */
#ifndef HS_PLAY_CSV_H
#define HS_PLAY_CSV_H

#include <stdbool.h>
#include <stddef.h>

#include "cli/play/recording.h"

struct hs_csv;

/* Opens the file and reads its first line. Returns NULL with a message in `error` on failure. */
struct hs_csv *hs_csv_open(const char *path, char error[HS_PLAY_ERROR_MAX]);
void hs_csv_close(struct hs_csv *csv);

/* Returns the index of the column with this name, or -1 if the table has no such column. */
int hs_csv_column(const struct hs_csv *csv, const char *name);

/* Reads the next row. Returns HS_RECORDING_END after the last row. Returns HS_RECORDING_BAD on
   failure; `error` then contains the line number and the reason. */
enum hs_recording_result hs_csv_next(struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX]);

/* Returns a cell of the row that was read last. The cell is valid until the next row is read. */
const char *hs_csv_text(const struct hs_csv *csv, int column);

/* Parses a cell as a finite number. If the cell is not a finite number, returns false, leaves *out
   unchanged and remembers the fault until the next row. So a caller can read all cells first, and
   then call hs_csv_fault once. */
bool hs_csv_number(struct hs_csv *csv, int column, double *out);

/* Returns true, with a message in `error`, if hs_csv_number has failed for a cell in this row. */
bool hs_csv_fault(const struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX]);

/* Writes "FILE, line N: " and the formatted text to `error`. Always returns false. */
bool hs_csv_fail(const struct hs_csv *csv, char error[HS_PLAY_ERROR_MAX], const char *format, ...)
    __attribute__((format(printf, 3, 4)));

double hs_csv_progress(const struct hs_csv *csv); /* 0 .. 1 */

#endif
