#include "tests/support/contract/schema.h"

#include <math.h>
#include <regex.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct place {
    const struct place *parent;
    const char *key; /* NULL: the place is an array element */
    size_t index;
};

struct check {
    const json_t *document;
    struct hs_schema_fault *fault; /* gets the fault; NULL: the caller does not need it */
};

/* Checks a value at its place for one keyword. Each keyword has such a function. */
typedef bool keyword_check(const struct check *check, const json_t *schema, const json_t *argument,
                           const json_t *value, const struct place *at);

static bool fits(const struct check *check, const json_t *schema, const json_t *value,
                 const struct place *at);

/* ---- where and why ---- */

static size_t write_place(const struct place *at, char *out, size_t size)
{
    if (at == NULL)
        return 0;
    size_t len = write_place(at->parent, out, size);
    int more = at->key == NULL ? snprintf(out + len, size - len, "/%zu", at->index)
                               : snprintf(out + len, size - len, "/%s", at->key);
    len += more > 0 ? (size_t)more : 0;
    return len < size ? len : size - 1;
}

/* Always returns false, so that callers can write `return refuse(...)`. */
static bool refuse(const struct check *check, const struct place *at, const char *text,
                   const char *what)
{
    if (check->fault != NULL) {
        check->fault->pointer[0] = '\0';
        write_place(at, check->fault->pointer, sizeof check->fault->pointer);
        snprintf(check->fault->text, sizeof check->fault->text, "%s%s", text, what);
    }
    return false;
}

/* ---- finding things ---- */

const json_t *hs_schema_resolve(const json_t *document, const char *reference)
{
    if (strncmp(reference, "#/", 2) != 0)
        return NULL;
    const json_t *at = document;
    for (const char *part = reference + 2; at != NULL; part += strcspn(part, "/") + 1) {
        char key[128];
        snprintf(key, sizeof key, "%.*s", (int)strcspn(part, "/"), part);
        at = json_object_get(at, key);
        if (part[strcspn(part, "/")] == '\0')
            return at;
    }
    return NULL;
}

const json_t *hs_schema_get(const json_t *document, const json_t *schema, const char *keyword)
{
    for (int hops = 0; schema != NULL && hops < 8; hops++) {
        const json_t *found = json_object_get(schema, keyword);
        const char *reference = json_string_value(json_object_get(schema, "$ref"));
        if (found != NULL || reference == NULL)
            return found;
        schema = hs_schema_resolve(document, reference);
    }
    return NULL;
}

