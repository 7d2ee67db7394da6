/*
 * A hash of decoded values: equal items have equal digests. Set the two words of a struct
 * hs_digest to start values, add each value, and call hs_digest_end.
 *
 * An attacker could construct collisions. Collisions do no harm, because all compared items come
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

/* Adds a word. The two words of a digest do not depend on each other, so a processor can compute
   both at once. */
static inline void hs_digest_word(struct hs_digest *digest, uint64_t word)
{
    digest->word[0] = (digest->word[0] ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    digest->word[0] ^= digest->word[0] >> 32;
    digest->word[1] = (digest->word[1] << 29 | digest->word[1] >> 35) +
                      (word ^ UINT64_C(0xd1b54a32d192ed03)) * UINT64_C(0xaef17502108ef2d9);
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

/* Returns a value that contains the last bytes of the text, up to eight. If two texts have equal
   lengths, their values are equal only if these bytes are equal. The text must not be empty. */
static inline uint64_t hs_digest_last_bytes(struct hs_str text)
{
    uint32_t low, high;
    uint64_t word;
    if (text.len >= sizeof word) {
        memcpy(&word, text.ptr + text.len - sizeof word, sizeof word);
        return word;
    }
    if (text.len < sizeof low) {
        const unsigned char *bytes = (const unsigned char *)text.ptr;
        return (uint64_t)bytes[0] | (uint64_t)bytes[text.len / 2] << 8 |
               (uint64_t)bytes[text.len - 1] << 16;
    }
    memcpy(&low, text.ptr, sizeof low);
    memcpy(&high, text.ptr + text.len - sizeof high, sizeof high);
    return (uint64_t)high << 32 | low;
}

/* Adds a text to a digest. The length comes first: otherwise "ab", "c" and "a", "bc" would have the
   same digest. A missing text and an empty text have different digests. */
static inline void hs_digest_str(struct hs_digest *digest, struct hs_str text)
{
    hs_digest_word(digest, text.ptr == NULL ? UINT64_MAX : text.len);
    if (text.ptr == NULL || text.len == 0)
        return;
    for (size_t i = 0; i + 8 < text.len; i += 8) {
        uint64_t word;
        memcpy(&word, text.ptr + i, sizeof word);
        hs_digest_word(digest, word);
    }
    hs_digest_word(digest, hs_digest_last_bytes(text));
}

/* Returns the finished digest. Without this step, the last values would be mixed less than the
   earlier values. */
static inline struct hs_digest hs_digest_end(struct hs_digest digest)
{
    return (struct hs_digest){{hs_mix64(digest.word[0]), hs_mix64(digest.word[1])}};
}

#endif
