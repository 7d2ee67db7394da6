#include "service/access/tokens.h"

#include <errno.h>
#include <nettle/memops.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "api/http/routes.h"
#include "api/json/table.h"
#include "service/system/files.h"

enum { MAX_TOKENS = 4096, MAX_FILE_BYTES = 4 * 1024 * 1024 };

struct token {
    struct hs_name tenant, kid;
    char sha256[HS_SHA256_HEX]; /* SHA-256 of the secret, in lower-case hexadecimal */
    unsigned scopes;
    /* the token is valid from not_before_s (inclusive) to not_after_s (exclusive); seconds since
       1970 */
    int64_t not_before_s, not_after_s;
    size_t index; /* index of the token in the document */
};

struct hs_tokens {
    size_t count;
    struct token entries[]; /* sorted by tenant and kid */
};

/* ---- texts ---- */

/* Returns whether `text` contains only ASCII letters, digits and characters from `more`. */
static bool has_only(struct hs_str text, const char *more)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              (c != '\0' && strchr(more, c) != NULL)))
            return false;
    }
    return true;
}

bool hs_token_part_is_valid(struct hs_str text, size_t max)
{
    return text.ptr != NULL && text.len > 0 && text.len <= max && has_only(text, ".-") &&
           text.ptr[0] != '.' && text.ptr[0] != '-';
}

/* Returns whether `text` has the form of a secret: only characters that RFC 6750 allows in a token,
   except `=`. */
static bool is_secret(struct hs_str text)
{
    return text.len >= HS_SECRET_MIN && text.len <= HS_SECRET_MAX && has_only(text, "-._~+/");
}

/* Reads exactly `count` decimal digits at `*text`. */
static bool take_digits(const char **text, size_t count, int *number)
{
    *number = 0;
    for (size_t i = 0; i < count; i++) {
        char c = *(*text)++;
        if (c < '0' || c > '9')
            return false;
        *number = *number * 10 + (c - '0');
    }
    return true;
}

bool hs_token_time_parse(struct hs_str text, int64_t *seconds)
{
    static const struct {
        size_t digits;
        char after;
    } parts[] = {{4, '-'}, {2, '-'}, {2, 'T'}, {2, ':'}, {2, ':'}, {2, 'Z'}};
    int numbers[6];
    if (text.ptr == NULL || text.len != 20)
        return false;
    const char *at = text.ptr;
    for (size_t i = 0; i < 6; i++)
        if (!take_digits(&at, parts[i].digits, &numbers[i]) || *at++ != parts[i].after)
            return false;
    struct tm given = {.tm_year = numbers[0] - 1900,
                       .tm_mon = numbers[1] - 1,
                       .tm_mday = numbers[2],
                       .tm_hour = numbers[3],
                       .tm_min = numbers[4],
                       .tm_sec = numbers[5]};
    struct tm normal = given;
    *seconds = (int64_t)timegm(&normal); /* timegm changes February 31 to March 3 */
    return numbers[0] >= 1970 && normal.tm_mon == given.tm_mon && normal.tm_mday == given.tm_mday &&
           normal.tm_hour == given.tm_hour && normal.tm_min == given.tm_min &&
           normal.tm_sec == given.tm_sec;
}

/* ---- the file ---- */

static struct hs_str text_of(const json_t *value)
{
    return (struct hs_str){json_string_value(value), json_string_length(value)};
}

_Static_assert((int)HS_TENANT_MAX == (int)HS_KID_MAX, "decode_part reads both");

static void decode_part(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    if (hs_token_part_is_valid(text_of(value), HS_KID_MAX))
        hs_name_set(target, text_of(value));
    else
        hs_json_bad(reader, at, "must be 1 to %d of [A-Za-z0-9.-], the first a letter or digit",
                    HS_KID_MAX);
}

