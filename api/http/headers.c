#include "api/http/headers.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_name_byte(unsigned char c)
{
    return (c >= 'a' && c <= 'z') || c == '-' || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("!#$%&'*+.^_`|~", c) != NULL);
}

static bool same(struct hs_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len == len && strncasecmp(text.ptr, word, len) == 0;
}

static bool starts(struct hs_str text, const char *word)
{
    size_t len = strlen(word);
    return text.len >= len && strncasecmp(text.ptr, word, len) == 0;
}

static struct hs_str trim(struct hs_str text)
{
    while (text.len > 0 && (text.ptr[0] == ' ' || text.ptr[0] == '\t')) {
        text.ptr++;
        text.len--;
    }
    while (text.len > 0 && (text.ptr[text.len - 1] == ' ' || text.ptr[text.len - 1] == '\t'))
        text.len--;
    return text;
}

static void record_ambiguity(struct hs_headers *headers, const char *what)
{
    if (headers->ambiguous[0] == '\0')
        snprintf(headers->ambiguous, sizeof headers->ambiguous, "%s", what);
}

static void check_bytes(struct hs_headers *headers, struct hs_str name, struct hs_str value)
{
    bool fine = name.len > 0;
    for (size_t i = 0; i < name.len; i++)
        fine = fine && is_name_byte((unsigned char)name.ptr[i]);
    if (!fine)
        record_ambiguity(headers, "a header name contains a blank or another bad byte");
    for (size_t i = 0; i < value.len; i++) {
        unsigned char c = (unsigned char)value.ptr[i];
        if ((c < 0x20 && c != '\t') || c == 0x7F)
            record_ambiguity(headers, "a header value contains a control byte");
    }
    /* If a header line is folded, libmicrohttpd appends the second line to the name of the field. A
       proxy that unfolds lines reads the same field as Content-Length or Transfer-Encoding. */
    if ((starts(name, "content-length") && !same(name, "content-length")) ||
        (starts(name, "transfer-encoding") && !same(name, "transfer-encoding")))
        record_ambiguity(headers, "a header that frames the body is folded or misspelt");
}

static bool parse_length(struct hs_str value, size_t *length)
{
    size_t number = 0;
    for (size_t i = 0; i < value.len; i++) {
        if (value.ptr[i] < '0' || value.ptr[i] > '9')
            return false;
        size_t digit = (size_t)(value.ptr[i] - '0');
        if (number > (SIZE_MAX - digit) / 10) {
            *length = SIZE_MAX; /* the number is valid, but above every limit */
            continue;
        }
        number = number * 10 + digit;
        *length = number;
    }
    return value.len > 0;
}

/* Returns whether a Content-Type is application/json. Any parameters are allowed, but the charset
   must be UTF-8 or absent. */
static bool is_json(struct hs_str value)
{
    const char *semicolon = memchr(value.ptr, ';', value.len);
    size_t len = semicolon == NULL ? value.len : (size_t)(semicolon - value.ptr);
    if (!same(trim((struct hs_str){value.ptr, len}), "application/json"))
        return false;
    while (len < value.len) {
        struct hs_str rest = {value.ptr + len + 1, value.len - len - 1};
        semicolon = memchr(rest.ptr, ';', rest.len);
        struct hs_str parameter = {rest.ptr,
                                   semicolon == NULL ? rest.len : (size_t)(semicolon - rest.ptr)};
        len += 1 + parameter.len;
        parameter = trim(parameter);
        if (starts(parameter, "charset") && !same(parameter, "charset=utf-8") &&
            !same(parameter, "charset=\"utf-8\""))
            return false;
    }
    return true;
}

static void record_request_id(struct hs_headers *headers, struct hs_str value)
{
    if (headers->request_id[0] != '\0' || value.len == 0 || value.len > HS_REQUEST_ID_MAX)
        return;
    /* A request id may contain the same characters as a name, but may be longer than a name. So
       check the id in parts. */
    for (size_t at = 0; at < value.len; at += HS_NAME_MAX) {
        size_t left = value.len - at;
        if (!hs_name_is_valid(
                (struct hs_str){value.ptr + at, left < HS_NAME_MAX ? left : HS_NAME_MAX}))
            return;
    }
    memcpy(headers->request_id, value.ptr, value.len);
    headers->request_id[value.len] = '\0';
}

/* Returns whether every character of a text is in `characters`. */
static bool is_made_of(struct hs_str text, const char *characters)
{
    for (size_t i = 0; i < text.len; i++)
        if (text.ptr[i] == '\0' || strchr(characters, text.ptr[i]) == NULL)
            return false;
    return true;
}

/*
 * Records the trace id of a traceparent field (W3C Trace Context). The field consists of a version,
 * a trace id, a parent id and flags, with "-" between these parts. Each part consists of lower-case
 * hexadecimal digits. An id of zeros is invalid. The version ff is invalid. A field with a version
 * other than 00 may continue with another "-" and further parts. If a request has two traceparent
 * fields, both are ignored.
 */