static bool matches(const char *pattern, const char *text)
{
    regex_t regex;
    if (regcomp(&regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)
        return false;
    bool found = regexec(&regex, text, 0, NULL, 0) == 0;
    regfree(&regex);
    return found;
}

const json_t *hs_schema_member(const json_t *document, const json_t *schema, const char *key)
{
    const json_t *found = json_object_get(hs_schema_get(document, schema, "properties"), key);
    if (found != NULL)
        return found;
    const json_t *others = hs_schema_get(document, schema, "additionalProperties");
    return json_is_object(others) ? others : NULL;
}

bool hs_schema_allows_name(const json_t *document, const json_t *schema, const char *key)
{
    const json_t *names = hs_schema_get(document, schema, "propertyNames");
    json_t *name = json_string_nocheck(key);
    bool allowed = names == NULL || hs_schema_fits(document, names, name, NULL);
    json_decref(name);
    return allowed;
}

const json_t *hs_schema_branch(const json_t *document, const json_t *schema, const json_t *value)
{
    const json_t *branches = hs_schema_get(document, schema, "oneOf");
    for (size_t i = 0; i < json_array_size(branches); i++)
        if (hs_schema_fits(document, json_array_get(branches, i), value, NULL))
            return json_array_get(branches, i);
    return schema;
}

/* ---- keywords of any value ---- */

static bool has_type(const json_t *value, const char *type)
{
    static const struct {
        const char *name;
        json_type type;
    } plain[] = {{"object", JSON_OBJECT},
                 {"array", JSON_ARRAY},
                 {"string", JSON_STRING},
                 {"integer", JSON_INTEGER},
                 {"null", JSON_NULL}};
    if (strcmp(type, "number") == 0)
        return json_is_number(value);
    if (strcmp(type, "boolean") == 0)
        return json_is_boolean(value);
    for (size_t i = 0; i < sizeof plain / sizeof plain[0]; i++)
        if (strcmp(plain[i].name, type) == 0)
            return json_typeof(value) == plain[i].type;
    return false;
}

static bool check_type(const struct check *check, const json_t *schema, const json_t *argument,
                       const json_t *value, const struct place *at)
{
    (void)schema;
    if (json_is_string(argument))
        return has_type(value, json_string_value(argument)) ||
               refuse(check, at, "must have type ", json_string_value(argument));
    for (size_t i = 0; i < json_array_size(argument); i++)
        if (has_type(value, json_string_value(json_array_get(argument, i))))
            return true;
    return refuse(check, at, "has none of the types", "");
}

static bool check_const(const struct check *check, const json_t *schema, const json_t *argument,
                        const json_t *value, const struct place *at)
{
    (void)schema;
    return json_equal(argument, value) || refuse(check, at, "is not the constant", "");
}

static bool check_enum(const struct check *check, const json_t *schema, const json_t *argument,
                       const json_t *value, const struct place *at)
{
    (void)schema;
    for (size_t i = 0; i < json_array_size(argument); i++)
        if (json_equal(json_array_get(argument, i), value))
            return true;
    return refuse(check, at, "is not in the list", "");
}

static bool check_ref(const struct check *check, const json_t *schema, const json_t *argument,
                      const json_t *value, const struct place *at)
{
    (void)schema;
    const json_t *target = hs_schema_resolve(check->document, json_string_value(argument));
    if (target == NULL)
        return refuse(check, at, "points nowhere: ", json_string_value(argument));
    return fits(check, target, value, at);
}

static bool check_one_of(const struct check *check, const json_t *schema, const json_t *argument,
                         const json_t *value, const struct place *at)
{
    (void)schema;
    size_t count = 0;
    for (size_t i = 0; i < json_array_size(argument); i++)
        count += hs_schema_fits(check->document, json_array_get(argument, i), value, NULL);
    return count == 1 || refuse(check, at, "fits not exactly one of several schemas", "");
}

static bool check_if(const struct check *check, const json_t *schema, const json_t *argument,
                     const json_t *value, const struct place *at)
{
    bool holds = hs_schema_fits(check->document, argument, value, NULL);
    const json_t *then = json_object_get(schema, holds ? "then" : "else");
    return then == NULL || fits(check, then, value, at);
}

/* ---- numbers and strings ---- */

static bool check_minimum(const struct check *check, const json_t *schema, const json_t *argument,
                          const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_number(value) || json_number_value(value) >= json_number_value(argument) ||
           refuse(check, at, "is too small", "");
}

static bool check_above(const struct check *check, const json_t *schema, const json_t *argument,
                        const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_number(value) || json_number_value(value) > json_number_value(argument) ||
           refuse(check, at, "is too small", "");
}

static bool check_maximum(const struct check *check, const json_t *schema, const json_t *argument,
                          const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_number(value) || json_number_value(value) <= json_number_value(argument) ||
           refuse(check, at, "is too large", "");
}

/* Returns the length of a string in characters. */
static size_t length_of(const json_t *string)
{
    const char *text = json_string_value(string);
    size_t count = 0;
    for (size_t i = 0; i < json_string_length(string); i++)
        count += ((unsigned char)text[i] & 0xC0) != 0x80;
    return count;
}

static bool check_min_length(const struct check *check, const json_t *schema,
                             const json_t *argument, const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_string(value) || length_of(value) >= (size_t)json_integer_value(argument) ||
           refuse(check, at, "is too short", "");
}

static bool check_max_length(const struct check *check, const json_t *schema,
                             const json_t *argument, const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_string(value) || length_of(value) <= (size_t)json_integer_value(argument) ||
           refuse(check, at, "is too long", "");
}

static bool check_pattern(const struct check *check, const json_t *schema, const json_t *argument,
                          const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_string(value) ||
           matches(json_string_value(argument), json_string_value(value)) ||
           refuse(check, at, "does not match ", json_string_value(argument));
}

static bool check_format(const struct check *check, const json_t *schema, const json_t *argument,
                         const json_t *value, const struct place *at)
{
    (void)schema;
    if (strcmp(json_string_value(argument), "direction") != 0)
        return refuse(check, at, "the format is not known: ", json_string_value(argument));
    double length = 0;
    for (size_t i = 0; i < json_array_size(value); i++)
        length = hypot(length, json_number_value(json_array_get(value, i)));
    return (length > 1e-100 && length < 1e100) || refuse(check, at, "is not a direction", "");
}

/* ---- arrays ---- */

static bool check_items(const struct check *check, const json_t *schema, const json_t *argument,
                        const json_t *value, const struct place *at)
{
    (void)schema;
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++) {
        struct place here = {.parent = at, .index = i};
        if (!fits(check, argument, json_array_get(value, i), &here))
            return false;
    }
    return true;
}

