/* Reads the saved bytes of a match. Internal to validators/. */
#ifndef HS_SNAPSHOT_LOAD_H
#define HS_SNAPSHOT_LOAD_H

#include "validators/base/saved.h"
#include "validators/match/players.h"

/* An iterator over samples of a history. */
struct hs_samples {
    const struct hs_history *history;
    uint32_t next, until; /* index of the current sample, and index after the last sample */
    /* Number of samples, from `at` on, that are adjacent in memory; 0: `at` is not set. */
    uint32_t run;
    const struct hs_sample *at; /* the current sample; valid if run > 0 */
};

/* The samples and the state that were written or read last in an excerpt. The next samples and the
   next state in the excerpt can refer to these samples and this state. */
struct hs_excerpt_last {
    struct hs_samples samples; /* the samples of a player or a mover */
    bool has_state;
    struct hs_state state;
};

/* The state while a match is read. After an error, hs_loading_is_fine returns false. Reads beyond
   the end of the bytes return zeros. */
struct hs_loading {
    struct hs_bytes_reader reader;
    struct hs_saved_names names;
    struct hs_match *match;
    bool knows_checks;     /* the layout of the saved move checks is the layout of this program */
    bool restarted_checks; /* the move checks of at least one player could not be read */
    bool is_excerpt;       /* the bytes are an excerpt (snapshot/excerpt.h) */
    struct hs_excerpt_last last;
    bool is_damaged, no_memory;
};

bool hs_loading_is_fine(const struct hs_loading *l);
bool hs_loading_flag(struct hs_loading *l);
int64_t hs_loading_time(struct hs_loading *l);
struct hs_str hs_loading_name(struct hs_loading *l, bool may_be_empty);
int32_t hs_loading_delay(struct hs_loading *l); /* in microseconds; -1 if unknown */
void hs_loading_get(struct hs_loading *l, enum hs_saved_id id, void *to);

/* Reads the name of a state's team, and sets state->team. The other members of `state` must have
   been read before. Also checks that the state's weapon, rig and stance exist in the ruleset. */
void hs_loading_team(struct hs_loading *l, struct hs_state *state);

/* Reads an entry that hs_saved_put_entry wrote. The caller must free the entry with
   hs_ledger_free_entry, even after an error. */
void hs_loading_entry(struct hs_loading *l, struct hs_ledger_entry *entry);

#endif