static void decode_sha256(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    struct token *token = target;
    struct hs_str text = text_of(value);
    bool fine = text.ptr != NULL && text.len == HS_SHA256_HEX - 1;
    for (size_t i = 0; fine && i < text.len; i++) {
        char c = text.ptr[i];
        token->sha256[i] = c >= 'A' && c <= 'F' ? (char)(c - 'A' + 'a') : c;
        fine = (c >= '0' && c <= '9') || (token->sha256[i] >= 'a' && token->sha256[i] <= 'f');
    }
    if (!fine)
        hs_json_bad(reader, at, "must be 64 hexadecimal digits: the SHA-256 of the secret");
}

static void decode_scopes(struct hs_reader *reader, const json_t *value,
                          const struct hs_json_at *at, void *target)
{
    struct token *token = target;
    if (!json_is_array(value) || json_array_size(value) == 0) {
        hs_json_bad(reader, at, "must be an array of at least one scope");
        return;
    }
    for (size_t i = 0; i < json_array_size(value); i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        struct hs_str name = text_of(json_array_get(value, i));
        unsigned scope = name.ptr != NULL ? hs_scope_parse(name) : 0;
        if (scope == 0)
            hs_json_bad(reader, &here, "must be ingest, verify, rules, evidence or admin");
        else if (token->scopes & scope)
            hs_json_bad(reader, &here, "occurs twice");
        token->scopes |= scope;
    }
}

static void decode_time(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    if (!json_is_null(value) && !hs_token_time_parse(text_of(value), target))
        hs_json_bad(reader, at, "must be a time in UTC like 2026-01-31T00:00:00Z");
}

#define TO(member) .offset = offsetof(struct token, member)

static void decode_token(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                         struct token *token)
{
    static const struct hs_json_field fields[] = {
        {"tenant", HS_JSON_CUSTOM, true, TO(tenant), .decode = decode_part},
        {"kid", HS_JSON_CUSTOM, true, TO(kid), .decode = decode_part},
        {"sha256", HS_JSON_CUSTOM, true, .decode = decode_sha256},
        {"scopes", HS_JSON_CUSTOM, true, .decode = decode_scopes},
        {"not_before", HS_JSON_CUSTOM, TO(not_before_s), .decode = decode_time},
        {"not_after", HS_JSON_CUSTOM, TO(not_after_s), .decode = decode_time},
    };
    static const struct hs_json_object object = {HS_JSON_FIELDS(fields)};
    token->not_before_s = INT64_MIN;
    token->not_after_s = INT64_MAX;
    token->index = at->index;
    hs_json_read_object(reader, value, at, &object, token);
    if (token->not_after_s <= token->not_before_s)
        hs_json_bad(reader, at, "is never valid: not_after is not later than not_before");
}

static void decode_list(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                        void *target)
{
    size_t count = json_array_size(value);
    if (!json_is_array(value) || count == 0 || count > MAX_TOKENS) {
        hs_json_bad(reader, at, "must be an array of 1 to %d tokens", MAX_TOKENS);
        return;
    }
    struct hs_tokens *tokens = calloc(1, sizeof *tokens + count * sizeof tokens->entries[0]);
    if (tokens == NULL) {
        reader->no_memory = true;
        return;
    }
    tokens->count = count;
    for (size_t i = 0; i < count; i++) {
        struct hs_json_at here = {.parent = at, .index = i};
        decode_token(reader, json_array_get(value, i), &here, &tokens->entries[i]);
    }
    *(struct hs_tokens **)target = tokens;
}

/* Orders tokens by tenant, then by kid. Names are zero-padded, so memcmp can compare the whole
   structures. */
static int compare_tokens(const void *a, const void *b)
{
    const struct token *one = a, *other = b;
    int order = memcmp(&one->tenant, &other->tenant, sizeof one->tenant);
    return order != 0 ? order : memcmp(&one->kid, &other->kid, sizeof one->kid);
}

