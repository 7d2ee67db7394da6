/* What the parts of the ruleset reader share. Internal to api/. */
#ifndef HS_API_RULESETS_LOAD_H
#define HS_API_RULESETS_LOAD_H

#include "api/rulesets/document.h"

/* A document that is being turned into a ruleset. */
struct hs_loading {
    struct hs_reader *reader;
    struct hs_ruleset *ruleset;
    const json_t *root;
};

/* An object member by member. `key` and `value` as in json_object_foreach, but const. */
#define HS_FOR_EACH(object, key, value)                                                            \
    for (void *it_ = json_object_iter((json_t *)(uintptr_t)(object));                              \
         it_ != NULL && ((key) = json_object_iter_key(it_)) != NULL &&                             \
         ((value) = json_object_iter_value(it_)) != NULL;                                          \
         it_ = json_object_iter_next((json_t *)(uintptr_t)(object), it_))

struct hs_str hs_load_str(const char *text);

/* Whether a value is an object; a noted fault otherwise. */
bool hs_load_is_object(struct hs_loading *l, const json_t *value, const struct hs_json_at *at);

/* Whether a key is a valid name; a noted fault otherwise. */
bool hs_load_key_name(struct hs_loading *l, const char *key, const struct hs_json_at *at);

/* Notes a member that is not known, unless its name begins with x_. */
void hs_load_refuse_unknown(struct hs_loading *l, const char *key, const struct hs_json_at *at);

/* Refuses every member that is not in the list. */
void hs_load_refuse_others(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                           const char *const *members, size_t count);

/* The scalar of that name in a table; NULL: there is none. `section` NULL: of any. */
const struct hs_scalar *hs_load_find_scalar(const struct hs_scalar *table, size_t count,
                                            const char *section, const char *key);

/* Reads a scalar into the struct at `base`. */
void hs_load_scalar(struct hs_loading *l, const struct hs_scalar *scalar, const json_t *value,
                    const struct hs_json_at *at, void *base);

/* Sets every scalar of a table to its default, lengths being in the document's unit. */
void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base);

/* One entry of a table of the document, by its name. */
typedef void hs_load_entry(struct hs_loading *l, const char *name, const json_t *object,
                           const struct hs_json_at *at);
hs_load_entry hs_load_rig, hs_load_weapon;

/* A member of `moves` that is no scalar. False: there is none of that name. */
bool hs_load_moves_member(struct hs_loading *l, const char *key, const json_t *value,
                          const struct hs_json_at *at);

#endif
