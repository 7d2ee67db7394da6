/* Tokens: valid token files, admitted tokens, and a reload while requests run. */
#include "service/access/tokens.h"

#include "api/http/routes.h"
#include "tests/support/run_suite.h"

#include <check.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* SHA-256 of the secrets "first-secret-of-these-tests" and "other-secret-of-these-tests", from
   sha256sum. */
#define FIRST  "first-secret-of-these-tests"
#define OTHER  "other-secret-of-these-tests"
#define HASH_1 "e5294860cdf8bd9245acea3a960fe456be07c769bff4df1ba4f2b8ae085df24b"
#define HASH_2 "55be0917f5c839880428cccbfabc8a123bede228201475b6422140758990ec89"

#define TOKEN(tenant, kid, hash, scopes, more)                                                     \
    "{\"tenant\":\"" tenant "\",\"kid\":\"" kid "\",\"sha256\":\"" hash "\",\"scopes\":[" scopes   \
    "]" more "}"
#define FILE_OF(list) "{\"tokens\":[" list "]}"

static struct hs_problem problem;

static struct hs_str str(const char *text)
{
    return (struct hs_str){text, strlen(text)};
}

static struct hs_tokens *parse(const char *text)
{
    hs_problem_init(&problem);
    return hs_tokens_from_json(str(text), &problem);
}

/* ---- files ---- */

static const struct {
    const char *text, *pointer, *detail;
} faults[] = {
    {"[]", "", "must be an object"},
    {"{}", "/tokens", "is required"},
    {"{\"tokens\":{}}", "/tokens", "must be an array of 1 to 4096 tokens"},
    {FILE_OF(""), "/tokens", "must be an array of 1 to 4096 tokens"},
    {FILE_OF("1"), "/tokens/0", "must be an object"},
    {"{\"tokens\":[],\"token\":1}", "/tokens", "must be an array"},
    {FILE_OF("{\"kid\":\"a\",\"sha256\":\"" HASH_1 "\",\"scopes\":[\"admin\"]}"),
     "/tokens/0/tenant", "is required"},
    {FILE_OF(TOKEN("a_b", "k", HASH_1, "\"admin\"", "")), "/tokens/0/tenant",
     "must be 1 to 32 of [A-Za-z0-9.-]"},
    {FILE_OF(TOKEN("", "k", HASH_1, "\"admin\"", "")), "/tokens/0/tenant", "must be 1 to 32"},
    {FILE_OF(TOKEN("-a", "k", HASH_1, "\"admin\"", "")), "/tokens/0/tenant", "the first a letter"},
    {FILE_OF(TOKEN("abcdefghabcdefghabcdefghabcdefgha", "k", HASH_1, "\"admin\"", "")),
     "/tokens/0/tenant", "must be 1 to 32"},
    {FILE_OF(TOKEN("a", "k k", HASH_1, "\"admin\"", "")), "/tokens/0/kid", "must be 1 to 32"},
    {FILE_OF(TOKEN("a", "k", "12", "\"admin\"", "")), "/tokens/0/sha256", "64 hexadecimal digits"},
    {FILE_OF(TOKEN("a", "k", HASH_1 "00", "\"admin\"", "")), "/tokens/0/sha256", "64 hexadecimal"},
    {FILE_OF(TOKEN("a", "k", "g0000000000000000000000000000000000000000000000000000000000000000",
                   "\"admin\"", "")),
     "/tokens/0/sha256", "64 hexadecimal"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "", "")), "/tokens/0/scopes", "at least one scope"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"root\"", "")), "/tokens/0/scopes/0", "must be ingest"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"admin\",1", "")), "/tokens/0/scopes/1", "must be ingest"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"rules\",\"rules\"", "")), "/tokens/0/scopes/1", "twice"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"admin\"", ",\"not_after\":5")), "/tokens/0/not_after",
     "must be a time in UTC"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"admin\"", ",\"not_after\":\"2026-02-30T00:00:00Z\"")),
     "/tokens/0/not_after", "must be a time in UTC"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"admin\"",
                   ",\"not_before\":\"2026-02-01T00:00:00Z\","
                   "\"not_after\":\"2026-02-01T00:00:00Z\"")),
     "/tokens/0", "is never valid"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"admin\"", ",\"secret\":\"x\"")), "/tokens/0/secret",
     "is not a field of a token file"},
    {FILE_OF(TOKEN("a", "k", HASH_1, "\"admin\"", "") "," TOKEN(
         "b", "k", HASH_1, "\"admin\"", "") "," TOKEN("a", "k", HASH_2, "\"rules\"", "")),
     "/tokens/2/kid", "another token with this kid"},
};

