/* Where the values of a JSON text begin and end, read so tolerantly that any bytes will do. */
#ifndef HS_TESTS_JSON_OUTLINE_H
#define HS_TESTS_JSON_OUTLINE_H

#include <stddef.h>
#include <stdint.h>

enum hs_json_kind { HS_JSON_OBJECT, HS_JSON_ARRAY, HS_JSON_STRING, HS_JSON_NUMBER, HS_JSON_WORD };

/* A value, [begin, end) of the text; a string with its quotes. */
struct hs_json_span {
    uint32_t begin, end;
    uint32_t key, key_end; /* of its key with the quotes; both 0: no member of an object */
    int32_t parent;        /* its container; -1: the text itself */
    enum hs_json_kind kind;
};

enum { HS_JSON_SPANS = 512, HS_JSON_NESTING = 64 };

struct hs_json_outline {
    const uint8_t *text;
    size_t size;
    size_t count;
    struct hs_json_span spans[HS_JSON_SPANS]; /* a container before what is in it */
};

/*
 * Reads on to the first byte that fits nowhere, or to what there is no room for. Containers that
 * are open then end with the text. Up to 3 bytes before the first bracket are skipped; without a
 * bracket there the outline is empty. The text is borrowed.
 */
void hs_json_outline(const uint8_t *text, size_t size, struct hs_json_outline *out);

#endif
