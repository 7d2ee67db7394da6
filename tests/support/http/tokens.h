/* Token files for services under test, with secrets that are used nowhere else. */
#ifndef HS_TESTS_TOKENS_H
#define HS_TESTS_TOKENS_H

#include <stddef.h>

#include "service/access/tokens.h"

/* A token. Its strings must live longer than the struct. */
struct hs_test_token {
    const char *tenant, *kid;
    const char *scopes;   /* scopes as members of a JSON array: "\"ingest\",\"verify\"" */
    const char *validity; /* further members: ",\"not_after\":\"2020-01-01T00:00:00Z\"", or NULL */
    unsigned secret_seed; /* another seed gives another secret */
    /* hs_test_tokens_write sets it: "Authorization: Bearer hs_..." */
    char header[64 + HS_TOKEN_MAX];
};

/* Sets the headers, and replaces the file in one step, as a careful operator does. Ends the test
   program on failure. */
void hs_test_tokens_write(const char *path, struct hs_test_token *tokens, size_t count);

/* Return the token in a header, and its secret. */
const char *hs_test_token_text(const struct hs_test_token *token);
const char *hs_test_token_secret(const struct hs_test_token *token);

#endif
