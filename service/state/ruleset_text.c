/* Rulesets as text and as files. */
#include <errno.h>
#include <stdio.h>
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

/* Returns the whole file, which the caller frees; ptr NULL with `problem` set. */
static struct hs_str read_file(const char *path, struct hs_problem *problem)
{
    FILE *file = hs_file_read(path);
    char *bytes = file != NULL ? malloc(MAX_FILE_BYTES + 1) : NULL;
    size_t size = bytes != NULL ? fread(bytes, 1, MAX_FILE_BYTES + 1, file) : 0;
    if (bytes == NULL || ferror(file) || size > MAX_FILE_BYTES) {
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s",
                       size > MAX_FILE_BYTES ? "too large" : hs_file_error(errno));
        free(bytes);
        bytes = NULL;
    }
    if (file != NULL)
        fclose(file);
    return (struct hs_str){bytes, size};
}

struct hs_ruleset *hs_ruleset_from_file(const char *path, struct hs_str name,
                                        struct hs_problem *problem)
{
    struct hs_str text = read_file(path, problem);
    if (text.ptr == NULL)
        return NULL;
    struct hs_ruleset *ruleset = hs_ruleset_from_text(text, name, problem);
    free((char *)(uintptr_t)text.ptr);
    return ruleset;
}
