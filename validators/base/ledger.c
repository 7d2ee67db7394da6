#include "validators/base/ledger.h"

#include <stdlib.h>
#include <string.h>

/* FIRST_PLACES is the initial and minimum capacity of a table of numbers. The array of cadences
   grows by CADENCES elements. */
enum { FIRST_PLACES = 2 };
enum { CADENCES = 2 };

/* ---- memory ---- */

static size_t charge_of(size_t bytes)
{
    return bytes > HS_LEDGER_RESERVE ? bytes : HS_LEDGER_RESERVE;
}

static size_t beyond_reserve(const struct hs_ledger *ledger, size_t more)
{
    return charge_of(ledger->bytes + more) - charge_of(ledger->bytes);
}

static bool reserve(struct hs_ledger *ledger, size_t bytes)
{
    if (!hs_budget_reserve(ledger->budget, beyond_reserve(ledger, bytes)))
        return false;
    ledger->bytes += bytes;
    return true;
}

static void release(struct hs_ledger *ledger, size_t bytes)
{
    size_t before = charge_of(ledger->bytes);
    ledger->bytes -= bytes;
    hs_budget_release(ledger->budget, before - charge_of(ledger->bytes));
}

static size_t shot_bytes(const struct hs_posted_shot *shot)
{
    return shot == NULL ? 0 : sizeof *shot + shot->direction_count * sizeof shot->directions[0];
}

static void free_answer(struct hs_ledger_entry *entry)
{
    free(entry->answer);
    entry->answer = NULL;
    entry->answer_size = 0;
}

static void free_shot(struct hs_ledger_entry *entry)
{
    if (entry->shot != NULL)
        free(entry->shot->directions);
    free(entry->shot);
    entry->shot = NULL;
}

void hs_ledger_free_entry(struct hs_ledger_entry *entry)
{
    free_shot(entry);
    free_answer(entry);
}

static size_t numbers_bytes(const struct hs_ledger_numbers *numbers)
{
    size_t bytes = numbers->capacity * sizeof numbers->entries[0];
    for (uint32_t i = 0; i < numbers->count; i++)
        bytes += numbers->entries[i].answer_size + shot_bytes(numbers->entries[i].shot);
    return bytes;
}

size_t hs_ledger_bytes(const struct hs_ledger *ledger)
{
    return numbers_bytes(&ledger->hits) + numbers_bytes(&ledger->shots) +
           ledger->cadence_capacity * sizeof ledger->cadences[0];
}

static void clear_numbers(struct hs_ledger_numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        hs_ledger_free_entry(&numbers->entries[i]);
    free(numbers->entries);
    *numbers = (struct hs_ledger_numbers){0};
}

static void clear_cadences(struct hs_ledger *ledger)
{
    free(ledger->cadences);
    ledger->cadences = NULL;
    ledger->cadence_count = ledger->cadence_capacity = 0;
}

void hs_ledger_clear(struct hs_ledger *ledger)
{
    release(ledger, ledger->bytes);
    clear_numbers(&ledger->hits);
    clear_numbers(&ledger->shots);
    clear_cadences(ledger);
}

void hs_ledger_record_paid(struct hs_ledger_numbers *numbers, int64_t fire_time_us)
{
    if (!numbers->has_paid || fire_time_us > numbers->paid_us)
        numbers->paid_us = fire_time_us;
    numbers->has_paid = true;
}

static void end_session(struct hs_ledger_numbers *numbers)
{
    for (uint32_t i = 0; i < numbers->count; i++)
        if (numbers->entries[i].accepted)
            hs_ledger_record_paid(numbers, numbers->entries[i].fire_time_us);
    struct hs_ledger_numbers paid = {.has_paid = numbers->has_paid, .paid_us = numbers->paid_us};
    clear_numbers(numbers);
    *numbers = paid;
}

void hs_ledger_end_session(struct hs_ledger *ledger)
{
    size_t cadences = ledger->cadence_capacity * sizeof ledger->cadences[0];
    release(ledger, ledger->bytes - cadences);
    end_session(&ledger->hits);
    end_session(&ledger->shots);
    for (uint16_t i = 0; i < ledger->cadence_count; i++)
        ledger->cadences[i].rounds = 0;
}

