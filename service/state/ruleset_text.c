/* Rulesets as text and as files. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "api/rulesets/document.h"
#include "service/state/rulesets.h"
#include "service/system/files.h"

enum { MAX_FILE_BYTES = 8 * 1024 * 1024 };

struct hs_ruleset *hs_ruleset_from_text(struct hs_str text, struct hs_str name,
                                        struct hs_problem *problem)
{
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = problem, .arena = &arena};
    json_t *root = hs_json_parse(text, problem);
    struct hs_ruleset *ruleset = root != NULL ? hs_ruleset_decode(&reader, root, name) : NULL;
    if (reader.no_memory)
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "out of memory");
    json_decref(root);
    hs_arena_free(&arena);
    return ruleset;
}

struct hs_ruleset *hs_ruleset_from_file(const char *path, struct hs_str name,
                                        struct hs_problem *problem)
{
    size_t size;
    char *text = hs_file_rest(hs_file_read(path), MAX_FILE_BYTES, &size);
    if (text == NULL) {
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s",
                       hs_file_error(errno));
        return NULL;
    }
    struct hs_ruleset *ruleset = hs_ruleset_from_text((struct hs_str){text, size}, name, problem);
    free(text);
    return ruleset;
}
