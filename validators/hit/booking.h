/* Records the results of hits and shots. Internal to validators/. */
#ifndef HS_HIT_BOOKING_H
#define HS_HIT_BOOKING_H

#include "validators/hit.h"
#include "validators/match/players.h"

/*
 * Records a claim's number and answer in the shooter's ledger, and the claim's shot in the cadence
 * of its weapon. An accepted claim is also recorded as a payment in the journal. If the number is
 * already used, the existing entry does not change. `entry` must contain number, digest, times,
 * trace and posted shot; this function sets the rest. If no frame ever named the shooter, the
 * function adds the shooter to the match. Returns the shooter. Returns NULL and records nothing if
 * out of memory, or if the match is full.
 */
struct hs_player *hs_hit_book(struct hs_match *match, struct hs_str shooter, bool is_shot,
                              const struct hs_hit_result *result, struct hs_str answer,
                              struct hs_ledger_entry *entry);

/* Records a shot for the rate of fire: the shot uses one token of its weapon. Does nothing if
   `weapon` is HS_NONE. */
void hs_hit_book_cadence(const struct hs_match *match, struct hs_player *player, uint16_t weapon,
                         int64_t fire_time_us);

/* Compares a claim with the entry of a hit. Returns whether the trace of the claim, or the trace of
   one of the claim's pellets, equals the trace in the entry. */
bool hs_hit_repeats_trace(const struct hs_hit_claim *claim, const struct hs_ledger_entry *entry);

/* Withdraws the accepted shot with this number; repeating the call changes nothing. The
   rate-of-fire token of the shot returns to the weapon, unless a hit with this number was accepted
   or may have been accepted. Returns false if no shot with this number was accepted in this
   session. */
bool hs_hit_book_cancel(const struct hs_match *match, struct hs_player *player, uint64_t number);

#endif
