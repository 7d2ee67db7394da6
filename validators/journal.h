/*
 * The events that a match must not lose between two snapshots (snapshot.h): the sessions of
 * players, the payments in each session, the accounts of players, withdrawn shots, and clock
 * resets. A payment is an accepted claim: the game server applies its damage.
 *
 * A match appends these events as records to a buffer of its owner. Before the owner answers a
 * request, it writes the buffer to storage that outlives the process. After a crash, the records
 * are applied to the match read from the snapshot. This restores the payments made after the
 * snapshot.
 *
 * Each record names its session and its clock. So a record has no effect if the snapshot already
 * contains its event, and records from before the snapshot do no harm.
 *
 * The functions are not thread-safe on one match.
 */
#ifndef HS_JOURNAL_H
#define HS_JOURNAL_H

#include "linkage.h"
#include "snapshot.h"

HS_PUBLIC_BEGIN

/*
 * Appends records to `journal` from now on. With NULL, the default, no records are written. The
 * buffer is borrowed; its owner may empty it at any time. If the buffer cannot grow, calls that
 * post frames, check moves or record claims fail as if out of memory, and change nothing.
 */
void hs_match_set_journal(struct hs_match *match, struct hs_bytes *journal);

/* Returns a hash of the layout of records and of the vocabularies that they use. */
uint64_t hs_journal_layout(void);

/*
 * Applies records of this layout. `match` must have the same first frame (hs_match_info.opening_us)
 * as the match that wrote the records. `match` must have no history and no journal. Returns false
 * if a record is damaged, or if out of memory. The records before the failed one are applied.
 */
bool hs_match_replay(struct hs_match *match, const void *records, size_t size);

HS_PUBLIC_END

#endif
