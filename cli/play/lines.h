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
    double size; /* bytes of the file on disk */
    /* The caller may read these members: */
    size_t number; /* number of the last line, from 1 */
    /* true: the last line has a line end; false: its writer may have been interrupted */
    bool ended;
    const char *error; /* NULL: no error so far */
};

/* Opens a file. Returns NULL if the file cannot be opened; see errno. */
struct hs_lines *hs_lines_open(const char *path);
void hs_lines_close(struct hs_lines *lines);

/* Returns the next line, terminated, without its line end; valid until the next call. NULL at the
   end and after an error. */
char *hs_lines_next(struct hs_lines *lines);

/* Returns the share of the file that has been read, 0 .. 1. */
double hs_lines_progress(const struct hs_lines *lines);

#endif
