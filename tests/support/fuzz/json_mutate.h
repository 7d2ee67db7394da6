/*
 * Mutations that know JSON. They produce inputs that pass the start of the parser and have one
 * fault deep inside. Random changes of bytes almost never do.
 *
 * The functions also take texts with faults, and mutate the part before the first fault. So
 * mutations can be combined. All choices come from `random`, so a seed repeats them on every
 * machine.
 */
#ifndef HS_TESTS_JSON_MUTATE_H
#define HS_TESTS_JSON_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/random.h"

/*
 * Mutates the `size` bytes at `data` once. The mutation changes a number, a string, a key, an
 * array, the nesting or the order, or repeats a member. Returns the new size, at most `room`.
 * Returns 0 if the bytes contain no JSON, or no result fits `room`; the bytes are unchanged. Up to
 * 3 bytes before the first bracket stay unchanged.
 */
size_t hs_json_mutate(uint8_t *data, size_t size, size_t room, struct hs_random *random);

/* Writes `size` bytes of one text to `out`, with one value replaced by a value of another text,
   preferably under the same key. Returns the written size, at most `room`. Returns 0 if one text
   contains no JSON, or no result fits `room`. */
size_t hs_json_cross(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                     uint8_t *out, size_t room, struct hs_random *random);

#endif
