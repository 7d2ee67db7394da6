#include "tests/support/http/client.h"

#include "tests/support/need.h"
#include "tests/support/random.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum { TIMEOUT_SECONDS = 60, ASK_FIRST_BYTES = 1048576 };

struct hs_test_http {
    CURL *curl;
    unsigned port;
};

struct text {
    char *data;
    size_t len;
};

static size_t collect(char *bytes, size_t size, size_t count, void *context)
{
    struct text *text = context;
    size_t len = size * count;
    text->data = need(realloc(text->data, text->len + len + 1));
    memcpy(text->data + text->len, bytes, len);
    text->len += len;
    text->data[text->len] = '\0';
    return len;
}

struct hs_test_http *hs_test_http_open(unsigned port)
{
    struct hs_test_http *http = need(calloc(1, sizeof(*http)));
    http->curl = need(curl_easy_init());
    http->port = port;
    return http;
}

void hs_test_http_close(struct hs_test_http *http)
{
    if (http == NULL)
        return;
    curl_easy_cleanup(http->curl);
    free(http);
}

static struct curl_slist *append(struct curl_slist *list, const char *header)
{
    return need(curl_slist_append(list, header));
}

void hs_test_http_send(struct hs_test_http *http, const char *method, const char *path,
                       const char *body, size_t size, const char *const *headers,
                       struct hs_test_response *response)
{
    char url[1024];
    snprintf(url, sizeof(url), "http://127.0.0.1:%u%s", http->port, path);
    struct text content = {need(calloc(1, 1)), 0};
    struct text head = {need(calloc(1, 1)), 0};
    /* Ask ("Expect: 100-continue") before sending a large body, because the service may refuse it.
       If a server answers and closes during the transfer, its answer can be lost. */
    struct curl_slist *list =
        append(NULL, size > ASK_FIRST_BYTES ? "Expect: 100-continue" : "Expect:");
    if (body != NULL)
        list = append(list, "Content-Type: application/json");
    for (size_t i = 0; headers != NULL && headers[i] != NULL; i++)
        list = append(list, headers[i]);

    *response = (struct hs_test_response){0};
    curl_easy_reset(http->curl);
    curl_easy_setopt(http->curl, CURLOPT_URL, url);
    curl_easy_setopt(http->curl, CURLOPT_PROXY, "");
    curl_easy_setopt(http->curl, CURLOPT_PATH_AS_IS, 1L);
    curl_easy_setopt(http->curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(http->curl, CURLOPT_TIMEOUT,
                     TIMEOUT_SECONDS * hs_test_count("CK_TIMEOUT_MULTIPLIER", 1));
    curl_easy_setopt(http->curl, CURLOPT_HTTPHEADER, list);
    curl_easy_setopt(http->curl, CURLOPT_WRITEFUNCTION, collect);
    curl_easy_setopt(http->curl, CURLOPT_WRITEDATA, &content);
    curl_easy_setopt(http->curl, CURLOPT_HEADERFUNCTION, collect);
    curl_easy_setopt(http->curl, CURLOPT_HEADERDATA, &head);
    curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, response->error);
    if (body != NULL) {
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
        curl_easy_setopt(http->curl, CURLOPT_POSTFIELDS, body);
    }
    if (strcmp(method, "HEAD") == 0)
        curl_easy_setopt(http->curl, CURLOPT_NOBODY, 1L);
    curl_easy_setopt(http->curl, CURLOPT_CUSTOMREQUEST, method);

    CURLcode code = curl_easy_perform(http->curl);
    curl_easy_getinfo(http->curl, CURLINFO_RESPONSE_CODE, &response->status);
    if (code != CURLE_OK && response->error[0] == '\0')
        snprintf(response->error, sizeof(response->error), "%s", curl_easy_strerror(code));
    curl_easy_setopt(http->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_slist_free_all(list);
    response->body = content.data;
    response->size = content.len;
    response->headers = head.data;
}

json_t *hs_test_response_json(const struct hs_test_response *response)
{
    return json_loadb(response->body, response->size, JSON_REJECT_DUPLICATES | JSON_DECODE_ANY,
                      NULL);
}

json_t *hs_test_http_json(struct hs_test_http *http, const char *method, const char *path,
                          json_t *body, long *status)
{
    char *text = body != NULL ? need(json_dumps(body, JSON_COMPACT)) : NULL;
    json_decref(body);
    struct hs_test_response response;
    hs_test_http_send(http, method, path, text, text != NULL ? strlen(text) : 0, NULL, &response);
    free(text);
    if (status != NULL)
        *status = response.status;
    json_t *answer = hs_test_response_json(&response);
    hs_test_response_free(&response);
    return answer;
}

bool hs_test_response_header(const struct hs_test_response *response, const char *name, char *value,
                             size_t size)
{
    size_t name_len = strlen(name);
    for (const char *line = response->headers; *line != '\0';) {
        size_t len = strcspn(line, "\r\n");
        if (len > name_len && line[name_len] == ':' && strncasecmp(line, name, name_len) == 0) {
            const char *from = line + name_len + 1;
            from += strspn(from, " \t");
            size_t used = (size_t)(line + len - from);
            if (used >= size)
                return false;
            memcpy(value, from, used);
            value[used] = '\0';
            return true;
        }
        line += len;
        line += strspn(line, "\r\n");
    }
    return false;
}

void hs_test_response_free(struct hs_test_response *response)
{
    free(response->body);
    free(response->headers);
    *response = (struct hs_test_response){0};
}

long hs_test_http_status(unsigned port, const char *method, const char *path, const char *body)
{
    struct hs_test_http *http = hs_test_http_open(port);
    struct hs_test_response response;
    hs_test_http_send(http, method, path, body, body == NULL ? 0 : strlen(body), NULL, &response);
    long status = response.status;
    hs_test_response_free(&response);
    hs_test_http_close(http);
    return status;
}

void hs_test_mask_ids(char *answer)
{
    static const char key[] = "\"verdict_id\":\"";
    for (char *id = answer; id != NULL && (id = strstr(id, key)) != NULL;)
        for (id += sizeof key - 1; *id != '"' && *id != '\0'; id++)
            *id = '-';
}

bool hs_test_http_put(struct hs_test_http *http, const char *path, json_t *body)
{
    long status = 0;
    json_t *answer = hs_test_http_json(http, "PUT", path, body, &status);
    bool fine = status == 200 || status == 201;
    if (!fine) {
        char *text = json_dumps(answer, JSON_ENCODE_ANY);
        fprintf(stderr, "PUT %s: %ld %s\n", path, status, text == NULL ? "" : text);
        free(text);
    }
    json_decref(answer);
    return fine;
}
