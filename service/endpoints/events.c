/* GET /v1/events: streams verdicts as they happen. */
#include <errno.h>
#include <stdlib.h>

#include "service/delivery/events.h"
#include "service/endpoints/table.h"
#include "service/service.h"

static void read_filter(const struct hs_request *request, struct hs_event_filter *filter,
                        struct hs_problem *problem)
{
    const char *verdict = hs_request_query(request, "verdict");
    const char *reason = hs_request_query(request, "reason");
    const char *match = hs_request_query(request, "match");
    *filter = (struct hs_event_filter){.kinds = HS_EVENT_REJECTED, .reason = HS_REASON_COUNT};
    if (verdict != NULL)
        filter->kinds = hs_event_kinds_parse(verdict);
    if (filter->kinds == 0)
        hs_problem_add(problem, "verdict",
                       "must list rejected, shadow_rejected or inconclusive, separated by commas");
    if (reason != NULL) {
        int found = hs_vocabulary_find(&hs_reason_words, hs_str_of(reason));
        if (found >= 0)
            filter->reason = (enum hs_reason)found;
        else
            hs_problem_add(problem, "reason", "is not a verdict reason");
    }
    if (match == NULL)
        return;
    if (hs_name_is_valid(hs_str_of(match)))
        hs_name_set(&filter->match, hs_str_of(match));
    else
        hs_problem_add(problem, "match", "must be 1 to %d of [A-Za-z0-9_.:-]", HS_NAME_MAX);
}

/* Returns the number of the last event that the client received, or 0 if the client has received no
   event. */
static uint64_t read_last(const struct hs_request *request, struct hs_problem *problem)
{
    const char *text = hs_request_header(request, "Last-Event-ID");
    char *end;
    if (text == NULL)
        return 0;
    errno = 0;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0 && number < UINT64_MAX)
        return number;
    hs_problem_add(problem, "Last-Event-ID", "must be the id of an event");
    return 0;
}

void hs_endpoint_events(struct hs_service *service, const struct hs_request *request,
                        struct hs_reply *reply)
{
    struct hs_event_filter filter;
    read_filter(request, &filter, reply->problem);
    uint64_t last = read_last(request, reply->problem);
    if (reply->problem->code != HS_PROBLEM_NONE)
        return;
    reply->events = hs_events_subscribe(service->events, request->tenant, &filter, last);
    if (reply->events == NULL)
        hs_endpoint_overloaded(reply, "too many streams are open");
}
