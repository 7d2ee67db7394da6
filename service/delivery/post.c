#include "service/delivery/post.h"

#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/system/clock.h"
#include "service/system/version.h"

enum { TIMEOUT_MS = 5000 };

struct hs_post {
    CURL *curl;
    const char *url;
    const atomic_llong *end_us;
};

struct hs_post *hs_post_open(const char *url, const atomic_llong *end_us)
{
    struct hs_post *post = malloc(sizeof *post);
    CURL *curl = curl_easy_init();
    if (post == NULL || curl == NULL) {
        curl_easy_cleanup(curl);
        free(post);
        return NULL;
    }
    *post = (struct hs_post){.curl = curl, .url = url, .end_us = end_us};
    return post;
}

void hs_post_close(struct hs_post *post)
{
    if (post != NULL)
        curl_easy_cleanup(post->curl);
    free(post);
}

/* The service does not need the body of the answer. */
static size_t discard(char *bytes, size_t size, size_t count, void *context)
{
    (void)bytes;
    (void)context;
    return size * count;
}

/* Returns whether curl must abort the request. curl calls this function at least once a second. */
static int is_over(void *context, curl_off_t a, curl_off_t b, curl_off_t c, curl_off_t d)
{
    const struct hs_post *post = context;
    (void)a, (void)b, (void)c, (void)d;
    return hs_clock_us() >= atomic_load(post->end_us) ? 1 : 0;
}

static bool add_header(struct curl_slist **list, const char *name, const char *value)
{
    char text[256];
    snprintf(text, sizeof text, "%s: %s", name, value);
    struct curl_slist *longer = curl_slist_append(*list, text);
    if (longer != NULL)
        *list = longer;
    return longer != NULL;
}

static void set_up(struct hs_post *post, struct curl_slist *headers, struct hs_str body,
                   char *error)
{
    CURL *curl = post->curl;
    curl_easy_reset(curl); /* this call does not close the connection */
    curl_easy_setopt(curl, CURLOPT_URL, post->url);
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 0L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, 1L);
    curl_easy_setopt(curl, CURLOPT_SSL_VERIFYHOST, 2L);
    /* libcurl must not change the signal handlers of the process */
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_NOPROXY, "127.0.0.1,localhost,::1");
    curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, (long)TIMEOUT_MS);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "hindsight/" HS_VERSION);
    curl_easy_setopt(curl, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)body.len);
    curl_easy_setopt(curl, CURLOPT_POSTFIELDS, body.ptr);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, is_over);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, post);
}

long hs_post_send(struct hs_post *post, const struct hs_post_headers *headers, struct hs_str body,
                  char error[256])
{
    _Static_assert(CURL_ERROR_SIZE <= 256, "an error message of curl fits");
    struct curl_slist *list = NULL;
    long status = 0;
    /* an empty Expect header: otherwise curl may wait for "100 Continue" */
    bool fine = add_header(&list, "Expect", "") &&
                add_header(&list, "Content-Type", "application/json") &&
                add_header(&list, "Hindsight-Signature", headers->signature) &&
                add_header(&list, "Idempotency-Key", headers->idempotency_key);
    snprintf(error, 256, "out of memory");
    if (fine) {
        error[0] = '\0';
        set_up(post, list, body, error);
        CURLcode code = curl_easy_perform(post->curl);
        if (code == CURLE_OK)
            curl_easy_getinfo(post->curl, CURLINFO_RESPONSE_CODE, &status);
        else if (error[0] == '\0')
            snprintf(error, 256, "%s", curl_easy_strerror(code));
    }
    curl_easy_setopt(post->curl, CURLOPT_ERRORBUFFER, NULL);
    curl_easy_setopt(post->curl, CURLOPT_HTTPHEADER, NULL);
    curl_slist_free_all(list);
    return status;
}
