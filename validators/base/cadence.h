/* The cadence of a weapon: a token bucket that limits how fast one player can fire it. The
   functions change only the given cadence, and allocate nothing. */
#ifndef HS_CADENCE_H
#define HS_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Number of accepted shots kept per weapon, so that a late shot can be put in its place among them.
   32 shots are enough for one shot every 12.5 ms and a rewind limit of 0.4 s. */
enum { HS_LEDGER_SHOTS = 32 };

/*
 * The shots of one weapon that took a token, in order of fire time. The bucket gets one token in
 * each interval of the weapon. The order in which shots arrive changes nothing (hs_cadence_debt).
 */
struct hs_cadence {
    uint16_t weapon;
    uint16_t count;
    uint32_t rounds;     /* rounds fired since the last pause that is long enough to reload */
    int64_t settled_us;  /* time at which the weapon has earned the tokens of all shots dropped from
                            this list */
    int64_t interval_us; /* time for one token; 0: unknown until the first shot after a restore */
    int64_t fire_time_us[HS_LEDGER_SHOTS];
};

/* The cadence of a weapon that has not fired. */
struct hs_cadence hs_cadence_of(uint16_t weapon);

/*
 * Returns the debt of the bucket with one more shot at this time: the time that the weapon needs to
 * earn the tokens that its shots took too early. If a later shot has a larger debt, returns that
 * debt. Returns 0 if there is no debt. A set of shots has the same debts in every order of arrival,
 * and a part of the set never has larger debts. So honest shots pass in any order, and no order
 * lets more shots pass than the bucket allows. A shot that is older than a shot dropped from the
 * list counts as fired at the time of the dropped shot.
 *
 * This is the virtual scheduling algorithm of ITU-T I.371 (generic cell rate algorithm).
 */
int64_t hs_cadence_debt(const struct hs_cadence *cadence, int64_t fire_time_us,
                        int64_t interval_us);

/* Returns the debt above which a weapon fires too fast: 0.67 of an interval. */
int64_t hs_cadence_max_debt(int64_t interval_us);

/* Returns the number of rounds fired without a pause of `reload_us`, including a round fired at
   this time. */
uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us);

/* Records a shot, which takes a token. `interval_us` and `reload_us` are from the weapon's
   rules. */
void hs_cadence_record(struct hs_cadence *cadence, int64_t fire_time_us, int64_t interval_us,
                       int64_t reload_us);

/* Removes a recorded shot, as if it had never been fired. If the shot was dropped from the list,
   its token stays used. */
void hs_cadence_return(struct hs_cadence *cadence, int64_t fire_time_us, int64_t reload_us);

/* Returns the time at which the tokens of all shots of a cadence are earned. */
int64_t hs_cadence_settled(const struct hs_cadence *cadence, int64_t interval_us);

#endif
