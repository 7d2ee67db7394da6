#include "cli/command.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "api/http/routes.h"
#include "service/access/tokens.h"

enum { KID_BYTES = 4, MAX_DAYS = 36500 };

static const char usage[] =
    "usage: hindsight token new --tenant TENANT --scopes SCOPE,... [--kid KID] [--days N]\n\n"
    "Makes a token and prints two lines. The first is the token, for the caller. It is stored\n"
    "nowhere and cannot be shown again. The second is its entry for \"tokens\" in the file of\n"
    "`hindsight serve --token-file`. The entry contains only the SHA-256 of the secret.\n\n"
    "  --tenant TENANT   the owner of matches, rulesets and maps: [A-Za-z0-9.-]\n"
    "  --scopes SCOPES   one or more of ingest, verify, rules, evidence, admin; with commas\n"
    "  --kid KID         the name of this key, unique for the tenant (default: random)\n"
    "  --days N          valid for this many days (default: for ever)\n\n"
    "A tenant may have several keys at a time. To replace a key, add the new key, reload\n"
    "(SIGHUP), give the new token to its user, and remove the old key. See docs/security.md.\n";

static const struct hs_command command = {"token", usage, "new"};

static const char part_takes[] = "1 to 32 of [A-Za-z0-9.-], the first a letter or digit";

struct wanted {
    const char *tenant, *scopes, *kid;
    uint64_t days; /* 0: the token never expires */
};

/* Writes `bytes` random bytes as hexadecimal text. Returns false if getrandom fails. */
static bool random_text(char *text, size_t bytes)
{
    unsigned char drawn[HS_SECRET_BYTES];
    if (getrandom(drawn, bytes, 0) != (ssize_t)bytes)
        return false;
    for (size_t i = 0; i < bytes; i++)
        snprintf(text + 2 * i, 3, "%02x", drawn[i]);
    explicit_bzero(drawn, sizeof drawn);
    return true;
}

/* Parses a comma-separated list of scopes. Returns one bit per scope, or 0 if a name is unknown. */
static unsigned parse_scopes(const char *list)
{
    unsigned scopes = 0;
    for (const char *at = list;; at++) {
        size_t len = strcspn(at, ",");
        unsigned scope = hs_scope_parse((struct hs_str){at, len});
        if (scope == 0)
            return 0;
        scopes |= scope;
        at += len;
        if (*at == '\0')
            return scopes;
    }
}

/* Prints the entry for the token file. No text needs to be escaped for JSON, because the allowed
   characters exclude quotes and backslashes. */
static void print_entry(const struct wanted *wanted, const char *kid, unsigned scopes,
                        const char *digest)
{
    const char *comma = "";
    printf("{\"tenant\":\"%s\",\"kid\":\"%s\",\"sha256\":\"%s\",\"scopes\":[", wanted->tenant, kid,
           digest);
    for (unsigned i = 0; i < HS_SCOPE_COUNT; i++) {
        if ((scopes & 1u << i) == 0)
            continue;
        printf("%s\"%s\"", comma, hs_scope_name((enum hs_scope)i));
        comma = ",";
    }
    putchar(']');
    if (wanted->days > 0) {
        char text[32];
        time_t end = time(NULL) + (time_t)wanted->days * 86400;
        struct tm utc;
        gmtime_r(&end, &utc);
        strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &utc);
        printf(",\"not_after\":\"%s\"", text);
    }
    puts("}");
}

static int make_token(const struct wanted *wanted)
{
    char secret[2 * HS_SECRET_BYTES + 1], drawn_kid[2 * KID_BYTES + 1], digest[HS_SHA256_HEX];
    unsigned scopes = parse_scopes(wanted->scopes);
    if (scopes == 0)
        return hs_command_wrong(&command,
                                "--scopes takes some of ingest,verify,rules,evidence,admin");
    if (!random_text(secret, HS_SECRET_BYTES) || !random_text(drawn_kid, KID_BYTES)) {
        fputs("hindsight token: the system provides no random numbers\n", stderr);
        return HS_EXIT_FAILED;
    }
    const char *kid = wanted->kid != NULL ? wanted->kid : drawn_kid;
    hs_sha256_hex(secret, strlen(secret), digest);
    printf("hs_%s_%s_%s\n", wanted->tenant, kid, secret);
    explicit_bzero(secret, sizeof secret);
    print_entry(wanted, kid, scopes, digest);
    if (fflush(stdout) == 0)
        return HS_EXIT_FINE;
    perror("hindsight token");
    return HS_EXIT_FAILED;
}

int hs_token_main(int argc, char **argv)
{
    struct wanted wanted = {0};
    const struct hs_argument options[] = {
        {"tenant", hs_argument_text, &wanted.tenant, 0, 0, NULL},
        {"scopes", hs_argument_text, &wanted.scopes, 0, 0, NULL},
        {"kid", hs_argument_text, &wanted.kid, 0, 0, NULL},
        {"days", hs_argument_whole, &wanted.days, 1, MAX_DAYS, NULL},
        {.name = NULL}};
    const char *action;
    int code;
    if (argc < 2) {
        fputs(usage, stderr);
        return HS_EXIT_USAGE;
    }
    if (!hs_command_read(&command, options, argc, argv, &action, &code))
        return code;
    if (strcmp(action, "new") != 0)
        return hs_command_wrong(&command, "there is no action %s", action);
    if (!hs_token_part_is_valid(hs_str_of(wanted.tenant), HS_TENANT_MAX))
        return hs_command_wrong(&command, "--tenant takes %s", part_takes);
    if (wanted.kid != NULL && !hs_token_part_is_valid(hs_str_of(wanted.kid), HS_KID_MAX))
        return hs_command_wrong(&command, "--kid takes %s", part_takes);
    return wanted.scopes != NULL ? make_token(&wanted)
                                 : hs_command_wrong(&command, "--scopes is needed");
}