void hs_ledger_record_lacked(struct hs_ledger_numbers *numbers, int64_t fire_time_us)
{
    if (!numbers->lacks_some || fire_time_us < numbers->lacked_from_us)
        numbers->lacked_from_us = fire_time_us;
    if (!numbers->lacks_some || fire_time_us > numbers->lacked_until_us)
        numbers->lacked_until_us = fire_time_us;
    numbers->lacks_some = true;
}

static void forget_times(struct hs_ledger_numbers *numbers)
{
    numbers->lacks_some = false;
    numbers->held_from_us = 0;
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

/* ---- entries ---- */

/* Returns a copy of the bytes, or NULL for 0 bytes. Sets *failed if out of memory. */
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
    if (out->answer == NULL)
        out->answer_size = 0;
    if (failed)
        hs_ledger_free_entry(out);
    return !failed;
}

static void remove_entry(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                         struct hs_ledger_entry *entry)
{
    struct hs_ledger_entry *end = numbers->entries + numbers->count;
    if (entry->answer != NULL)
        numbers->answers--;
    release(ledger, entry->answer_size + shot_bytes(entry->shot));
    hs_ledger_free_entry(entry);
    memmove(entry, entry + 1, (size_t)(end - entry - 1) * sizeof *entry);
    numbers->count--;
}

/* Returns whether the number of an entry is free: the ledger can forget a free number without harm.
   A number that was not accepted is always free. */
static bool is_free(const struct hs_ledger *ledger, const struct hs_ledger_entry *entry)
{
    return !entry->accepted || entry->fire_time_us < ledger->free_before_us;
}

/* Returns the entry that was recorded first, or NULL if the table is empty. */
static struct hs_ledger_entry *find_first(const struct hs_ledger_numbers *numbers)
{
    struct hs_ledger_entry *first = NULL;
    for (uint32_t i = 0; i < numbers->count; i++) {
        struct hs_ledger_entry *entry = &numbers->entries[i];
        if (first == NULL || entry->noted < first->noted)
            first = entry;
    }
    return first;
}

/* Returns the free entry (is_free) that was recorded first. If no entry is free, returns NULL and
   sets held_from_us, so that later calls need not search. */
static struct hs_ledger_entry *find_free(const struct hs_ledger *ledger,
                                         struct hs_ledger_numbers *numbers)
{
    if (numbers->held_from_us != 0 && ledger->free_before_us <= numbers->held_from_us)
        return NULL;
    struct hs_ledger_entry *first = NULL;
    int64_t earliest_us = INT64_MAX;
    for (uint32_t i = 0; i < numbers->count; i++) {
        struct hs_ledger_entry *entry = &numbers->entries[i];
        if (entry->fire_time_us < earliest_us)
            earliest_us = entry->fire_time_us;
        if (is_free(ledger, entry) && (first == NULL || entry->noted < first->noted))
            first = entry;
    }
    numbers->held_from_us = first == NULL ? earliest_us : 0;
    return first;
}

/* Forgets the free number that was recorded first. If no number is free, forgets the number that
   was recorded first, and remembers its fire time. */
static void forget_first(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers)
{
    struct hs_ledger_entry *first = find_free(ledger, numbers);
    if (first == NULL) {
        first = find_first(numbers);
        hs_ledger_record_paid(numbers, first->fire_time_us);
        numbers->was_cut = true;
    }
    remove_entry(ledger, numbers, first);
}

/* ---- making space ---- */

/* Returns the entry with the oldest answer, or NULL if no answer is left. The search begins where
   the last answer was dropped. Numbers mostly increase, so the oldest answer is usually in the next
   entry. */
static struct hs_ledger_entry *find_first_answer(const struct hs_ledger_numbers *numbers)
{
    struct hs_ledger_entry *first = NULL;
    uint32_t at = numbers->first_answer_at;
    for (uint32_t i = 0; i < numbers->count; i++, at++) {
        at = at < numbers->count ? at : 0;
        struct hs_ledger_entry *entry = &numbers->entries[at];
        if (entry->answer == NULL || (first != NULL && entry->noted > first->noted))
            continue;
        first = entry;
        if (entry->noted == numbers->first_answer)
            break;
    }
    return first;
}

