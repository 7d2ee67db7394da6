/* Endpoints for reviews: the reviews of a stored verdict, and how often each reason was right. */
#include "api/reviews.h"

#include "service/endpoints/evidence.h"
#include "service/evidence/cases.h"
#include "service/evidence/writer.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/system/clock.h"

static void add(struct hs_service *service, const struct hs_request *request,
                const struct hs_review *review, struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    switch (hs_cases_review(hs_evidence_home(service->evidence), request->tenant,
                            request->params.name[0], review)) {
    case HS_CASES_ADDED:
        reply->status = 201;
        hs_review_encode(&writer, review);
        return;
    case HS_CASES_MISSING:
        hs_endpoint_evidence_is_read(HS_EVIDENCE_MISSING, request, reply);
        return;
    case HS_CASES_FULL:
        hs_problem_add(reply->problem, "", "the verdict has %d reviews, and no more are allowed",
                       HS_REVIEWS_MAX);
        return;
    case HS_CASES_FAILED:
        hs_endpoint_overloaded(reply, "the review cannot be written; the log has the reason");
        return;
    }
}

void hs_endpoint_review_post(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    struct hs_review review = {.at_us = hs_clock_wall_us()};
    struct hs_reader reader;
    json_t *root = hs_body_parse(service, request, reply, &reader);
    if (root == NULL)
        return;
    hs_review_decode(&reader, root, &review);
    if (request->kid.ptr != NULL)
        review.by = request->kid; /* with tokens, the reviewer is the key name of the token */
    if (hs_body_is_fine(&reader, reply) && hs_endpoint_has_evidence(service, reply))
        add(service, request, &review, reply);
    json_decref(root);
}

void hs_endpoint_review_list(struct hs_service *service, const struct hs_request *request,
                             struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    if (!hs_endpoint_has_evidence(service, reply))
        return;
    hs_write_begin(&writer, '{');
    hs_write_key(&writer, "reviews");
    enum hs_evidence_read result = hs_cases_list(hs_evidence_home(service->evidence),
                                                 request->tenant, request->params.name[0], &writer);
    hs_write_end(&writer, '}');
    hs_endpoint_evidence_is_read(result, request, reply);
}

void hs_endpoint_precision(struct hs_service *service, const struct hs_request *request,
                           struct hs_reply *reply)
{
    struct hs_writer writer = {.buffer = &reply->body};
    if (!hs_endpoint_has_evidence(service, reply))
        return;
    hs_write_begin(&writer, '{');
    hs_write_key(&writer, "reasons");
    enum hs_evidence_read result =
        hs_cases_precision(hs_evidence_home(service->evidence), request->tenant, &writer);
    hs_write_end(&writer, '}');
    hs_endpoint_evidence_is_read(result, request, reply);
}
