#include "cli/play/client.h"

#include <curl/curl.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "service/system/clock.h"

enum { TIMEOUT_SECONDS = 30, CONNECT_SECONDS = 5, URL_MAX = 1024 };

/* The pause before a request is repeated, if the answer does not state how long to wait. */
#define SOON_SECONDS 0.05

struct hs_client {
    CURL *curl;
    struct curl_slist *json_headers, *bare_headers;
    char url[URL_MAX];
    const char *token; /* from the environment, or NULL */
    char *body;        /* body of the last answer, terminated */
    size_t size, capacity;
    char error[CURL_ERROR_SIZE];
};

struct hs_client *hs_client_open(const char *url)
{
    struct hs_client *client = calloc(1, sizeof(*client));
    size_t length = strlen(url);
    while (length > 0 && url[length - 1] == '/')
        length--;
    if (client == NULL || length >= URL_MAX / 2) {
        free(client);
        return NULL;
    }
    snprintf(client->url, sizeof(client->url), "%.*s", (int)length, url);
    client->token = getenv("HINDSIGHT_TOKEN");
    client->capacity = 4096;
    client->body = calloc(1, client->capacity);
    client->curl = curl_easy_init();
    /* With an empty Expect header, libcurl sends a large body at once, without a round trip for
       "100 Continue". */
    client->bare_headers = curl_slist_append(NULL, "Expect:");
    client->json_headers = curl_slist_append(NULL, "Expect:");
    if (client->body == NULL || client->curl == NULL || client->bare_headers == NULL ||
        client->json_headers == NULL ||
        curl_slist_append(client->json_headers, "Content-Type: application/json") == NULL) {
        hs_client_close(client);
        return NULL;
    }
    return client;
}

void hs_client_close(struct hs_client *client)
{
    if (client == NULL)
        return;
    if (client->curl != NULL)
        curl_easy_cleanup(client->curl);
    curl_slist_free_all(client->bare_headers);
    curl_slist_free_all(client->json_headers);
    free(client->body);
    free(client);
}

static size_t receive(char *bytes, size_t size, size_t count, void *context)
{
    struct hs_client *client = context;
    size_t more = size * count;
    if (client->size + more + 1 > client->capacity) {
        size_t capacity = client->capacity * 2 + more;
        char *body = realloc(client->body, capacity);
        if (body == NULL)
            return 0;
        client->body = body;
        client->capacity = capacity;
    }
    memcpy(client->body + client->size, bytes, more);
    client->size += more;
    client->body[client->size] = '\0';
    return more;
}

double hs_client_now(void)
{
    return 1e-6 * (double)hs_clock_us();
}

void hs_client_pause(double seconds)
{
    struct timespec pause = {.tv_sec = (time_t)seconds};
    pause.tv_nsec = (long)((seconds - (double)pause.tv_sec) * 1e9);
    if (seconds > 0.0)
        nanosleep(&pause, NULL);
}

/* Returns how many seconds to wait before the request is repeated; 0: the answer is final. The
   service states milliseconds in the body. A proxy states whole seconds in the header
   Retry-After. */
static double requested_wait(CURL *curl, const struct hs_client_response *response)
{
    curl_off_t seconds = 0;
    long status = response->status;
    if (status == 502 || status == 504) /* a load balancer sent this answer; another replica may
                                           answer the next attempt */
        return SOON_SECONDS;
    if (status != 409 && status != 429 && status != 503)
        return 0.0;
    json_t *problem = json_loadb(response->body, response->size, 0, NULL);
    double exact = 1e-3 * json_number_value(json_object_get(problem, "retry_after_ms"));
    const char *code = json_string_value(json_object_get(problem, "code"));
    bool has_moved = code != NULL && strcmp(code, "match_moved") == 0;
    json_decref(problem);
    if (exact > 0.0 || status == 409) /* a 409 without a wait is final, unless it is match_moved */
        return exact > 0.0 || !has_moved ? exact : SOON_SECONDS;
    return curl_easy_getinfo(curl, CURLINFO_RETRY_AFTER, &seconds) == CURLE_OK ? (double)seconds
                                                                               : 0.0;
}

bool hs_client_send(struct hs_client *client, const char *method, const char *path,
                    const char *body, size_t size, struct hs_client_response *response)
{
    CURL *curl = client->curl;
    char url[URL_MAX];
    client->size = 0;
    client->body[0] = '\0';
    client->error[0] = '\0';
    *response = (struct hs_client_response){.body = client->body};
    if (snprintf(url, sizeof(url), "%s%s", client->url, path) >= (int)sizeof(url)) {
        snprintf(client->error, sizeof(client->error), "the path is too long");
        return false;
    }
    curl_easy_reset(curl); /* resets the options; the connection stays open */
    curl_easy_setopt(curl, CURLOPT_URL, url);
    curl_easy_setopt(curl, CURLOPT_CUSTOMREQUEST, method);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER,
                     body != NULL ? client->json_headers : client->bare_headers);
    if (body != NULL) {
        curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)size);
        curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body);
    }
    if (client->token != NULL && client->token[0] != '\0') {
        curl_easy_setopt(curl, CURLOPT_HTTPAUTH, (long)CURLAUTH_BEARER);
        curl_easy_setopt(curl, CURLOPT_XOAUTH2_BEARER, client->token);
    }
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, client->error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, receive);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, client);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_TIMEOUT, (long)TIMEOUT_SECONDS);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "127.0.0.1,localhost,::1");
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    double begin = hs_client_now();
    CURLcode code = curl_easy_perform(curl);
    response->seconds = hs_client_now() - begin;
    response->body = client->body;
    response->size = client->size;
    if (code != CURLE_OK) {
        if (client->error[0] == '\0')
            snprintf(client->error, sizeof(client->error), "%s", curl_easy_strerror(code));
        return false;
    }
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &response->status);
    response->wait_seconds = requested_wait(curl, response);
    return true;
}

const char *hs_client_error(const struct hs_client *client)
{
    return client->error;
}

const char *hs_client_url(const struct hs_client *client)
{
    return client->url;
}
