/*
 * Bearer tokens and the file that lists them (docs/security.md).
 *
 * A token is `hs_<tenant>_<kid>_<secret>`. The file contains only the SHA-256 of the secret. The
 * tenant and the kid (key id) are names, not secrets. No function here logs or stores the token
 * that a caller sent.
 */
#ifndef HS_SERVICE_TOKENS_H
#define HS_SERVICE_TOKENS_H

#include <stdint.h>

#include "api/http/problem.h"
#include "service/system/sha256.h"
#include "service/watch/labels.h"
#include "validators/str.h"

enum {
    HS_TENANT_MAX = 32,
    HS_KID_MAX = 32,
    HS_SECRET_MIN = 20, /* a shorter secret could be guessed */
    HS_SECRET_MAX = 128,
    /* `token new` creates a secret from this many random bytes, written as hexadecimal digits */
    HS_SECRET_BYTES = 32,
    HS_TOKEN_MAX = 3 + HS_TENANT_MAX + 1 + HS_KID_MAX + 1 + HS_SECRET_MAX,
};

/* The checked content of a token file. Immutable after loading. */
struct hs_tokens;

/*
 * Parses a document {"tokens":[{"tenant","kid","sha256","scopes","not_before","not_after"}]}.
 * Returns NULL if the document has a fault. In this case, `problem` lists every fault with its JSON
 * pointer. The caller must initialize `problem`.
 */
struct hs_tokens *hs_tokens_from_json(struct hs_str text, struct hs_problem *problem);

/* Loads a token file. On failure returns NULL and sets `problem`. Refuses a file that all users of
   the machine can write, because any user could add a token. */
struct hs_tokens *hs_tokens_load(const char *path, struct hs_problem *problem);

void hs_tokens_destroy(struct hs_tokens *tokens); /* does nothing for NULL */

size_t hs_tokens_count(const struct hs_tokens *tokens);

/* The caller that a valid token identifies. */
struct hs_identity {
    struct hs_name tenant, kid;
    unsigned scopes; /* api/http/routes.h */
};

/*
 * Looks up a token. Sets `identity` to the caller if the result is HS_AUTH_FINE, and to zeros if
 * the result is HS_AUTH_MALFORMED, HS_AUTH_UNKNOWN or HS_AUTH_EXPIRED. Hashing and comparing the
 * secret takes the same time whether or not the tenant and the kid exist. `now_s`: seconds since
 * the epoch.
 */
enum hs_auth_failure hs_tokens_check(const struct hs_tokens *tokens, struct hs_str token,
                                     int64_t now_s, struct hs_identity *identity);

/* Returns whether `text` is a valid tenant or kid: 1 to `max` characters of [A-Za-z0-9.-], starting
   with a letter or digit. `max`: HS_TENANT_MAX for a tenant, HS_KID_MAX for a kid. */
bool hs_token_part_is_valid(struct hs_str text, size_t max);

/* Converts "2026-01-31T00:00:00Z" to seconds since the epoch. Returns false if the text has another
   form. */
bool hs_token_time_parse(struct hs_str text, int64_t *seconds);

/* ---- the current tokens ---- */

/* The tokens in use; a reload replaces them. Thread-safe. */
struct hs_keyring;

/* Takes ownership of `tokens`, even on failure. If `tokens` is NULL, every token is rejected until
   hs_tokens_swap is called. Returns NULL if memory runs out. */
struct hs_keyring *hs_keyring_create(struct hs_tokens *tokens);
void hs_keyring_destroy(struct hs_keyring *keyring); /* does nothing for NULL */

/* Replaces the current tokens. Takes ownership of `fresh`. */
void hs_tokens_swap(struct hs_keyring *keyring, struct hs_tokens *fresh);

/* Returns the number of tokens in use. */
size_t hs_keyring_count(struct hs_keyring *keyring);

/* Runs hs_tokens_check with the current tokens and the current time. */
enum hs_auth_failure hs_keyring_check(struct hs_keyring *keyring, struct hs_str token,
                                      struct hs_identity *identity);

#endif
