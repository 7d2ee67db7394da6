#include "tests/integration/http_requests.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/routes.h"
#include "tests/support/contract/document.h"
#include "tests/support/contract/schema_damage.h"
#include "tests/support/contract/schema_draw.h"
#include "tests/support/fuzz/json_mutate.h"

enum { DRAWN = 40, BODY_ROOM = 8192, LONG_HEADER = 40000 };

struct bodies {
    struct hs_buffer *all;
    size_t count;
};

struct hs_request_maker {
    const char *const *authorizations;
    size_t authorization_count;
    struct bodies bodies[HS_ROUTE_COUNT];
};

#define COUNT(table)        (int)(sizeof(table) / sizeof(table)[0])
#define PICK(table, random) (table)[hs_random_index(random, COUNT(table))]

/* ---- undamaged bodies ---- */

static void keep(struct bodies *bodies, const void *bytes, size_t size)
{
    bodies->all = realloc(bodies->all, (bodies->count + 1) * sizeof *bodies->all);
    if (bodies->all == NULL)
        abort();
    struct hs_buffer *body = &bodies->all[bodies->count++];
    *body = (struct hs_buffer){0};
    hs_buffer_append(body, bytes, size);
}

static void keep_file(struct bodies *bodies, const char *path, size_t *others)
{
    uint8_t bytes[BODY_ROOM];
    FILE *file = fopen(path, "rb");
    if (file == NULL)
        return;
    size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    /* Most inputs of the corpus end in the middle of a value, so prefer those that a parser
       accepts. */
    json_t *root = json_loadb((const char *)bytes, size, 0, NULL);
    if (json_is_object(root) || (*others)++ % 8 == 0)
        keep(bodies, bytes, size);
    json_decref(root);
}

static void keep_corpus(struct bodies *bodies, const char *name)
{
    char pattern[128];
    glob_t files;
    size_t others = 0;
    snprintf(pattern, sizeof pattern, "tests/fuzz/corpus/%s/*", name);
    if (glob(pattern, 0, NULL, &files) != 0) {
        fprintf(stderr, "no inputs in %s\n", pattern);
        exit(1);
    }
    for (size_t i = 0; i < files.gl_pathc; i++)
        keep_file(bodies, files.gl_pathv[i], &others);
    globfree(&files);
}

/* Keeps bodies that fit the schema of the route, and bodies that violate it in one place. */
static void keep_drawn(struct bodies *bodies, const json_t *document, const json_t *schema,
                       struct hs_random *random)
{
    for (int i = 0; schema != NULL && i < DRAWN; i++) {
        struct hs_schema_damage damage;
        json_t *whole = hs_schema_draw(document, schema, i % 8 == 0 ? 1 : 0.4, random),
               *body = NULL;
        if (i % 4 == 3)
            body = hs_schema_damaged(document, schema, whole, random, &damage);
        char *text = json_dumps(body != NULL ? body : whole, JSON_COMPACT | JSON_ENCODE_ANY);
        if (text != NULL && strlen(text) <= BODY_ROOM)
            keep(bodies, text, strlen(text));
        free(text);
        json_decref(body);
        json_decref(whole);
    }
}

static bool takes_body(int route)
{
    enum hs_method method = hs_route_method((enum hs_route)route);
    return method == HS_METHOD_PUT || method == HS_METHOD_POST;
}

struct hs_request_maker *hs_request_maker_create(const json_t *document,
                                                 const char *const *authorizations, size_t count,
                                                 uint64_t seed)
{
    static const struct {
        enum hs_route route;
        const char *corpus;
    } corpora[] = {
        {HS_ROUTE_FRAMES_POST, "frames"}, {HS_ROUTE_MOVES_POST, "moves"},
        {HS_ROUTE_SHOTS_POST, "shots"},   {HS_ROUTE_HITS_POST, "hits"},
        {HS_ROUTE_TICKS_POST, "ticks"},   {HS_ROUTE_RULESET_PUT, "rulesets"},
        {HS_ROUTE_MAP_PUT, "maps"},
    };
    struct hs_request_maker *maker = calloc(1, sizeof *maker);
    struct hs_random random = hs_random_start(seed, UINT64_MAX);
    if (maker == NULL)
        abort();
    maker->authorizations = authorizations;
    maker->authorization_count = count;
    for (int i = 0; i < COUNT(corpora); i++)
        keep_corpus(&maker->bodies[corpora[i].route], corpora[i].corpus);
    for (int i = 0; i < DRAWN; i++) /* drawn rulesets are rarely valid */
        keep(&maker->bodies[HS_ROUTE_RULESET_PUT], "{}", 2);
    for (int i = 0; i < HS_ROUTE_COUNT; i++) {
        const json_t *operation =
            hs_contract_operation(document, hs_method_name(hs_route_method((enum hs_route)i)),
                                  hs_route_pattern((enum hs_route)i));
        if (takes_body(i))
            keep_drawn(&maker->bodies[i], document, hs_contract_request_schema(operation), &random);
    }
    return maker;
}

