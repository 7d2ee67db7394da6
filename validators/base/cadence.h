/* The cadence of a weapon: the token bucket over the fire times of one player's shots. Pure except
   for the cadence that it is given; allocates nothing. */
#ifndef HS_CADENCE_H
#define HS_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

/* Accepted shots kept per weapon. A late shot is put in its place among them, so this is enough for
   one every 12.5 ms in a rewind limit of 0.4 s. */
enum { HS_LEDGER_SHOTS = 32 };

/*
 * The shots of one weapon that took a token, in order of fire time. The bucket gets one token in
 * each interval of the weapon, and the order of arrival changes nothing (hs_cadence_debt).
 */
struct hs_cadence {
    uint16_t weapon;
    uint16_t count;
    uint32_t rounds;    /* fired since the last pause long enough to reload */
    int64_t settled_us; /* when the tokens of all shots that are not kept any more are earned */
    int64_t fire_time_us[HS_LEDGER_SHOTS];
};

/* The cadence of a weapon that has not fired. */
struct hs_cadence hs_cadence_of(uint16_t weapon);

/*
 * Returns the debt of the bucket with one more shot at this time: how long the weapon needs to earn
 * the tokens that its shots took too early. It is the largest debt at that shot and at the later
 * ones. A set of shots has the same debts in every order of arrival, and no subset has larger ones.
 * So honest shots pass in any order, and no order lets more shots pass than the bucket allows. If a
 * shot is older than a shot that is no longer kept, it counts at the time of that shot. 0: no debt.
 *
 * This is the virtual scheduling algorithm of ITU-T I.371 (generic cell rate algorithm).
 */
int64_t hs_cadence_debt(const struct hs_cadence *cadence, int64_t fire_time_us,
                        int64_t interval_us);

/* Returns the largest debt of a weapon that fires honestly: 0.67 of an interval. */
int64_t hs_cadence_max_debt(int64_t interval_us);

/* Returns the number of rounds fired without a pause of `reload_us`, including one fired at this
   time. */
uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us);

/* Records a shot, which takes a token. The two intervals are those of the weapon. */
void hs_cadence_record(struct hs_cadence *cadence, int64_t fire_time_us, int64_t interval_us,
                       int64_t reload_us);

/* Takes a recorded shot back, as if it were never fired. A shot that is no longer kept keeps its
   token. */
void hs_cadence_return(struct hs_cadence *cadence, int64_t fire_time_us, int64_t reload_us);

/* Returns when the tokens of all shots of a cadence are earned. */
int64_t hs_cadence_settled(const struct hs_cadence *cadence, int64_t interval_us);

#endif