/* Drops the oldest answer. Returns false if no answer is left. */
static bool give_up_first_answer(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers)
{
    struct hs_ledger_entry *first = find_first_answer(numbers);
    if (first == NULL)
        return false;
    numbers->answers--;
    numbers->first_answer = first->noted + 1;
    numbers->first_answer_at = (uint16_t)(first - numbers->entries);
    release(ledger, first->answer_size);
    free_answer(first);
    return true;
}

/* Drops the oldest answer to a hit if more hits than shots have answers, otherwise the oldest
   answer to a shot. Returns false if no answer is left. */
static bool give_up_answer(struct hs_ledger *ledger)
{
    return give_up_first_answer(
        ledger, ledger->hits.answers > ledger->shots.answers ? &ledger->hits : &ledger->shots);
}

void hs_ledger_free_answers(struct hs_ledger *ledger, size_t bytes)
{
    while (ledger->hits.answers + ledger->shots.answers > HS_LEDGER_ANSWERS &&
           !hs_budget_has(ledger->budget, bytes) && give_up_answer(ledger))
        continue;
}

/* Halves the capacity for hits or the capacity for shots, whichever is larger. If both are at most
   FIRST_PLACES, forgets one posted shot instead. Forgetting a hit would free little memory. Returns
   false if no memory was freed. */
static bool give_up_numbers(struct hs_ledger *ledger)
{
    struct hs_ledger_numbers *numbers =
        ledger->hits.capacity > ledger->shots.capacity ? &ledger->hits : &ledger->shots;
    uint32_t half = numbers->capacity / 2;
    if (half < FIRST_PLACES) {
        if (ledger->shots.count == 0)
            return false;
        forget_first(ledger, &ledger->shots);
        return true;
    }
    while (numbers->count > half)
        forget_first(ledger, numbers);
    struct hs_ledger_entry *entries = realloc(numbers->entries, half * sizeof *entries);
    if (entries == NULL)
        return false;
    release(ledger, (numbers->capacity - half) * sizeof *entries);
    numbers->entries = entries;
    numbers->capacity = half;
    return true;
}

static bool reserve_for_cadences(struct hs_ledger *ledger, size_t bytes)
{
    while (!reserve(ledger, bytes))
        if (!give_up_answer(ledger) && !give_up_numbers(ledger))
            return false;
    return true;
}

/* Reserves bytes for data that must be recorded. If necessary, frees all other memory of the
   ledger, so that the bytes fit into HS_LEDGER_RESERVE. */
static bool reserve_surely(struct hs_ledger *ledger, size_t bytes)
{
    if (reserve_for_cadences(ledger, bytes))
        return true;
    hs_ledger_clear_cadences(ledger);
    return reserve(ledger, bytes);
}

/* Reserves bytes for data that the ledger can do without. To make space, drops answers but no
   numbers. */
static bool reserve_for_answers(struct hs_ledger *ledger, size_t bytes)
{
    while (!reserve(ledger, bytes))
        if (!give_up_answer(ledger))
            return false;
    return true;
}

/* Reserves bytes for a posted shot. To make space, drops answers, and then forgets shots. */
static bool reserve_for_shot(struct hs_ledger *ledger, size_t bytes)
{
    while (!reserve_for_answers(ledger, bytes)) {
        if (ledger->shots.count == 0)
            return false;
        forget_first(ledger, &ledger->shots);
    }
    return true;
}

/* ---- recording ---- */

bool hs_ledger_make_places(struct hs_ledger_numbers *numbers, uint32_t count)
{
    uint32_t capacity = FIRST_PLACES;
    while (capacity < count)
        capacity *= 2;
    struct hs_ledger_entry *entries = realloc(numbers->entries, capacity * sizeof *entries);
    if (entries == NULL)
        return false;
    numbers->entries = entries;
    numbers->capacity = capacity;
    return true;
}

/* Returns a free entry to remove, so that a table with HS_LEDGER_NUMBERS entries or more need not
   grow. Returns NULL if the table has fewer entries, or if no entry is free. */
static struct hs_ledger_entry *find_spare(const struct hs_ledger *ledger,
                                          struct hs_ledger_numbers *numbers)
{
    return numbers->count >= HS_LEDGER_NUMBERS ? find_free(ledger, numbers) : NULL;
}

