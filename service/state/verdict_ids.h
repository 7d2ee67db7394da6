/*
 * The ids of the verdicts of a match.
 *
 * An id is AES-CMAC-128 (NIST SP 800-38B) over the kind, the session, the number and the shooter.
 * The key is the first half of the SHA-256 hash of the tenant, the match, its opening and the
 * revision of its rules. All these values are restored after a restart, so the same claim always
 * has the same id. Two different claims have the same id only as often as two random 128-bit
 * numbers are equal. The key is not secret, and an id gives no access to anything.
 */
#ifndef HS_SERVICE_VERDICT_IDS_H
#define HS_SERVICE_VERDICT_IDS_H

#include <nettle/cmac.h>
#include <stdint.h>

#include "api/hits.h"
#include "validators/str.h"

/* The key for the ids of one match. */
struct hs_verdict_ids {
    struct cmac_aes128_ctx mac;
};

/* Sets the key. `tenant` is empty if the service has no tenants. */
void hs_verdict_ids_begin(struct hs_verdict_ids *ids, const struct hs_name *tenant,
                          const struct hs_name *match, uint64_t opening, const char *revision);

/* The subject of a verdict. */
enum hs_verdict_about {
    HS_ABOUT_HIT,
    HS_ABOUT_SHOT,
    HS_ABOUT_CANCEL,
    HS_ABOUT_MOVE,
    HS_ABOUT_PLAYER, /* the summary of a player (evidence/ended.h) */
    HS_ABOUT_MATCH   /* the summary of a match */
};

/* Writes the id of one verdict. `shooter` has at most HS_NAME_MAX bytes. Thread-safe. */
void hs_verdict_ids_make(const struct hs_verdict_ids *ids, enum hs_verdict_about kind,
                         uint64_t session, uint64_t number, struct hs_str shooter,
                         struct hs_verdict_id *out);

#endif
