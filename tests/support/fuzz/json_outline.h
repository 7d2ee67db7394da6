/* Finds the start and end of each value in a JSON text. The reader accepts any bytes. */
#ifndef HS_TESTS_JSON_OUTLINE_H
#define HS_TESTS_JSON_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

enum hs_json_kind { HS_JSON_OBJECT, HS_JSON_ARRAY, HS_JSON_STRING, HS_JSON_NUMBER, HS_JSON_WORD };

/* A value: the bytes [begin, end) of the text. Strings include their quotes. */
struct hs_json_span {
    uint32_t begin, end;
    uint32_t key, key_end; /* position of its key with the quotes; both 0: no key */
    int32_t parent;        /* index of its container; -1: the value is the text itself */
    enum hs_json_kind kind;
};

enum { HS_JSON_SPANS = 512, HS_JSON_NESTING = 64 };

struct hs_json_outline {
    const uint8_t *text;
    size_t size;
    size_t count;
    struct hs_json_span spans[HS_JSON_SPANS]; /* a container comes before its contents */
};

/* Reads up to the first faulty byte, or until `out` is full. Containers that are still open then
   end with the text. The reader skips up to 3 bytes before the first bracket; if no bracket
   follows, the outline is empty. The text is borrowed. */
void hs_json_outline(const uint8_t *text, size_t size, struct hs_json_outline *out);

#endif
