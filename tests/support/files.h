/* Reads and writes whole files for tests. The test fails if a file cannot be read or written. */
#ifndef HS_TESTS_FILES_H
#define HS_TESTS_FILES_H

#include <stddef.h>

/* Creates the file, or overwrites it. */
void hs_test_write_file(const char *path, const char *text);

/* Returns the bytes of a file and a terminator that `size` (may be NULL) does not count. The caller
   frees them. */
char *hs_test_read_file(const char *path, size_t *size);

#endif