/* Reserves bytes for more numbers in a table that has space for `capacity` numbers. If memory runs
   short, frees other memory of the ledger. If `capacity` is 0, all other memory may be freed. If
   `capacity` is below HS_LEDGER_NUMBERS, only answers may be freed. Otherwise nothing is freed. */
static bool reserve_places(struct hs_ledger *ledger, uint32_t capacity, size_t bytes)
{
    if (capacity == 0)
        return reserve_surely(ledger, bytes);
    return capacity < HS_LEDGER_NUMBERS ? reserve_for_answers(ledger, bytes)
                                        : reserve(ledger, bytes);
}

/* Makes space for one more entry. If the table cannot grow, forgets a number. Returns false if out
   of memory. */
static bool make_place(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers)
{
    struct hs_ledger_entry *spare;
    while ((spare = find_spare(ledger, numbers)) != NULL)
        remove_entry(ledger, numbers, spare);
    if (numbers->count < numbers->capacity)
        return true;
    uint32_t before = numbers->capacity, wanted = before == 0 ? FIRST_PLACES : 2 * before;
    size_t more = (wanted - before) * sizeof numbers->entries[0];
    bool may_grow = before < HS_LEDGER_MAX_NUMBERS && reserve_places(ledger, before, more);
    if (may_grow) {
        if (hs_ledger_make_places(numbers, wanted))
            return true;
        release(ledger, more);
        return false;
    }
    if (numbers->count == 0)
        return false;
    forget_first(ledger, numbers);
    return true;
}

size_t hs_ledger_need(const struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry, bool adds_cadence)
{
    size_t bytes = entry->answer_size + shot_bytes(entry->shot);
    if (adds_cadence && ledger->cadence_count == ledger->cadence_capacity)
        bytes += CADENCES * sizeof(struct hs_cadence);
    uint32_t places = numbers->capacity == 0 ? FIRST_PLACES : numbers->capacity;
    if (numbers->count == numbers->capacity && numbers->capacity < HS_LEDGER_MAX_NUMBERS &&
        find_spare(ledger, numbers) == NULL)
        bytes += places * sizeof *entry;
    return beyond_reserve(ledger, bytes);
}

/* Returns whether a claim was fired before an accepted claim with a higher number, but arrives
   after that claim. The number of such a claim must not become last_accepted. */
static bool is_late(const struct hs_ledger_numbers *numbers, const struct hs_ledger_entry *entry)
{
    uint64_t last = numbers->last_accepted;
    if (!numbers->has_accepted || entry->number >= last || last - entry->number > HS_LEDGER_NUMBERS)
        return false;
    const struct hs_ledger_entry *newest = hs_ledger_find(numbers, last);
    return newest != NULL && newest->accepted && entry->fire_time_us < newest->fire_time_us;
}

bool hs_ledger_record(struct hs_ledger *ledger, struct hs_ledger_numbers *numbers,
                      const struct hs_ledger_entry *entry)
{
    struct hs_ledger_entry copy;
    if (!copy_entry(entry, &copy))
        return false;
    uint32_t same = hs_ledger_count_below(numbers, entry->number);
    if (same < numbers->count && numbers->entries[same].number == entry->number)
        remove_entry(ledger, numbers, &numbers->entries[same]);
    if (!make_place(ledger, numbers)) {
        hs_ledger_free_entry(&copy);
        return false;
    }
    if (!reserve_for_shot(ledger, shot_bytes(copy.shot))) {
        free_shot(&copy);
        hs_ledger_record_lacked(numbers, copy.fire_time_us);
    }
    if (numbers->answers >= HS_LEDGER_NUMBERS)
        give_up_first_answer(ledger, numbers);
    if (!reserve_for_answers(ledger, copy.answer_size))
        free_answer(&copy);
    if (copy.answer != NULL)
        numbers->answers++;
    copy.noted = numbers->notes++;
    if (!copy.accepted)
        numbers->held_from_us = 0;
    else if (copy.fire_time_us < numbers->held_from_us && numbers->held_from_us != 0)
        numbers->held_from_us = copy.fire_time_us;
    if (copy.accepted && !is_late(numbers, &copy)) {
        numbers->last_accepted = copy.number;
        numbers->has_accepted = true;
    }
    uint32_t place = hs_ledger_count_below(numbers, entry->number);
    memmove(&numbers->entries[place + 1], &numbers->entries[place],
            (numbers->count - place) * sizeof numbers->entries[0]);
    numbers->entries[place] = copy;
    numbers->count++;
    return true;
}

