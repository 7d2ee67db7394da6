/* Takes fuzzed bytes as a request body and passes them through the decoders. */
#ifndef HS_TESTS_FUZZ_BODY_H
#define HS_TESTS_FUZZ_BODY_H

#include <stddef.h>
#include <stdint.h>

#include "api/ticks.h"

struct hs_fuzz_body {
    struct hs_str text;
    struct hs_problem problem;
    struct hs_arena arena;
    struct hs_malformed_items malformed;
    struct hs_reader reader;
    json_t *root;   /* NULL: the parser refused the body */
    bool is_direct; /* hs_fuzz_body_decode sets it: the body was read without a tree */
};

/* Opens a body. The bytes must stay in their place until it is closed. */
void hs_fuzz_body_open(struct hs_fuzz_body *body, const void *data, size_t size);

/*
 * Decodes the body of a post from its tree, and compares the result with that of the direct reader
 * (direct.h). A body that the direct reader accepts must have no fault, and every field must be the
 * same. A body without faults is also compared with its compact form. Returns NULL, or a sentence
 * about a difference.
 */
const char *hs_fuzz_body_decode(struct hs_fuzz_body *body, enum hs_route route,
                                struct hs_ticks_request *out);

/* Returns the text of a body without faults, with every list of items as a table. The caller frees
   it. */
char *hs_fuzz_body_compact(const json_t *root);

void hs_fuzz_body_close(struct hs_fuzz_body *body);

#endif
