#include "tests/support/http/exposition.h"

#include "tests/support/http/client.h"
#include "tests/support/http/raw.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

char *hs_scrape(const struct hs_test_service *service)
{
    struct hs_test_http *http = hs_test_http_open(service->admin_port);
    struct hs_test_response response;
    hs_test_http_send(http, "GET", "/metrics", NULL, 0, NULL, &response);
    ck_assert_int_eq(response.status, 200);
    char *text = strdup(response.body);
    ck_assert_ptr_nonnull(text);
    hs_test_response_free(&response);
    hs_test_http_close(http);
    return text;
}

/* Returns the text of the number in the line that begins with `name` and a blank. Returns NULL if
   there is no such line. */
static const char *find_series(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, len) == 0 && line[len] == ' ')
            return line + len;
    }
    return NULL;
}

double hs_series(const char *text, const char *name)
{
    const char *number = find_series(text, name);
    ck_assert_msg(number != NULL, "%s is not there", name);
    return strtod(number, NULL);
}

double hs_metric(const struct hs_test_service *service, const char *name)
{
    char *text = hs_scrape(service);
    double value = hs_series(text, name);
    free(text);
    return value;
}

double hs_metric_or_minus(const struct hs_test_service *service, const char *name)
{
    static const char request[] = "GET /metrics HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n";
    static _Thread_local char text[1 << 20];
    int fd = hs_raw_connect(service->admin_port);
    bool fine = fd >= 0 && hs_raw_send(fd, request, sizeof request - 1) &&
                hs_raw_drain(fd, text, sizeof text);
    if (fd >= 0)
        close(fd);
    const char *number = fine ? find_series(text, name) : NULL;
    return number == NULL ? -1 : strtod(number, NULL);
}
