/* A verdict as `GET /v1/verdicts` and the deliveries (service/delivery/) show it. */
#ifndef HS_SERVICE_EVIDENCE_ROW_H
#define HS_SERVICE_EVIDENCE_ROW_H

#include "api/json/writing.h"
#include "service/evidence/store.h"

/* Writes the members of a verdict. The caller writes the braces around the members. */
void hs_evidence_row_encode(struct hs_writer *writer, const struct hs_evidence_row *row);

#endif
