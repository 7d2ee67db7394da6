/* GET /v1/verdicts: the stored verdicts; and one of them with all its evidence. */
#include <stdlib.h>
#include <string.h>

#include "service/endpoints/table.h"
#include "service/evidence/reader.h"
#include "service/options/values.h"
#include "service/service.h"
#include "validators/base/units.h"

enum { LIST_LIMIT = 50, LIST_MAX = 1000 };

/* ---- arguments ---- */

static struct hs_str text_argument(const struct hs_request *request, const char *name)
{
    const char *value = hs_request_query(request, name);
    return value != NULL && *value != '\0' ? hs_str_of(value) : (struct hs_str){0};
}

/* Reads seconds since the epoch. False with a fault: it is not such a number. */
static bool time_argument(const struct hs_request *request, const char *name, int64_t *us,
                          struct hs_problem *problem)
{
    struct hs_str text = text_argument(request, name);
    char *end;
    if (text.ptr == NULL)
        return true;
    double seconds = strtod(text.ptr, &end);
    if (*end != '\0' || !(seconds >= 0 && seconds <= 9e9)) {
        hs_problem_add(problem, name, "must be seconds since 1970, 0 to 9000000000");
        return false;
    }
    *us = hs_seconds_to_us(seconds);
    return true;
}

static bool integer_argument(const struct hs_request *request, const char *name, int64_t high,
                             int64_t *out, struct hs_problem *problem)
{
    struct hs_str text = text_argument(request, name);
    char *end;
    if (text.ptr == NULL)
        return true;
    long long value = strtoll(text.ptr, &end, 10);
    if (*end != '\0' || value < 1 || value > high) {
        hs_problem_add(problem, name, "must be an integer from 1 to %lld", (long long)high);
        return false;
    }
    *out = value;
    return true;
}

/* Returns whether evidence is stored. False with the reply's problem set. */
static bool has_store(const struct hs_service *service, struct hs_reply *reply)
{
    if (service->evidence == NULL)
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_NAME,
                       "this service stores no evidence: it needs --data, and --evidence other "
                       "than off");
    return service->evidence != NULL;
}

/* ---- endpoints ---- */

void hs_endpoint_verdict_list(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply)
{
    struct hs_evidence_query query = {.until_us = INT64_MAX, .limit = LIST_LIMIT};
    struct hs_problem *problem = reply->problem;
    int64_t limit = LIST_LIMIT, cursor = INT64_MAX, next_us;
#define X(member, column) query.member = text_argument(request, column);
    HS_EVIDENCE_TEXTS(X)
#undef X
    query.tenant = request->tenant;
    if (!has_store(service, reply) || !time_argument(request, "since", &query.since_us, problem) ||
        !time_argument(request, "until", &query.until_us, problem) ||
        !integer_argument(request, "limit", LIST_MAX, &limit, problem) ||
        !integer_argument(request, "cursor", INT64_MAX, &cursor, problem))
        return;
    query.limit = (size_t)limit;
    query.until_us = cursor < query.until_us ? cursor : query.until_us;
    struct hs_writer writer = {.buffer = &reply->body};
    hs_write_begin(&writer, '{');
    hs_write_key(&writer, "verdicts");
    if (hs_evidence_list(service->options->data, &query, &writer, &next_us) != HS_EVIDENCE_READ) {
        hs_endpoint_overloaded(reply, "the evidence store cannot be read");
        return;
    }
    if (next_us > 0)
        hs_write_int_field(&writer, "next", next_us);
    hs_write_end(&writer, '}');
}

void hs_endpoint_verdict_get(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    if (!has_store(service, reply))
        return;
    switch (hs_evidence_stream(service->options->data, request->tenant, request->params.name[0],
                               &reply->body)) {
    case HS_EVIDENCE_READ:
        reply->content_type = "application/x-ndjson";
        return;
    case HS_EVIDENCE_MISSING:
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME, "no such verdict is stored");
        return;
    case HS_EVIDENCE_FAILED:
        hs_endpoint_overloaded(reply, "the evidence store cannot be read");
        return;
    }
}