void hs_request_maker_destroy(struct hs_request_maker *maker)
{
    for (int i = 0; i < HS_ROUTE_COUNT; i++) {
        for (size_t k = 0; k < maker->bodies[i].count; k++)
            hs_buffer_free(&maker->bodies[i].all[k]);
        free(maker->bodies[i].all);
    }
    free(maker);
}

/* Makes a body of the route, mostly with some changes, and sometimes a body of another route. */
static size_t make_body(const struct hs_request_maker *maker, int route, uint8_t body[BODY_ROOM],
                        struct hs_random *random)
{
    static const enum hs_route with_bodies[] = {
        HS_ROUTE_FRAMES_POST, HS_ROUTE_MOVES_POST,  HS_ROUTE_SHOTS_POST, HS_ROUTE_HITS_POST,
        HS_ROUTE_TICKS_POST,  HS_ROUTE_RULESET_PUT, HS_ROUTE_MAP_PUT,    HS_ROUTE_MATCH_PUT};
    if (hs_random_chance(random, 0.02) || maker->bodies[route].count == 0)
        route = (int)PICK(with_bodies, random);
    const struct bodies *bodies = &maker->bodies[route];
    const struct hs_buffer *from = &bodies->all[hs_random_index(random, (int)bodies->count)];
    size_t size = from->len;
    if (size > 0)
        memcpy(body, from->data, size);
    int changes = hs_random_chance(random, 0.3) ? 0 : 1 + hs_random_index(random, 3);
    for (int left = changes; left > 0; left--) {
        size_t next = 0;
        if (hs_random_chance(random, 0.1)) {
            const struct hs_buffer *other =
                &bodies->all[hs_random_index(random, (int)bodies->count)];
            uint8_t crossed[BODY_ROOM];
            next = hs_json_cross(body, size, (const uint8_t *)other->data, other->len, crossed,
                                 sizeof crossed, random);
            memcpy(body, crossed, next);
        } else {
            next = hs_json_mutate(body, size, BODY_ROOM, random);
        }
        if (next > 0)
            size = next;
        else if (size > 0)
            body[hs_random_index(random, (int)size)] = (uint8_t)hs_random_bits(random);
    }
    return size;
}

/* ---- the request line ---- */

static const char *pick_name(const char *segment, struct hs_random *random)
{
    static const char *const matches[] = {"m0", "m1", "m2", "m3", "m4", "m5", "m6", "arena-7"};
    static const char *const players[] = {"S", "T", "B", "alice", "bob", "carl", "nobody"};
    static const char *const rulesets[] = {"r0", "r1", "r2", "default", "metres", "centimetres"};
    static const char *const maps[] = {"yard", "dm4", "map0", "map1", "map2"};
    static const char *const odd[] = {"a%2Fb",  "a%00b",  "%",     "%zz",   "%6d0", "..", ".",
                                      "%C3%A9", "a+b",    "a%20b", "a;b=c", "~",    "'",  "%25",
                                      "*",      "%2e%2e", "-",     ":",     "",     "a%", "a%1"};
    static const char longest[] =
        /* a name with one character too many */
        "nnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnnn";
    if (hs_random_chance(random, 0.03))
        return PICK(odd, random);
    if (hs_random_chance(random, 0.01))
        return longest + hs_random_index(random, 2);
    switch (segment[1]) {
    case 'm':
        return segment[3] == 't' ? PICK(matches, random) : PICK(maps, random);
    case 'p':
        return PICK(players, random);
    default:
        return PICK(rulesets, random);
    }
}

