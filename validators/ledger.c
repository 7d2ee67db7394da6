#include "ledger.h"

#include <stdlib.h>
#include <string.h>

/* Gaps whose mean is judged, and the fewest that are. */
enum { GAPS = 4, FEWEST_GAPS = 3 };

/* Shots judged without tolerance after one was refused: a client that fires at twice the rate
   would otherwise live off the tolerance for ever. */
enum { STRICT_SHOTS = 8 };

static void free_entry(struct hs_ledger_entry *entry)
{
    if (entry->shot != NULL)
        free(entry->shot->directions);
    free(entry->shot);
    free(entry->answer);
}

static void clear_numbers(struct hs_ledger_numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        free_entry(&numbers->entries[i]);
    free(numbers->entries);
    *numbers = (struct hs_ledger_numbers){0};
}

void hs_ledger_clear(struct hs_ledger *ledger)
{
    clear_numbers(&ledger->hits);
    clear_numbers(&ledger->shots);
    free(ledger->cadences);
    *ledger = (struct hs_ledger){0};
}

static void note_paid(struct hs_ledger_numbers *numbers, uint64_t number, int64_t fire_time_us)
{
    if (!numbers->has_paid || number > numbers->paid_number)
        numbers->paid_number = number;
    if (!numbers->has_paid || fire_time_us > numbers->paid_us)
        numbers->paid_us = fire_time_us;
    numbers->has_paid = true;
}

static void end_session(struct hs_ledger_numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        if (numbers->entries[i].accepted)
            note_paid(numbers, numbers->entries[i].number, numbers->entries[i].fire_time_us);
    struct hs_ledger_numbers paid = {.has_paid = numbers->has_paid,
                                     .paid_number = numbers->paid_number,
                                     .paid_us = numbers->paid_us};
    clear_numbers(numbers);
    *numbers = paid;
}

void hs_ledger_end_session(struct hs_ledger *ledger)
{
    end_session(&ledger->hits);
    end_session(&ledger->shots);
    free(ledger->cadences);
    ledger->cadences = NULL;
    ledger->cadence_count = ledger->cadence_capacity = 0;
}

void hs_ledger_note_ended(struct hs_ledger_numbers *numbers, uint64_t number, int64_t fire_time_us)
{
    note_paid(numbers, number, fire_time_us);
}

static void forget_times(struct hs_ledger_numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        numbers->entries[i].accepted = false;
    numbers->has_paid = false;
}

void hs_ledger_forget_times(struct hs_ledger *ledger)
{
    forget_times(&ledger->hits);
    forget_times(&ledger->shots);
    ledger->cadence_count = 0;
}

static size_t numbers_bytes(const struct hs_ledger_numbers *numbers)
{
    if (numbers->entries == NULL)
        return 0;
    size_t bytes = HS_LEDGER_NUMBERS * sizeof numbers->entries[0];
    for (uint32_t i = 0; i < numbers->count; i++) {
        const struct hs_posted_shot *shot = numbers->entries[i].shot;
        bytes += numbers->entries[i].answer_size;
        if (shot != NULL)
            bytes += sizeof *shot + shot->direction_count * sizeof shot->directions[0];
    }
    return bytes;
}

size_t hs_ledger_bytes(const struct hs_ledger *ledger)
{
    return numbers_bytes(&ledger->hits) + numbers_bytes(&ledger->shots) +
           ledger->cadence_capacity * sizeof ledger->cadences[0];
}

/* ---- numbers ---- */

