#include "tests/support/fuzz/body.h"

enum { MAX_ITEMS = 256 };

void hs_fuzz_body_open(struct hs_fuzz_body *body, const void *data, size_t size)
{
    hs_problem_init(&body->problem);
    body->arena = (struct hs_arena){0};
    body->malformed = (struct hs_malformed_items){.count = 0};
    body->reader = (struct hs_reader){.problem = &body->problem,
                                      .arena = &body->arena,
                                      .max_items = MAX_ITEMS,
                                      .malformed = &body->malformed};
    body->root = hs_json_parse((struct hs_str){data, size}, &body->problem);
}

void hs_fuzz_body_close(struct hs_fuzz_body *body)
{
    json_decref(body->root);
    hs_arena_free(&body->arena);
}
