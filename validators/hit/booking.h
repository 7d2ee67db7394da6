/* Recording of results, shared by hits and shots. Internal to validators/. */
#ifndef HS_HIT_BOOKING_H
#define HS_HIT_BOOKING_H

#include "validators/hit.h"
#include "validators/match/players.h"

/*
 * Records a number with its answer in the shooter's ledger, and the shot in the cadence of its
 * weapon. If the claim was accepted, also records the payment in the match's journal. A number that
 * was used before keeps its entry. `entry` contains number, digest, time, trace and posted shot;
 * this function sets the other members. Returns the shooter. Adds the shooter to the match if no
 * frame ever named them. If out of memory, or if the match is full, returns NULL and records
 * nothing.
 */
struct hs_player *hs_hit_book(struct hs_match *match, struct hs_str shooter, bool is_shot,
                              const struct hs_hit_result *result, struct hs_str answer,
                              struct hs_ledger_entry *entry);

/* Records a shot that takes a token of its weapon. If `weapon` is HS_NONE, does nothing. */
void hs_hit_book_cadence(const struct hs_match *match, struct hs_player *player, uint16_t weapon,
                         int64_t fire_time_us);

/*
 * Withdraws the accepted shot of a number; a repeated call changes nothing. The weapon gets the
 * shot's token back, unless a hit of the shot was accepted or may have been accepted. Returns false
 * if this session has no accepted shot of that number.
 */
bool hs_hit_book_cancel(const struct hs_match *match, struct hs_player *player, uint64_t number);

#endif
