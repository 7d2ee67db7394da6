/* Text as the inside of a JSON string, whatever bytes it holds. */
#ifndef HS_API_ESCAPE_H
#define HS_API_ESCAPE_H

#include "api/json/buffer.h"
#include "validators/str.h"

/*
 * Appends `text` in quotation marks, escaped. Bytes that are not UTF-8 (a detail cut in the middle
 * of a character, a hostile header) become U+FFFD, so that the document stays JSON. Control
 * characters above ASCII and separators of lines are escaped too: some readers obey them.
 */
void hs_escape_json(struct hs_buffer *out, struct hs_str text);

#endif
