/* Writes the lines of a recorded stream (record/stream.h). */
#ifndef HS_SERVICE_RECORD_LINES_H
#define HS_SERVICE_RECORD_LINES_H

#include "api/json/writing.h"
#include "service/record/recorder.h"

/* Writes the closing brace and the newline. */
void hs_line_end(struct hs_writer *writer);

/* Writes the first line of a stream. */
void hs_line_put_header(struct hs_writer *writer);

/* Begins the line of a ruleset or a map. The caller must add the document and end the line. */
void hs_line_begin_document(struct hs_writer *writer, const char *kind, struct hs_str name,
                            struct hs_str revision);

/* Begins the line that opens a match. More members may follow. */
void hs_line_begin_opening(struct hs_writer *writer, const struct hs_match_slot *slot);

/* Adds a member with bytes as base64. */
void hs_line_put_bytes(struct hs_writer *writer, const char *key, const void *bytes, size_t size);

/* Writes the line of a request with its answer. */
void hs_line_put_request(struct hs_writer *writer, const struct hs_match_slot *slot,
                         const struct hs_recorded_request *request);

#endif
