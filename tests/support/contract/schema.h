/*
 * The part of JSON Schema that the contract uses: does a value fit, and if not, where. Values and
 * schemas are jansson values. `document` is the document that `$ref`s such as
 * "#/components/schemas/Name" refer to. A schema with an unknown keyword fits no value, so every
 * promise of the contract is checked.
 *
 * Two rules are stricter than the standard, as the contract says: an integer has no fraction, not
 * even ".0", and `format: direction` is three numbers of a usable length.
 */
#ifndef HS_TESTS_SCHEMA_H
#define HS_TESTS_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

struct hs_schema_fault {
    char pointer[512]; /* into the value */
    char text[256];
};

/* Whether `value` fits. `fault` (may be NULL) receives the first place that does not fit. */
bool hs_schema_fits(const json_t *document, const json_t *schema, const json_t *value,
                    struct hs_schema_fault *fault);

/*
 * Whether the schema is fully understood: every keyword is known, and every `$ref` leads somewhere.
 */
bool hs_schema_is_understood(const json_t *document, const json_t *schema,
                             struct hs_schema_fault *fault);

/* A keyword of a schema; if it is missing, that of the schema that its `$ref` leads to. NULL:
   neither has it. */
const json_t *hs_schema_get(const json_t *document, const json_t *schema, const char *keyword);

/* Returns the value at a pointer such as "#/components/schemas/Name", or NULL. */
const json_t *hs_schema_resolve(const json_t *document, const char *reference);

/* The schema of the member `key` of an object: that of the property, or the one of additional
   properties. NULL: such a member is not allowed, or any value is. */
const json_t *hs_schema_member(const json_t *document, const json_t *schema, const char *key);

/* Returns whether `propertyNames` allows a member with this name in an object. */
bool hs_schema_allows_name(const json_t *document, const json_t *schema, const char *key);

/* The branch of `oneOf` that `value` fits; without `oneOf`, `schema` itself. */
const json_t *hs_schema_branch(const json_t *document, const json_t *schema, const json_t *value);

#endif
