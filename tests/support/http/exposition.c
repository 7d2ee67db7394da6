#include "tests/support/http/exposition.h"

#include "tests/support/http/client.h"

#include <check.h>
#include <stdlib.h>
#include <string.h>

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

double hs_series(const char *text, const char *name)
{
    size_t len = strlen(name);
    for (const char *line = text; line != NULL; line = strchr(line, '\n')) {
        line += *line == '\n' ? 1 : 0;
        if (strncmp(line, name, len) == 0 && line[len] == ' ')
            return strtod(line + len, NULL);
    }
    ck_abort_msg("%s is not there", name);
    return 0;
}

double hs_metric(const struct hs_test_service *service, const char *name)
{
    char *text = hs_scrape(service);
    double value = hs_series(text, name);
    free(text);
    return value;
}