static void put_path(int route, struct hs_random *random, struct hs_buffer *out)
{
    static const char *const queries[] = {"?explain=true",
                                          "?explain",
                                          "?explain=0",
                                          "?verbose",
                                          "?",
                                          "?a=b&c",
                                          "?%00",
                                          "?explain=%",
                                          "?=&&=",
                                          "?explain=true&explain=0",
                                          "#frag",
                                          "?limit=99999999999999999999"};
    const char *pattern = hs_route_pattern((enum hs_route)route);
    for (const char *at = pattern; *at != '\0';) {
        size_t plain = strcspn(at, "{");
        hs_buffer_append(out, at, plain);
        at += plain;
        if (*at == '{') {
            hs_buffer_puts(out, pick_name(at, random));
            at += strcspn(at, "}") + 1;
        }
    }
    if (hs_random_chance(random, 0.01))
        hs_buffer_puts(out, "/more");
    if (route == HS_ROUTE_EVENTS) /* a stream would not end */
        hs_buffer_puts(out, "?verdict=none");
    else if (hs_random_chance(random, 0.25))
        hs_buffer_puts(out, PICK(queries, random));
}

/* Picks a route. Some routes are picked more often. */
static int pick_route(struct hs_random *random)
{
    static const enum hs_route often[] = {
        HS_ROUTE_TICKS_POST, HS_ROUTE_HITS_POST,   HS_ROUTE_FRAMES_POST, HS_ROUTE_MOVES_POST,
        HS_ROUTE_SHOTS_POST, HS_ROUTE_RULESET_PUT, HS_ROUTE_MAP_PUT,     HS_ROUTE_MATCH_PUT};
    return hs_random_chance(random, 0.7) ? (int)PICK(often, random)
                                         : hs_random_index(random, HS_ROUTE_COUNT);
}

/*
 * Returns the method: mostly that of the route, sometimes HEAD for a GET, rarely any other.
 */
static const char *pick_method(struct hs_sent_request *request, struct hs_random *random)
{
    static const char *const others[] = {"GET",   "PUT",     "POST", "DELETE", "HEAD", "PATCH",
                                         "TRACE", "OPTIONS", "BREW", "get",    "POSTS"};
    const char *own = hs_method_name(hs_route_method((enum hs_route)request->route));
    if (strcmp(own, "GET") == 0 && hs_random_chance(random, 0.1))
        return "HEAD";
    if (!hs_random_chance(random, 0.03))
        return own;
    const char *other = PICK(others, random);
    return other;
}

/* ---- header fields that do not affect where the request ends ---- */

static void put_authorization(const struct hs_request_maker *maker, bool ends,
                              struct hs_random *random, struct hs_buffer *out)
{
    static const char *const odd[] = {"Authorization: Bearer",
                                      "Authorization: Bearer ",
                                      "Authorization: Basic YTpi",
                                      "Authorization: bearer hs_a_b_c",
                                      "Authorization: Bearer hs_",
                                      "Authorization: Bearer hs_acme_",
                                      "Authorization:",
                                      "Authorization: Bearer hs_acme_all_\xff\xfe",
                                      "Authorization: Bearer hs____________________"};
    const char *const *all = maker->authorizations;
    const char *own = all[0];
    /* Only the tenant who owns a match can end it. So requests that end matches use the tokens of
       all tenants equally often. */
    if (hs_random_chance(random, ends ? 0.8 : 0.15))
        own = all[hs_random_index(random, (int)maker->authorization_count)];
    if (hs_random_chance(random, 0.02))
        return;
    if (hs_random_chance(random, 0.02))
        own = PICK(odd, random);
    size_t len = strlen(own), at = out->len;
    hs_buffer_append(out, own, len);
    if (hs_random_chance(random, 0.02) && len > 30 && !out->failed) /* in some tokens one letter is
                                                                       wrong */
        out->data[at + 22 + (size_t)hs_random_index(random, (int)len - 22)] = 'z';
    hs_buffer_puts(out, "\r\n");
}

static void put_fields(struct hs_random *random, struct hs_buffer *out)
{
    static const char *const fields[] = {
        "X-Deadline-Ms: 0",
        "X-Deadline-Ms: 1",
        "X-Deadline-Ms: 100",
        "X-Deadline-Ms: 3600000",
        "X-Deadline-Ms: 3600001",
        "X-Deadline-Ms: -1",
        "X-Deadline-Ms: 1.5",
        "X-Deadline-Ms: 99999999999999999999",
        "X-Deadline-Ms:",
        "traceparent: 00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "traceparent: 00-00000000000000000000000000000000-00f067aa0ba902b7-01",
        "traceparent: ff-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01",
        "traceparent: 00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01",
        "traceparent: 00-4bf92f3577b34da6",
        "X-Request-Id: abc-1",
        "X-Request-Id: a/b",
        "X-Request-Id:",
        "X-Request-Id: \xc3\xa9",
        "Accept: application/json;q=0, */*",
        "Accept-Encoding: gzip, br",
        "Content-Encoding: gzip",
        "Content-Encoding: identity",
        "Content-Type: text/plain",
        "Cookie: a=b; c=\"d",
        "If-None-Match: *",
        "Range: bytes=0-0",
        "Upgrade: h2c",
        "Expect: 100-continue",
        "Expect: 200-ok",
        "Connection: keep-alive",
        "Connection: close",
        "X-Forwarded-For: 127.0.0.1",
        "x_: \x80\xff",
    };
    if (hs_random_chance(random, 0.01)) {
        hs_buffer_printf(out, "X-Request-Id: %0*d\r\n", 120 + hs_random_index(random, 20), 0);
        hs_buffer_printf(out, "X-Long: %0*d\r\n", 1 + hs_random_index(random, 8000), 0);
    }
    for (int left = hs_random_chance(random, 0.3) ? 1 + hs_random_index(random, 3) : 0; left > 0;
         left--) {
        hs_buffer_puts(out, PICK(fields, random));
        hs_buffer_puts(out, "\r\n");
    }
}

