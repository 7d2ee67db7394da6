/* Targets for code below the decoders: header fields, and pointers in a text. */
#include "tests/support/fuzz/targets.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "api/http/headers.h"
#include "api/json/reading.h"
#include "tests/support/fuzz/checks.h"

/* ---- headers ---- */

/* What a strict parser finds in the same lines. */
struct plain_count {
    unsigned lengths, encodings;
    bool bad_length, bad_name;
};

static bool is_named(struct hs_str name, const char *word)
{
    return name.len == strlen(word) && strncasecmp(name.ptr, word, name.len) == 0;
}

static void count_plainly(struct plain_count *count, struct hs_str name, struct hs_str value)
{
    count->bad_name = count->bad_name || name.len == 0 || memchr(name.ptr, ' ', name.len) != NULL ||
                      memchr(name.ptr, '\t', name.len) != NULL;
    count->encodings += is_named(name, "transfer-encoding");
    if (!is_named(name, "content-length"))
        return;
    count->lengths++;
    for (size_t i = 0; i < value.len; i++)
        if (strchr("0123456789 \t", value.ptr[i]) == NULL)
            count->bad_length = true;
}

/* Adds a field. Copies both texts to blocks of their exact sizes, so that sanitizers notice reads
   past the end. */
static void add_field(struct hs_headers *headers, struct hs_str name, struct hs_str value)
{
    char *name_copy = malloc(name.len + 1), *value_copy = malloc(value.len + 1);
    if (name_copy == NULL || value_copy == NULL)
        abort();
    memcpy(name_copy, name.ptr, name.len);
    memcpy(value_copy, value.ptr, value.len);
    name_copy[name.len] = value_copy[value.len] = '\0';
    hs_headers_add(headers, (struct hs_str){name_copy, name.len},
                   (struct hs_str){value_copy, value.len});
    free(name_copy);
    free(value_copy);
}

static void add_lines(struct hs_str text, struct hs_headers *headers, struct plain_count *count)
{
    while (text.len > 0) {
        const char *newline = memchr(text.ptr, '\n', text.len);
        struct hs_str line = {text.ptr, newline == NULL ? text.len : (size_t)(newline - text.ptr)};
        const char *colon = memchr(line.ptr, ':', line.len);
        struct hs_str name = {line.ptr, colon == NULL ? line.len : (size_t)(colon - line.ptr)};
        size_t taken = colon == NULL ? name.len : name.len + 1;
        struct hs_str value = {line.ptr + taken, line.len - taken};
        count_plainly(count, name, value);
        add_field(headers, name, value);
        size_t used = line.len + (newline != NULL);
        text = (struct hs_str){text.ptr + used, text.len - used};
    }
}

static const char *check_ids(const struct hs_headers *headers)
{
    size_t id = strnlen(headers->request_id, sizeof headers->request_id);
    size_t trace = strnlen(headers->trace_id, sizeof headers->trace_id);
    HS_MUST(id <= HS_REQUEST_ID_MAX, "a request id without an end");
    HS_MUST(trace == 0 || trace == 32, "a trace id of another length");
    HS_MUST(strspn(headers->trace_id, "0123456789abcdef") == trace, "a trace id of other digits");
    for (size_t i = 0; i < id; i++)
        HS_MUST(hs_name_is_valid((struct hs_str){headers->request_id + i, 1}),
                "a request id with other characters");
    return NULL;
}

static const char *check_verdict(const struct hs_problem *problem)
{
    HS_MUST(hs_problem_status(problem->code) >= 400 && hs_problem_status(problem->code) < 500,
            "the answer to a bad header is not 4xx");
    HS_MUST(problem->detail[0] != '\0', "a bad header without a detail");
    struct hs_buffer buffer = {0};
    hs_problem_encode(problem, "fuzz", &buffer);
    const char *fault = hs_check_document(&buffer);
    hs_buffer_free(&buffer);
    return fault;
}

const char *hs_fuzz_headers(const uint8_t *data, size_t size)
{
    struct hs_headers headers = {0};
    struct plain_count count = {0};
    struct hs_problem framing, content;
    if (size == 0)
        return NULL;
    bool takes_body = data[0] & 1;
    add_lines((struct hs_str){(const char *)data + 1, size - 1}, &headers, &count);
    HS_MUST_HOLD(check_ids(&headers));
    hs_problem_init(&framing);
    hs_problem_init(&content);
    hs_headers_check_framing(&headers, takes_body, &framing);
    hs_headers_check_content(&headers, takes_body, 1024, &content);
    if (framing.code != HS_PROBLEM_NONE)
        HS_MUST_HOLD(check_verdict(&framing));
    if (content.code != HS_PROBLEM_NONE)
        HS_MUST_HOLD(check_verdict(&content));

    bool doubtful = count.lengths > 1 || count.encodings > 0 || count.bad_length || count.bad_name;
    HS_MUST(!doubtful || framing.code != HS_PROBLEM_NONE, "an ambiguous request was accepted");
    HS_MUST(!takes_body || count.lengths == 1 || framing.code != HS_PROBLEM_NONE,
            "a body without a length was accepted");
    HS_MUST(headers.length <= 1024 || content.code != HS_PROBLEM_NONE,
            "a body that is too large was accepted");
    HS_MUST(framing.code != HS_PROBLEM_NONE || headers.length == 0 ||
                hs_headers_body_follows(&headers),
            "a body that follows was not noticed");
    return NULL;
}

/* ---- pointers ---- */

const char *hs_fuzz_pointer(const uint8_t *data, size_t size)
{
    if (size < 2)
        return NULL;
    struct hs_str text = {(const char *)data + 2, size - 2};
    size_t offset = (size_t)data[0] << 8 | data[1];
    char pointer[HS_POINTER_MAX];
    memset(pointer, 'x', sizeof pointer);
    hs_json_pointer_at(text, offset, pointer);
    size_t len = strnlen(pointer, sizeof pointer);
    HS_MUST(len < sizeof pointer, "a pointer without an end");
    HS_MUST(len == 0 || pointer[0] == '/', "a pointer that begins with something else");

    /* In a document without faults, the pointer leads to a value. Keys in the pointer are as in the
       text, with escapes. Up to three bytes may be missing at the end, because a key is cut before
       a character that does not fit. */
    struct hs_problem problem;
    hs_problem_init(&problem);
    bool whole = len < HS_POINTER_MAX - 3 && memchr(text.ptr, '\\', text.len) == NULL;
    json_t *root = whole ? hs_json_parse(text, &problem) : NULL;
    bool leads = root == NULL || hs_resolve_pointer(root, pointer, true) != NULL;
    json_decref(root);
    HS_MUST(leads, "a pointer that leads nowhere");
    return NULL;
}
