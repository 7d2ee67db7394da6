#include "service/state/verdict_ids.h"

#include <endian.h>
#include <nettle/sha2.h>
#include <stdio.h>
#include <string.h>

#include "api/json/digits.h"

void hs_verdict_ids_begin(struct hs_verdict_ids *ids, const struct hs_name *tenant,
                          const struct hs_name *match, uint64_t opening, const char *revision)
{
    char text[512];
    uint8_t key[SHA256_DIGEST_SIZE];
    struct sha256_ctx hash;
    int size = snprintf(text, sizeof text, "%s\n%s\n%llu\n%s", tenant->text, match->text,
                        (unsigned long long)opening, revision);
    sha256_init(&hash);
    sha256_update(&hash, (size_t)size, (const uint8_t *)text);
    sha256_digest(&hash, sizeof key, key);
    cmac_aes128_set_key(&ids->mac, key);
}

void hs_verdict_ids_make(const struct hs_verdict_ids *ids, enum hs_verdict_about kind,
                         uint64_t session, uint64_t number, struct hs_str shooter,
                         struct hs_verdict_id *out)
{
    /* The parts before the player's name have a fixed size, so different inputs always give
       different messages. */
    uint64_t parts[3] = {htole64((uint64_t)kind), htole64(session), htole64(number)};
    uint8_t message[sizeof parts + HS_NAME_MAX];
    uint64_t digest[CMAC128_DIGEST_SIZE / sizeof(uint64_t)];
    memcpy(message, parts, sizeof parts);
    memcpy(message + sizeof parts, shooter.ptr, shooter.len);
    struct cmac_aes128_ctx mac = ids->mac;
    cmac_aes128_update(&mac, sizeof parts + shooter.len, message);
    cmac_aes128_digest(&mac, sizeof digest, (uint8_t *)digest);
    *hs_digits_hex(hs_digits_hex(out->text, be64toh(digest[0])), be64toh(digest[1])) = '\0';
}
