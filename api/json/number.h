/* Reads JSON numbers. Each result is rounded to the nearest double, with ties to even, as strtod
   does. */
#ifndef HS_API_JSON_NUMBER_H
#define HS_API_JSON_NUMBER_H

#include <stdbool.h>
#include <stddef.h>

#include "validators/str.h"

/*
 * Reads `count` numbers (at least 1) with commas between them. White space may come before each
 * number and each comma. Returns the end of the last number. Returns NULL if the text has another
 * form. Also returns NULL for numbers that the caller must read with the parser. These are numbers
 * with 64 or more characters, integers with more than 18 digits, exponents with more than 4 digits,
 * and numbers with an absolute value above HS_NUMBER_MAX.
 */
#define HS_NUMBER_MAX 1e150
const char *hs_numbers_read(const char *at, const char *end, size_t count, double *out);

/* Reads a text that contains one number, in a form that hs_numbers_read can read, and nothing else,
   not even white space. Returns false for any other text. */
bool hs_number_parse(struct hs_str text, double *out);

#endif
