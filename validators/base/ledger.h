/*
 * What is remembered of one player's shooting: which numbers were used and what they were
 * answered, when each weapon was fired, where the last shots went. It grows to its bounds and never
 * beyond, and beyond HS_LEDGER_RESERVE only as its account lets it; only the hs_ledger_note
 * functions allocate. Not thread-safe.
 *
 * Where the account has no room left, the oldest answers are given up first: their numbers stay, so
 * that nothing is paid twice, and a retry is told `duplicate`. Then the numbers noted first are
 * forgotten, as they are when HS_LEDGER_NUMBERS have come since.
 */
#ifndef HS_LEDGER_H
#define HS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/account.h"
#include "validators/ledger_entry.h"

/* Numbers kept per player, of claims and of shots each. A client that retries later than this many
   shots is told `duplicate` without the first answer. */
enum { HS_LEDGER_NUMBERS = 128 };

/* Bytes that the owner has set aside for a ledger for as long as it lives: room for the last eight
   numbers of claims, and of shots that have no directions of pellets, and for a few answers. */
enum { HS_LEDGER_RESERVE = 6144 };

/* The newest answers of a player, of claims and shots together, that are given up last. */
enum { HS_LEDGER_ANSWERS = 16 };

/* Accepted shots kept per weapon: enough to find the place of a late one. */
enum { HS_LEDGER_SHOTS = 16 };

/* A number further than this from all that are kept is a jump. Far below them a new count may have
   begun, as after a wrap. */
#define HS_SHOT_JUMP (UINT64_C(1) << 20)

/* Used numbers in ascending order. */
struct hs_ledger_numbers {
    struct hs_ledger_entry *entries;
    uint32_t count, capacity;
    uint32_t answers; /* entries that have theirs */
    uint64_t notes;
    bool has_floor, has_paid;
    bool was_cut; /* numbers were forgotten to save memory */
    /* Numbers fired in this time range could not be recorded, so a missing number proves
       nothing. */
    bool lacks_some;
    int64_t lacked_from_us, lacked_until_us;
    uint64_t floor; /* the highest number that was forgotten of the last count */
    /* Of all accepted numbers that were forgotten or are of a session before: the highest, and the
       latest fire time. */
    uint64_t paid_number;
    int64_t paid_us;
};

/* Accepted shots of one weapon, in order of fire time. */
struct hs_cadence {
    uint16_t weapon;
    uint16_t count;
    uint16_t strict; /* shots still judged without tolerance after a refusal */
    uint32_t rounds; /* fired since the last pause long enough to reload */
    int64_t fire_time_us[HS_LEDGER_SHOTS];
};

struct hs_ledger {
    struct hs_ledger_numbers hits, shots;
    struct hs_cadence *cadences; /* one a weapon used */
    uint16_t cadence_count, cadence_capacity;
    size_t bytes; /* hs_ledger_bytes, kept up to date */
    struct hs_account
        *account; /* what is beyond the reserve is taken from it; NULL: from nowhere */
};

void hs_ledger_clear(struct hs_ledger *ledger);

/*
 * The player's session is over: his next one counts shots anew. Of this one stays what was paid,
 * so that nothing of it is paid again: its numbers up to the highest accepted one are forgotten
 * (hs_ledger_is_forgotten) up to the time it was fired at.
 */
void hs_ledger_end_session(struct hs_ledger *ledger);

/* An accepted claim of a session that ended. */
void hs_ledger_note_ended(struct hs_ledger_numbers *numbers, uint64_t number, int64_t fire_time_us);

/* Remembers that a number fired at this time could not be recorded. */
void hs_ledger_note_lacked(struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* The clock was set anew: numbers and answers stay, nothing is compared with old times. */
void hs_ledger_forget_times(struct hs_ledger *ledger);

/* What it takes, counted anew. */
size_t hs_ledger_bytes(const struct hs_ledger *ledger);

/* Room for so many numbers, of which there are fewer: without asking the account, in a ledger that
   is read back. False: out of memory. */
bool hs_ledger_make_places(struct hs_ledger_numbers *numbers, uint32_t count);

/* The entry of a number, or NULL. O(log n). */
const struct hs_ledger_entry *hs_ledger_find(const struct hs_ledger_numbers *numbers,
                                             uint64_t number);

/* The accepted entry with the highest number below this one, or NULL. */
const struct hs_ledger_entry *hs_ledger_accepted_before(const struct hs_ledger_numbers *numbers,
                                                        uint64_t number);

/*
 * The number may have been used and be forgotten by now: it is not above, and within HS_SHOT_JUMP
 * of, the highest that was; or it may be of an earlier count, by its fire time.
 */
bool hs_ledger_is_forgotten(const struct hs_ledger_numbers *numbers, uint64_t number,
                            int64_t fire_time_us);

/* The number is further than HS_SHOT_JUMP from every one that is kept, and there is one. */
bool hs_ledger_is_jump(const struct hs_ledger_numbers *numbers, uint64_t number);

/* What noting an entry may take from the account, at most. */
size_t hs_ledger_need(const struct hs_ledger *ledger, const struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry);

/* Gives up the oldest answers, as long as there are more than HS_LEDGER_ANSWERS, until the account
   has so many bytes. */
void hs_ledger_give_way(struct hs_ledger *ledger, size_t bytes);

/* Frees the memory of an entry that is in no ledger; the entry is empty afterwards. */
void hs_ledger_free_entry(struct hs_ledger_entry *entry);

/*
 * Adds a new number to the ledger; copies answer and shot. When all places are taken, or the budget
 * allows no more, the ledger forgets the number recorded first. False: out of memory; nothing
 * changed.
 */
bool hs_ledger_note(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                    const struct hs_ledger_entry *entry);

/* Makes sure that the next shot of a weapon can be booked. False: out of memory. */
bool hs_ledger_reserve_cadence(struct hs_ledger *ledger, uint16_t weapon);

/* What is known of a weapon's cadence, or NULL. */
const struct hs_cadence *hs_ledger_cadence(const struct hs_ledger *ledger, uint16_t weapon);

/*
 * Mean gap between shots around one fired at a time, were it accepted: the smallest mean over the
 * runs of four gaps it belongs to (three where there are only so many). False with fewer gaps.
 */
bool hs_cadence_mean_gap(const struct hs_cadence *cadence, int64_t fire_time_us, int64_t *mean_us);

/* Rounds fired without a pause of `reload_us`, were one fired at this time. */
uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us);

/* Books an accepted shot, or a refusal for its cadence. False: out of memory. */
bool hs_ledger_note_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                         int64_t reload_us);
bool hs_ledger_note_too_fast(struct hs_ledger *ledger, uint16_t weapon);

#endif
