/* Reads openapi.yaml for tests: finds the operation of a route and its schemas, and checks whether
   an answer conforms. */
#ifndef HS_TESTS_DOCUMENT_H
#define HS_TESTS_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "api/http/routes.h"
#include "tests/support/http/client.h"

/* Loads openapi.yaml from the working directory. If it is missing, the test program ends. The
   caller owns the result. */
json_t *hs_contract_load(void);

/* Returns the schema with a name. If it is missing, the test fails. */
const json_t *hs_contract_schema(const json_t *document, const char *name);

/* Returns the operation of a route, or NULL. `method` is in capitals, `pattern` as in
   api/http/routes.h. */
const json_t *hs_contract_operation(const json_t *document, const char *method,
                                    const char *pattern);

/* Returns the response that the contract lists for a status. If it lists none, returns the
   `default` response. It follows `$ref`s. Returns NULL if the operation documents neither. */
const json_t *hs_contract_response(const json_t *document, const json_t *operation, long status);

/* Returns the schema of an operation's request body. Returns NULL if the operation takes no
   body. */
const json_t *hs_contract_request_schema(const json_t *operation);

/* Returns the value of an example, by its name, in a `content` object of any media type, or NULL if
   it is not found. The function also finds `x-bad-examples`, which are refused requests. */
const json_t *hs_contract_example(const json_t *content, const char *name);

/* Returns whether the operation documents this answer: its status, its media type, a body that fits
   the schema, and X-Request-Id. If not, `why` gets a sentence. */
bool hs_contract_allows(const json_t *document, const json_t *operation,
                        const struct hs_test_response *answer, char why[1024]);

/* Fails the test unless `text` is a problem document with this status and this code (NULL: any
   code). */
void hs_contract_expect_problem(const char *text, int status, const char *code);

#endif
