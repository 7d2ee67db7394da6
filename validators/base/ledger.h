/*
 * The record of one player's shooting: used numbers with their answers, fire times per weapon, and
 * the traces of the last shots.
 *
 * The ledger never grows past its bounds. It grows past HS_LEDGER_RESERVE only as its budget
 * allows. Only the hs_ledger_record functions allocate. Not thread-safe.
 *
 * When the budget is full, the ledger first gives up the oldest answers. Their numbers stay, so
 * that no shot is paid twice; a retry gets `duplicate`. After the answers, the ledger forgets the
 * numbers recorded first. It also forgets these once HS_LEDGER_NUMBERS newer ones are recorded.
 */
#ifndef HS_LEDGER_H
#define HS_LEDGER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/budget.h"
#include "validators/ledger_entry.h"

/* Numbers kept per player: this many of claims, and this many of shots. A client that retries
   after more shots than this gets `duplicate` without the first answer. */
enum { HS_LEDGER_NUMBERS = 128 };

/* Bytes that the owner sets aside for each ledger. They hold the last eight numbers of claims,
   the last eight of shots without pellet directions, and a few answers. */
enum { HS_LEDGER_RESERVE = 6144 };

/* The newest answers of a player, of claims and shots together. They are given up last. */
enum { HS_LEDGER_ANSWERS = 16 };

/* Accepted shots kept per weapon. This is enough to insert a late shot in order. */
enum { HS_LEDGER_SHOTS = 16 };

/* A number is a jump if it is further than this from all kept numbers. A number far below them
   may belong to a new count, as after a wrap. */
#define HS_SHOT_JUMP (UINT64_C(1) << 20)

/* Used numbers in ascending order. */
struct hs_ledger_numbers {
    struct hs_ledger_entry *entries;
    uint32_t count, capacity;
    uint32_t answers; /* entries that still have their answer */
    uint64_t notes;
    bool has_floor, has_paid;
    bool was_cut; /* numbers were forgotten to save memory */
    /* Numbers fired in this time range could not be recorded, so a missing number proves
       nothing. */
    bool lacks_some;
    int64_t lacked_from_us, lacked_until_us;
    uint64_t floor; /* the highest number forgotten of the current count */
    /* Over all accepted numbers that were forgotten or belong to an earlier session: the highest
       number, and the latest fire time. */
    uint64_t paid_number;
    int64_t paid_us;
};

/* Accepted shots of one weapon, in order of fire time. */
struct hs_cadence {
    uint16_t weapon;
    uint16_t count;
    uint16_t strict; /* shots still checked without tolerance after a refusal */
    uint32_t rounds; /* fired since the last pause long enough to reload */
    int64_t fire_time_us[HS_LEDGER_SHOTS];
};

struct hs_ledger {
    struct hs_ledger_numbers hits, shots;
    struct hs_cadence *cadences; /* one per weapon used */
    uint16_t cadence_count, cadence_capacity;
    size_t bytes;             /* always equal to hs_ledger_bytes() */
    struct hs_budget *budget; /* charged for bytes beyond the reserve; NULL: nothing is charged */
};

void hs_ledger_clear(struct hs_ledger *ledger);

/*
 * Ends the player's session; the next one counts shots from the start. Numbers up to the highest
 * accepted one become forgotten (hs_ledger_is_forgotten), up to its fire time. So no shot of the
 * ended session is paid again.
 */
void hs_ledger_end_session(struct hs_ledger *ledger);

/* Records an accepted number of a session that ended, or one that is forgotten. */
void hs_ledger_record_paid(struct hs_ledger_numbers *numbers, uint64_t number,
                           int64_t fire_time_us);

/* Remembers that a number fired at this time could not be recorded. */
void hs_ledger_record_lacked(struct hs_ledger_numbers *numbers, int64_t fire_time_us);

/* For a clock reset. Numbers and answers stay, but nothing is compared with old times. */
void hs_ledger_forget_times(struct hs_ledger *ledger);

/* Counts the bytes in use from the entries. */
size_t hs_ledger_bytes(const struct hs_ledger *ledger);

/* Grows the table to `count` entries without charging the budget; only for restoring a
   snapshot. `count` is above the capacity. False: out of memory. */
bool hs_ledger_make_places(struct hs_ledger_numbers *numbers, uint32_t count);

/* The entry of a number, or NULL. O(log n). */
const struct hs_ledger_entry *hs_ledger_find(const struct hs_ledger_numbers *numbers,
                                             uint64_t number);

/* The accepted entry with the highest number below this one, or NULL. */
const struct hs_ledger_entry *hs_ledger_accepted_before(const struct hs_ledger_numbers *numbers,
                                                        uint64_t number);

/* Hits whose times are further apart are not compared by their offsets. */
#define HS_OFFSET_WINDOW_US INT64_C(2000000)

/* The largest difference between an offset (hs_ledger_entry) and those of accepted hits within
   HS_OFFSET_WINDOW_US of a time; 0 without such hits. O(n), because numbers may be in any order. */
int64_t hs_ledger_offset_jump(const struct hs_ledger_numbers *numbers, int64_t hit_time_us,
                              int64_t offset_us);

/*
 * Whether the number may have been used and then forgotten. True for a number at or below the
 * highest forgotten one, by at most HS_SHOT_JUMP. Also true if the number and the fire time may
 * belong to an earlier count.
 */
bool hs_ledger_is_forgotten(const struct hs_ledger_numbers *numbers, uint64_t number,
                            int64_t fire_time_us);

/* Whether entries exist, and the number is further than HS_SHOT_JUMP from all of them. */
bool hs_ledger_is_jump(const struct hs_ledger_numbers *numbers, uint64_t number);

/* The most bytes that recording an entry can charge to the budget. */
size_t hs_ledger_need(const struct hs_ledger *ledger, const struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry);

/* Gives up the oldest answers until the budget has `bytes` free. Keeps the newest
   HS_LEDGER_ANSWERS answers. */
void hs_ledger_free_answers(struct hs_ledger *ledger, size_t bytes);

/* Frees the memory of an entry that is in no ledger; the entry is empty afterwards. */
void hs_ledger_free_entry(struct hs_ledger_entry *entry);

/*
 * Adds a new number to the ledger; copies answer and shot. When all places are taken, or the budget
 * allows no more, the ledger forgets the number recorded first. False: out of memory; nothing
 * changed.
 */
bool hs_ledger_record(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry);

/* Makes sure that the next shot of a weapon can be booked. False: out of memory. */
bool hs_ledger_reserve_cadence(struct hs_ledger *ledger, uint16_t weapon);

/* The cadence of a weapon, or NULL if it has none. */
const struct hs_cadence *hs_ledger_cadence(const struct hs_ledger *ledger, uint16_t weapon);

/*
 * Mean gap around a shot, as if it were accepted. This is the smallest mean over the runs of four
 * gaps that contain the shot. With only three gaps, it is their mean. False with fewer gaps.
 */
bool hs_cadence_mean_gap(const struct hs_cadence *cadence, int64_t fire_time_us, int64_t *mean_us);

/* Rounds fired without a pause of `reload_us`, including one fired at this time. */
uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us);

/* Records an accepted shot, or a refusal for its cadence. False: out of memory. */
bool hs_ledger_record_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                           int64_t reload_us);
bool hs_ledger_record_too_fast(struct hs_ledger *ledger, uint16_t weapon);

#endif
