#include "service/evidence/reader.h"

#include <stdlib.h>

#include "service/evidence/reading.h"
#include "service/record/lines.h"
#include "service/record/stream.h"
#include "service/watch/log.h"

static bool write_document(const struct hs_evidence_stored *stored, const char *kind,
                           struct hs_str name, struct hs_str revision, struct hs_writer *writer)
{
    size_t size;
    char *document = hs_evidence_document(stored, hs_str_of(kind), revision, &size);
    if (document == NULL) {
        hs_log(HS_LOG_ERROR,
               "the ruleset or the map of a verdict is missing; perhaps the map is not saved yet",
               HS_LOG_TEXT("kind", kind), HS_LOG_TEXT("detail", hs_db_error(stored->db)));
        return false;
    }
    hs_stream_flatten(document, size);
    hs_line_begin_document(writer, kind, name, revision);
    hs_write_raw(writer, (struct hs_str){document, size});
    hs_line_end(writer);
    free(document);
    return true;
}

/* Writes the stored line of the request, and inserts the context as the last member of that
   line. */
static void write_request(const struct hs_evidence_row *row, struct hs_writer *writer)
{
    static const char end[] = "}\n";
    size_t open = row->request.len > sizeof end ? row->request.len - (sizeof end - 1) : 0;
    if (open == 0 || row->context.len == 0) {
        hs_write_raw(writer, row->request);
        return;
    }
    hs_write_raw(writer, (struct hs_str){row->request.ptr, open});
    hs_write_key(writer, "context");
    hs_write_raw(writer, row->context);
    hs_line_end(writer);
}

enum hs_evidence_read hs_evidence_stream(const struct hs_evidence_home *home, struct hs_str tenant,
                                         struct hs_str id, struct hs_buffer *out)
{
    struct hs_evidence_stored stored;
    struct hs_writer writer = {.buffer = out};
    const struct hs_evidence_row *row = &stored.row;
    enum hs_evidence_read result = hs_evidence_find(home, tenant, id, &stored);
    if (result != HS_EVIDENCE_READ)
        return result;
    hs_line_put_header(&writer);
    /* A stored move is a `gap` line, which needs no open match. So a stored move has no opening
       line. */
    bool is_move = row->opening.len == 0;
    bool fine = write_document(&stored, "ruleset", row->ruleset, row->revision, &writer);
    if (row->map.ptr != NULL)
        fine = fine && write_document(&stored, "map", row->map, row->map_revision, &writer);
    if (!is_move) {
        hs_write_raw(&writer, row->opening);
        hs_line_put_bytes(&writer, "state", row->state.ptr, row->state.len);
        hs_line_end(&writer);
    }
    write_request(row, &writer);
    hs_evidence_stored_close(&stored);
    return fine && !out->failed ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}
