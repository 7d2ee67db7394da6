/* Reads JSON numbers exactly: rounded to nearest, ties to even, as by strtod. */
#ifndef HS_API_JSON_NUMBER_H
#define HS_API_JSON_NUMBER_H

#include <stddef.h>

/*
 * Reads `count` numbers, 1 or more, with commas between them. White space may come before each
 * number and comma. Returns the end of the last number. NULL: the text does not have this form, or
 * has a number that only the parser can read. Such numbers have 64 characters or more, or are
 * integers of more than 18 digits, or have an exponent of more than 4 digits. A real beyond the
 * range of double becomes infinite.
 */
const char *hs_numbers_read(const char *at, const char *end, size_t count, double *out);

#endif
