/*
 * The events that a match must not forget between two snapshots (snapshot.h): the sessions of its
 * players, the payments in them, and each clock reset. A match appends these as records to a buffer
 * of its owner. Before the owner answers, it writes the buffer to a place that outlives the
 * process. Applying the records to the match read from the snapshot restores the payments since
 * then.
 *
 * Records name the session and the clock they belong to. So a record that the snapshot already
 * contains changes nothing, and records of several snapshots can be applied one after the other.
 *
 * Not thread-safe on one match, like everything that changes it.
 */
#ifndef HS_JOURNAL_H
#define HS_JOURNAL_H

#include "linkage.h"
#include "snapshot.h"

HS_PUBLIC_BEGIN

/*
 * Appends records to `journal` from now on; NULL, the default: no records. Borrowed; the owner may
 * empty it at any time. When the buffer cannot grow, posting frames, judging moves and booking
 * claims fail as without memory, and change nothing.
 */
void hs_match_set_journal(struct hs_match *match, struct hs_bytes *journal);

/* Identifies the layout of records and the vocabularies they use. */
uint64_t hs_journal_layout(void);

/*
 * Applies records of this layout to a match of the same opening, which has no frames yet and no
 * journal. False: they are damaged, or memory is out; those before the damage are applied.
 */
bool hs_match_replay(struct hs_match *match, const void *records, size_t size);

HS_PUBLIC_END

#endif
