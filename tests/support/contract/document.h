/* openapi.yaml for tests: the operation of a route, its schemas, and whether an answer conforms. */
#ifndef HS_TESTS_DOCUMENT_H
#define HS_TESTS_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "api/http/routes.h"
#include "tests/support/http/client.h"

/* Loads openapi.yaml from the working directory; ends the test program if it is missing. Freed by
   the caller. */
json_t *hs_contract_load(void);

/* A schema by its name. If it is missing, the test fails. */
const json_t *hs_contract_schema(const json_t *document, const char *name);

/* The operation of a route, or NULL. `method` is in capitals, `pattern` as in api/http/routes.h. */
const json_t *hs_contract_operation(const json_t *document, const char *method,
                                    const char *pattern);

/* The response that the contract lists for a status, otherwise the `default` one. `$ref`s are
   followed. NULL: the operation documents neither. */
const json_t *hs_contract_response(const json_t *document, const json_t *operation, long status);

/* The schema of an operation's request body; NULL: it takes no body. */
const json_t *hs_contract_request_schema(const json_t *operation);

/* The value of an example by name in a `content` object of any media type; NULL: not found. It also
   finds `x-bad-examples`, which are refused requests. */
const json_t *hs_contract_example(const json_t *content, const char *name);

/* Whether the operation documents this answer: its status, its media type, its body by the schema,
   X-Request-Id. If not, `why` receives a sentence. */
bool hs_contract_allows(const json_t *document, const json_t *operation,
                        const struct hs_test_response *answer, char why[1024]);

/* Fails the test unless `text` is a problem document with this status, and this code (NULL: any).
 */
void hs_contract_expect_problem(const char *text, int status, const char *code);

#endif
