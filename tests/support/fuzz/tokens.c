/* The target for tokens: the token of a caller, and the file of admitted tokens. */
#include "tests/support/fuzz/targets.h"

#include <stdlib.h>
#include <string.h>

#include "api/http/routes.h"
#include "api/json/reading.h"
#include "service/access/tokens.h"
#include "tests/support/fuzz/checks.h"

/* A token file with the SHA-256 of the secrets of `admitted`. */
static const char file[] = "{\"tokens\":[{\"tenant\":\"acme\",\"kid\":\"1\",\"sha256\":"
                           "\"e5294860cdf8bd9245acea3a960fe456be07c769bff4df1ba4f2b8ae085df24b\","
                           "\"scopes\":[\"ingest\"]},{\"tenant\":\"acme\",\"kid\":\"2\",\"sha256\":"
                           "\"55be0917f5c839880428cccbfabc8a123bede228201475b6422140758990ec89\","
                           "\"scopes\":[\"admin\"]}]}";

static const char *const admitted[] = {"hs_acme_1_first-secret-of-these-tests",
                                       "hs_acme_2_other-secret-of-these-tests"};

static bool is_admitted(struct hs_str token)
{
    for (size_t i = 0; i < sizeof admitted / sizeof admitted[0]; i++)
        if (hs_str_equal(token, (struct hs_str){admitted[i], strlen(admitted[i])}))
            return true;
    return false;
}

static const char *try_token(struct hs_str token)
{
    struct hs_problem problem;
    struct hs_identity identity;
    hs_problem_init(&problem);
    struct hs_tokens *tokens =
        hs_tokens_from_json((struct hs_str){file, sizeof file - 1}, &problem);
    HS_MUST(tokens != NULL, "the file of the fuzzer is refused");
    enum hs_auth_failure failure = hs_tokens_check(tokens, token, 0, &identity);
    hs_tokens_destroy(tokens);
    HS_MUST((failure == HS_AUTH_FINE) == is_admitted(token), "the wrong token is admitted");
    HS_MUST((failure == HS_AUTH_FINE) == (identity.scopes != 0), "scopes for nobody");
    HS_MUST((failure == HS_AUTH_FINE) == (identity.tenant.text[0] != '\0'), "a tenant for nobody");
    return NULL;
}

static const char *try_file(struct hs_str text)
{
    struct hs_problem problem, unused;
    struct hs_identity identity;
    hs_problem_init(&problem);
    hs_problem_init(&unused);
    struct hs_tokens *tokens = hs_tokens_from_json(text, &problem);
    HS_MUST((tokens != NULL) == (problem.code == HS_PROBLEM_NONE),
            "tokens were returned in spite of a fault");
    if (tokens == NULL) {
        json_t *root = hs_json_parse(text, &unused);
        const char *fault = hs_check_problem(&problem, root);
        json_decref(root);
        return fault;
    }
    size_t count = hs_tokens_count(tokens);
    enum hs_auth_failure failure =
        hs_tokens_check(tokens, (struct hs_str){admitted[0], strlen(admitted[0])}, 0, &identity);
    hs_tokens_destroy(tokens);
    HS_MUST(count > 0, "a file without tokens");
    HS_MUST(failure != HS_AUTH_FINE || memmem(text.ptr, text.len, "acme", 4) != NULL ||
                memmem(text.ptr, text.len, "\\u", 2) != NULL,
            "a tenant that is not in the file");
    return NULL;
}

const char *hs_fuzz_tokens(const uint8_t *data, size_t size)
{
    if (size == 0)
        return NULL;
    /* Copy the text to a separate block, so that sanitizers notice reads past the end. */
    char *copy = malloc(size > 1 ? size - 1 : 1);
    if (copy == NULL)
        abort();
    memcpy(copy, data + 1, size - 1);
    struct hs_str text = {copy, size - 1};
    const char *fault = data[0] % 2 == 0 ? try_token(text) : try_file(text);
    free(copy);
    return fault;
}
