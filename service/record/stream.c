#include "service/record/stream.h"

static const struct {
    const char *name;
    enum hs_route route;
} requests[] = {
#define X(name, route) {name, route},
    HS_STREAM_REQUESTS(X)
#undef X
};

enum { REQUEST_COUNT = sizeof requests / sizeof requests[0] };

const char *hs_stream_request_name(enum hs_route route)
{
    for (size_t i = 0; i < REQUEST_COUNT; i++)
        if (requests[i].route == route)
            return requests[i].name;
    return NULL;
}

bool hs_stream_request_route(struct hs_str name, enum hs_route *route)
{
    for (size_t i = 0; i < REQUEST_COUNT; i++) {
        if (hs_str_equal(name, (struct hs_str){requests[i].name, strlen(requests[i].name)})) {
            *route = requests[i].route;
            return true;
        }
    }
    return false;
}
