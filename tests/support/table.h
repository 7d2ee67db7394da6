/* Tables printed for people, read back. What is not there fails the test. */
#ifndef HS_TESTS_TABLE_H
#define HS_TESTS_TABLE_H

/* What stands behind the words of `row`, which begin a line after the line that begins with
   `heading`. One space in `row` stands for any number of them; words end where its words end. */
const char *hs_test_row(const char *text, const char *heading, const char *row);

/* The number that word `cell` of that row begins with; the first one behind `row` is 0. */
double hs_test_cell(const char *text, const char *heading, const char *row, int cell);

#endif
