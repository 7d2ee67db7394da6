/* Reads numbers from tables that are printed for people. The test fails if a row is missing. */
#ifndef HS_TESTS_TABLE_H
#define HS_TESTS_TABLE_H

/* Finds the line that begins with the words of `row`, below the line that begins with `heading`,
   and returns the text after these words. One space in `row` matches any number of spaces, and
   words must match completely. */
const char *hs_test_row(const char *text, const char *heading, const char *row);

/* Returns the number at the start of word `cell` in that row. Word 0 is the first one after
   `row`. */
double hs_test_cell(const char *text, const char *heading, const char *row, int cell);

#endif
