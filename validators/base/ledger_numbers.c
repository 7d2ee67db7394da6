/* Queries that do not change the ledger. */
#include "validators/base/ledger.h"

uint32_t hs_ledger_count_below(const struct hs_ledger_numbers *numbers, uint64_t number)
{
    uint32_t low = numbers->count, high = low;
    /* New numbers are mostly the largest, so the search begins at the end, with steps that
       double. */
    for (uint32_t step = 1; low > 0 && numbers->entries[low - 1].number >= number; step *= 2) {
        high = low - 1;
        low -= step < low ? step : low;
    }
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
    uint32_t i = hs_ledger_count_below(numbers, number);
    bool found = i < numbers->count && numbers->entries[i].number == number;
    return found ? &numbers->entries[i] : NULL;
}

struct hs_ledger_entry *hs_ledger_posted(struct hs_ledger *ledger, uint64_t number)
{
    const struct hs_ledger_entry *entry = hs_ledger_find(&ledger->shots, number);
    return entry != NULL ? &ledger->shots.entries[entry - ledger->shots.entries] : NULL;
}

const struct hs_ledger_entry *hs_ledger_accepted_before(const struct hs_ledger_numbers *numbers,
                                                        uint64_t number)
{
    uint64_t last = numbers->last_accepted;
    bool is_before = numbers->has_accepted && last < number && number - last <= HS_LEDGER_NUMBERS;
    const struct hs_ledger_entry *entry = is_before ? hs_ledger_find(numbers, last) : NULL;
    return entry != NULL && entry->accepted ? entry : NULL;
}

static int64_t distance(int64_t a, int64_t b)
{
    return a > b ? a - b : b - a;
}

/* Two places count as the same if they are at most this share of the trace's length apart. */
#define SAME_PLACE 1e-6

bool hs_ledger_is_same_trace(const struct hs_ledger_entry *entry, struct hs_vec start,
                             struct hs_vec end)
{
    double slack = SAME_PLACE * hs_vec_distance(start, end);
    return hs_vec_distance(start, entry->start) <= slack &&
           hs_vec_distance(end, entry->end) <= slack;
}

bool hs_ledger_is_compared(const struct hs_ledger_entry *entry, int64_t hit_time_us)
{
    return entry->accepted && entry->has_offset &&
           distance(entry->hit_time_us, hit_time_us) <= HS_OFFSET_WINDOW_US;
}

int64_t hs_ledger_offset_jump(const struct hs_ledger_numbers *numbers, int64_t hit_time_us,
                              int64_t offset_us)
{
    int64_t jump = 0;
    for (uint32_t i = 0; i < numbers->count; i++) {
        const struct hs_ledger_entry *entry = &numbers->entries[i];
        if (!hs_ledger_is_compared(entry, hit_time_us))
            continue;
        int64_t by = distance(entry->offset_us, offset_us);
        jump = by > jump ? by : jump;
    }
    return jump;
}

bool hs_ledger_is_used(const struct hs_ledger_numbers *numbers, uint64_t number,
                       int64_t free_before_us)
{
    const struct hs_ledger_entry *entry = hs_ledger_find(numbers, number);
    return entry != NULL && entry->fire_time_us >= free_before_us;
}

bool hs_ledger_is_forgotten(const struct hs_ledger_numbers *numbers, int64_t fire_time_us)
{
    return numbers->has_paid && fire_time_us <= numbers->paid_us;
}