/* ---- cadence ---- */

static struct hs_cadence *find_cadence(const struct hs_ledger *ledger, uint16_t weapon)
{
    for (uint16_t i = 0; i < ledger->cadence_count; i++)
        if (ledger->cadences[i].weapon == weapon)
            return &ledger->cadences[i];
    return NULL;
}

const struct hs_cadence *hs_ledger_cadence(const struct hs_ledger *ledger, uint16_t weapon)
{
    return find_cadence(ledger, weapon);
}

/* Returns an idle cadence, or NULL. A cadence is idle if its weapon has earned the tokens of all
   its shots before ledger->free_before_us. Claims that can still pass have later fire times. */
static struct hs_cadence *find_idle(const struct hs_ledger *ledger)
{
    for (uint16_t i = 0; i < ledger->cadence_count; i++) {
        struct hs_cadence *cadence = &ledger->cadences[i];
        if (cadence->interval_us > 0 &&
            hs_cadence_settled(cadence, cadence->interval_us) < ledger->free_before_us)
            return cadence;
    }
    return NULL;
}

/* Returns an element for a new cadence, or NULL if out of memory. If memory runs short, reuses an
   idle cadence; if no cadence is idle, drops answers and numbers. */
static struct hs_cadence *add_cadence(struct hs_ledger *ledger)
{
    if (ledger->cadence_count < ledger->cadence_capacity)
        return &ledger->cadences[ledger->cadence_count++];
    size_t capacity = ledger->cadence_capacity + CADENCES,
           more = CADENCES * sizeof(struct hs_cadence);
    if (!reserve(ledger, more)) {
        struct hs_cadence *idle = find_idle(ledger);
        if (idle != NULL)
            return idle;
        if (!reserve_for_cadences(ledger, more))
            return NULL;
    }
    struct hs_cadence *cadences = realloc(ledger->cadences, capacity * sizeof *cadences);
    if (cadences == NULL) {
        release(ledger, more);
        return NULL;
    }
    ledger->cadences = cadences;
    ledger->cadence_capacity = (uint16_t)capacity;
    return &ledger->cadences[ledger->cadence_count++];
}

/* Finds or adds the cadence of a weapon. Returns NULL if out of memory. */
static struct hs_cadence *make_cadence(struct hs_ledger *ledger, uint16_t weapon)
{
    struct hs_cadence *cadence = find_cadence(ledger, weapon);
    if (cadence != NULL)
        return cadence;
    cadence = add_cadence(ledger);
    if (cadence != NULL)
        *cadence = hs_cadence_of(weapon);
    return cadence;
}

bool hs_ledger_reserve_cadence(struct hs_ledger *ledger, uint16_t weapon)
{
    return make_cadence(ledger, weapon) != NULL;
}

bool hs_ledger_record_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                           int64_t interval_us, int64_t reload_us)
{
    struct hs_cadence *cadence = make_cadence(ledger, weapon);
    if (cadence != NULL)
        hs_cadence_record(cadence, fire_time_us, interval_us, reload_us);
    return cadence != NULL;
}

void hs_ledger_return_shot(struct hs_ledger *ledger, uint16_t weapon, int64_t fire_time_us,
                           int64_t reload_us)
{
    struct hs_cadence *cadence = find_cadence(ledger, weapon);
    if (cadence != NULL)
        hs_cadence_return(cadence, fire_time_us, reload_us);
}

void hs_ledger_settle(struct hs_ledger *ledger, uint16_t weapon, int64_t settled_us)
{
    struct hs_cadence *cadence = make_cadence(ledger, weapon);
    if (cadence != NULL && settled_us > cadence->settled_us)
        cadence->settled_us = settled_us;
}

void hs_ledger_clear_cadences(struct hs_ledger *ledger)
{
    release(ledger, ledger->cadence_capacity * sizeof ledger->cadences[0]);
    clear_cadences(ledger);
}