START_TEST(faulty_files_are_refused_whole)
{
    ck_assert_ptr_null(parse(faults[_i].text));
    ck_assert_int_ne(problem.code, HS_PROBLEM_NONE);
    ck_assert_uint_ge(problem.count, 1);
    ck_assert_str_eq(problem.errors[0].pointer, faults[_i].pointer);
    ck_assert_msg(strstr(problem.errors[0].detail, faults[_i].detail) != NULL, "%s",
                  problem.errors[0].detail);
}
END_TEST

START_TEST(every_fault_is_named)
{
    ck_assert_ptr_null(parse(FILE_OF(TOKEN("a_b", "k_", "1", "\"x\"", ",\"y\":1"))));
    ck_assert_uint_eq(problem.count, 5);
    ck_assert_ptr_null(parse("{\"tokens\":["));
    ck_assert_int_eq(problem.code, HS_PROBLEM_MALFORMED_JSON);
}
END_TEST

START_TEST(a_file_anybody_may_write_to_is_refused)
{
    char path[] = "/tmp/hindsight_tokens_XXXXXX";
    static const char text[] = FILE_OF(TOKEN("a", "k", HASH_1, "\"admin\"", ",\"x_note\":\"ci\""));
    int fd = mkstemp(path);
    ck_assert_int_eq(write(fd, text, sizeof text - 1), sizeof text - 1);
    hs_problem_init(&problem);
    struct hs_tokens *tokens = hs_tokens_load(path, &problem);
    ck_assert_ptr_nonnull(tokens);
    ck_assert_uint_eq(hs_tokens_count(tokens), 1);
    hs_tokens_destroy(tokens);
    ck_assert_int_eq(fchmod(fd, 0602), 0);
    ck_assert_ptr_null(hs_tokens_load(path, &problem));
    ck_assert_ptr_nonnull(strstr(problem.detail, "everybody can write"));
    close(fd);
    unlink(path);
    hs_problem_init(&problem);
    ck_assert_ptr_null(hs_tokens_load(path, &problem));
    ck_assert_ptr_nonnull(strstr(problem.detail, "No such file"));
}
END_TEST

static const struct {
    const char *text;
    int64_t seconds; /* -1: the text is not a time */
} times[] = {
    {"1970-01-01T00:00:00Z", 0},          {"2026-01-31T12:34:56Z", 1769862896},
    {"2024-02-29T23:59:59Z", 1709251199}, {"9999-12-31T23:59:59Z", 253402300799},
    {"2025-02-29T00:00:00Z", -1},         {"2025-13-01T00:00:00Z", -1},
    {"2025-00-01T00:00:00Z", -1},         {"2025-01-01T24:00:00Z", -1},
    {"2025-01-01T00:60:00Z", -1},         {"2025-01-01T00:00:60Z", -1},
    {"1969-12-31T23:59:59Z", -1},         {"2025-01-01 00:00:00Z", -1},
    {"2025-01-01T00:00:00", -1},          {"2025-01-01T00:00:00+", -1},
    {"2025-1-01T00:00:00ZZ", -1},         {"", -1},
};

START_TEST(times_are_parsed)
{
    int64_t seconds = -1;
    bool fine = hs_token_time_parse(str(times[_i].text), &seconds);
    ck_assert_int_eq(fine, times[_i].seconds >= 0);
    if (fine)
        ck_assert_int_eq(seconds, times[_i].seconds);
}
END_TEST

/* ---- tokens ---- */

#define YEAR_2026 1767225600
#define TWO_KEYS                                                                                   \
    FILE_OF(TOKEN("acme", "2025", HASH_1, "\"ingest\",\"verify\"", "") "," TOKEN(                  \
        "acme", "2026", HASH_2, "\"ingest\"",                                                      \
        ",\"not_before\":\"2026-01-01T00:00:00Z\","                                                \
        "\"not_after\":\"2027-01-01T00:00:00Z\"") "," TOKEN("zeta", "2026", HASH_1, "\"admin\"",   \
                                                            ",\"not_after\":null"))

