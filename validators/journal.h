/*
 * The journal keeps the events that a match must not lose between two snapshots (snapshot.h). These
 * events are the sessions, payments and accounts of players, withdrawn shots, and clock resets. A
 * payment is an accepted shot or an accepted hit.
 *
 * A match appends a record of each event to a buffer that its owner provides. Before the owner
 * answers a request, the owner saves the buffer to storage that outlives the process. After a
 * crash, the records are replayed into the match that was restored from the snapshot.
 *
 * Records contain the numbers of sessions, clocks, shots and account changes. A replay compares
 * these numbers with the snapshot, so a record whose event is already in the snapshot has no
 * effect.
 *
 * Not thread-safe on one match.
 */
#ifndef HS_JOURNAL_H
#define HS_JOURNAL_H

#include "linkage.h"
#include "snapshot.h"

HS_PUBLIC_BEGIN

/*
 * Makes the match append its records to `journal`. With NULL, which is the default, the match
 * appends nothing. The buffer is borrowed, and the caller may empty it between calls on the match.
 * If the buffer cannot grow, calls that post frames, check moves or record claims fail as if memory
 * ran out.
 */
void hs_match_set_journal(struct hs_match *match, struct hs_bytes *journal);

/* Returns a hash of the record layout and of the vocabularies that records use. */
uint64_t hs_journal_layout(void);

/*
 * Applies records. The program that wrote the records must have the same hs_journal_layout. `match`
 * must have the same hs_match_info.opening_us as the match that wrote the records, and it must have
 * no history and no journal. Returns false at the first damaged record, or if memory runs out. The
 * records that were applied before the failure stay applied.
 */
bool hs_match_replay(struct hs_match *match, const void *records, size_t size);

HS_PUBLIC_END

#endif