static void refuse_twins(const struct hs_tokens *tokens, struct hs_problem *problem)
{
    for (size_t i = 1; i < tokens->count; i++) {
        const struct token *a = &tokens->entries[i - 1], *b = &tokens->entries[i];
        char pointer[HS_POINTER_MAX];
        if (compare_tokens(a, b) != 0)
            continue;
        snprintf(pointer, sizeof pointer, "/tokens/%zu/kid",
                 a->index > b->index ? a->index : b->index);
        hs_problem_add(problem, pointer, "the tenant has another token with this kid");
    }
}

struct hs_tokens *hs_tokens_from_json(struct hs_str text, struct hs_problem *problem)
{
    static const struct hs_json_field fields[] = {
        {"tokens", HS_JSON_CUSTOM, true, .decode = decode_list}};
    static const struct hs_json_object object = {HS_JSON_FIELDS(fields)};
    struct hs_reader reader = {.problem = problem, .document = "a token file"};
    struct hs_tokens *tokens = NULL;
    json_t *root = hs_json_parse(text, problem);
    if (root != NULL)
        hs_json_read_object(&reader, root, NULL, &object, &tokens);
    json_decref(root);
    if (reader.no_memory)
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "out of memory");
    if (problem->code == HS_PROBLEM_NONE) {
        qsort(tokens->entries, tokens->count, sizeof(struct token), compare_tokens);
        refuse_twins(tokens, problem);
    }
    if (problem->code == HS_PROBLEM_NONE)
        return tokens;
    hs_tokens_destroy(tokens);
    return NULL;
}

/* Returns the content of a file, which the caller frees. On failure sets `problem` and returns
   NULL. */
static char *read_file(const char *path, size_t *size, struct hs_problem *problem)
{
    struct stat status;
    FILE *file = hs_file_read(path);
    if (file != NULL && fstat(fileno(file), &status) != 0) {
        int error = errno;
        fclose(file);
        file = NULL;
        errno = error;
    }
    if (file != NULL && (status.st_mode & S_IWOTH) != 0) {
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST,
                       "everybody can write to the file and add a token: chmod o-w");
        fclose(file);
        return NULL;
    }
    char *text = hs_file_rest(file, MAX_FILE_BYTES, size);
    if (text == NULL)
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s",
                       hs_file_error(errno));
    return text;
}

struct hs_tokens *hs_tokens_load(const char *path, struct hs_problem *problem)
{
    size_t size;
    char *text = read_file(path, &size, problem);
    if (text == NULL)
        return NULL;
    struct hs_tokens *tokens = hs_tokens_from_json((struct hs_str){text, size}, problem);
    /* The parser's message quotes the text near the fault. The quote is cut off, because it could
       contain a secret. */
    char *quote = strstr(problem->detail, " near '");
    if (problem->code == HS_PROBLEM_MALFORMED_JSON && quote != NULL)
        *quote = '\0';
    explicit_bzero(text, size);
    free(text);
    return tokens;
}

void hs_tokens_destroy(struct hs_tokens *tokens)
{
    free(tokens);
}

size_t hs_tokens_count(const struct hs_tokens *tokens)
{
    return tokens->count;
}

/* ---- one token ---- */

/* Returns the text before the next `_` and moves *rest past this `_`. Returns an empty text if
   there is no `_`. */
static struct hs_str next_part(struct hs_str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, '_', rest->len) : NULL;
    if (end == NULL)
        return (struct hs_str){0};
    struct hs_str part = {rest->ptr, (size_t)(end - rest->ptr)};
    *rest = (struct hs_str){end + 1, rest->len - part.len - 1};
    return part;
}

static const struct token *find(const struct hs_tokens *tokens, struct hs_str tenant,
                                struct hs_str kid)
{
    struct token key;
    hs_name_set(&key.tenant, tenant);
    hs_name_set(&key.kid, kid);
    return bsearch(&key, tokens->entries, tokens->count, sizeof key, compare_tokens);
}

