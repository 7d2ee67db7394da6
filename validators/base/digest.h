/*
 * A running hash over decoded values: equal items give equal digests.
 *
 * It does not resist an attacker who searches for collisions. It need not, because both items come
 * from the same game server. Internal to validators/.
 */
#ifndef HS_DIGEST_H
#define HS_DIGEST_H

#include "validators/base/ledger.h"
#include "validators/str.h"
#include "validators/vec.h"

/* Mixes the bits of a word: the output function of SplitMix64 (Steele, Lea, Flood, Fast splittable
   pseudorandom number generators, 2014). */
static inline uint64_t hs_mix64(uint64_t z)
{
    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline void hs_digest_word(struct hs_digest *digest, uint64_t word)
{
    digest->word[0] = hs_mix64(digest->word[0] ^ word);
    digest->word[1] = hs_mix64(digest->word[1] + word * UINT64_C(0x9e3779b97f4a7c15) + 1);
}

static inline void hs_digest_real(struct hs_digest *digest, double value)
{
    uint64_t word;
    memcpy(&word, &value, sizeof word);
    hs_digest_word(digest, word);
}

static inline void hs_digest_vec(struct hs_digest *digest, struct hs_vec v)
{
    hs_digest_real(digest, v.x);
    hs_digest_real(digest, v.y);
    hs_digest_real(digest, v.z);
}

/* Adds a text to a digest. The length comes first: otherwise "ab", "c" and "a", "bc" would have the
   same digest. An absent text differs from an empty one. */
static inline void hs_digest_str(struct hs_digest *digest, struct hs_str text)
{
    hs_digest_word(digest, text.ptr == NULL ? UINT64_MAX : text.len);
    if (text.ptr == NULL)
        return;
    for (size_t i = 0; i < text.len; i += 8) {
        uint64_t word = 0;
        memcpy(&word, text.ptr + i, text.len - i < 8 ? text.len - i : 8);
        hs_digest_word(digest, word);
    }
}

#endif
