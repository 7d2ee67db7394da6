/*
 * The events that a match must not lose between two snapshots (snapshot.h): the sessions of
 * players, the payments in each session, the accounts of players, withdrawn shots, and clock
 * resets. A payment is an accepted claim, whose damage the game server applies.
 *
 * A match appends these events as records to a buffer of its owner. Before the owner answers a
 * request, it writes the buffer to storage that outlives the process. After a crash, the records
 * are applied to the match read from the snapshot. This restores the later payments.
 *
 * Each record names its session and its clock. So a record has no effect if the snapshot already
 * contains its event. So records from before and after the snapshot can be applied together.
 *
 * Not thread-safe on one match, like every call that changes it.
 */
#ifndef HS_JOURNAL_H
#define HS_JOURNAL_H

#include "linkage.h"
#include "snapshot.h"

HS_PUBLIC_BEGIN

/*
 * Appends records to `journal` from now on. NULL, the default: writes no records. The buffer is
 * borrowed; its owner may empty it at any time. If the buffer cannot grow, calls that post frames,
 * check moves or record claims fail as if out of memory, and change nothing.
 */
void hs_match_set_journal(struct hs_match *match, struct hs_bytes *journal);

/* Identifies the layout of records and the vocabularies they use. */
uint64_t hs_journal_layout(void);

/*
 * Applies records of this layout to a match that was opened by the same first frame. The match must
 * have no frames and no journal. False: the records are damaged, or out of memory. The records
 * before the damaged one are applied.
 */
bool hs_match_replay(struct hs_match *match, const void *records, size_t size);

HS_PUBLIC_END

#endif
