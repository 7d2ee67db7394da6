/* GET /console/: the analysts' web page. Its files are embedded in the program, compressed with
   gzip. */
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "service/endpoints/table.h"
#include "service/system/embedded.h"

static const char *type_of(const char *name)
{
    static const struct {
        const char *suffix, *type;
    } types[] = {{".html", "text/html; charset=utf-8"},
                 {".css", "text/css; charset=utf-8"},
                 {".js", "text/javascript; charset=utf-8"},
                 {".svg", "image/svg+xml"}};
    size_t len = strlen(name);
    for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
        size_t suffix = strlen(types[i].suffix);
        if (len > suffix && strcmp(name + len - suffix, types[i].suffix) == 0)
            return types[i].type;
    }
    return "application/octet-stream";
}

/* Decompresses a file. Returns false if memory runs out. */
static bool unpack(const struct hs_embedded *file, struct hs_buffer *out)
{
    union {
        const unsigned char *in;
        unsigned char *out;
    } alias = {file->data}; /* zlib does not write to its input */
    z_stream stream = {.next_in = alias.out, .avail_in = (unsigned)file->size};
    out->len = 0;
    stream.next_out = (unsigned char *)hs_buffer_space(out, file->unpacked);
    stream.avail_out = (unsigned)file->unpacked;
    if (stream.next_out == NULL || inflateInit2(&stream, 16 + MAX_WBITS) != Z_OK)
        return false;
    bool is_whole = inflate(&stream, Z_FINISH) == Z_STREAM_END;
    inflateEnd(&stream);
    out->len = file->unpacked;
    return is_whole;
}

/* Returns whether the client has this version of the file. */
static bool has_version(const struct hs_request *request, const char *etag)
{
    const char *value = hs_request_header(request, "If-None-Match");
    return value != NULL && strstr(value, etag) != NULL;
}

/* Returns whether the client accepts gzip. A client that lists gzip with the quality 0 does not
   accept gzip. */
static bool accepts_gzip(const struct hs_request *request)
{
    const char *value = hs_request_header(request, "Accept-Encoding");
    const char *word = value != NULL ? strstr(value, "gzip") : NULL;
    if (word == NULL)
        return false;
    word += strlen("gzip");
    word += strspn(word, "; ");
    return strncmp(word, "q=", 2) != 0 || strtod(word + 2, NULL) > 0;
}

void hs_endpoint_console(struct hs_service *service, const struct hs_request *request,
                         struct hs_reply *reply)
{
    (void)service;
    char name[128] = "console/index.html";
    struct hs_str wanted = request->params.name[0];
    if (wanted.ptr != NULL)
        snprintf(name, sizeof name, "console/%.*s", (int)wanted.len, wanted.ptr);
    const struct hs_embedded *file = hs_embedded_find(name);
    if (file == NULL) {
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_NAME, "the console has no such file");
        return;
    }
    reply->etag = file->etag;
    reply->content_type = type_of(name);
    if (has_version(request, file->etag)) {
        reply->status = 304;
        return;
    }
    if (accepts_gzip(request)) {
        reply->encoding = "gzip";
        reply->static_body = (const char *)file->data;
        reply->static_size = file->size;
    } else if (!unpack(file, &reply->body)) {
        hs_endpoint_overloaded(reply, "out of memory");
    }
}
