/*
 * JSON Schema, as much of it as the contract uses: does a value fit, and where not. Values and
 * schemas are jansson values; `document` is what `$ref`s such as "#/components/schemas/Name" point
 * into. A schema with a keyword that is not understood fits nothing, so that no promise of the
 * contract goes unchecked.
 *
 * Two things are stricter here than in the standard, and the contract says so: an integer has no
 * fraction, not even ".0", and `format: direction` is three numbers of a usable length.
 */
#ifndef HS_TESTS_SCHEMA_H
#define HS_TESTS_SCHEMA_H

#include <jansson.h>
#include <stdbool.h>

struct hs_schema_fault {
    char pointer[512]; /* into the value */
    char text[256];
};

/* Whether `value` fits. `fault` (may be NULL) gets the first place that does not. */
bool hs_schema_fits(const json_t *document, const json_t *schema, const json_t *value,
                    struct hs_schema_fault *fault);

/* Whether all of a schema is understood: every keyword is known, every `$ref` leads somewhere. */
bool hs_schema_is_understood(const json_t *document, const json_t *schema,
                             struct hs_schema_fault *fault);

/* A keyword of a schema or, failing that, of the one its `$ref` leads to; NULL: neither has it. */
const json_t *hs_schema_get(const json_t *document, const json_t *schema, const char *keyword);

/* What a pointer such as "#/components/schemas/Name" points at, or NULL. */
const json_t *hs_schema_resolve(const json_t *document, const char *reference);

/* The schema of the member `key` of an object: a property or the additional ones'. NULL when such a
   member is not allowed, or anything is. */
const json_t *hs_schema_member(const json_t *document, const json_t *schema, const char *key);

/* Whether an object may have a member of this name by `propertyNames`. */
bool hs_schema_allows_name(const json_t *document, const json_t *schema, const char *key);

/* The branch of `oneOf` that `value` fits, or `schema` itself when it has none. */
const json_t *hs_schema_branch(const json_t *document, const json_t *schema, const json_t *value);

#endif
