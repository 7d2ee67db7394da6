/* Functions that the parts of the ruleset reader share. Internal to api/. */
#ifndef HS_API_RULESETS_LOAD_H
#define HS_API_RULESETS_LOAD_H

#include "api/rulesets/document.h"

/* The context of the reader while it decodes a ruleset. */
struct hs_loading {
    struct hs_ruleset *ruleset;
    struct hs_str name;       /* the name that it must have; ptr NULL: it must carry one */
    const struct hs_rig *rig; /* the rig that is read now */
};

/* Whether the rig, weapon, stance or mode at->key can be added to `count` others: it is an object
   with a valid name, and `max` is not reached. If not, records a fault. */
bool hs_load_begins(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    const char *what, int count, int max);

/* Reads the name of a zone into a uint16_t; HS_NONE with a fault recorded if no zone has it. */
hs_json_decode hs_load_zone;

/* Sets every scalar of a table to its default. Lengths are in the document's unit. */
void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base);

/* Read one rig or weapon. */
hs_json_decode hs_load_rig, hs_load_weapon;

#endif
