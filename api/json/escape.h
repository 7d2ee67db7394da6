/* Writes any bytes as a JSON string. */
#ifndef HS_API_ESCAPE_H
#define HS_API_ESCAPE_H

#include "api/json/buffer.h"
#include "validators/str.h"

/*
 * Appends `text` in quotation marks, escaped. Bytes that are not UTF-8, such as a part of a
 * character, become U+FFFD, so that the document stays valid. Control characters and line
 * separators above ASCII are escaped too, because some readers act on them.
 */
void hs_escape_json(struct hs_buffer *out, struct hs_str text);

#endif
