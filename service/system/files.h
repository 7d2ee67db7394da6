/* File functions that open only regular files, because opening a FIFO would block, and reading a
   device might never end. */
#ifndef HS_SERVICE_FILES_H
#define HS_SERVICE_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/uio.h>

/* Opens a file like openat(2), but never blocks. A relative path starts at `directory`, which may
   be AT_FDCWD. On failure returns -1 and sets errno: EISDIR for a directory, ENXIO for anything
   else that is not a regular file. */
int hs_file_open(int directory, const char *path, int flags);

/* Creates an empty file, which only its owner can read and write, and opens this file for writing.
   Replaces a file with the same name. */
int hs_file_create(int directory, const char *name);

/* Opens a file for reading. On failure returns NULL and sets errno as hs_file_open does. */
FILE *hs_file_read(const char *path);

/* Reads the rest of `file`, which may be any stream, and closes the file. `file` may be NULL, for
   example after a failed open; errno then does not change. Returns the bytes, which the caller
   frees, and sets *size to the number of bytes. On failure returns NULL and sets errno: EFBIG if
   there are more than `max` bytes. */
char *hs_file_rest(FILE *file, size_t max, size_t *size);

/* Writes all parts, and modifies the array `parts`. On failure returns false and sets errno; some
   bytes may have been written. */
bool hs_file_write(int file, struct iovec *parts, size_t count);

/* Describes an errno value that one of these functions set. */
const char *hs_file_error(int error);

/* Returns a stream of the entries of an open directory. The caller closes the stream. On failure
   returns NULL and sets errno. */
DIR *hs_directory_open(int directory);

#endif