static bool check_min_items(const struct check *check, const json_t *schema, const json_t *argument,
                            const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_array(value) ||
           json_array_size(value) >= (size_t)json_integer_value(argument) ||
           refuse(check, at, "has too few elements", "");
}

static bool check_max_items(const struct check *check, const json_t *schema, const json_t *argument,
                            const json_t *value, const struct place *at)
{
    (void)schema;
    return !json_is_array(value) ||
           json_array_size(value) <= (size_t)json_integer_value(argument) ||
           refuse(check, at, "has too many elements", "");
}

static bool check_unique(const struct check *check, const json_t *schema, const json_t *argument,
                         const json_t *value, const struct place *at)
{
    (void)schema;
    (void)argument;
    for (size_t i = 0; json_is_array(value) && i < json_array_size(value); i++)
        for (size_t k = 0; k < i; k++)
            if (json_equal(json_array_get(value, i), json_array_get(value, k)))
                return refuse(check, at, "has an element twice", "");
    return true;
}

/* ---- objects ---- */

static bool check_required(const struct check *check, const json_t *schema, const json_t *argument,
                           const json_t *value, const struct place *at)
{
    (void)schema;
    for (size_t i = 0; json_is_object(value) && i < json_array_size(argument); i++) {
        const char *key = json_string_value(json_array_get(argument, i));
        if (json_object_get(value, key) == NULL)
            return refuse(check, at, "lacks ", key);
    }
    return true;
}

/* Checks properties and additionalProperties together, once per object. */
static bool check_members(const struct check *check, const json_t *schema, const json_t *argument,
                          const json_t *value, const struct place *at)
{
    (void)argument;
    if (!json_is_object(value))
        return true;
    bool closed = json_is_false(json_object_get(schema, "additionalProperties"));
    for (void *it = json_object_iter((json_t *)(uintptr_t)value); it != NULL;
         it = json_object_iter_next((json_t *)(uintptr_t)value, it)) {
        struct place here = {.parent = at, .key = json_object_iter_key(it)};
        const json_t *member = hs_schema_member(check->document, schema, here.key);
        if (member == NULL && closed)
            return refuse(check, &here, "is not allowed", "");
        if (member != NULL && !fits(check, member, json_object_iter_value(it), &here))
            return false;
    }
    return true;
}

static bool check_names(const struct check *check, const json_t *schema, const json_t *argument,
                        const json_t *value, const struct place *at)
{
    (void)schema;
    bool fine = true;
    for (void *it = json_object_iter((json_t *)(uintptr_t)value); fine && it != NULL;
         it = json_object_iter_next((json_t *)(uintptr_t)value, it)) {
        struct place here = {.parent = at, .key = json_object_iter_key(it)};
        json_t *name = json_string_nocheck(here.key);
        fine = fits(check, argument, name, &here);
        json_decref(name);
    }
    return fine;
}

static bool check_min_properties(const struct check *check, const json_t *schema,
                                 const json_t *argument, const json_t *value,
                                 const struct place *at)
{
    (void)schema;
    return !json_is_object(value) ||
           json_object_size(value) >= (size_t)json_integer_value(argument) ||
           refuse(check, at, "has too few members", "");
}

static bool check_max_properties(const struct check *check, const json_t *schema,
                                 const json_t *argument, const json_t *value,
                                 const struct place *at)
{
    (void)schema;
    return !json_is_object(value) ||
           json_object_size(value) <= (size_t)json_integer_value(argument) ||
           refuse(check, at, "has too many members", "");
}

/* ---- the whole ---- */

/* The known keywords. `check` is NULL if the keyword is only for readers, or if the function of
   another keyword handles it. */
