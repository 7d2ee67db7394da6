/* Encodes a verdict for `GET /v1/verdicts` and for deliveries (service/delivery/). */
#ifndef HS_SERVICE_EVIDENCE_ROW_H
#define HS_SERVICE_EVIDENCE_ROW_H

#include "api/json/writing.h"
#include "service/evidence/store.h"

/* Writes the members of the JSON object, without its braces. */
void hs_evidence_row_encode(struct hs_writer *writer, const struct hs_evidence_row *row);

#endif