enum hs_auth_failure hs_tokens_check(const struct hs_tokens *tokens, struct hs_str token,
                                     int64_t now_s, struct hs_identity *identity)
{
    /* If no token has this tenant and kid, the hash of the secret is compared with `nobody`. So the
       duration of the check does not reveal whether the tenant and the kid exist. */
    static const char nobody[HS_SHA256_HEX] =
        "0000000000000000000000000000000000000000000000000000000000000000";
    char digest[HS_SHA256_HEX];
    struct hs_str rest = token;
    *identity = (struct hs_identity){0};
    if (token.len > HS_TOKEN_MAX || !hs_str_equal(next_part(&rest), HS_STR("hs")))
        return HS_AUTH_MALFORMED;
    struct hs_str tenant = next_part(&rest), kid = next_part(&rest);
    if (!hs_token_part_is_valid(tenant, HS_TENANT_MAX) ||
        !hs_token_part_is_valid(kid, HS_KID_MAX) || !is_secret(rest))
        return HS_AUTH_MALFORMED;
    const struct token *found = find(tokens, tenant, kid);
    hs_sha256_hex(rest.ptr, rest.len, digest);
    int same = memeql_sec(digest, found != NULL ? found->sha256 : nobody, HS_SHA256_HEX - 1);
    if (found == NULL || !same)
        return HS_AUTH_UNKNOWN;
    if (now_s < found->not_before_s || now_s >= found->not_after_s)
        return HS_AUTH_EXPIRED;
    identity->tenant = found->tenant;
    identity->kid = found->kid;
    identity->scopes = found->scopes;
    return HS_AUTH_FINE;
}

/* ---- the current tokens ---- */

struct hs_keyring {
    pthread_rwlock_t lock;
    struct hs_tokens *tokens;
};

struct hs_keyring *hs_keyring_create(struct hs_tokens *tokens)
{
    struct hs_keyring *keyring = calloc(1, sizeof *keyring);
    if (keyring == NULL) {
        hs_tokens_destroy(tokens);
        return NULL;
    }
    /* The lock prefers writers. Without this setting, a writer could wait forever, because a busy
       service always has a reader. */
    pthread_rwlockattr_t attributes;
    pthread_rwlockattr_init(&attributes);
    pthread_rwlockattr_setkind_np(&attributes, PTHREAD_RWLOCK_PREFER_WRITER_NONRECURSIVE_NP);
    pthread_rwlock_init(&keyring->lock, &attributes);
    pthread_rwlockattr_destroy(&attributes);
    keyring->tokens = tokens;
    return keyring;
}

void hs_keyring_destroy(struct hs_keyring *keyring)
{
    if (keyring == NULL)
        return;
    pthread_rwlock_destroy(&keyring->lock);
    hs_tokens_destroy(keyring->tokens);
    free(keyring);
}

void hs_tokens_swap(struct hs_keyring *keyring, struct hs_tokens *fresh)
{
    pthread_rwlock_wrlock(&keyring->lock);
    struct hs_tokens *old = keyring->tokens;
    keyring->tokens = fresh;
    pthread_rwlock_unlock(&keyring->lock);
    hs_tokens_destroy(old);
}

size_t hs_keyring_count(struct hs_keyring *keyring)
{
    pthread_rwlock_rdlock(&keyring->lock);
    size_t count = keyring->tokens != NULL ? keyring->tokens->count : 0;
    pthread_rwlock_unlock(&keyring->lock);
    return count;
}

enum hs_auth_failure hs_keyring_check(struct hs_keyring *keyring, struct hs_str token,
                                      struct hs_identity *identity)
{
    int64_t now_s = (int64_t)time(NULL);
    pthread_rwlock_rdlock(&keyring->lock);
    enum hs_auth_failure failure = keyring->tokens != NULL
                                       ? hs_tokens_check(keyring->tokens, token, now_s, identity)
                                       : HS_AUTH_UNKNOWN;
    pthread_rwlock_unlock(&keyring->lock);
    return failure;
}
