/* Opens regular files only. A FIFO would block the caller, and a device may never end. */
#ifndef HS_SERVICE_FILES_H
#define HS_SERVICE_FILES_H

#include <stdio.h>

/*
 * As openat(2), without blocking. `directory`: AT_FDCWD for the working directory. -1 with errno,
 * which is ENXIO where the name is not a regular file (EISDIR: a directory).
 */
int hs_file_open(int directory, const char *path, int flags);

/* A new, empty file of the owner alone, for writing; what had the name before is removed. */
int hs_file_create(int directory, const char *name);

/* To read a file from its beginning. NULL with errno as above. */
FILE *hs_file_read(const char *path);

/* What an errno of these functions means. */
const char *hs_file_error(int error);

#endif
