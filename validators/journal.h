/*
 * What a match must not forget between two snapshots (snapshot.h): the sessions of its players,
 * what was paid in them, and each new clock. A match appends these as records to a buffer of its
 * owner, who writes the buffer to a place that outlives the process before it answers. Applied to
 * the match that was read from the snapshot, the records bring back what was paid since.
 *
 * Records name the session and the clock they belong to. So a record the snapshot contains already
 * changes nothing, and records of several snapshots can be applied one after the other.
 *
 * Not thread-safe on one match, like everything that changes it.
 */
#ifndef HS_JOURNAL_H
#define HS_JOURNAL_H

#include "snapshot.h"

/*
 * Appends records to `journal` from now on; NULL: to nowhere, as at first. Borrowed; the owner
 * may empty it at any time. Posting frames, judging moves and booking claims fail as they do
 * without memory when the buffer cannot grow; what they would have recorded is then not done.
 */
void hs_match_set_journal(struct hs_match *match, struct hs_bytes *journal);

/* Identifies the layout of records and the vocabularies they use. */
uint64_t hs_journal_layout(void);

/*
 * Applies records of this layout to a match of the same opening, which has no frames yet and no
 * journal. False: they are damaged, or memory is out; those before the damage are applied.
 */
bool hs_match_replay(struct hs_match *match, const void *records, size_t size);

#endif
