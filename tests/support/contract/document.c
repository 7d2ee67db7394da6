#include "tests/support/contract/document.h"

#include <check.h>
#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/contract/schema.h"
#include "tests/support/contract/yaml_json.h"

json_t *hs_contract_load(void)
{
    char error[256];
    json_t *document = hs_test_yaml_load("openapi.yaml", error);
    if (document != NULL)
        return document;
    fprintf(stderr, "openapi.yaml: %s\n", error);
    exit(1);
}

const json_t *hs_contract_schema(const json_t *document, const char *name)
{
    const json_t *schemas = json_object_get(json_object_get(document, "components"), "schemas");
    const json_t *found = json_object_get(schemas, name);
    ck_assert_msg(found != NULL, "openapi.yaml has no schema %s", name);
    return found;
}

const json_t *hs_contract_operation(const json_t *document, const char *method, const char *pattern)
{
    char key[16];
    size_t len = 0;
    for (; method[len] != '\0' && len + 1 < sizeof key; len++)
        key[len] = (char)tolower((unsigned char)method[len]);
    key[len] = '\0';
    const json_t *path = json_object_get(json_object_get(document, "paths"), pattern);
    return json_object_get(path, key);
}

static const json_t *follow(const json_t *document, const json_t *value)
{
    const char *reference = json_string_value(json_object_get(value, "$ref"));
    return reference != NULL ? hs_schema_resolve(document, reference) : value;
}

const json_t *hs_contract_response(const json_t *document, const json_t *operation, long status)
{
    char key[16];
    snprintf(key, sizeof key, "%ld", status);
    const json_t *responses = json_object_get(operation, "responses");
    const json_t *listed = json_object_get(responses, key);
    return follow(document, listed != NULL ? listed : json_object_get(responses, "default"));
}

const json_t *hs_contract_request_schema(const json_t *operation)
{
    const json_t *content = json_object_get(json_object_get(operation, "requestBody"), "content");
    return json_object_get(json_object_get(content, "application/json"), "schema");
}

const json_t *hs_contract_example(const json_t *content, const char *name)
{
    const char *media;
    json_t *type;
    json_object_foreach((json_t *)(uintptr_t)content, media, type)
    {
        const json_t *found = json_object_get(json_object_get(type, "examples"), name);
        if (found == NULL)
            found = json_object_get(json_object_get(type, "x-bad-examples"), name);
        if (found != NULL)
            return json_object_get(found, "value");
    }
    return NULL;
}

static bool body_fits(const json_t *document, const char *media, const json_t *schema,
                      const struct hs_test_response *answer, char why[1024])
{
    if (strstr(media, "json") == NULL || strcmp(media, "application/x-ndjson") == 0)
        return true;
    struct hs_schema_fault fault = {{0}, {0}};
    json_t *body = hs_test_response_json(answer);
    bool fine = body != NULL && hs_schema_fits(document, schema, body, &fault);
    if (!fine)
        snprintf(why, 1024, "%.200s at %.200s in %.400s",
                 body != NULL ? fault.text : "the body is not JSON", fault.pointer, answer->body);
    json_decref(body);
    return fine;
}

bool hs_contract_allows(const json_t *document, const json_t *operation,
                        const struct hs_test_response *answer, char why[1024])
{
    const json_t *response = hs_contract_response(document, operation, answer->status);
    const json_t *content = json_object_get(response, "content");
    char type[128] = "", id[160] = "";
    if (answer->status == 0 || response == NULL) {
        snprintf(why, 1024, "status %ld is not documented (%s)", answer->status, answer->error);
        return false;
    }
    if (!hs_test_response_header(answer, "X-Request-Id", id, sizeof id) || id[0] == '\0') {
        snprintf(why, 1024, "status %ld came without X-Request-Id", answer->status);
        return false;
    }
    hs_test_response_header(answer, "Content-Type", type, sizeof type);
    if (content == NULL) {
        snprintf(why, 1024, "status %ld came with %zu bytes of %s", answer->status, answer->size,
                 type);
        return answer->size == 0 && type[0] == '\0';
    }
    type[strcspn(type, ";")] = '\0';
    const json_t *media = json_object_get(content, type);
    if (media == NULL) {
        snprintf(why, 1024, "status %ld is not documented as %s: %.500s", answer->status, type,
                 answer->body);
        return false;
    }
    return body_fits(document, type, json_object_get(media, "schema"), answer, why);
}

void hs_contract_expect_problem(const char *text, int status, const char *code)
{
    struct hs_schema_fault fault = {{0}, {0}};
    json_t *document = hs_contract_load(), *problem = json_loads(text, 0, NULL);
    ck_assert_msg(
        problem != NULL &&
            hs_schema_fits(document, hs_contract_schema(document, "Problem"), problem, &fault),
        "%s: %s %s", text, fault.pointer, fault.text);
    const char *given = json_string_value(json_object_get(problem, "code"));
    const char *type = json_string_value(json_object_get(problem, "type"));
    ck_assert_int_eq(json_integer_value(json_object_get(problem, "status")), status);
    ck_assert_str_eq(given, code != NULL ? code : given);
    ck_assert_str_eq(type + strlen("urn:hindsight:problem:"), given);
    json_decref(problem);
    json_decref(document);
}
