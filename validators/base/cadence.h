/* The cadence of a weapon: a token bucket that limits how fast one player can fire the weapon. The
   functions change only the given cadence, and allocate nothing. */
#ifndef HS_CADENCE_H
#define HS_CADENCE_H

#include <stdbool.h>
#include <stdint.h>

/* The number of accepted shots that are kept per weapon, so that a late shot can be inserted in
   order of fire time. 32 shots are enough for one shot every 12.5 ms and a rewind limit of 0.4
   s. */
enum { HS_LEDGER_SHOTS = 32 };

/*
 * The last shots of one weapon, in order of fire time. Each shot takes a token from the bucket. The
 * weapon earns one token in each interval.
 */
struct hs_cadence {
    uint16_t weapon;
    uint16_t count;
    uint32_t rounds;     /* rounds fired since the last pause that was long enough to reload; 0:
                            none in this session */
    int64_t settled_us;  /* when the weapon has earned the tokens of all shots that were dropped
                            from this list */
    int64_t interval_us; /* time in which one token is earned; 0: unknown until the first shot after
                            a restore */
    int64_t fire_time_us[HS_LEDGER_SHOTS];
};

/* Returns the cadence of a weapon that has not fired. */
struct hs_cadence hs_cadence_of(uint16_t weapon);

/*
 * Returns the debt that the bucket has if the weapon also fires at `fire_time_us`. A shot that is
 * fired before its token is available has a debt: the time from the shot until the token is
 * available. The result is the largest debt among the new shot and the later shots in the list; 0
 * if there is no debt.
 *
 * The debts of a set of shots do not depend on the order in which the shots arrive. Leaving out a
 * shot never makes a debt larger. So honest shots pass in any order, and no order lets more shots
 * pass than the bucket allows. A shot that is older than the dropped shots takes its token after
 * the dropped shots.
 *
 * This is the virtual scheduling algorithm of ITU-T I.371 (generic cell rate algorithm).
 */
int64_t hs_cadence_debt(const struct hs_cadence *cadence, int64_t fire_time_us,
                        int64_t interval_us);

/* Returns the debt above which a weapon fires too fast: 0.67 of an interval. */
int64_t hs_cadence_max_debt(int64_t interval_us);

/* Returns how many rounds the weapon fires with one magazine if the weapon also fires at
   `fire_time_us`. Counts the shots around this time that have no pause of `reload_us` between them.
   The result does not depend on the order in which the shots arrive. */
uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us);

/* Records a shot. `interval_us` and `reload_us` are the weapon's min_interval and reload in the
   ruleset. */
void hs_cadence_record(struct hs_cadence *cadence, int64_t fire_time_us, int64_t interval_us,
                       int64_t reload_us);

/* Removes a recorded shot, so that the weapon gets the shot's token back. If the shot was already
   dropped from the list, does nothing. */
void hs_cadence_return(struct hs_cadence *cadence, int64_t fire_time_us, int64_t reload_us);

/* Returns the time at which the weapon has earned the tokens of all its shots. */
int64_t hs_cadence_settled(const struct hs_cadence *cadence, int64_t interval_us);

#endif
