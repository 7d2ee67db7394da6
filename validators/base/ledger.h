/*
 * A ledger records how one player shoots: the used shot numbers with their answers, and the fire
 * times for each weapon. The game server assigns the numbers, in any order. Not thread-safe.
 *
 * A number is in use until its fire time is so old that no claim with this fire time can pass. Then
 * the number is free and may be used again, so a game's counter may wrap.
 *
 * A table with HS_LEDGER_NUMBERS entries or more forgets free numbers before it grows. If the table
 * cannot grow, the table forgets the number that was recorded first, but remembers the number's
 * fire time (hs_ledger_is_forgotten).
 *
 * A ledger uses more than HS_LEDGER_RESERVE bytes only if its budget allows it. If memory runs
 * short, the ledger first drops the oldest answers. The ledger keeps the numbers of these answers,
 * so that no shot is accepted twice. A claim that is sent again then gets `duplicate` instead of
 * its answer. After the answers, the ledger drops numbers. For a new weapon, the ledger first
 * reuses a cadence that can no longer refuse a claim.
 */
#ifndef HS_LEDGER_H
#define HS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/base/cadence.h"
#include "validators/budget.h"
#include "validators/ledger_entry.h"

/* The maximum number of answers that a ledger keeps for hit claims. The same maximum applies
   separately to posted shots. */
enum { HS_LEDGER_NUMBERS = 128 };

/* The maximum number of entries for hit claims. The same maximum applies separately to posted
   shots. */
enum { HS_LEDGER_MAX_NUMBERS = 1024 };

/* The bytes that the owner reserves for each ledger. These bytes are enough for the last two hit
   claims and the last two shots, without answers, and for the cadences of four weapons. One of the
   shots keeps its struct hs_posted_shot, without pellet directions. With only two weapons, the
   bytes are enough for twice as many numbers. */
enum { HS_LEDGER_RESERVE = 1888 };

/* hs_ledger_free_answers keeps this many of the newest answers, to claims and shots together. */
enum { HS_LEDGER_ANSWERS = 16 };

/* Used numbers in ascending order. */
struct hs_ledger_numbers {
    struct hs_ledger_entry *entries;
    uint32_t count, capacity;
    uint16_t answers;         /* number of entries with an answer */
    uint16_t first_answer_at; /* index of the entry at which the search for answers begins */
    uint64_t first_answer;    /* entries with a lower `noted` have no answer */
    /* If held_from_us is not 0, all entries are accepted, and no fire time is earlier than
       held_from_us. So no number is free while free_before_us is at most held_from_us. */
    int64_t held_from_us;
    uint64_t notes; /* number of entries recorded so far; also the `noted` of the next entry */
    /* The accepted number that was recorded last, ignoring claims that arrived late (is_late);
       valid if has_accepted. */
    uint64_t last_accepted;
    bool has_accepted;
    bool has_paid;
    bool was_cut; /* accepted numbers of this session were forgotten before they were free */
    /* Some shots with fire times from lacked_from_us to lacked_until_us could not be recorded. So a
       number without an entry may still have been used. */
    bool lacks_some;
    int64_t lacked_from_us, lacked_until_us;
    /* The latest fire time of the accepted numbers that were forgotten before they were free, or
       that belong to an earlier session. Valid if has_paid. */
    int64_t paid_us;
};

struct hs_ledger {
    struct hs_ledger_numbers hits, shots;
    struct hs_cadence *cadences; /* one for each weapon that the player fired */
    uint16_t cadence_count, cadence_capacity;
    int64_t free_before_us;   /* numbers with earlier fire times are free; the owner sets this */
    size_t bytes;             /* bytes that the ledger uses; always equal to hs_ledger_bytes() */
    struct hs_budget *budget; /* bytes beyond the reserve are reserved in this budget; NULL: no
                                 budget */
};

void hs_ledger_clear(struct hs_ledger *ledger);

/*
 * Ends the player's session, so that the next session may reuse the same shot numbers. All fire
 * times up to the newest accepted fire time then count as forgotten (hs_ledger_is_forgotten), so
 * that no shot is accepted again. The cadences stay, because leaving must not refill the buckets.
 * But a player who comes back has full magazines.
 */
void hs_ledger_end_session(struct hs_ledger *ledger);