static const struct {
    const char *token;
    int64_t now_s;
    enum hs_auth_failure result;
    const char *tenant;
    unsigned scopes;
} tokens_tried[] = {
    {"hs_acme_2025_" FIRST, 0, HS_AUTH_FINE, "acme", HS_SCOPE_INGEST | HS_SCOPE_VERIFY},
    {"hs_zeta_2026_" FIRST, 0, HS_AUTH_FINE, "zeta", HS_SCOPE_ADMIN},
    /* Two keys of a tenant are valid at the same time. Each is valid from its first second until
       its end. */
    {"hs_acme_2026_" OTHER, YEAR_2026 - 1, HS_AUTH_EXPIRED, "", 0},
    {"hs_acme_2026_" OTHER, YEAR_2026, HS_AUTH_FINE, "acme", HS_SCOPE_INGEST},
    {"hs_acme_2026_" OTHER, YEAR_2026 + 31535999, HS_AUTH_FINE, "acme", HS_SCOPE_INGEST},
    {"hs_acme_2026_" OTHER, YEAR_2026 + 31536000, HS_AUTH_EXPIRED, "", 0},
    /* The secret of another key, another key, an unknown key. */
    {"hs_acme_2026_" FIRST, YEAR_2026, HS_AUTH_UNKNOWN, "", 0},
    {"hs_zeta_2025_" FIRST, 0, HS_AUTH_UNKNOWN, "", 0},
    {"hs_nobody_1_" FIRST, 0, HS_AUTH_UNKNOWN, "", 0},
    {"hs_acme_2025_" FIRST "x", 0, HS_AUTH_UNKNOWN, "", 0},
    {"hs_ACME_2025_" FIRST, 0, HS_AUTH_UNKNOWN, "", 0},
    /* The hash in the file is not a secret. */
    {"hs_acme_2025_" HASH_1, 0, HS_AUTH_UNKNOWN, "", 0},
    {"hs_nobody_1_0000000000000000000000000000000000000000000000000000000000000000", 0,
     HS_AUTH_UNKNOWN, "", 0},
    {"", 0, HS_AUTH_MALFORMED, "", 0},
    {"hs", 0, HS_AUTH_MALFORMED, "", 0},
    {"hs_acme_2025", 0, HS_AUTH_MALFORMED, "", 0},
    {"hs_acme_2025_", 0, HS_AUTH_MALFORMED, "", 0},
    {"hs_acme_2025_tooshort", 0, HS_AUTH_MALFORMED, "", 0},
    {"hs__2025_" FIRST, 0, HS_AUTH_MALFORMED, "", 0},
    {"hs_acme__" FIRST, 0, HS_AUTH_MALFORMED, "", 0},
    {"HS_acme_2025_" FIRST, 0, HS_AUTH_MALFORMED, "", 0},
    {"xx_acme_2025_" FIRST, 0, HS_AUTH_MALFORMED, "", 0},
    {"hs_acme_2025_" FIRST " ", 0, HS_AUTH_MALFORMED, "", 0},
    {"hs_acme_2025_" FIRST "\"", 0, HS_AUTH_MALFORMED, "", 0},
};

START_TEST(tokens_are_looked_up)
{
    struct hs_tokens *tokens = parse(TWO_KEYS);
    struct hs_identity identity;
    ck_assert_msg(tokens != NULL, "%s %s", problem.errors[0].pointer, problem.errors[0].detail);
    memset(&identity, 0x5A, sizeof identity);
    ck_assert_int_eq(
        hs_tokens_check(tokens, str(tokens_tried[_i].token), tokens_tried[_i].now_s, &identity),
        tokens_tried[_i].result);
    ck_assert_str_eq(identity.tenant.text, tokens_tried[_i].tenant);
    ck_assert_uint_eq(identity.scopes, tokens_tried[_i].scopes);
    hs_tokens_destroy(tokens);
}
END_TEST

