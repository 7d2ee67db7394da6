#include "validators/base/cadence.h"

#include <string.h>

/*
 * The limits of a weapon's bucket, in percent of a token. During a pause, a weapon saves the token
 * for its next shot and SAVED percent more. A shot may leave a debt of up to MAX_DEBT. Together
 * this is 82 % of an interval, so each fire time may be 41 % early or late. For an interval of
 * 20 ms, this is 8 ms. Honest shots leave a debt of at most 56 %. If SAVED + MAX_DEBT were 100 % or
 * more, a weapon could fire two shots at the same time.
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

/* Returns when the weapon has earned the token of a shot. `settled_us` is the time when it has
   earned the tokens of all earlier shots. */
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

uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us)
{
    int64_t last_us = cadence->count > 0 ? cadence->fire_time_us[cadence->count - 1] : INT64_MIN;
    if (cadence->count == 0 || fire_time_us - last_us >= reload_us)
        return 1;
    return cadence->rounds + 1;
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

void hs_cadence_record(struct hs_cadence *cadence, int64_t fire_time_us, int64_t interval_us,
                       int64_t reload_us)
{
    cadence->rounds = hs_cadence_rounds(cadence, fire_time_us, reload_us);
    cadence->interval_us = interval_us;
    uint16_t place = shots_before(cadence, fire_time_us);
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
    /* `rounds` does not include shots before the last reload. */
    bool was_reloaded = false;
    for (uint16_t i = place; i < cadence->count; i++)
        was_reloaded =
            was_reloaded || cadence->fire_time_us[i] - cadence->fire_time_us[i - 1] >= reload_us;
    if (!was_reloaded && cadence->rounds > 0)
        cadence->rounds--;
    memmove(&cadence->fire_time_us[place - 1], &cadence->fire_time_us[place],
            (size_t)(cadence->count - place) * sizeof cadence->fire_time_us[0]);
    cadence->count--;
}

int64_t hs_cadence_settled(const struct hs_cadence *cadence, int64_t interval_us)
{
    int64_t settled_us = cadence->settled_us;
    for (uint16_t i = 0; i < cadence->count; i++)
        settled_us = settle(settled_us, cadence->fire_time_us[i], interval_us);
    return settled_us;
}
