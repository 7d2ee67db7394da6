#include "cli/token.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "api/http/routes.h"
#include "service/access/tokens.h"

enum { FINE = 0, FAILED = 1, WRONG_USAGE = 2, KID_BYTES = 4, MAX_DAYS = 36500 };

static const char usage[] =
    "usage: hindsight token new --tenant TENANT --scopes SCOPE,... [--kid KID] [--days N]\n\n"
    "Makes a token. Prints two lines: the token, for the caller, which is written nowhere else "
    "and\n"
    "cannot be shown again; and its entry for the \"tokens\" of the file that `hindsight serve\n"
    "--token-file` reads, which holds the SHA-256 of the secret only.\n\n"
    "  --tenant TENANT   to whom matches, rulesets and maps belong: [A-Za-z0-9.-]\n"
    "  --scopes SCOPES   of ingest, verify, rules, evidence and admin, with commas\n"
    "  --kid KID         the name of this key among those of the tenant (a random one)\n"
    "  --days N          valid for so many days (for ever)\n\n"
    "A tenant may have several keys at a time: to replace one, add the new one, reload (SIGHUP),\n"
    "hand it out, and take the old one away. See docs/security.md.\n";

struct wanted {
    const char *tenant, *scopes, *kid;
    long days; /* 0: for ever */
};

static struct hs_str str(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

static int wrong(const char *what)
{
    fprintf(stderr, "hindsight token: %s; see hindsight token --help\n", what);
    return WRONG_USAGE;
}

/* Random bytes in hexadecimal; false: the system has none to give. */
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

/* The list of scopes as set; 0: one of them is none. */
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

/* Every text in it is of an alphabet that needs no escaping. */
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
        return wrong("--scopes takes some of ingest,verify,rules,evidence,admin");
    if (!random_text(secret, HS_SECRET_BYTES) || !random_text(drawn_kid, KID_BYTES)) {
        fputs("hindsight token: the system gives no random numbers\n", stderr);
        return FAILED;
    }
    const char *kid = wanted->kid != NULL ? wanted->kid : drawn_kid;
    hs_sha256_hex(secret, strlen(secret), digest);
    printf("hs_%s_%s_%s\n", wanted->tenant, kid, secret);
    explicit_bzero(secret, sizeof secret);
    print_entry(wanted, kid, scopes, digest);
    if (fflush(stdout) == 0)
        return FINE;
    perror("hindsight token");
    return FAILED;
}

static bool take_days(const char *text, long *days)
{
    char *end;
    *days = strtol(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *days > 0 && *days <= MAX_DAYS;
}

int hs_token_main(int argc, char **argv)
{
    struct wanted wanted = {0};
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--help") == 0) {
            fputs(usage, stdout);
            return FINE;
        }
    }
    if (argc < 2 || strcmp(argv[1], "new") != 0) {
        fputs(usage, stderr);
        return WRONG_USAGE;
    }
    for (int i = 2; i < argc; i += 2) {
        const char *value = i + 1 < argc ? argv[i + 1] : NULL;
        if (value == NULL)
            return wrong("an option needs a value");
        if (strcmp(argv[i], "--tenant") == 0)
            wanted.tenant = value;
        else if (strcmp(argv[i], "--scopes") == 0)
            wanted.scopes = value;
        else if (strcmp(argv[i], "--kid") == 0)
            wanted.kid = value;
        else if (strcmp(argv[i], "--days") != 0)
            return wrong("there is no such option");
        else if (!take_days(value, &wanted.days))
            return wrong("--days takes a whole number from 1 to 36500");
    }
    if (wanted.tenant == NULL || !hs_token_part_is_valid(str(wanted.tenant), HS_TENANT_MAX))
        return wrong("--tenant takes 1 to 32 of [A-Za-z0-9.-], the first a letter or digit");
    if (wanted.kid != NULL && !hs_token_part_is_valid(str(wanted.kid), HS_KID_MAX))
        return wrong("--kid takes 1 to 32 of [A-Za-z0-9.-], the first a letter or digit");
    return wanted.scopes != NULL ? make_token(&wanted) : wrong("--scopes is needed");
}
