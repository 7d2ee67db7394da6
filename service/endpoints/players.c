/* Endpoints for a player across matches: report and deletion. */
#include <time.h>

#include "service/endpoints/evidence.h"
#include "service/evidence/erase.h"
#include "service/evidence/report.h"
#include "service/evidence/writer.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/watch/log.h"

void hs_endpoint_player_report(struct hs_service *service, const struct hs_request *request,
                               struct hs_reply *reply)
{
    struct hs_evidence_query query = {.limit = 1};
    struct hs_writer writer = {.buffer = &reply->body};
    if (!hs_endpoint_verdict_query(request, &hs_verdict_kinds, 1, &query, reply) ||
        !hs_endpoint_has_evidence(service, reply))
        return;
    enum hs_evidence_read result =
        hs_evidence_report(hs_evidence_home(service->evidence), request->params.name[0], &query,
                           request->alive_us, &writer);
    if (result == HS_EVIDENCE_MISSING)
        hs_endpoint_unknown(request, reply, HS_PROBLEM_UNKNOWN_NAME,
                            "no verdict about this player is stored");
    else
        hs_endpoint_evidence_is_read(result, request, reply);
}

/* Waits at most one second until the queued verdicts are written. */
static void await_queue(struct hs_evidence *evidence)
{
    enum { TRIES = 100, PAUSE_NS = 10000000 };
    for (int i = 0; i < TRIES && hs_evidence_queue_length(evidence) > 0; i++)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
}

void hs_endpoint_player_erase(struct hs_service *service, const struct hs_request *request,
                              struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    int64_t deleted;
    if (!hs_endpoint_has_evidence(service, reply))
        return;
    await_queue(service->evidence);
    if (hs_evidence_erase(hs_evidence_home(service->evidence), request->tenant,
                          request->params.name[0], request->kid, request->alive_us,
                          &deleted) != HS_EVIDENCE_READ) {
        hs_endpoint_overloaded(reply,
                               "some verdicts of the player were not deleted: try again; the "
                               "log has the reason");
        return;
    }
    hs_log(HS_LOG_INFO, "a player was deleted from the evidence store",
           HS_LOG_NUMBER("verdicts", (size_t)deleted));
    hs_write_begin(&writer, '{');
    hs_write_int_field(&writer, "deleted", deleted);
    hs_write_end(&writer, '}');
}
