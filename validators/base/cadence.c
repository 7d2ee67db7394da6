#include "validators/base/cadence.h"

#include <string.h>

/*
 * The limits of a weapon's bucket, in percent of a token. During a pause, a weapon saves the token
 * for its next shot, and SAVED percent of another token. A shot may leave a debt of up to MAX_DEBT.
 * SAVED + MAX_DEBT is 82 % of an interval, so each fire time may be early or late by 41 % of an
 * interval. For an interval of 20 ms, 41 % is 8 ms. Honest shots leave a debt of at most 56 %. If
 * SAVED + MAX_DEBT were 100 % or more, a weapon could fire two shots at the same time.
 */
enum { SAVED = 15, MAX_DEBT = 67 };

/* The `settled_us` of a weapon that never fired; earlier than the time of any claim. */
#define NEVER_US (-INT64_C(1000000000000000000))

struct hs_cadence hs_cadence_of(uint16_t weapon)
{
    return (struct hs_cadence){.weapon = weapon, .settled_us = NEVER_US};
}

static uint16_t shots_before(const struct hs_cadence *cadence, int64_t fire_time_us)
{
    uint16_t i = cadence->count;
    while (i > 0 && cadence->fire_time_us[i - 1] > fire_time_us)
        i--;
    return i;
}

/* Returns the time when the weapon has earned the token of a shot. `settled_us` is the time when
   the weapon has earned the tokens of all earlier shots. */
static int64_t settle(int64_t settled_us, int64_t fire_time_us, int64_t interval_us)
{
    int64_t from_us = settled_us > fire_time_us ? settled_us : fire_time_us;
    return from_us + interval_us;
}

int64_t hs_cadence_debt(const struct hs_cadence *cadence, int64_t fire_time_us, int64_t interval_us)
{
    int64_t settled_us = cadence->settled_us, largest = 0;
    uint16_t place = shots_before(cadence, fire_time_us);
    for (uint16_t i = 0; i <= cadence->count; i++) {
        int64_t at = i == place ? fire_time_us : cadence->fire_time_us[i < place ? i : i - 1];
        int64_t debt = settled_us - at - interval_us * SAVED / 100;
        if (i >= place && debt > largest)
            largest = debt;
        settled_us = settle(settled_us, at, interval_us);
    }
    return largest;
}

int64_t hs_cadence_max_debt(int64_t interval_us)
{
    return interval_us * MAX_DEBT / 100;
}

/* Returns the index of the first shot that is fired with the same magazine as a shot at `place`. */
static uint16_t first_of_run(const struct hs_cadence *cadence, uint16_t place, int64_t fire_time_us,
                             int64_t reload_us)
{
    while (place > 0 && fire_time_us - cadence->fire_time_us[place - 1] < reload_us)
        fire_time_us = cadence->fire_time_us[--place];
    return place;
}

/* Returns the index after the last shot that is fired with the same magazine as a shot at `place`.
 */
static uint16_t end_of_run(const struct hs_cadence *cadence, uint16_t place, int64_t fire_time_us,
                           int64_t reload_us)
{
    for (; place < cadence->count; place++) {
        if (cadence->fire_time_us[place] - fire_time_us >= reload_us)
            break;
        fire_time_us = cadence->fire_time_us[place];
    }
    return place;
}

uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us)
{
    if (cadence->count == 0 || cadence->rounds == 0)
        return 1;
    uint16_t place = shots_before(cadence, fire_time_us);
    if (place == cadence->count)
        return fire_time_us - cadence->fire_time_us[place - 1] < reload_us ? cadence->rounds + 1
                                                                           : 1;
    uint16_t first = first_of_run(cadence, place, fire_time_us, reload_us);
    uint16_t end = end_of_run(cadence, place, fire_time_us, reload_us);
    uint32_t rounds = (uint32_t)(end - first) + 1;
    /* The oldest shots of the newest magazine may have been dropped from the list. */
    bool has_dropped = end == cadence->count && cadence->rounds > cadence->count;
    return has_dropped ? rounds + cadence->rounds - cadence->count : rounds;
}

/* Updates `settled_us` before the caller drops the oldest shot from the list. The debt is limited
   to one interval, because shots that come too fast are also recorded while the check `fire_rate`
   is off. */
static void settle_first(struct hs_cadence *cadence, int64_t first_us, int64_t interval_us)
{
    int64_t settled_us = settle(cadence->settled_us, first_us, interval_us);
    int64_t latest_us = first_us + 2 * interval_us;
    cadence->settled_us = settled_us < latest_us ? settled_us : latest_us;
}

/* Drops the shots of former sessions, so that they do not count in the magazine of this session. */
static void settle_former(struct hs_cadence *cadence, int64_t interval_us)
{
    for (uint16_t i = 0; i < cadence->count; i++)
        settle_first(cadence, cadence->fire_time_us[i], interval_us);
    cadence->count = 0;
}

void hs_cadence_record(struct hs_cadence *cadence, int64_t fire_time_us, int64_t interval_us,
                       int64_t reload_us)
{
    cadence->interval_us = interval_us;
    if (cadence->rounds == 0)
        settle_former(cadence, interval_us);
    uint16_t place = shots_before(cadence, fire_time_us);
    if (end_of_run(cadence, place, fire_time_us, reload_us) == cadence->count)
        cadence->rounds = hs_cadence_rounds(cadence, fire_time_us, reload_us);
    if (cadence->count == HS_LEDGER_SHOTS) {
        settle_first(cadence, place > 0 ? cadence->fire_time_us[0] : fire_time_us, interval_us);
        if (place == 0)
            return;
        memmove(cadence->fire_time_us, cadence->fire_time_us + 1,
                (HS_LEDGER_SHOTS - 1) * sizeof cadence->fire_time_us[0]);
        cadence->count--;
        place--;
    }
    memmove(&cadence->fire_time_us[place + 1], &cadence->fire_time_us[place],
            (size_t)(cadence->count - place) * sizeof cadence->fire_time_us[0]);
    cadence->fire_time_us[place] = fire_time_us;
    cadence->count++;
}

void hs_cadence_return(struct hs_cadence *cadence, int64_t fire_time_us, int64_t reload_us)
{
    uint16_t place = shots_before(cadence, fire_time_us);
    if (place == 0 || cadence->fire_time_us[place - 1] != fire_time_us)
        return;
    bool is_newest = end_of_run(cadence, place, fire_time_us, reload_us) == cadence->count &&
                     cadence->rounds > 0;
    memmove(&cadence->fire_time_us[place - 1], &cadence->fire_time_us[place],
            (size_t)(cadence->count - place) * sizeof cadence->fire_time_us[0]);
    cadence->count--;
    if (!is_newest)
        return;
    /* Without the removed shot, the pause between its neighbours may be long enough to reload. */
    uint16_t first = 0, last = cadence->count > 0 ? cadence->count - 1 : 0;
    if (last > 0)
        first = first_of_run(cadence, last, cadence->fire_time_us[last], reload_us);
    uint32_t rounds = (uint32_t)(cadence->count - first);
    bool has_dropped = first == 0 && cadence->rounds - 1 > rounds;
    cadence->rounds = has_dropped ? cadence->rounds - 1 : rounds;
}

int64_t hs_cadence_settled(const struct hs_cadence *cadence, int64_t interval_us)
{
    int64_t settled_us = cadence->settled_us;
    for (uint16_t i = 0; i < cadence->count; i++)
        settled_us = settle(settled_us, cadence->fire_time_us[i], interval_us);
    return settled_us;
}
