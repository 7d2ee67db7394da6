/* Opens regular files only. A FIFO would block the caller, and reading a device may never end. */
#ifndef HS_SERVICE_FILES_H
#define HS_SERVICE_FILES_H

#include <stdio.h>

/*
 * Like openat(2), but never blocks. `directory`: AT_FDCWD for the working directory. -1 with errno:
 * ENXIO if the name is not a regular file, EISDIR for a directory.
 */
int hs_file_open(int directory, const char *path, int flags);

/* Makes a new, empty file for writing that only the owner can use. Removes any file of that name
   first. */
int hs_file_create(int directory, const char *name);

/* Opens a file for reading. NULL with errno as above. */
FILE *hs_file_read(const char *path);

/* The text for an errno of these functions. */
const char *hs_file_error(int error);

#endif
