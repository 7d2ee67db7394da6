/* Functions that the parts of the ruleset reader share. Internal to api/. */
#ifndef HS_API_RULESETS_LOAD_H
#define HS_API_RULESETS_LOAD_H

#include "api/rulesets/document.h"

/* The context of the reader while it decodes a ruleset. */
struct hs_loading {
    struct hs_ruleset *ruleset;
    struct hs_str name;       /* the name that the document must have; ptr NULL: any name */
    const struct hs_rig *rig; /* the rig that is being read */
};

/* Returns whether the rig, weapon, stance or mode at->key can be added. Its name must be valid,
   `value` must be an object, and `count`, the number of those added so far, must be below `max`. If
   it cannot be added, records a fault. `what` is the word in the message, for example "rig". */
bool hs_load_begins(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    const char *what, int count, int max);

/* Reads the name of a zone, and stores its index in a uint16_t. If no zone has this name, stores
   HS_NONE and records a fault. */
hs_json_decode hs_load_zone;

/* Sets all scalars of a table to their defaults. Default lengths are in centimetres. */
void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base);

/* Read one rig or weapon. */
hs_json_decode hs_load_rig, hs_load_weapon;

#endif
