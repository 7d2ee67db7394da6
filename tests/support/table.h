/* Reads numbers from tables that are printed for people. The test fails if a row is missing. */
#ifndef HS_TESTS_TABLE_H
#define HS_TESTS_TABLE_H

/* Returns the text after the words of `row`. They begin a line below the line that begins with
   `heading`. One space in `row` matches any number of spaces, and words must match completely. */
const char *hs_test_row(const char *text, const char *heading, const char *row);

/* The number at the start of word `cell` in that row; word 0 is the first one after `row`. */
double hs_test_cell(const char *text, const char *heading, const char *row, int cell);

#endif
