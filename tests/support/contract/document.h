/* openapi.yaml as tests use it: the operation of a route, its schemas, whether an answer is true to
 * it. */
#ifndef HS_TESTS_DOCUMENT_H
#define HS_TESTS_DOCUMENT_H

#include <jansson.h>
#include <stdbool.h>

#include "api/http/routes.h"
#include "tests/support/http/client.h"

/* Loads openapi.yaml of the working directory; without it the test program ends. Freed by the
   caller. */
json_t *hs_contract_load(void);

/* A schema by its name. One that is not there fails the test. */
const json_t *hs_contract_schema(const json_t *document, const char *name);

/* The operation of a route, or NULL. `method` is in capitals, `pattern` as in api/http/routes.h. */
const json_t *hs_contract_operation(const json_t *document, const char *method,
                                    const char *pattern);

/* What the contract says of a status: the response listed for it, else the `default` one. `$ref`s
   are followed. NULL: the operation documents neither. */
const json_t *hs_contract_response(const json_t *document, const json_t *operation, long status);

/* The schema of an operation's request body, or NULL when it takes none. */
const json_t *hs_contract_request_schema(const json_t *operation);

/* The value of an example by name in a `content` object, whichever the media type; or NULL. Those
   of `x-bad-examples`, requests that are refused, are found too. */
const json_t *hs_contract_example(const json_t *content, const char *name);

/*
 * Whether an answer is one the operation documents: its status, its media type, its body against
 * the schema, X-Request-Id. `why` gets a sentence otherwise.
 */
bool hs_contract_allows(const json_t *document, const json_t *operation,
                        const struct hs_test_response *answer, char why[1024]);

/* Fails the test unless `text` is a problem document with this status, and this code (NULL: any).
 */
void hs_contract_expect_problem(const char *text, int status, const char *code);

#endif