static void put_type(struct hs_random *random, struct hs_buffer *out)
{
    static const char *const types[] = {
        "application/json; charset=utf-8",  "Application/JSON",  "text/json", "application/jsonx",
        "application/json; charset=latin1", "application/json;", "",          "*/*"};
    if (hs_random_chance(random, 0.01))
        return;
    hs_buffer_printf(out, "Content-Type: %s\r\n",
                     hs_random_chance(random, 0.05) ? PICK(types, random) : "application/json");
}

static void make_whole(const struct hs_request_maker *maker, struct hs_random *random,
                       struct hs_buffer *out, struct hs_sent_request *request)
{
    uint8_t body[BODY_ROOM];
    request->route = pick_route(random);
    bool sends = takes_body(request->route);
    const char *method = pick_method(request, random);
    size_t size = sends ? make_body(maker, request->route, body, random) : 0;
    hs_buffer_printf(out, "%s ", method);
    size_t path = out->len;
    put_path(request->route, random, out);
    size_t path_end = out->len;
    hs_buffer_puts(out, " HTTP/1.1\r\nHost: x\r\n");
    put_authorization(maker, strcmp(method, "DELETE") == 0, random, out);
    put_fields(random, out);
    if (sends) {
        put_type(random, out);
        hs_buffer_printf(out, "Content-Length: %zu\r\n", size);
    }
    hs_buffer_puts(out, "\r\n");
    hs_buffer_append(out, body, size);
    request->head = strcmp(method, "HEAD") == 0;
    const char *wanted = hs_method_name(hs_route_method((enum hs_route)request->route));
    bool own = strcmp(method, wanted) == 0 || (request->head && strcmp(wanted, "GET") == 0);
    bool plain = memchr(out->data + path, '%', path_end - path) == NULL;
    if (!own)
        request->route = HS_NO_ROUTE;
    else if (!plain || memmem(out->data + path, path_end - path, "//", 2) != NULL ||
             memmem(out->data + path, path_end - path, "/more", 5) != NULL ||
             memchr(out->data + path, '#', path_end - path) != NULL ||
             out->data[path_end - 1] == '/' ||
             memmem(out->data + path, path_end - path, "/?", 2) != NULL)
        request->route = HS_NO_ROUTE;
}

/* ---- damage to the head ---- */

struct change {
    const char *from, *to;
};

