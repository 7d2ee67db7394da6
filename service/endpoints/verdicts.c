/* GET /v1/verdicts lists stored verdicts. GET /v1/verdicts/{verdict} returns one verdict with its
   evidence. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/json/number.h"
#include "api/json/table.h"
#include "service/endpoints/evidence.h"
#include "service/evidence/ended.h"
#include "service/evidence/files.h"
#include "service/evidence/writer.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/share.h"
#include "validators/base/units.h"

enum { LIST_LIMIT = 50, LIST_MAX = 1000 };

static const char *const kind_names[] = {"hit", "shot", "move"};
static const char *const summary_names[] = {"match", "player"};
const struct hs_vocabulary hs_verdict_kinds = {kind_names, 3}, hs_claim_kinds = {kind_names, 2};
static const struct hs_vocabulary summary_kinds = {summary_names, 2};

/* ---- arguments ---- */

static struct hs_str text_argument(const struct hs_request *request, const char *name)
{
    const char *value = hs_request_query(request, name);
    return value != NULL && *value != '\0' ? hs_str_of(value) : (struct hs_str){0};
}

/* Reads an argument in seconds since 1970, if it is present. Adds a fault to the problem if the
   argument is not valid. */
static void time_argument(const struct hs_request *request, const char *name, int64_t *us,
                          struct hs_problem *problem)
{
    struct hs_str text = text_argument(request, name);
    double seconds;
    if (text.ptr == NULL)
        return;
    if (hs_number_parse(text, &seconds) && seconds >= 0 && seconds <= 9e9)
        *us = hs_seconds_to_us(seconds);
    else
        hs_problem_add(problem, name, "must be seconds since 1970, 0 to 9000000000");
}

static void integer_argument(const struct hs_request *request, const char *name, int64_t high,
                             int64_t *out, struct hs_problem *problem)
{
    struct hs_str text = text_argument(request, name);
    if (text.ptr == NULL)
        return;
    errno = 0;
    long long value = strtoll(text.ptr, NULL, 10);
    if (strspn(text.ptr, "0123456789") == text.len && errno == 0 && value >= 1 && value <= high)
        *out = value;
    else
        hs_problem_add(problem, name, "must be an integer from 1 to %lld", (long long)high);
}

/* Adds a fault to the problem if the argument is present and is not one of `words`. */
static void check_word(struct hs_str text, const char *name, const struct hs_vocabulary *words,
                       struct hs_problem *problem)
{
    if (text.ptr == NULL || hs_vocabulary_find(words, text) >= 0)
        return;
    char wanted[HS_DETAIL_MAX];
    hs_problem_add(problem, name, "%s", hs_json_words(words, 0, wanted));
}

bool hs_endpoint_verdict_query(const struct hs_request *request, const struct hs_vocabulary *kinds,
                               int64_t max_limit, struct hs_evidence_query *query,
                               struct hs_reply *reply)
{
    struct hs_problem *problem = reply->problem;
    int64_t limit = (int64_t)query->limit, cursor = INT64_MAX;
    const char *reviewed = hs_request_query(request, "reviewed");
#define X(member, column) query->member = text_argument(request, column);
    HS_EVIDENCE_TEXTS(X)
#undef X
    check_word(query->kind, "kind", kinds, problem);
    check_word(query->verdict, "verdict", &hs_verdict_words, problem);
    query->tenant = request->tenant;
    query->until_us = INT64_MAX;
    query->is_reviewed =
        reviewed != NULL && strcmp(reviewed, "0") != 0 && strcmp(reviewed, "false") != 0;
    time_argument(request, "since", &query->since_us, problem);
    time_argument(request, "until", &query->until_us, problem);
    integer_argument(request, "limit", max_limit, &limit, problem);
    integer_argument(request, "cursor", INT64_MAX, &cursor, problem);
    query->limit = (size_t)limit;
    query->until_us = cursor < query->until_us ? cursor : query->until_us;
    return problem->code == HS_PROBLEM_NONE;
}

bool hs_endpoint_has_evidence(const struct hs_service *service, struct hs_reply *reply)
{
    if (service->evidence == NULL)
        hs_problem_set(reply->problem, HS_PROBLEM_UNKNOWN_NAME,
                       "this service stores no evidence: it needs --data, and --evidence other "
                       "than off");
    return service->evidence != NULL;
}

bool hs_endpoint_evidence_is_read(enum hs_evidence_read result, const struct hs_request *request,
                                  struct hs_reply *reply)
{
    switch (result) {
    case HS_EVIDENCE_READ:
        return true;
    case HS_EVIDENCE_MISSING:
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME, "no such verdict is stored");
        return false;
    case HS_EVIDENCE_FAILED:
        hs_endpoint_overloaded(reply, "the evidence store cannot be read; the log has the reason");
        return false;
    }
    return false;
}

