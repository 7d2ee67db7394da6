/* A file read line by line, plain or gzip alike. */
#ifndef HS_PLAY_LINES_H
#define HS_PLAY_LINES_H

#include <stdbool.h>
#include <stddef.h>

struct hs_lines;

/* NULL when the file cannot be opened; errno says why. */
struct hs_lines *hs_lines_open(const char *path);
void hs_lines_close(struct hs_lines *lines);

/*
 * The next line, terminated, without its line end; valid until the next call. NULL at the end and
 * on failure: hs_lines_error tells them apart.
 */
char *hs_lines_next(struct hs_lines *lines);

/* What went wrong, or NULL at a proper end. */
const char *hs_lines_error(const struct hs_lines *lines);

/* Whether the line read last had its line end: without, its writer may have been interrupted. */
bool hs_lines_ended(const struct hs_lines *lines);

/* Number of the line read last, from 1. */
size_t hs_lines_number(const struct hs_lines *lines);

/* How much of the file has been read, 0 .. 1. */
double hs_lines_progress(const struct hs_lines *lines);

#endif
