/* Reads a file line by line, plain or gzip. */
#ifndef HS_PLAY_LINES_H
#define HS_PLAY_LINES_H

#include <stdbool.h>
#include <stddef.h>
#include <zlib.h>

struct hs_lines {
    gzFile file;
    char *line;
    size_t capacity;
    double size; /* bytes in the file on disk */
    /* The caller may read these members: */
    size_t number; /* number of the line that was read last, from 1 */
    /* Whether the line that was read last ends with a newline. If the line has no newline, the
       program that wrote the file may have been interrupted. */
    bool ended;
    const char *error; /* NULL: no error so far */
};

/* Opens a file. Returns NULL with errno set on failure. */
struct hs_lines *hs_lines_open(const char *path);
void hs_lines_close(struct hs_lines *lines);

/* Returns the next line, null-terminated, without its newline; valid until the next call. Returns
   NULL at the end of the file, and after an error (`error`). */
char *hs_lines_next(struct hs_lines *lines);

/* Returns the share of the file that has been read, 0 .. 1. */
double hs_lines_progress(const struct hs_lines *lines);

#endif
