/* Booking, shared by hits and shots. Internal to validators/. */
#ifndef HS_HIT_BOOKING_H
#define HS_HIT_BOOKING_H

#include "validators/hit.h"
#include "validators/match/players.h"

/* The player who gets the entry; adds them if no frame ever named them. NULL: no space. */
struct hs_player *hs_hit_shooter(struct hs_match *match, struct hs_str name);

/*
 * Books a number with its answer in the shooter's ledger, and the cadence of its weapon. If the
 * claim was accepted, also records the payment in the match's journal. A number that was used
 * before keeps its entry. False: out of memory; nothing is booked.
 */
bool hs_hit_book(struct hs_match *match, struct hs_player *shooter, bool is_shot,
                 const struct hs_ledger_entry *entry, const struct hs_hit_result *result);

#endif
