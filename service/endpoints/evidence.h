/* Functions that several endpoints use to read the evidence store. The functions are in
   verdicts.c. */
#ifndef HS_SERVICE_ENDPOINTS_EVIDENCE_H
#define HS_SERVICE_ENDPOINTS_EVIDENCE_H

#include "service/endpoints/table.h"
#include "service/evidence/reader.h"
#include "validators/vocabulary.h"

/* hs_verdict_kinds: all kinds of stored verdicts. hs_claim_kinds: the kinds of verdicts that can be
   computed again. */
extern const struct hs_vocabulary hs_verdict_kinds, hs_claim_kinds;

/* Reads the filters of GET /v1/verdicts from the query string. The caller sets query->limit to the
   default limit. The filters are valid only if the requested limit is at most `max_limit` and the
   requested kind is one of `kinds`. Returns false and sets the reply's problem if the filters are
   not valid. */
bool hs_endpoint_verdict_query(const struct hs_request *request, const struct hs_vocabulary *kinds,
                               int64_t max_limit, struct hs_evidence_query *query,
                               struct hs_reply *reply);

/* Returns whether the service stores evidence. If not, sets the reply's problem. */
bool hs_endpoint_has_evidence(const struct hs_service *service, struct hs_reply *reply);

/* Returns whether `result` is HS_EVIDENCE_READ. Otherwise sets the reply's problem. */
bool hs_endpoint_evidence_is_read(enum hs_evidence_read result, const struct hs_request *request,
                                  struct hs_reply *reply);

#endif
