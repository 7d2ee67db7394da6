/*
 * The record of one player's shooting: used numbers with their answers, and fire times per weapon.
 * The game server gives each shot its number.
 *
 * The ledger never exceeds its maximum counts. The ledger uses more than HS_LEDGER_RESERVE bytes
 * only if its budget allows them. Only the hs_ledger_record functions allocate. Not thread-safe.
 *
 * When the budget is full, the ledger first drops the oldest answers. The numbers of dropped
 * answers stay, so that no shot is paid twice; a retry gets `duplicate`. After the answers, the
 * ledger forgets the numbers recorded first. A new weapon first reuses the place of a cadence that
 * can no longer refuse a claim.
 *
 * Numbers may come in any order. A number is used while its entry is kept and a claim with the fire
 * time of the number can still pass. Afterwards the number is free again, so counters may wrap.
 * Beyond HS_LEDGER_NUMBERS the ledger forgets numbers that are free, and grows if no number is
 * free. If it must forget an accepted number that is not free, it keeps the fire time
 * (hs_ledger_is_forgotten).
 */
#ifndef HS_LEDGER_H
#define HS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/base/cadence.h"
#include "validators/budget.h"
#include "validators/ledger_entry.h"

/* The number of claims, and of posted shots, that a ledger keeps with their answers. A retry of an
   older claim or shot gets `duplicate` instead of its first answer. */
enum { HS_LEDGER_NUMBERS = 128 };

/* The maximum number of kept claim numbers, and of kept shot numbers. Beyond HS_LEDGER_NUMBERS, a
   number is kept only while a claim with the fire time of the number can still be accepted. */
enum { HS_LEDGER_MAX_NUMBERS = 1024 };

/* Bytes that the owner reserves for each ledger. This reserve is enough for the last two numbers of
   claims, the last two numbers of shots, one posted shot without pellet directions, and the
   cadences of four weapons. If only two weapons are used, the reserve is enough for twice as many
   numbers. */
enum { HS_LEDGER_RESERVE = 1888 };

/* The number of newest answers of a player, to claims and shots together, that are dropped last. */
enum { HS_LEDGER_ANSWERS = 16 };

/* Used numbers in ascending order. */
struct hs_ledger_numbers {
    struct hs_ledger_entry *entries;
    uint32_t count, capacity;
    uint16_t answers;         /* number of entries that still have their answer */
    uint16_t first_answer_at; /* the search for the oldest answer begins at this entry */
    uint64_t first_answer;    /* entries with a lower `noted` have no answer */
    /* If not 0: every entry is accepted and was fired at this time or later. So no number is free
       while free_before_us is at most this time. */
    int64_t held_from_us;
    uint64_t notes;         /* number of records so far; becomes `noted` of the next entry */
    uint64_t last_accepted; /* the accepted number that was recorded last; valid if has_accepted */
    bool has_accepted;
    bool has_paid;
    bool was_cut; /* accepted numbers of this session were forgotten before they were free */
    /* Some shots fired in this time range could not be recorded. So a number without an entry may
       still have been used. */
    bool lacks_some;
    int64_t lacked_from_us, lacked_until_us;
    /* The latest fire time of the accepted numbers that were forgotten before they were free, or
       that belong to an earlier session. Valid if has_paid. */
    int64_t paid_us;
};

struct hs_ledger {
    struct hs_ledger_numbers hits, shots;
    struct hs_cadence *cadences; /* one per weapon used */
    uint16_t cadence_count, cadence_capacity;
    int64_t free_before_us;   /* numbers fired earlier are free; set this time before recording */
    size_t bytes;             /* always equal to hs_ledger_bytes() */
    struct hs_budget *budget; /* charged for bytes beyond the reserve; NULL: nothing is charged */
};

void hs_ledger_clear(struct hs_ledger *ledger);

/*
 * Ends the player's session. The next session may use the same numbers. All numbers that were fired
 * up to the newest accepted fire time become forgotten (hs_ledger_is_forgotten). So no shot of the
 * ended session is paid again. The cadences stay, because leaving must not refill the buckets. Only
 * the rounds of the cadences are set to 0: a player who comes back has a full magazine.
 */
void hs_ledger_end_session(struct hs_ledger *ledger);

/* Records only the fire time of an accepted number, because the number's session ended or the
   ledger forgets the number. */
