/*
 * Mutations that know JSON: an input that gets past the parser's first bytes, and then has one
 * thing wrong with it deep inside, is what bytes turned over at random hardly ever make.
 *
 * Texts are read tolerantly: what stands before the first fault can still be mutated, so that
 * mutations pile up. All choices come from `random`, so that a seed repeats them on every machine.
 */
#ifndef HS_TESTS_JSON_MUTATE_H
#define HS_TESTS_JSON_MUTATE_H

#include <stddef.h>
#include <stdint.h>

#include "tests/support/random.h"

/*
 * Mutates the `size` bytes at `data` once: a number, a string, a key, an array, the nesting, the
 * order, a member twice. Returns the new size, at most `room`; 0: there is no JSON in it, or
 * nothing that fits `room` came up, and the bytes are as they were. Up to 3 bytes before the first
 * bracket stay.
 */
size_t hs_json_mutate(uint8_t *data, size_t size, size_t room, struct hs_random *random);

/*
 * Writes `size` bytes of one text to `out`, a value replaced by one of another text, by preference
 * one of the same key. Returns the size written, at most `room`; 0: as above.
 */
size_t hs_json_cross(const uint8_t *data, size_t size, const uint8_t *other, size_t other_size,
                     uint8_t *out, size_t room, struct hs_random *random);

#endif
