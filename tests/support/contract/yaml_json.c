#include "tests/support/contract/yaml_json.h"

#include <regex.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <yaml.h>

struct loader {
    yaml_document_t document;
    bool *seen; /* indexed by the document's nodes, from 1 */
    regex_t integer, real;
    char *error; /* buffer of 256 bytes; empty: no fault so far */
};

static void fail(struct loader *loader, const yaml_node_t *node, const char *what)
{
    if (loader->error[0] == '\0')
        snprintf(loader->error, 256, "line %zu: %s", node->start_mark.line + 1, what);
}

static bool is_one_of(const char *text, const char *const *list)
{
    for (; *list != NULL; list++)
        if (strcasecmp(text, *list) == 0)
            return true;
    return false;
}

static json_t *load_scalar(struct loader *loader, const yaml_node_t *node)
{
    static const char *const ambiguous[] = {"yes", "no", "on", "off", "y", "n", NULL};
    const char *text = (const char *)node->data.scalar.value;
    size_t size = node->data.scalar.length;
    if (node->data.scalar.style != YAML_PLAIN_SCALAR_STYLE)
        return json_stringn(text, size);
    if (is_one_of(text, ambiguous))
        fail(loader, node, "quote it: YAML 1.1 reads a boolean here");
    if (size == 0 || strcmp(text, "null") == 0 || strcmp(text, "~") == 0)
        return json_null();
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        return json_boolean(text[0] == 't');
    if (regexec(&loader->integer, text, 0, NULL, 0) == 0)
        return json_integer(strtoll(text, NULL, 10));
    if (regexec(&loader->real, text, 0, NULL, 0) == 0)
        return json_real(strtod(text, NULL));
    return json_stringn(text, size);
}

static json_t *load_node(struct loader *loader, int index, int depth);

static json_t *load_sequence(struct loader *loader, const yaml_node_t *node, int depth)
{
    json_t *array = json_array();
    for (yaml_node_item_t *item = node->data.sequence.items.start;
         item < node->data.sequence.items.top; item++)
        json_array_append_new(array, load_node(loader, *item, depth));
    return array;
}

static json_t *load_mapping(struct loader *loader, const yaml_node_t *node, int depth)
{
    json_t *object = json_object();
    for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
         pair < node->data.mapping.pairs.top; pair++) {
        const yaml_node_t *key = yaml_document_get_node(&loader->document, pair->key);
        if (key->type != YAML_SCALAR_NODE) {
            fail(loader, key, "a key must be a scalar");
            continue;
        }
        const char *name = (const char *)key->data.scalar.value;
        if (json_object_get(object, name) != NULL)
            fail(loader, key, "a key stands twice");
        json_object_set_new(object, name, load_node(loader, pair->value, depth));
    }
    return object;
}

static json_t *load_node(struct loader *loader, int index, int depth)
{
    const yaml_node_t *node = yaml_document_get_node(&loader->document, index);
    /* An alias shares its node with its anchor. */
    if (loader->seen[index])
        fail(loader, node, "an alias");
    if (depth == 64)
        fail(loader, node, "nested deeper than 64");
    loader->seen[index] = true;
    if (loader->error[0] != '\0')
        return json_null();
    return node->type == YAML_SCALAR_NODE     ? load_scalar(loader, node)
           : node->type == YAML_SEQUENCE_NODE ? load_sequence(loader, node, depth + 1)
                                              : load_mapping(loader, node, depth + 1);
}

static json_t *load(FILE *file, struct loader *loader)
{
    json_t *value = NULL;
    yaml_parser_t parser;
    if (yaml_parser_initialize(&parser) == 0)
        return NULL;
    yaml_parser_set_input_file(&parser, file);
    if (yaml_parser_load(&parser, &loader->document) == 0) {
        snprintf(loader->error, 256, "line %zu: %s", parser.problem_mark.line + 1,
                 parser.problem != NULL ? parser.problem : "not YAML");
    } else {
        ptrdiff_t nodes = loader->document.nodes.top - loader->document.nodes.start;
        loader->seen = calloc((size_t)nodes + 1, sizeof *loader->seen);
        if (nodes == 0 || loader->seen == NULL)
            snprintf(loader->error, 256, "the file is empty, or memory is out");
        else
            value = load_node(loader, 1, 0);
        free(loader->seen);
        yaml_document_delete(&loader->document);
    }
    yaml_parser_delete(&parser);
    return value;
}

json_t *hs_test_yaml_load(const char *path, char error[256])
{
    struct loader loader = {.error = error};
    error[0] = '\0';
    FILE *file = fopen(path, "rb");
    if (file == NULL) {
        snprintf(error, 256, "cannot open %.200s", path);
        return NULL;
    }
    if (regcomp(&loader.integer, "^[-+]?[0-9]+$", REG_EXTENDED | REG_NOSUB) != 0 ||
        regcomp(&loader.real, "^[-+]?(\\.[0-9]+|[0-9]+(\\.[0-9]*)?)([eE][-+]?[0-9]+)?$",
                REG_EXTENDED | REG_NOSUB) != 0)
        abort();
    json_t *value = load(file, &loader);
    regfree(&loader.integer);
    regfree(&loader.real);
    fclose(file);
    if (error[0] == '\0' && value != NULL)
        return value;
    json_decref(value);
    return NULL;
}
