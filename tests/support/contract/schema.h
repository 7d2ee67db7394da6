/*
 * Implements the part of JSON Schema that the contract uses. These functions find out whether a
 * value fits a schema, and where it does not. Values and schemas are jansson values. `document` is
 * the document that `$ref`s such as "#/components/schemas/Name" refer to. A schema with an unknown
 * keyword fits no value, so every promise of the contract is checked.
 *
 * Two rules are stricter than the standard, as the contract says: an integer has no fraction, not
 * even ".0", and `format: direction` is three numbers of a usable length.
 */
#ifndef HS_TESTS_SCHEMA_H
#define HS_TESTS_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

struct hs_schema_fault {
    char pointer[512]; /* pointer into the value */
    char text[256];
};

/* Returns whether `value` fits. `fault` (may be NULL) gets the first place that does not fit. */
bool hs_schema_fits(const json_t *document, const json_t *schema, const json_t *value,
                    struct hs_schema_fault *fault);

/*
 * Returns whether the schema is fully understood: every keyword is known, and every `$ref` leads
 * somewhere.
 */
bool hs_schema_is_understood(const json_t *document, const json_t *schema,
                             struct hs_schema_fault *fault);

/* Returns a keyword of a schema. If the schema lacks it, returns the keyword of the schema that its
   `$ref` leads to. Returns NULL if neither schema has the keyword. */
const json_t *hs_schema_get(const json_t *document, const json_t *schema, const char *keyword);

/* Returns the value at a pointer such as "#/components/schemas/Name", or NULL. */
const json_t *hs_schema_resolve(const json_t *document, const char *reference);

/* Returns the schema of the member `key` of an object: the schema of the property, or that of
   additional properties. Returns NULL if the member is not allowed, or if it may have any value. */
const json_t *hs_schema_member(const json_t *document, const json_t *schema, const char *key);

/* Returns whether `propertyNames` allows a member with this name in an object. */
bool hs_schema_allows_name(const json_t *document, const json_t *schema, const char *key);

/* Returns the branch of `oneOf` that `value` fits. If the schema has no `oneOf`, returns `schema`
   itself. */
const json_t *hs_schema_branch(const json_t *document, const json_t *schema, const json_t *value);

#endif