START_TEST(each_of_many_tokens_is_found)
{
    enum { TENANTS = 40, KIDS = 25 };
    char *text = NULL, token[256];
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    fputs("{\"tokens\":[", file);
    for (int i = 0; i < TENANTS * KIDS; i++) {
        int shuffled = i * 617 % (TENANTS * KIDS);
        fprintf(file,
                "%s{\"tenant\":\"t%d\",\"kid\":\"%d\",\"sha256\":\"%s\",\"scopes\":[\"rules\"]}",
                i == 0 ? "" : ",", shuffled / KIDS, shuffled % KIDS,
                shuffled % 2 == 0 ? HASH_1 : HASH_2);
    }
    fputs("]}", file);
    fclose(file);
    struct hs_tokens *tokens = parse(text);
    ck_assert_ptr_nonnull(tokens);
    for (int i = 0; i < TENANTS * KIDS; i++) {
        struct hs_identity identity;
        snprintf(token, sizeof token, "hs_t%d_%d_%s", i / KIDS, i % KIDS,
                 i % 2 == 0 ? FIRST : OTHER);
        ck_assert_int_eq(hs_tokens_check(tokens, str(token), 0, &identity), HS_AUTH_FINE);
        snprintf(token, sizeof token, "hs_t%d_%d_%s", i / KIDS, i % KIDS,
                 i % 2 == 0 ? OTHER : FIRST);
        ck_assert_int_eq(hs_tokens_check(tokens, str(token), 0, &identity), HS_AUTH_UNKNOWN);
    }
    hs_tokens_destroy(tokens);
    free(text);
}
END_TEST

/* ---- replacing tokens during requests ---- */

static struct hs_keyring *keyring;
static atomic_bool done;

static void *ask(void *unused)
{
    (void)unused;
    size_t asked = 0;
    while (!atomic_load(&done) || asked == 0) {
        struct hs_identity identity;
        /* This token is in both files, so it is always admitted. */
        if (hs_keyring_check(keyring, str("hs_acme_2025_" FIRST), &identity) != HS_AUTH_FINE ||
            strcmp(identity.tenant.text, "acme") != 0)
            return &done;
        asked++;
    }
    return NULL;
}

START_TEST(tokens_are_exchanged_while_requests_come)
{
    pthread_t threads[3];
    struct hs_identity identity;
    keyring = hs_keyring_create(parse(FILE_OF(TOKEN("acme", "2025", HASH_1, "\"verify\"", ""))));
    ck_assert_ptr_nonnull(keyring);
    for (size_t i = 0; i < 3; i++)
        pthread_create(&threads[i], NULL, ask, NULL);
    for (int i = 0; i < 200; i++) {
        hs_tokens_swap(keyring, parse(TWO_KEYS));
        ck_assert_int_eq(hs_keyring_check(keyring, str("hs_zeta_2026_" FIRST), &identity),
                         HS_AUTH_FINE);
        hs_tokens_swap(keyring, parse(FILE_OF(TOKEN("acme", "2025", HASH_1, "\"verify\"", ""))));
        ck_assert_int_eq(hs_keyring_check(keyring, str("hs_zeta_2026_" FIRST), &identity),
                         HS_AUTH_UNKNOWN);
    }
    atomic_store(&done, true);
    for (size_t i = 0; i < 3; i++) {
        void *failed;
        pthread_join(threads[i], &failed);
        ck_assert_ptr_null(failed);
    }
    hs_keyring_destroy(keyring);
    hs_keyring_destroy(NULL);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("tokens");
    TCase *tests = tcase_create("tokens");
    tcase_set_timeout(tests, 60);
    tcase_add_loop_test(tests, faulty_files_are_refused_whole, 0,
                        (int)(sizeof faults / sizeof faults[0]));
    tcase_add_test(tests, every_fault_is_named);
    tcase_add_test(tests, a_file_anybody_may_write_to_is_refused);
    tcase_add_loop_test(tests, times_are_parsed, 0, (int)(sizeof times / sizeof times[0]));
    tcase_add_loop_test(tests, tokens_are_looked_up, 0,
                        (int)(sizeof tokens_tried / sizeof tokens_tried[0]));
    tcase_add_test(tests, each_of_many_tokens_is_found);
    tcase_add_test(tests, tokens_are_exchanged_while_requests_come);
    suite_add_tcase(suite, tests);
    return hs_run_suite(suite);
}
