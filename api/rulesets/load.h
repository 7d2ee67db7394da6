/* What the parts of the ruleset reader share. Internal to api/. */
#ifndef HS_API_RULESETS_LOAD_H
#define HS_API_RULESETS_LOAD_H

#include "api/rulesets/document.h"

/* A document that is being turned into a ruleset: the context of its reader. */
struct hs_loading {
    struct hs_reader *reader;
    struct hs_ruleset *ruleset;
    const json_t *root;
    const struct hs_rig *rig; /* whose hitboxes are read */
};

/* Whether a value is an object; a noted fault otherwise. */
bool hs_load_is_object(struct hs_loading *l, const json_t *value, const struct hs_json_at *at);

/* Whether a key is a valid name; a noted fault otherwise. */
bool hs_load_key_name(struct hs_loading *l, const char *key, const struct hs_json_at *at);

/* Refuses every member that is not in the list. */
void hs_load_refuse_others(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                           const char *const *members, size_t count);

/* One entry of an object whose keys are names that the document chooses. */
typedef void hs_load_entry(struct hs_loading *l, const char *key, const json_t *value,
                           const struct hs_json_at *at, void *target);
hs_load_entry hs_load_rig, hs_load_weapon;

/* Reads every member of an object as an entry. */
void hs_load_entries(struct hs_loading *l, const json_t *object, const struct hs_json_at *at,
                     hs_load_entry *entry, void *target);

/* Reads a member into the struct at `base` if a scalar of the table has that name; false: none has.
   `section` NULL: of any. */
bool hs_load_scalar(struct hs_reader *reader, const struct hs_scalar *table, size_t count,
                    const char *section, const char *key, const json_t *value,
                    const struct hs_json_at *at, void *base);

/* Sets every scalar of a table to its default, lengths being in the document's unit. */
void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base);

/* `modes` of `moves`. */
hs_json_decode hs_load_modes;

#endif