static const struct change changes[] = {
    {"Content-Length: ", "Content-Length: 0"},
    {"Content-Length: ", "Content-Length: -"},
    {"Content-Length: ", "Content-Length: +"},
    {"Content-Length: ", "Content-Length: 1"},
    {"Content-Length: ", "Content-Length: 0x"},
    {"Content-Length: ", "Content-Length: 184467440737095516"},
    {"Content-Length: ", "Content-Length: 10485"},
    {"Content-Length: ", "Content-Length: 5\r\nContent-Length: "},
    {"Content-Length: ", "Content-Length: 5, "},
    {"Content-Length: ", "Content-Length : "},
    {"Content-Length: ", "Content-Length:\r\n "},
    {"Content-Length: ", "Content-Length\t: "},
    {"Content-Length: ", "X-Length: "},
    {"Content-Length: ", "Transfer-Encoding: chunked\r\nContent-Length: "},
    {"Content-Length: ", "Transfer-Encoding: chunked\r\nX: "},
    {"Content-Length: ", "transfer-encoding: gzip, chunked\r\nX: "},
    {"Content-Length: ", "Transfer-Encoding : identity\r\nContent-Length: "},
    {"Content-Length: ", "Transfer-Encoding:\r\n chunked\r\nContent-Length: "},
    {"Host: x", "Content-Length: 3"},
    {"Host: x", "Host: x\r\nHost: y"},
    {"Host: x\r\n", ""},
    {"Host: x", "Host: x\r\nTransfer-Encoding: chunked"},
    {"Host: x", "Host: x\r\n folded: y"},
    {"Host: x", "Host: x\r\nno colon"},
    {"Host: x", "Host: x\r\n: no name"},
    {"HTTP/1.1", "HTTP/1.0"},
    {"HTTP/1.1", "HTTP/1.2"},
    {"HTTP/1.1", "HTTP/2.0"},
    {"HTTP/1.1", "HTTP/0.9"},
    {"HTTP/1.1", "HTTQ/1.1"},
    {"HTTP/1.1", "http/1.1"},
    {" HTTP/1.1", ""},
    {" HTTP/1.1\r\n", "\r\n\r\n"},
    {"\r\n", "\n"},
    {"\r\n", "\r"},
    {"\r\n", "\r\n\r\n"},
    {"\r\n\r\n", "\r\n"},
    {" /", "  /"},
    {" /", " http://x/"},
    {" /", " //"},
    {" /", " *"},
    {" /", " "},
    {"x\r\n", "x\v\r\n"},
};

/* Replaces `cut` bytes at `at` of the request by `len` bytes. */
static void splice(struct hs_buffer *out, size_t at, size_t cut, const void *bytes, size_t len)
{
    size_t end = out->len, tail = end - at - cut;
    for (size_t i = cut; i < len; i++)
        hs_buffer_append(out, "", 1);
    if (out->failed)
        return;
    memmove(out->data + at + len, out->data + at + cut, tail);
    memcpy(out->data + at, bytes, len);
    out->len = end - cut + len;
}

static void change_words(struct hs_buffer *out, size_t begin, struct hs_random *random)
{
    const struct change *change = &PICK(changes, random);
    const char *found =
        memmem(out->data + begin, out->len - begin, change->from, strlen(change->from));
    if (found != NULL)
        splice(out, (size_t)(found - out->data), strlen(change->from), change->to,
               strlen(change->to));
}

static void change_bytes(struct hs_buffer *out, size_t begin, struct hs_random *random)
{
    const char *body = memmem(out->data + begin, out->len - begin, "\r\n\r\n", 4);
    size_t end = body != NULL ? (size_t)(body - out->data) + 4 : out->len;
    static const char bytes[] = {'\0', '\r', '\n', ' ', ':', '\t', '/', '%', '\x7f', '\xff', ','};
    for (int left = 1 + hs_random_index(random, 3); left > 0 && end > begin; left--) {
        size_t at = begin + (size_t)hs_random_index(random, (int)(end - begin));
        const char byte =
            hs_random_chance(random, 0.6) ? PICK(bytes, random) : (char)hs_random_bits(random);
        size_t cut = hs_random_chance(random, 0.7), len = hs_random_chance(random, 0.7);
        splice(out, at, cut, &byte, len);
        end = end - cut + len;
    }
}

static void make_doubtful(struct hs_buffer *out, size_t begin, struct hs_random *random)
{
    if (hs_random_chance(random, 0.03)) {
        char *text = malloc(LONG_HEADER);
        if (text == NULL)
            abort();
        memset(text, 'h', LONG_HEADER);
        size_t at = (size_t)hs_random_index(random, 60);
        splice(out, begin + (at < out->len - begin ? at : 0), 0, text,
               (size_t)hs_random_index(random, LONG_HEADER));
        free(text);
    } else if (hs_random_chance(random, 0.6)) {
        change_words(out, begin, random);
    } else {
        change_bytes(out, begin, random);
    }
}

void hs_request_make(struct hs_request_maker *maker, bool last, struct hs_random *random,
                     struct hs_buffer *out, struct hs_sent_request *request)
{
    request->begin = out->len;
    request->kind = HS_SENT_WHOLE;
    make_whole(maker, random, out, request);
    if (last && !out->failed && hs_random_chance(random, 0.25)) {
        request->kind = HS_SENT_DOUBTFUL;
        make_doubtful(out, request->begin, random);
    } else if (last && hs_random_chance(random, 0.05)) {
        request->kind = HS_SENT_CUT;
        out->len =
            request->begin + 1 + (size_t)hs_random_index(random, (int)(out->len - request->begin));
    }
    request->end = out->len;
    if (out->failed)
        abort();
}