static void record_trace(struct hs_headers *headers, struct hs_str value)
{
    enum { SIZE = 55 };
    static const char hex[] = "0123456789abcdef";
    headers->trace_id[0] = '\0';
    if (headers->traces++ > 0 || value.len < SIZE)
        return;
    struct hs_str version = {value.ptr, 2}, trace = {value.ptr + 3, 32},
                  parent = {value.ptr + 36, 16}, flags = {value.ptr + 53, 2};
    if (value.ptr[2] != '-' || value.ptr[35] != '-' || value.ptr[52] != '-' ||
        !is_made_of(version, hex) || !is_made_of(trace, hex) || !is_made_of(parent, hex) ||
        !is_made_of(flags, hex) || is_made_of(version, "f") || is_made_of(trace, "0") ||
        is_made_of(parent, "0"))
        return;
    if (value.len > SIZE && (is_made_of(version, "0") || value.ptr[SIZE] != '-'))
        return;
    memcpy(headers->trace_id, trace.ptr, trace.len);
    headers->trace_id[trace.len] = '\0';
}

/* Returns whether a name begins with the same letter as one of the names that hs_headers_add
   handles. Most other names fail this test, and need no comparison. */
static bool may_be_known(struct hs_str name)
{
    switch (name.len > 0 ? name.ptr[0] | 0x20 : 0) { /* the first letter in lower case */
    case 'a':
    case 'c':
    case 'h':
    case 't':
    case 'x':
        return true;
    default:
        return false;
    }
}

void hs_headers_add(struct hs_headers *headers, struct hs_str name, struct hs_str value)
{
    if (value.ptr == NULL)
        value = HS_STR("");
    check_bytes(headers, name, value);
    if (!may_be_known(name))
        return;
    value = trim(value);
    if (same(name, "content-length")) {
        headers->lengths++;
        if (!parse_length(value, &headers->length))
            headers->length_bad = true;
    } else if (same(name, "transfer-encoding")) {
        headers->transfer_encoding = true;
    } else if (same(name, "content-encoding")) {
        if (!same(value, "identity"))
            headers->encoded = true;
    } else if (same(name, "content-type")) {
        headers->types++;
        headers->type_fine = is_json(value);
    } else if (same(name, "host")) {
        headers->hosts++;
    } else if (same(name, "authorization")) {
        headers->authorizations++;
    } else if (same(name, "x-deadline-ms")) {
        size_t milliseconds = 0;
        headers->deadlines++;
        if (!parse_length(value, &milliseconds) || milliseconds > HS_DEADLINE_MAX_MS)
            headers->deadline_bad = true;
        else
            headers->deadline_ms = (unsigned)milliseconds;
    } else if (same(name, "x-request-id")) {
        record_request_id(headers, value);
    } else if (same(name, "traceparent")) {
        record_trace(headers, value);
    }
}

void hs_headers_check_framing(const struct hs_headers *headers, bool takes_body,
                              struct hs_problem *problem)
{
    if (headers->ambiguous[0] != '\0')
        hs_problem_set(problem, HS_PROBLEM_BAD_HEADER, "%s", headers->ambiguous);
    else if (headers->lengths > 1)
        hs_problem_set(problem, HS_PROBLEM_BAD_HEADER, "Content-Length occurs %u times",
                       headers->lengths);
    else if (headers->length_bad)
        hs_problem_set(problem, HS_PROBLEM_BAD_HEADER, "Content-Length is not a decimal number");
    else if (headers->types > 1 || headers->hosts > 1 || headers->authorizations > 1)
        hs_problem_set(problem, HS_PROBLEM_BAD_HEADER, "%s occurs more than once",
                       headers->types > 1   ? "Content-Type"
                       : headers->hosts > 1 ? "Host"
                                            : "Authorization");
    else if (headers->transfer_encoding)
        hs_problem_set(problem, HS_PROBLEM_LENGTH_REQUIRED,
                       "Send a Content-Length; no Transfer-Encoding is accepted");
    else if (takes_body && headers->lengths == 0)
        hs_problem_set(problem, HS_PROBLEM_LENGTH_REQUIRED, "Send a Content-Length");
}

void hs_headers_check_content(const struct hs_headers *headers, bool takes_body, size_t limit,
                              struct hs_problem *problem)
{
    if (!takes_body && headers->length > 0)
        hs_problem_set(problem, HS_PROBLEM_BAD_HEADER, "This method takes no body here");
    else if (headers->deadlines > 1 || headers->deadline_bad)
        hs_problem_set(problem, HS_PROBLEM_BAD_HEADER,
                       "X-Deadline-Ms must occur once, with a number from 0 to %d",
                       HS_DEADLINE_MAX_MS);
    else if (headers->length > limit)
        hs_problem_set(problem, HS_PROBLEM_BODY_TOO_LARGE, "The limit is %zu bytes", limit);
    else if (headers->encoded)
        hs_problem_set(problem, HS_PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                       "No Content-Encoding is accepted");
    else if (takes_body && !headers->type_fine)
        hs_problem_set(problem, HS_PROBLEM_UNSUPPORTED_MEDIA_TYPE,
                       "The Content-Type must be application/json in UTF-8");
}

bool hs_headers_body_follows(const struct hs_headers *headers)
{
    return headers->length > 0 || headers->lengths > 1 || headers->transfer_encoding;
}
