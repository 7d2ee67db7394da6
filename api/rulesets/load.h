/* Functions that the parts of the ruleset reader share. Internal to api/. */
#ifndef HS_API_RULESETS_LOAD_H
#define HS_API_RULESETS_LOAD_H

#include "api/rulesets/document.h"

/* The value of hs_reader.context while a ruleset is decoded. */
struct hs_loading {
    struct hs_ruleset *ruleset;
    struct hs_str name;       /* the name that the document must have; ptr NULL: any name */
    const struct hs_rig *rig; /* the rig that is being read */
};

/* Returns whether the rig, weapon, stance or mode with the name at->key can be added. The name must
   be valid, `value` must be an object, and `count` must be below `max`. `count` is the number of
   rigs, weapons, stances or modes so far. Otherwise records a fault. `what` is the word in the
   message, for example "rig". */
bool hs_load_begins(struct hs_reader *reader, const json_t *value, const struct hs_json_at *at,
                    const char *what, int count, int max);

/* Reads the name of a zone, and stores the zone's index in the uint16_t at `target`. If no zone has
   this name, stores HS_NONE and records a fault. */
hs_json_decode hs_load_zone;

/* Sets all scalars of a table to their defaults. Default lengths are in centimetres. */
void hs_load_defaults(const struct hs_scalar *table, size_t count, void *base);

/* These functions read one rig or one weapon. */
hs_json_decode hs_load_rig, hs_load_weapon;

#endif