/* Records only the fire time of an accepted number, because the number itself is forgotten. */
void hs_ledger_record_paid(struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* Records the fire time of a number that could not be recorded itself. */
void hs_ledger_record_lacked(struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* Prepares the ledger for a clock reset. Numbers and answers stay. The times of the old clock are
   no longer compared with other times. */
void hs_ledger_forget_times(struct hs_ledger *ledger);

/* Computes how many bytes the ledger uses. */
size_t hs_ledger_bytes(const struct hs_ledger *ledger);

/* Grows the table to at least `count` entries; `count` must be above the table's capacity. Only for
   restoring a snapshot, because the function charges nothing to the budget. Returns false if out of
   memory. */
bool hs_ledger_make_places(struct hs_ledger_numbers *numbers, uint32_t count);

/* Returns how many entries have a number below `number`. O(log n). */
uint32_t hs_ledger_count_below(const struct hs_ledger_numbers *numbers, uint64_t number);

/* Returns the entry with this number, or NULL. O(log n). */
const struct hs_ledger_entry *hs_ledger_find(const struct hs_ledger_numbers *numbers,
                                             uint64_t number);

/* Returns the entry of the posted shot with this number, or NULL. */
struct hs_ledger_entry *hs_ledger_posted(struct hs_ledger *ledger, uint64_t number);

/* The offsets of two hits are compared only if their hit times differ by at most this time. */
#define HS_OFFSET_WINDOW_US INT64_C(2000000)

/* Returns whether an entry's trace has the same ends as the trace from `start` to `end`. Rounding
   errors are ignored. */
bool hs_ledger_is_same_trace(const struct hs_ledger_entry *entry, struct hs_vec start,
                             struct hs_vec end);

/* Returns whether hs_ledger_offset_jump compares this entry with a hit at `hit_time_us`. */
bool hs_ledger_is_compared(const struct hs_ledger_entry *entry, int64_t hit_time_us);

/* Compares `offset_us` (see hs_ledger_entry) with the offsets of the accepted hits whose hit time
   is at most HS_OFFSET_WINDOW_US from `hit_time_us`, and returns the largest difference. Hits
   without an offset are skipped. Returns 0 if there is nothing to compare. O(n). */
int64_t hs_ledger_offset_jump(const struct hs_ledger_numbers *numbers, int64_t hit_time_us,
                              int64_t offset_us);

/* Returns the entry with the number last_accepted, if `number` is larger by 1 to HS_LEDGER_NUMBERS.
   Otherwise returns NULL, for example after a counter wrapped, for a random number and for a late
   shot. O(log n). */
const struct hs_ledger_entry *hs_ledger_accepted_before(const struct hs_ledger_numbers *numbers,
                                                        uint64_t number);

/* Returns whether the number is in use: it has an entry, and is not free. */
bool hs_ledger_is_used(const struct hs_ledger_numbers *numbers, uint64_t number,
                       int64_t free_before_us);

/* Returns whether a shot with this fire time may have been accepted although its number is
   forgotten. */
bool hs_ledger_is_forgotten(const struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* Returns the maximum number of bytes that recording `entry` can charge to the budget, including a
   new cadence if `adds_cadence` is true. */
size_t hs_ledger_need(const struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry, bool adds_cadence);

/* Drops the oldest answers until the budget has `bytes` free, but keeps the newest
   HS_LEDGER_ANSWERS answers. */
void hs_ledger_free_answers(struct hs_ledger *ledger, size_t bytes);

/* Frees what an entry owns. The entry must not be in a ledger. */
void hs_ledger_free_entry(struct hs_ledger_entry *entry);

/*
 * Adds a number that is not in use, with copies of its answer and its shot. A full ledger that
 * cannot grow forgets a number. Returns false and adds no number if memory runs out.
 */
bool hs_ledger_record(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry);

/* Makes sure that the next shot of a weapon can be recorded. Returns false if out of memory. */
bool hs_ledger_reserve_cadence(struct hs_ledger *ledger, uint16_t weapon);

/* Returns the cadence of a weapon, or NULL if the weapon has no cadence yet. */
const struct hs_cadence *hs_ledger_cadence(const struct hs_ledger *ledger, uint16_t weapon);

/* Records an accepted shot in the cadence of its weapon (hs_cadence_record). Returns false if out
   of memory. */
bool hs_ledger_record_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                           int64_t interval_us, int64_t reload_us);

/* Removes a recorded shot (hs_cadence_return). Does nothing if the weapon has no cadence. */
void hs_ledger_return_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                           int64_t reload_us);

/* Delays a weapon: it earns no token before `settled_us`. Does nothing if out of memory. */
void hs_ledger_settle(struct hs_ledger *ledger, uint16_t weapon, int64_t settled_us);

void hs_ledger_clear_cadences(struct hs_ledger *ledger);

#endif
