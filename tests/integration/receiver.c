#include "tests/integration/receiver.h"

#include <arpa/inet.h>
#include <check.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/clock.h"
#include "tests/support/http/upload.h"

enum { PATIENCE_MS = 30000, STEP_MS = 5 };

struct hs_receiver {
    struct MHD_Daemon *daemon;
    pthread_mutex_t lock; /* guards everything below */
    struct hs_received received[HS_RECEIVED_MAX];
    size_t count;
    unsigned status;
    long pause_ms;
    int times;
    bool stops; /* answers wait no longer */
};

static void copy_header(struct MHD_Connection *connection, const char *name, char *out, size_t size)
{
    const char *value = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, name);
    snprintf(out, size, "%s", value != NULL ? value : "");
}

/* Keeps a request, and returns the status of its answer. */
static unsigned keep(struct hs_receiver *receiver, struct MHD_Connection *connection,
                     const char *url, struct hs_buffer *body, long *pause_ms)
{
    unsigned status = 200;
    *pause_ms = 0;
    hs_buffer_append(body, "", 1);
    pthread_mutex_lock(&receiver->lock);
    if (receiver->count < HS_RECEIVED_MAX) {
        struct hs_received *received = &receiver->received[receiver->count++];
        snprintf(received->path, sizeof received->path, "%s", url);
        copy_header(connection, "Hindsight-Signature", received->signature,
                    sizeof received->signature);
        copy_header(connection, "Idempotency-Key", received->key, sizeof received->key);
        copy_header(connection, "Content-Type", received->content_type,
                    sizeof received->content_type);
        received->body = body->data;
        received->at = hs_test_seconds();
        *body = (struct hs_buffer){0};
    }
    if (receiver->times > 0) {
        receiver->times--;
        status = receiver->status;
        *pause_ms = receiver->pause_ms;
    }
    pthread_mutex_unlock(&receiver->lock);
    return status;
}

/* Waits before an answer, but not longer than the receiver lives. */
static void wait_to_answer(struct hs_receiver *receiver, long pause_ms)
{
    bool stops = false;
    for (long waited = 0; waited < pause_ms && !stops; waited += STEP_MS) {
        hs_test_pause_ms(STEP_MS);
        pthread_mutex_lock(&receiver->lock);
        stops = receiver->stops;
        pthread_mutex_unlock(&receiver->lock);
    }
}

static enum MHD_Result answer(struct MHD_Connection *connection, unsigned status)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(2, (void *)(uintptr_t) "{}", MHD_RESPMEM_PERSISTENT);
    if (response == NULL)
        return MHD_NO;
    if (status >= 300 && status <= 399)
        MHD_add_response_header(response, "Location", "/elsewhere");
    enum MHD_Result result = MHD_queue_response(connection, status, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request)
{
    long pause_ms;
    (void)method, (void)version;
    struct hs_buffer *body;
    enum MHD_Result result = hs_test_upload(request, upload, upload_size, &body);
    if (body == NULL)
        return result;
    unsigned status = keep(context, connection, url, body, &pause_ms);
    wait_to_answer(context, pause_ms);
    return answer(connection, status);
}

struct hs_receiver *hs_receiver_start(unsigned *port)
{
    struct hs_receiver *receiver = calloc(1, sizeof *receiver);
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK),
                                  .sin_port = htons((in_port_t)*port)};
    if (receiver == NULL)
        return NULL;
    pthread_mutex_init(&receiver->lock, NULL);
    /* A thread for each connection, so that a paused answer does not delay the others. */
    receiver->daemon = MHD_start_daemon(
        MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_THREAD_PER_CONNECTION, 0, NULL, NULL, handle,
        receiver, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_LISTENING_ADDRESS_REUSE, 1u,
        MHD_OPTION_NOTIFY_COMPLETED, hs_test_upload_end, NULL, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        receiver->daemon == NULL ? NULL
                                 : MHD_get_daemon_info(receiver->daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (info != NULL && info->port != 0) {
        *port = info->port;
        return receiver;
    }
    hs_receiver_stop(receiver);
    return NULL;
}

void hs_receiver_stop(struct hs_receiver *receiver)
{
    if (receiver == NULL)
        return;
    pthread_mutex_lock(&receiver->lock);
    receiver->stops = true;
    pthread_mutex_unlock(&receiver->lock);
    if (receiver->daemon != NULL)
        MHD_stop_daemon(receiver->daemon);
    for (size_t i = 0; i < receiver->count; i++)
        free(receiver->received[i].body);
    pthread_mutex_destroy(&receiver->lock);
    free(receiver);
}

void hs_receiver_answer(struct hs_receiver *receiver, unsigned status, long pause_ms, int times)
{
    pthread_mutex_lock(&receiver->lock);
    receiver->status = status;
    receiver->pause_ms = pause_ms;
    receiver->times = times;
    pthread_mutex_unlock(&receiver->lock);
}

size_t hs_receiver_count(struct hs_receiver *receiver)
{
    pthread_mutex_lock(&receiver->lock);
    size_t count = receiver->count;
    pthread_mutex_unlock(&receiver->lock);
    return count;
}

void hs_receiver_wait(struct hs_receiver *receiver, size_t count)
{
    for (long waited = 0; waited < PATIENCE_MS && hs_receiver_count(receiver) < count;
         waited += STEP_MS)
        hs_test_pause_ms(STEP_MS);
    ck_assert_uint_ge(hs_receiver_count(receiver), count);
}

const struct hs_received *hs_receiver_get(struct hs_receiver *receiver, size_t i)
{
    ck_assert_uint_lt(i, hs_receiver_count(receiver));
    return &receiver->received[i];
}

json_t *hs_received_verdicts(const struct hs_received *received)
{
    json_error_t error;
    json_t *root = json_loads(received->body, JSON_REJECT_DUPLICATES, &error);
    ck_assert_msg(root != NULL, "%s: %s", error.text, received->body);
    json_t *list = json_incref(json_object_get(root, "verdicts"));
    json_decref(root);
    ck_assert_msg(json_is_array(list), "%s", received->body);
    return list;
}