void hs_ledger_record_paid(struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* Records the fire time of a number that could not be recorded itself. */
void hs_ledger_record_lacked(struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* Prepares the ledger for a clock reset. Numbers and answers stay, but no time is compared with
   times of the old clock. */
void hs_ledger_forget_times(struct hs_ledger *ledger);

/* Computes the bytes in use from the entries. */
size_t hs_ledger_bytes(const struct hs_ledger *ledger);

/* Grows the table to `count` entries without charging the budget; only for restoring a snapshot.
   `count` is above the capacity. Returns false if out of memory. */
bool hs_ledger_make_places(struct hs_ledger_numbers *numbers, uint32_t count);

/* Returns how many entries have a lower number. O(log n). */
uint32_t hs_ledger_count_below(const struct hs_ledger_numbers *numbers, uint64_t number);

/* Returns the entry of a number, or NULL. O(log n). */
const struct hs_ledger_entry *hs_ledger_find(const struct hs_ledger_numbers *numbers,
                                             uint64_t number);

/* Returns the posted shot of a number, or NULL. */
struct hs_ledger_entry *hs_ledger_posted(struct hs_ledger *ledger, uint64_t number);

/* The offsets of two hits are compared only if the times of the hits differ by at most this. */
#define HS_OFFSET_WINDOW_US INT64_C(2000000)

/* Returns whether an entry has the same ends as a trace, except for rounding. `length` is the
   length of the trace. */
bool hs_ledger_is_same_trace(const struct hs_ledger_entry *entry, struct hs_vec start,
                             struct hs_vec end, double length);

/* Returns whether hs_ledger_offset_jump compares an entry with a hit at `hit_time_us`. */
bool hs_ledger_is_compared(const struct hs_ledger_entry *entry, int64_t hit_time_us);

/* Returns the largest difference between an offset (hs_ledger_entry) and the offsets of accepted
   hits within HS_OFFSET_WINDOW_US of a time. Returns 0 if there are no such hits. O(n), because
   numbers may be in any order. */
int64_t hs_ledger_offset_jump(const struct hs_ledger_numbers *numbers, int64_t hit_time_us,
                              int64_t offset_us);

/* Returns the accepted entry that was recorded last. Returns NULL unless the number of that entry
   is 1 to HS_LEDGER_NUMBERS below `number`. So a counter that wrapped, a random number and a late
   shot have no predecessor. O(log n). */
const struct hs_ledger_entry *hs_ledger_accepted_before(const struct hs_ledger_numbers *numbers,
                                                        uint64_t number);

/* Returns whether the number is in use, that is, kept and not yet free for reuse. */
bool hs_ledger_is_used(const struct hs_ledger_numbers *numbers, uint64_t number,
                       int64_t free_before_us);

/* Returns whether a shot with this fire time may have been accepted, and its number forgotten. */
bool hs_ledger_is_forgotten(const struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* Returns the max number of bytes that an entry can charge to the budget. If `adds_cadence`,
   includes the bytes of a new cadence. */
size_t hs_ledger_need(const struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry, bool adds_cadence);

/* Drops the oldest answers until the budget has `bytes` free. Keeps the newest HS_LEDGER_ANSWERS
   answers. */
void hs_ledger_free_answers(struct hs_ledger *ledger, size_t bytes);

/* Frees the memory of an entry that is in no ledger; the entry is empty afterwards. */
void hs_ledger_free_entry(struct hs_ledger_entry *entry);

/*
 * Adds a number that is not used; copies answer and shot. When all places are taken, or the budget
 * allows no more, the ledger forgets the number recorded first. Returns false, and adds no number,
 * if out of memory.
 */
bool hs_ledger_record(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry);

/* Makes sure that the next shot of a weapon can be recorded. Returns false if out of memory. */
bool hs_ledger_reserve_cadence(struct hs_ledger *ledger, uint16_t weapon);

/* Returns the cadence of a weapon, or NULL if the weapon has no cadence. */
const struct hs_cadence *hs_ledger_cadence(const struct hs_ledger *ledger, uint16_t weapon);

/* Records an accepted shot in the cadence of its weapon (hs_cadence_record). Returns false if out
   of memory. */
bool hs_ledger_record_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                           int64_t interval_us, int64_t reload_us);

/* Removes a recorded shot (hs_cadence_return). Does nothing if the weapon has no cadence. */
void hs_ledger_return_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                           int64_t reload_us);

/* Delays the tokens of a weapon: they are earned at `settled_us` at the earliest. Does nothing if
   out of memory. */
void hs_ledger_settle(struct hs_ledger *ledger, uint16_t weapon, int64_t settled_us);

void hs_ledger_clear_cadences(struct hs_ledger *ledger);

#endif