/* ---- exports ---- */

/* Opens a temporary file without a name, which disappears when it is closed. Returns -1 on
   failure. */
static int open_nameless(const char *directory)
{
    char path[HS_EVIDENCE_PATH];
    snprintf(path, sizeof path, "%s/export-XXXXXX", directory);
    int fd = mkostemp(path, O_CLOEXEC);
    if (fd >= 0)
        unlink(path);
    return fd;
}

/* Writes the export to a file first, so that the export needs little memory, and no transaction
   stays open while a slow client reads. */
static void export(struct hs_service *service, const struct hs_request *request,
                   enum hs_evidence_format format, struct hs_reply *reply)
{
    struct hs_evidence_query query = {.limit = SIZE_MAX / 2};
    struct stat status;
    if (!hs_endpoint_verdict_query(request, &hs_verdict_kinds, INT64_MAX, &query, reply) ||
        !hs_endpoint_has_evidence(service, reply))
        return;
    if (!hs_share_reserve(service->exports, request->tenant, 1)) {
        hs_endpoint_overloaded(reply, "too many exports are being read");
        return;
    }
    reply->share = service->exports;
    reply->file = open_nameless(service->options->data);
    if (reply->file < 0 ||
        hs_evidence_export(hs_evidence_home(service->evidence), &query, format, reply->file,
                           request->alive_us) != HS_EVIDENCE_READ ||
        fstat(reply->file, &status) != 0) {
        hs_endpoint_overloaded(reply, "the export cannot be written to the data directory, or the "
                                      "evidence store cannot be read");
        return;
    }
    reply->file_size = (uint64_t)status.st_size;
    reply->content_type =
        format == HS_EVIDENCE_CSV ? "text/csv; charset=utf-8" : "application/x-ndjson";
}

/* ---- endpoints ---- */

static void list(struct hs_service *service, const struct hs_request *request,
                 struct hs_reply *reply)
{
    struct hs_evidence_query query = {.limit = LIST_LIMIT};
    int64_t next_us;
    if (!hs_endpoint_verdict_query(request, &hs_verdict_kinds, LIST_MAX, &query, reply) ||
        !hs_endpoint_has_evidence(service, reply))
        return;
    struct hs_writer writer = {.buffer = &reply->body};
    hs_write_begin(&writer, '{');
    hs_write_key(&writer, "verdicts");
    enum hs_evidence_read result =
        hs_evidence_list(hs_evidence_home(service->evidence), &query, &writer, &next_us);
    if (!hs_endpoint_evidence_is_read(result, request, reply))
        return;
    if (next_us > 0)
        hs_write_int_field(&writer, "next", next_us);
    hs_write_end(&writer, '}');
}

void hs_endpoint_verdict_list(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply)
{
    struct hs_str format = text_argument(request, "format");
    if (format.ptr == NULL || hs_str_equal(format, HS_STR("json")))
        list(service, request, reply);
    else if (hs_str_equal(format, HS_STR("ndjson")))
        export(service, request, HS_EVIDENCE_NDJSON, reply);
    else if (hs_str_equal(format, HS_STR("csv")))
        export(service, request, HS_EVIDENCE_CSV, reply);
    else
        hs_problem_add(reply->problem, "format", "must be json, ndjson or csv");
}

void hs_endpoint_summary_list(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply)
{
    struct hs_evidence_query query = {.limit = LIST_LIMIT};
    struct hs_writer writer = {.buffer = &reply->body};
    int64_t next_us;
    if (!hs_endpoint_verdict_query(request, &summary_kinds, LIST_MAX, &query, reply) ||
        !hs_endpoint_has_evidence(service, reply))
        return;
    hs_write_begin(&writer, '{');
    hs_write_key(&writer, "summaries");
    enum hs_evidence_read result =
        hs_ended_list(hs_evidence_home(service->evidence), query, &writer, &next_us);
    if (!hs_endpoint_evidence_is_read(result, request, reply))
        return;
    if (next_us > 0)
        hs_write_int_field(&writer, "next", next_us);
    hs_write_end(&writer, '}');
}

void hs_endpoint_verdict_get(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    if (!hs_endpoint_has_evidence(service, reply))
        return;
    enum hs_evidence_read result =
        hs_evidence_stream(hs_evidence_home(service->evidence), request->tenant,
                           request->params.name[0], &reply->body);
    if (hs_endpoint_evidence_is_read(result, request, reply))
        reply->content_type = "application/x-ndjson";
}
