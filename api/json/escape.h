/* Writes a text, which may contain any bytes, as a JSON string. */
#ifndef HS_API_ESCAPE_H
#define HS_API_ESCAPE_H

#include "api/json/buffer.h"
#include "validators/str.h"

/*
 * Appends `text` as a JSON string in quotation marks. Each byte that is not part of a valid UTF-8
 * character becomes U+FFFD, so that the document stays valid. Escapes all characters that JSON must
 * escape. Also escapes DEL and the control characters U+0080 to U+009F, because terminals act on
 * them. Also escapes the line separators U+2028 and U+2029, because some readers end a line there.
 */
void hs_escape_json(struct hs_buffer *out, struct hs_str text);

#endif
