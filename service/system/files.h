/* Opens only regular files, because a FIFO would block the caller, and a read from a device may
   never end. */
#ifndef HS_SERVICE_FILES_H
#define HS_SERVICE_FILES_H

#include <dirent.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/uio.h>

/* Opens a file like openat(2), but never blocks. `directory` can be AT_FDCWD, the working
   directory. On failure returns -1 and sets errno: EISDIR for a directory, ENXIO for anything else
   that is not a regular file. */
int hs_file_open(int directory, const char *path, int flags);

/* Creates an empty file and opens it for writing. Only the owner can read or write the file.
   Removes any file of that name first. */
int hs_file_create(int directory, const char *name);

/* Opens a file for reading. On failure returns NULL and sets errno as hs_file_open does. */
FILE *hs_file_read(const char *path);

/* Reads a file of any kind from its current position to the end, and closes it. `file` may be NULL
   after a failed open; in that case, errno does not change. The caller frees the bytes. On failure
   returns NULL and sets errno, to EFBIG if there are more than `max` bytes. */
char *hs_file_rest(FILE *file, size_t max, size_t *size);

/* Writes all parts, and changes the entries of `parts`. On failure returns false and sets errno;
   some bytes may have been written. */
bool hs_file_write(int file, struct iovec *parts, size_t count);

/* Returns the text for an errno of these functions. */
const char *hs_file_error(int error);

/* Opens the list of entries of an open directory. Returns NULL and sets errno on failure. */
DIR *hs_directory_open(int directory);

#endif
