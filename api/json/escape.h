/* Writes any bytes as a JSON string. */
#ifndef HS_API_ESCAPE_H
#define HS_API_ESCAPE_H

#include "api/json/buffer.h"
#include "validators/str.h"

/*
 * Appends `text` in quotation marks, escaped. Bytes that are not UTF-8, such as a part of a
 * character, become U+FFFD, so that the document stays valid. Also escapes DEL, the control
 * characters U+0080 to U+009F and the line separators U+2028 and U+2029: terminals act on the
 * control characters, and some readers end a line at the separators.
 */
void hs_escape_json(struct hs_buffer *out, struct hs_str text);

#endif
