/*
 * The ids of a match's verdicts.
 *
 * An id is the AES-CMAC-128 (NIST SP 800-38B) of the kind, the session, a number and the player.
 * For a claim, shot or move, the number is a hash of all its members, because different claims can
 * have the same shot number. The key is the first half of the SHA-256 hash of the tenant, the
 * match, its opening and the revision of its ruleset. A restart restores all these values, so the
 * same claim always gets the same id. Different claims get different ids, except with the
 * negligible probability that two hashes of 64 bits are equal. The key is not secret, and an id
 * gives no access to anything.
 */
#ifndef HS_SERVICE_VERDICT_IDS_H
#define HS_SERVICE_VERDICT_IDS_H

#include <nettle/cmac.h>
#include <stdint.h>

#include "api/hits.h"
#include "validators/str.h"

struct hs_verdict_ids {
    struct cmac_aes128_ctx mac;
};

/* Computes the key for one match. `tenant` is empty without tokens. */
void hs_verdict_ids_begin(struct hs_verdict_ids *ids, const struct hs_name *tenant,
                          const struct hs_name *match, uint64_t opening, const char *revision);

/* What a verdict is about. */
enum hs_verdict_about {
    HS_ABOUT_HIT,
    HS_ABOUT_SHOT,
    HS_ABOUT_CANCEL,
    HS_ABOUT_MOVE,
    HS_ABOUT_PLAYER, /* a player's summary (evidence/ended.h) */
    HS_ABOUT_MATCH   /* a match's summary */
};

/* Writes one id. `shooter` has at most HS_NAME_MAX bytes. Thread-safe. */
void hs_verdict_ids_make(const struct hs_verdict_ids *ids, enum hs_verdict_about kind,
                         uint64_t session, uint64_t number, struct hs_str shooter,
                         struct hs_verdict_id *out);

#endif
