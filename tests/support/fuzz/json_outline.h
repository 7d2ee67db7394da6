/* The start and end of the values in a JSON text. The reader is so tolerant that it accepts any
   bytes. */
#ifndef HS_TESTS_JSON_OUTLINE_H
#define HS_TESTS_JSON_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

enum hs_json_kind { HS_JSON_OBJECT, HS_JSON_ARRAY, HS_JSON_STRING, HS_JSON_NUMBER, HS_JSON_WORD };

/* A value, [begin, end) of the text; strings include their quotes. */
struct hs_json_span {
    uint32_t begin, end;
    uint32_t key,
        key_end;    /* position of its key with the quotes; both 0: it is no member of an object */
    int32_t parent; /* index of its container; -1: the text itself */
    enum hs_json_kind kind;
};

enum { HS_JSON_SPANS = 512, HS_JSON_NESTING = 64 };

struct hs_json_outline {
    const uint8_t *text;
    size_t size;
    size_t count;
    struct hs_json_span spans[HS_JSON_SPANS]; /* a container comes before its contents */
};

/* Reads up to the first byte that is a fault, or to the first value that does not fit. Containers
   that are still open then end with the text. It skips up to 3 bytes before the first bracket;
   without a bracket there the outline is empty. The text is borrowed. */
void hs_json_outline(const uint8_t *text, size_t size, struct hs_json_outline *out);

#endif
