/* Writes numbers as text. Each function writes at `at`, without a terminating 0, and returns the
   end of the text. The functions allocate nothing and are thread-safe. */
#ifndef HS_API_DIGITS_H
#define HS_API_DIGITS_H

#include <stdint.h>

/* The maximum length of a number, in bytes. */
enum { HS_DIGITS_MAX = 32 };

/* These functions write a whole number. */
char *hs_digits_whole(char *at, int64_t value);
char *hs_digits_unsigned(char *at, uint64_t value);

/* Writes 16 hexadecimal digits. */
char *hs_digits_hex(char *at, uint64_t value);

/* Writes value / 10^6 as a decimal number without trailing zeros. */
char *hs_digits_millionths(char *at, int64_t value);

/*
 * Writes a finite double with 15 significant digits. If this text does not read back as the same
 * double, uses 16 or 17 digits. Writes the same text as printf with %.15g, %.16g or %.17g, so there
 * are no trailing zeros.
 *
 * The digits are exact: 53 bits times a power of ten fit into 128 bits. This is the fixed-format
 * algorithm of Steele and White, "How to print floating-point numbers accurately" (1990). The test
 * for enough digits is from their free-format algorithm. printf writes very small and very large
 * numbers.
 */
char *hs_digits_double(char *at, double value);

/*
 * Writes a number with at most `digits` (1 .. 16) significant digits, rounded half to even, without
 * trailing zeros. Sets *shown to the number in the text. If `digits` is at most 15, the text reads
 * back as exactly *shown. Returns the end of the text. If the absolute value is below 1e-3 or at
 * least 1e15, returns NULL.
 */
char *hs_digits_rounded(char *at, double value, int digits, double *shown);

/* Like hs_digits_double, for a float, with 6 to 9 significant digits. */
char *hs_digits_float(char *at, float value);

#endif