static const struct {
    const char *name;
    keyword_check *check;
} keywords[] = {
    {"description", NULL},
    {"x-default", NULL},
    {"then", NULL},
    {"else", NULL},
    {"$ref", check_ref},
    {"type", check_type},
    {"const", check_const},
    {"enum", check_enum},
    {"oneOf", check_one_of},
    {"if", check_if},
    {"minimum", check_minimum},
    {"exclusiveMinimum", check_above},
    {"maximum", check_maximum},
    {"minLength", check_min_length},
    {"maxLength", check_max_length},
    {"pattern", check_pattern},
    {"format", check_format},
    {"items", check_items},
    {"minItems", check_min_items},
    {"maxItems", check_max_items},
    {"uniqueItems", check_unique},
    {"required", check_required},
    {"properties", check_members},
    {"additionalProperties", check_members},
    {"propertyNames", check_names},
    {"minProperties", check_min_properties},
    {"maxProperties", check_max_properties},
};

enum { KEYWORDS = sizeof keywords / sizeof keywords[0] };

static size_t find_keyword(const char *name)
{
    size_t i = 0;
    while (i < KEYWORDS && strcmp(keywords[i].name, name) != 0)
        i++;
    return i;
}

static bool fits(const struct check *check, const json_t *schema, const json_t *value,
                 const struct place *at)
{
    if (!json_is_object(schema))
        return refuse(check, at, "the schema is not an object", "");
    bool members_checked = false;
    for (void *it = json_object_iter((json_t *)(uintptr_t)schema); it != NULL;
         it = json_object_iter_next((json_t *)(uintptr_t)schema, it)) {
        const char *name = json_object_iter_key(it);
        size_t i = find_keyword(name);
        if (i == KEYWORDS)
            return refuse(check, at, "the schema has an unknown keyword: ", name);
        if (keywords[i].check == NULL || (keywords[i].check == check_members && members_checked))
            continue;
        members_checked = members_checked || keywords[i].check == check_members;
        if (!keywords[i].check(check, schema, json_object_iter_value(it), value, at))
            return false;
    }
    return true;
}

bool hs_schema_fits(const json_t *document, const json_t *schema, const json_t *value,
                    struct hs_schema_fault *fault)
{
    const struct check check = {document, fault};
    return fits(&check, schema, value, NULL);
}

/* Returns whether all schemas in a list or in a table are understood. */
static bool all_understood(const json_t *document, const json_t *schemas,
                           struct hs_schema_fault *fault)
{
    for (size_t i = 0; i < json_array_size(schemas); i++)
        if (!hs_schema_is_understood(document, json_array_get(schemas, i), fault))
            return false;
    for (void *it = json_object_iter((json_t *)(uintptr_t)schemas); it != NULL;
         it = json_object_iter_next((json_t *)(uintptr_t)schemas, it))
        if (!hs_schema_is_understood(document, json_object_iter_value(it), fault))
            return false;
    return true;
}

bool hs_schema_is_understood(const json_t *document, const json_t *schema,
                             struct hs_schema_fault *fault)
{
    static const char *const single[] = {
        "items", "additionalProperties", "propertyNames", "if", "then", "else"};
    static const char *const several[] = {"oneOf", "properties"};
    const struct check check = {document, fault};
    for (void *it = json_object_iter((json_t *)(uintptr_t)schema); it != NULL;
         it = json_object_iter_next((json_t *)(uintptr_t)schema, it))
        if (find_keyword(json_object_iter_key(it)) == KEYWORDS)
            return refuse(&check, NULL, "an unknown keyword: ", json_object_iter_key(it));
    const char *reference = json_string_value(json_object_get(schema, "$ref"));
    if (reference != NULL && hs_schema_resolve(document, reference) == NULL)
        return refuse(&check, NULL, "points nowhere: ", reference);
    for (size_t i = 0; i < sizeof single / sizeof single[0]; i++) {
        const json_t *inner = json_object_get(schema, single[i]);
        if (json_is_object(inner) && !hs_schema_is_understood(document, inner, fault))
            return false;
    }
    for (size_t i = 0; i < sizeof several / sizeof several[0]; i++)
        if (!all_understood(document, json_object_get(schema, several[i]), fault))
            return false;
    return true;
}
