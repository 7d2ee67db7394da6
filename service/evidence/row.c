#include "service/evidence/row.h"

void hs_evidence_row_encode(struct hs_writer *writer, const struct hs_evidence_row *row)
{
    hs_write_str_field(writer, "verdict_id", row->id);
    hs_write_time_field(writer, "at", row->at_us);
    hs_write_time_field(writer, "now", row->now_us);
#define X(member, column)                                                                          \
    if (row->member.len > 0)                                                                       \
        hs_write_str_field(writer, column, row->member);
    HS_EVIDENCE_TEXTS(X)
#undef X
    if (row->has_measure) {
        hs_write_real_field(writer, "measured", row->measured);
        hs_write_real_field(writer, "limit", row->limit);
        hs_write_str_field(writer, "unit", row->unit);
    }
    hs_write_str_field(writer, "revision", row->revision);
}