/* How many entries have a lower number. */
static uint32_t count_below(const struct hs_ledger_numbers *numbers, uint64_t number)
{
    uint32_t low = 0, high = numbers->count;
    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (numbers->entries[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct hs_ledger_entry *hs_ledger_find(const struct hs_ledger_numbers *numbers,
                                             uint64_t number)
{
    uint32_t i = count_below(numbers, number);
    bool found = i < numbers->count && numbers->entries[i].number == number;
    return found ? &numbers->entries[i] : NULL;
}

const struct hs_ledger_entry *hs_ledger_accepted_before(const struct hs_ledger_numbers *numbers,
                                                        uint64_t number)
{
    for (uint32_t i = count_below(numbers, number); i-- > 0;)
        if (numbers->entries[i].accepted)
            return &numbers->entries[i];
    return NULL;
}

bool hs_ledger_is_forgotten(const struct hs_ledger_numbers *numbers, uint64_t number,
                            int64_t fire_time_us)
{
    return (numbers->has_floor && number <= numbers->floor &&
            numbers->floor - number <= HS_SHOT_JUMP) ||
           (numbers->has_paid && number <= numbers->paid_number &&
            fire_time_us <= numbers->paid_us);
}

bool hs_ledger_is_jump(const struct hs_ledger_numbers *numbers, uint64_t number)
{
    uint32_t above = count_below(numbers, number);
    bool is_near_below = above > 0 && number - numbers->entries[above - 1].number <= HS_SHOT_JUMP;
    bool is_near_above =
        above < numbers->count && numbers->entries[above].number - number <= HS_SHOT_JUMP;
    return numbers->count > 0 && !is_near_below && !is_near_above;
}

/* A copy, or NULL for nothing; *failed is set when memory is out. */
static void *copy_bytes(const void *bytes, size_t size, bool *failed)
{
    if (bytes == NULL || size == 0)
        return NULL;
    void *copy = malloc(size);
    if (copy != NULL)
        memcpy(copy, bytes, size);
    else
        *failed = true;
    return copy;
}

static bool copy_entry(const struct hs_ledger_entry *entry, struct hs_ledger_entry *out)
{
    bool failed = false;
    *out = *entry;
    out->answer = copy_bytes(entry->answer, entry->answer_size, &failed);
    out->shot = copy_bytes(entry->shot, sizeof *entry->shot, &failed);
    if (out->shot != NULL)
        out->shot->directions =
            copy_bytes(entry->shot->directions,
                       entry->shot->direction_count * sizeof entry->shot->directions[0], &failed);
    if (failed)
        free_entry(out);
    return !failed;
}

/* The first noted and not the lowest: a client that begins a count anew, or pretends to, must find
   what it used before still there. */
static void forget_first(struct hs_ledger_numbers *numbers)
{
    struct hs_ledger_entry *first = &numbers->entries[0], *end = first + numbers->count;
    for (struct hs_ledger_entry *entry = first + 1; entry < end; entry++)
        if (entry->noted < first->noted)
            first = entry;
    bool is_new_count =
        first->number < numbers->floor && numbers->floor - first->number > HS_SHOT_JUMP;
    if (!numbers->has_floor || first->number > numbers->floor || is_new_count)
        numbers->floor = first->number;
    numbers->has_floor = true;
    if (first->accepted)
        note_paid(numbers, first->number, first->fire_time_us);
    free_entry(first);
    memmove(first, first + 1, (size_t)(end - first - 1) * sizeof *first);
    numbers->count--;
}

bool hs_ledger_note(struct hs_ledger_numbers *numbers, const struct hs_ledger_entry *entry)
{
    struct hs_ledger_entry copy;
    if (!copy_entry(entry, &copy))
        return false;
    if (numbers->entries == NULL)
        numbers->entries = calloc(HS_LEDGER_NUMBERS, sizeof numbers->entries[0]);
    if (numbers->entries == NULL) {
        free_entry(&copy);
        return false;
    }
    copy.noted = numbers->notes++;
    if (numbers->count == HS_LEDGER_NUMBERS)
        forget_first(numbers);
    uint32_t place = count_below(numbers, entry->number);
    memmove(&numbers->entries[place + 1], &numbers->entries[place],
            (numbers->count - place) * sizeof numbers->entries[0]);
    numbers->entries[place] = copy;
    numbers->count++;
    return true;
}

/* ---- cadence ---- */

const struct hs_cadence *hs_ledger_cadence(const struct hs_ledger *ledger, uint16_t weapon)
{
    for (uint16_t i = 0; i < ledger->cadence_count; i++)
        if (ledger->cadences[i].weapon == weapon)
            return &ledger->cadences[i];
    return NULL;
}

static uint16_t shots_before(const struct hs_cadence *cadence, int64_t fire_time_us)
{
    uint16_t i = cadence->count;
    while (i > 0 && cadence->fire_time_us[i - 1] > fire_time_us)
        i--;
    return i;
}

bool hs_cadence_mean_gap(const struct hs_cadence *cadence, int64_t fire_time_us, int64_t *mean_us)
{
    int64_t times[HS_LEDGER_SHOTS + 1];
    int place = shots_before(cadence, fire_time_us), count = cadence->count + 1;
    memcpy(times, cadence->fire_time_us, (size_t)place * sizeof times[0]);
    times[place] = fire_time_us;
    memcpy(times + place + 1, cadence->fire_time_us + place,
           (size_t)(cadence->count - place) * sizeof times[0]);
    int gaps = count - 1 < GAPS ? count - 1 : GAPS;
    if (gaps < FEWEST_GAPS)
        return false;
    int64_t smallest = INT64_MAX;
    for (int first = 0; first + gaps < count; first++) {
        int64_t span = times[first + gaps] - times[first];
        if (first <= place && place <= first + gaps && span < smallest)
            smallest = span;
    }
    *mean_us = smallest / gaps;
    return true;
}

uint32_t hs_cadence_rounds(const struct hs_cadence *cadence, int64_t fire_time_us,
                           int64_t reload_us)
{
    int64_t last_us = cadence->count > 0 ? cadence->fire_time_us[cadence->count - 1] : INT64_MIN;
    if (cadence->count == 0 || fire_time_us - last_us >= reload_us)
        return 1;
    return cadence->rounds + 1;
}

/* The cadence of a weapon, made where there is none. NULL: out of memory. */
static struct hs_cadence *make_cadence(struct hs_ledger *ledger, uint16_t weapon)
{
    for (uint16_t i = 0; i < ledger->cadence_count; i++)
        if (ledger->cadences[i].weapon == weapon)
            return &ledger->cadences[i];
    if (ledger->cadence_count == ledger->cadence_capacity) {
        uint16_t capacity = (uint16_t)(ledger->cadence_capacity * 2 + 2);
        struct hs_cadence *cadences = realloc(ledger->cadences, capacity * sizeof *cadences);
        if (cadences == NULL)
            return NULL;
        ledger->cadences = cadences;
        ledger->cadence_capacity = capacity;
    }
    struct hs_cadence *cadence = &ledger->cadences[ledger->cadence_count++];
    *cadence = (struct hs_cadence){.weapon = weapon};
    return cadence;
}

bool hs_ledger_note_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                         int64_t reload_us)
{
    struct hs_cadence *cadence = make_cadence(ledger, weapon);
    if (cadence == NULL)
        return false;
    cadence->rounds = hs_cadence_rounds(cadence, fire_time_us, reload_us);
    if (cadence->strict > 0)
        cadence->strict--;
    uint16_t place = shots_before(cadence, fire_time_us);
    if (cadence->count == HS_LEDGER_SHOTS) {
        if (place == 0)
            return true;
        memmove(cadence->fire_time_us, cadence->fire_time_us + 1,
                (HS_LEDGER_SHOTS - 1) * sizeof cadence->fire_time_us[0]);
        cadence->count--;
        place--;
    }
    memmove(&cadence->fire_time_us[place + 1], &cadence->fire_time_us[place],
            (size_t)(cadence->count - place) * sizeof cadence->fire_time_us[0]);
    cadence->fire_time_us[place] = fire_time_us;
    cadence->count++;
    return true;
}

bool hs_ledger_note_too_fast(struct hs_ledger *ledger, uint16_t weapon)
{
    struct hs_cadence *cadence = make_cadence(ledger, weapon);
    if (cadence == NULL)
        return false;
    cadence->strict = STRICT_SHOTS;
    return true;
}
