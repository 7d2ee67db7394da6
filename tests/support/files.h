/* Files of a test, whole. What cannot be read or written fails the test. */
#ifndef HS_TESTS_FILES_H
#define HS_TESTS_FILES_H

#include <stddef.h>

/* Made, or written over. */
void hs_test_write_file(const char *path, const char *text);

/* The bytes of a file, with a terminator behind them that `size` (may be NULL) does not count;
   freed by the caller. */
char *hs_test_read_file(const char *path, size_t *size);

#endif
