#include "tests/support/http/tokens.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *hs_test_token_text(const struct hs_test_token *token)
{
    return strrchr(token->header, ' ') + 1;
}

const char *hs_test_token_secret(const struct hs_test_token *token)
{
    return strrchr(token->header, '_') + 1;
}

/* Ends the program, because main also calls this, where no test can fail. */
static _Noreturn void give_up(const char *path)
{
    perror(path);
    exit(1);
}

void hs_test_tokens_write(const char *path, struct hs_test_token *tokens, size_t count)
{
    char fresh[256];
    snprintf(fresh, sizeof fresh, "%s.new", path);
    FILE *file = fopen(fresh, "w");
    if (file == NULL)
        give_up(fresh);
    fputs("{\"tokens\":[", file);
    for (size_t i = 0; i < count; i++) {
        struct hs_test_token *token = &tokens[i];
        char digest[HS_SHA256_HEX];
        char header[sizeof token->header];
        snprintf(header, sizeof header, "Authorization: Bearer hs_%s_%s_testing-only.%s.%s.%08x",
                 token->tenant, token->kid, token->tenant, token->kid,
                 token->secret_seed * 2654435761u + 1);
        /* Other threads may be sending the header, and snprintf would empty it for a moment. So
           change it only if it is different. */
        if (strcmp(token->header, header) != 0)
            memcpy(token->header, header, sizeof header);
        const char *secret = hs_test_token_secret(token);
        hs_sha256_hex(secret, strlen(secret), digest);
        fprintf(file, "%s\n{\"tenant\":\"%s\",\"kid\":\"%s\",\"sha256\":\"%s\",\"scopes\":[%s]%s}",
                i == 0 ? "" : ",", token->tenant, token->kid, digest, token->scopes,
                token->validity != NULL ? token->validity : "");
    }
    fputs("]}\n", file);
    if (fclose(file) != 0 || rename(fresh, path) != 0)
        give_up(path);
}
