/* Reads saved parts of a match. Internal to validators/. */
#ifndef HS_SNAPSHOT_LOAD_H
#define HS_SNAPSHOT_LOAD_H

#include "validators/base/saved.h"
#include "validators/match/players.h"

/* The state of a reader. After an error the reader returns zeros, and hs_loading_is_fine returns
   false. */
struct hs_loading {
    struct hs_bytes_reader reader;
    struct hs_saved_names names;
    struct hs_match *match;
    bool knows_checks;     /* the saved move checks have the layout of this program */
    bool restarted_checks; /* some move checks could not be read and start again */
    bool is_excerpt;       /* the bytes are an excerpt: they contain poses, and no state is stale */
    bool is_damaged, no_memory;
};

bool hs_loading_is_fine(const struct hs_loading *l);
bool hs_loading_flag(struct hs_loading *l);
int64_t hs_loading_time(struct hs_loading *l);
struct hs_str hs_loading_name(struct hs_loading *l, bool may_be_empty);
int32_t hs_loading_delay(struct hs_loading *l); /* Reads a delay of a connection, in microseconds,
                                                   or -1 if unknown. */
void hs_loading_get(struct hs_loading *l, enum hs_saved_id id, void *to);

/* Returns whether the ruleset has the weapon, the rig and the stance of a state. */
bool hs_loading_is_state(const struct hs_loading *l, const struct hs_state *state);

/* Reads the bytes that hs_saved_put_entry wrote. Afterwards the caller owns the memory of the entry
   (hs_ledger_free_entry), even after an error. */
void hs_loading_entry(struct hs_loading *l, struct hs_ledger_entry *entry);

#endif
