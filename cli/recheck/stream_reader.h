/* Reads a recording line by line. `serve --record` and `demo --keep` write recordings; `play` and
   `recheck` read them. docs/recording.md describes the format. */
#ifndef HS_RECHECK_STREAM_READER_H
#define HS_RECHECK_STREAM_READER_H

#include "cli/play/lines.h"
#include "service/record/line_reader.h"

enum { HS_STREAM_ERROR_MAX = 256 };

struct hs_stream_reader {
    struct hs_lines *lines;
    size_t number;                   /* number of the line that was read last, from 1 */
    bool is_recording;               /* the first line is the header of a recording */
    size_t interrupted;              /* broken lines that were skipped */
    char error[HS_STREAM_ERROR_MAX]; /* empty: no error so far */
};

/* Opens a file. Returns false, with `error` set, if the file cannot be opened. */
bool hs_stream_reader_open(struct hs_stream_reader *reader, const char *path);
void hs_stream_reader_close(struct hs_stream_reader *reader);

/* Reads the next line. Returns false at the end, and after an error (`error` is then set). Skips
   broken lines before a header and at the end of the file, because the service was interrupted
   while it wrote these lines. */
bool hs_stream_reader_next(struct hs_stream_reader *reader, struct hs_stream_line *line);

#endif
