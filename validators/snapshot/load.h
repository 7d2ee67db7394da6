/* Reads the saved bytes of a match. Internal to validators/. */
#ifndef HS_SNAPSHOT_LOAD_H
#define HS_SNAPSHOT_LOAD_H

#include "validators/base/saved.h"
#include "validators/match/players.h"

/* A walk through samples of a history. */
struct hs_samples {
    const struct hs_history *history;
    uint32_t next, until; /* index of the current sample, and of the first one after the end */
    uint32_t run;         /* number of samples from `at` on that are adjacent in memory */
    const struct hs_sample *at; /* the current sample; valid if run > 0 */
};

/* Parts of an excerpt that were written or read last. The following parts can refer to them. */
struct hs_excerpt_last {
    struct hs_samples samples; /* of a player or mover */
    bool has_state;
    struct hs_state state;
};

/* After an error, all reads return zeros and hs_loading_is_fine returns false. */
struct hs_loading {
    struct hs_bytes_reader reader;
    struct hs_saved_names names;
    struct hs_match *match;
    bool knows_checks;     /* the saved move checks have this program's layout */
    bool restarted_checks; /* the move checks of at least one player could not be read */
    bool is_excerpt;       /* the bytes contain poses, and no state is stale */
    struct hs_excerpt_last last;
    bool is_damaged, no_memory;
};

bool hs_loading_is_fine(const struct hs_loading *l);
bool hs_loading_flag(struct hs_loading *l);
int64_t hs_loading_time(struct hs_loading *l);
struct hs_str hs_loading_name(struct hs_loading *l, bool may_be_empty);
int32_t hs_loading_delay(struct hs_loading *l); /* in microseconds; -1 if unknown */
void hs_loading_get(struct hs_loading *l, enum hs_saved_id id, void *to);

/* Reads the name of a state's team. The other members must have been read before. Also checks that
   the state's weapon, rig and stance exist in the ruleset. */
void hs_loading_team(struct hs_loading *l, struct hs_state *state);

/* Reads an entry that hs_saved_put_entry wrote. The caller must free it with
   hs_ledger_free_entry, even after an error. */
void hs_loading_entry(struct hs_loading *l, struct hs_ledger_entry *entry);

#endif
