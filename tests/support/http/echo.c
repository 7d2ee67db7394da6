/* The minimal server (load.h) whose speed is compared with that of the service. */
#include "tests/support/http/load.h"

#include <arpa/inet.h>
#include <microhttpd.h>
#include <stdlib.h>

#include "tests/support/http/upload.h"

struct hs_echo {
    struct MHD_Daemon *daemon;
};

static enum MHD_Result answer(struct MHD_Connection *connection, struct hs_buffer *body)
{
    struct MHD_Response *response =
        MHD_create_response_from_buffer(body->len, body->data, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        return MHD_NO;
    *body = (struct hs_buffer){0};
    MHD_add_response_header(response, "Content-Type", "application/json");
    enum MHD_Result result = MHD_queue_response(connection, 200, response);
    MHD_destroy_response(response);
    return result;
}

static enum MHD_Result handle(void *context, struct MHD_Connection *connection, const char *url,
                              const char *method, const char *version, const char *upload,
                              size_t *upload_size, void **request)
{
    (void)context, (void)url, (void)method, (void)version;
    struct hs_buffer *body;
    enum MHD_Result result = hs_test_upload(request, upload, upload_size, &body);
    return body != NULL ? answer(connection, body) : result;
}

struct hs_echo *hs_echo_start(unsigned threads, unsigned *port)
{
    struct hs_echo *echo = calloc(1, sizeof *echo);
    if (echo == NULL)
        return NULL;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    struct MHD_OptionItem pool[] = {
        {MHD_OPTION_THREAD_POOL_SIZE, (intptr_t)threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    echo->daemon = MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC | MHD_USE_ERROR_LOG, 0, NULL, NULL, handle,
        NULL, MHD_OPTION_SOCK_ADDR, &address, MHD_OPTION_CONNECTION_LIMIT, 1024u,
        MHD_OPTION_CONNECTION_TIMEOUT, 75u, MHD_OPTION_STRICT_FOR_CLIENT, 1,
        MHD_OPTION_NOTIFY_COMPLETED, hs_test_upload_end, NULL, MHD_OPTION_ARRAY,
        threads < 2 ? pool + 1 : pool, MHD_OPTION_END);
    const union MHD_DaemonInfo *info =
        echo->daemon == NULL ? NULL : MHD_get_daemon_info(echo->daemon, MHD_DAEMON_INFO_BIND_PORT);
    if (info == NULL || info->port == 0) {
        hs_echo_stop(echo);
        return NULL;
    }
    *port = info->port;
    return echo;
}

void hs_echo_stop(struct hs_echo *echo)
{
    if (echo == NULL)
        return;
    if (echo->daemon != NULL)
        MHD_stop_daemon(echo->daemon);
    free(echo);
}
