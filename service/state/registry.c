#include "service/state/registry.h"

#include <stdint.h>
#include <stdlib.h>

#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/store/matches.h"
#include "service/system/clock.h"
#include "validators/base/budget_inside.h"
#include "validators/journal.h"

struct hs_registry {
    pthread_mutex_t lock; /* guards the table and new references; no thread holds it for long */
    atomic_size_t count;
    size_t limit;
    struct hs_match_slot **table; /* hash chains, by name */
    size_t table_size;            /* a power of two */
    struct hs_ruleset_store *rulesets;
    struct hs_map_store *maps;
    uint64_t newest_opening;
    bool keeps_journals;
    atomic_size_t players, movers, accounts,
        memory_limited;      /* sums over the matches in the table */
    size_t match_bytes;      /* limit for each match */
    struct hs_budget budget; /* memory budget for all matches */
};

enum { FIRST_BUCKETS = 64 };

struct hs_match_limits hs_registry_match_limits(struct hs_registry *registry,
                                                const struct hs_options *options)
{
    return (struct hs_match_limits){.players = (uint32_t)options->max_players,
                                    .samples = (uint32_t)options->max_samples,
                                    .movers = (uint32_t)options->max_movers,
                                    .bytes = registry->match_bytes,
                                    .shared = &registry->budget};
}

struct hs_registry *hs_registry_create(size_t max_matches, struct hs_ruleset_store *rulesets,
                                       struct hs_map_store *maps)
{
    struct hs_registry *registry = calloc(1, sizeof *registry);
    if (registry == NULL)
        return NULL;
    registry->limit = max_matches;
    registry->match_bytes = SIZE_MAX;
    hs_budget_init(&registry->budget, SIZE_MAX, NULL);
    registry->rulesets = rulesets;
    registry->maps = maps;
    registry->table_size = FIRST_BUCKETS;
    registry->table = calloc(registry->table_size, sizeof(struct hs_match_slot *));
    if (registry->table == NULL) {
        free(registry);
        return NULL;
    }
    pthread_mutex_init(&registry->lock, NULL);
    return registry;
}

/* ---- memory ---- */

void hs_registry_limit_bytes(struct hs_registry *registry, size_t match_bytes, size_t all_bytes)
{
    registry->match_bytes = match_bytes;
    hs_budget_init(&registry->budget, all_bytes, NULL);
}

size_t hs_registry_bytes(const struct hs_registry *registry)
{
    return hs_budget_used(&registry->budget);
}

enum hs_registry_result hs_registry_capacity(struct hs_registry *registry)
{
    if (registry->count >= registry->limit)
        return HS_REGISTRY_FULL;
    bool has_capacity = hs_registry_bytes(registry) < registry->budget.limit / 10 * 9 &&
                        hs_budget_has(&registry->budget, hs_match_min_bytes());
    return has_capacity ? HS_REGISTRY_CREATED : HS_REGISTRY_NO_HISTORY;
}

void hs_registry_record_post(struct hs_match_slot *slot, int64_t now_us)
{
    slot->used_us = now_us;
    if (hs_match_was_refused(slot->match))
        slot->memory_limited = true;
    else if (slot->memory_limited)
        slot->memory_limited = !hs_match_has_space(slot->match);
}

static void destroy_slot(struct hs_registry *registry, struct hs_match_slot *slot)
{
    hs_match_destroy(slot->match);
    hs_ruleset_store_release(registry->rulesets, slot->ruleset);
    hs_map_store_release(registry->maps, slot->map);
    pthread_mutex_destroy(&slot->turn);
    pthread_mutex_destroy(&slot->lock);
    free(slot->journal.data);
    hs_shared_match_release(atomic_load(&slot->shared));
    free(slot);
}

void hs_registry_destroy(struct hs_registry *registry)
{
    if (registry == NULL)
        return;
    for (size_t i = 0; i < registry->table_size; i++) {
        while (registry->table[i] != NULL) {
            struct hs_match_slot *slot = registry->table[i];
            registry->table[i] = slot->next;
            destroy_slot(registry, slot);
        }
    }
    pthread_mutex_destroy(&registry->lock);
    free(registry->table);
    free(registry);
}

static struct hs_match_slot **bucket(struct hs_registry *registry, struct hs_str name)
{
    return &registry->table[hs_str_hash(name) & (registry->table_size - 1)];
}

static struct hs_match_slot *find(struct hs_registry *registry, struct hs_str name)
{
    struct hs_match_slot *slot = *bucket(registry, name);
    while (slot != NULL && !hs_str_equal(hs_name_str(&slot->name), name))
        slot = slot->next;
    return slot;
}

/* Doubles the table when the number of matches reaches the number of buckets. If memory runs out,
   the chains become longer instead. The caller holds the lock. */
static void grow_table(struct hs_registry *registry)
{
    struct hs_match_slot **old = registry->table;
    size_t old_size = registry->table_size;
    if (registry->count < old_size)
        return;
    struct hs_match_slot **table = calloc(2 * old_size, sizeof *table);
    if (table == NULL)
        return;
    registry->table = table;
    registry->table_size = 2 * old_size;
    for (size_t i = 0; i < old_size; i++) {
        while (old[i] != NULL) {
            struct hs_match_slot *slot = old[i];
            struct hs_match_slot **head = bucket(registry, hs_name_str(&slot->name));
            old[i] = slot->next;
            slot->next = *head;
            *head = slot;
        }
    }
    free(old);
}

/* Returns the number of an opening: `given` for a restored opening, or a new number if `given` is
   0. New numbers are wall-clock times, so that a process that has restored nothing does not reuse
   old numbers. New numbers always increase, even if the clock is set back. */
static uint64_t number_opening(struct hs_registry *registry, uint64_t given)
{
    uint64_t number = (uint64_t)hs_clock_wall_us();
    if (number <= registry->newest_opening)
        number = registry->newest_opening + 1;
    if (given != 0)
        number = given;
    if (number > registry->newest_opening)
        registry->newest_opening = number;
    return number;
}

static void keep_journal(void *context, struct hs_match_slot *slot)
{
    (void)context;
    slot->is_kept = true;
    hs_match_set_journal(slot->match, &slot->journal);
}

void hs_registry_keep_journals(struct hs_registry *registry)
{
    registry->keeps_journals = true;
    hs_registry_each(registry, (struct hs_str){0}, keep_journal, NULL);
}

/* Creates a slot, and locks its match. Returns NULL if memory runs out or the memory budget is used
   up. The caller holds the registry's lock. */
static struct hs_match_slot *insert(struct hs_registry *registry, struct hs_str name,
                                    const struct hs_match_opening *opening)
{
    struct hs_match_slot *slot = calloc(1, sizeof *slot);
    if (slot == NULL)
        return NULL;
    slot->match = opening->match;
    if (slot->match == NULL)
        slot->match = hs_match_create(opening->ruleset->ruleset, &opening->limits);
    if (slot->match == NULL) {
        free(slot);
        return NULL;
    }
    pthread_mutex_init(&slot->turn, NULL);
    pthread_mutex_init(&slot->lock, NULL);
    /* Lock the match before other threads can find it, so that no other thread changes or deletes
       it first. No thread holds this lock yet, so this call does not wait. */
    hs_registry_lock(slot);
    hs_name_set(&slot->name, name);
    hs_name_set(&slot->tenant, opening->tenant);
    slot->opening = number_opening(registry, opening->number);
    if (registry->keeps_journals)
        hs_match_set_journal(slot->match, &slot->journal);
    slot->ruleset = opening->ruleset;
    hs_verdict_ids_begin(&slot->ids, &slot->tenant, &slot->name, slot->opening,
                         slot->ruleset->revision);
    slot->limits = opening->limits;
    hs_ruleset_store_retain(registry->rulesets, opening->ruleset);
    slot->map = opening->map;
    if (opening->map != NULL) {
        hs_map_store_retain(registry->maps, opening->map);
        hs_match_set_world(slot->match, opening->map->world);
    }
    slot->used_us = hs_clock_us();
    slot->references = 1; /* the table's reference */
    grow_table(registry);
    struct hs_match_slot **head = bucket(registry, name);
    slot->next = *head;
    *head = slot;
    registry->count++;
    return slot;
}

/* ---- the lock of a match ---- */

/* A mutex is not fair. A thread that unlocks a mutex and locks it again at once nearly always gets
   the mutex before the waiting threads. So only one waiting thread, which holds `turn`, waits for
   `lock`. All other waiting threads wait for `turn`. */
void hs_registry_lock(struct hs_match_slot *slot)
{
    if (!hs_registry_is_awaited(slot) && pthread_mutex_trylock(&slot->lock) == 0)
        return;
    if (pthread_mutex_trylock(&slot->turn) == 0) {
        if (pthread_mutex_trylock(&slot->lock) == 0) {
            pthread_mutex_unlock(&slot->turn);
            return;
        }
        atomic_fetch_add(&slot->waiting, 1);
    } else {
        atomic_fetch_add(&slot->waiting, 1);
        pthread_mutex_lock(&slot->turn);
    }
    pthread_mutex_lock(&slot->lock);
    atomic_fetch_sub(&slot->waiting, 1);
    pthread_mutex_unlock(&slot->turn);
}

void hs_registry_unlock(struct hs_match_slot *slot)
{
    pthread_mutex_unlock(&slot->lock);
}

bool hs_registry_is_awaited(struct hs_match_slot *slot)
{
    return atomic_load_explicit(&slot->waiting, memory_order_relaxed) > 0;
}

/* Updates the totals for a locked match. A difference may be negative. The totals are still
   correct, because unsigned numbers wrap. */
static void count_again(struct hs_registry *registry, struct hs_match_slot *slot)
{
    struct hs_match_info info = {0};
    bool memory_limited = !slot->closed && slot->memory_limited;
    if (!slot->closed)
        hs_match_info(slot->match, &info);
    if (info.players != slot->players)
        atomic_fetch_add(&registry->players, (size_t)info.players - slot->players);
    if (info.movers != slot->movers)
        atomic_fetch_add(&registry->movers, (size_t)info.movers - slot->movers);
    if (info.accounts != slot->accounts)
        atomic_fetch_add(&registry->accounts, (size_t)info.accounts - slot->accounts);
    if (memory_limited != slot->counted_limited)
        atomic_fetch_add(&registry->memory_limited, (size_t)memory_limited - slot->counted_limited);
    slot->players = info.players;
    slot->movers = info.movers;
    slot->accounts = info.accounts;
    slot->counted_limited = memory_limited;
}

bool hs_registry_yield(struct hs_registry *registry, struct hs_match_slot *slot)
{
    count_again(registry, slot);
    hs_registry_unlock(slot);
    hs_registry_lock(slot);
    return !slot->closed;
}

static bool belongs_to(const struct hs_match_slot *slot, struct hs_str tenant)
{
    return tenant.ptr == NULL || hs_str_equal(hs_name_str(&slot->tenant), tenant);
}

/* Returns whether another match may be opened. A restored match already uses its memory, so the
   memory limit does not apply to a restored match. */
static enum hs_registry_result capacity_for(struct hs_registry *registry,
                                            const struct hs_match_opening *opening)
{
    enum hs_registry_result result = hs_registry_capacity(registry);
    bool is_restored = opening != NULL && opening->match != NULL;
    return result == HS_REGISTRY_NO_HISTORY && is_restored ? HS_REGISTRY_CREATED : result;
}

enum hs_registry_result hs_registry_acquire(struct hs_registry *registry, struct hs_str tenant,
                                            struct hs_str name,
                                            const struct hs_match_opening *opening,
                                            struct hs_match_slot **slot)
{
    for (;;) {
        enum hs_registry_result result = HS_REGISTRY_FOUND;
        pthread_mutex_lock(&registry->lock);
        struct hs_match_slot *found = find(registry, name);
        /* Check only once, because the used memory may change between two checks. */
        enum hs_registry_result has_capacity =
            found == NULL ? capacity_for(registry, opening) : HS_REGISTRY_FOUND;
        if (found != NULL && !belongs_to(found, tenant)) {
            result = HS_REGISTRY_FOREIGN;
            found = NULL;
        } else if (found == NULL && opening == NULL)
            result = HS_REGISTRY_MISSING;
        else if (found == NULL && has_capacity != HS_REGISTRY_CREATED)
            result = has_capacity;
        else if (found == NULL) {
            found = insert(registry, name, opening);
            /* If `insert` failed, the memory may have been used up since the check above. */
            has_capacity = hs_registry_capacity(registry);
            result = found != NULL                         ? HS_REGISTRY_CREATED
                     : has_capacity == HS_REGISTRY_CREATED ? HS_REGISTRY_NO_MEMORY
                                                           : has_capacity;
        }
        if (found != NULL)
            found->references++;
        pthread_mutex_unlock(&registry->lock);
        if (found == NULL)
            return result;
        if (result == HS_REGISTRY_FOUND)
            hs_registry_lock(found);
        if (!found->closed) {
            *slot = found;
            return result;
        }
        /* The match was deleted during the wait for its lock. Search again. */
        hs_registry_release(registry, found);
    }
}

static void drop_reference(struct hs_registry *registry, struct hs_match_slot *slot)
{
    if (atomic_fetch_sub(&slot->references, 1) == 1)
        destroy_slot(registry, slot); /* the slot is no longer in the table, so no thread can find
                                         it */
}

void hs_registry_release(struct hs_registry *registry, struct hs_match_slot *slot)
{
    count_again(registry, slot);
    hs_registry_unlock(slot);
    drop_reference(registry, slot);
}

void hs_registry_remove(struct hs_registry *registry, struct hs_match_slot *slot)
{
    slot->closed = true;
    count_again(registry, slot);
    pthread_mutex_lock(&registry->lock);
    struct hs_match_slot **at = bucket(registry, hs_name_str(&slot->name));
    while (*at != slot)
        at = &(*at)->next;
    *at = slot->next;
    registry->count--;
    slot->references--; /* drops the table's reference; the caller still has one */
    pthread_mutex_unlock(&registry->lock);
}

bool hs_registry_owner(struct hs_registry *registry, struct hs_str name, struct hs_name *tenant)
{
    pthread_mutex_lock(&registry->lock);
    const struct hs_match_slot *slot = find(registry, name);
    if (slot != NULL)
        *tenant = slot->tenant;
    pthread_mutex_unlock(&registry->lock);
    return slot != NULL;
}

bool hs_registry_is_shared(struct hs_registry *registry, struct hs_str name)
{
    pthread_mutex_lock(&registry->lock);
    const struct hs_match_slot *slot = find(registry, name);
    struct hs_shared_match *shared = slot != NULL ? atomic_load(&slot->shared) : NULL;
    bool is_shared =
        shared != NULL && !hs_shared_match_is_lost(shared) && !hs_shared_match_is_doubtful(shared);
    pthread_mutex_unlock(&registry->lock);
    return is_shared;
}

/* Returns all slots of a tenant, with a reference to each, or NULL if memory runs out. */
static struct hs_match_slot **snapshot(struct hs_registry *registry, struct hs_str tenant,
                                       size_t *count)
{
    size_t n = 0;
    pthread_mutex_lock(&registry->lock);
    struct hs_match_slot **slots = malloc((registry->count + 1) * sizeof(struct hs_match_slot *));
    for (size_t i = 0; slots != NULL && i < registry->table_size; i++) {
        for (struct hs_match_slot *slot = registry->table[i]; slot != NULL; slot = slot->next) {
            if (!belongs_to(slot, tenant))
                continue;
            slot->references++;
            slots[n++] = slot;
        }
    }
    pthread_mutex_unlock(&registry->lock);
    *count = n;
    return slots;
}

void hs_registry_each(struct hs_registry *registry, struct hs_str tenant,
                      void (*visit)(void *context, struct hs_match_slot *slot), void *context)
{
    size_t count;
    struct hs_match_slot **slots = snapshot(registry, tenant, &count);
    for (size_t i = 0; i < count; i++) {
        hs_registry_lock(slots[i]);
        if (!slots[i]->closed)
            visit(context, slots[i]);
        hs_registry_release(registry, slots[i]);
    }
    free(slots);
}

bool hs_registry_visit(struct hs_registry *registry,
                       void (*visit)(void *context, struct hs_match_slot *slot), void *context)
{
    size_t count;
    struct hs_match_slot **slots = snapshot(registry, (struct hs_str){0}, &count);
    for (size_t i = 0; i < count; i++) {
        visit(context, slots[i]);
        drop_reference(registry, slots[i]);
    }
    free(slots);
    return slots != NULL;
}

void hs_registry_totals(struct hs_registry *registry, struct hs_registry_totals *out)
{
    *out = (struct hs_registry_totals){.matches = registry->count,
                                       .players = registry->players,
                                       .movers = registry->movers,
                                       .accounts = registry->accounts,
                                       .memory_limited = registry->memory_limited,
                                       .bytes = hs_registry_bytes(registry),
                                       .bytes_limit = registry->budget.limit};
}

struct hs_match_head hs_match_slot_head(const struct hs_match_slot *slot)
{
    struct hs_match_head head = {.name = hs_name_str(&slot->name),
                                 .ruleset = hs_name_str(&slot->ruleset->ruleset->name),
                                 .revision = slot->ruleset->revision};
    if (slot->map != NULL) {
        head.map = hs_name_str(&slot->map->name);
        head.map_revision = slot->map->revision;
    } else if (slot->awaited_map.text[0] != '\0') {
        head.map = hs_name_str(&slot->awaited_map);
        head.map_revision = slot->awaited_revision;
    }
    return head;
}

void hs_match_slot_verdict_id(const struct hs_match_slot *slot, enum hs_verdict_about about,
                              uint64_t number, struct hs_str player, int64_t time_us,
                              struct hs_verdict_id *out)
{
    uint64_t session = hs_match_session(slot->match, player, time_us);
    hs_verdict_ids_make(&slot->ids, about, session, number, player, out);
}

/* A new map. Some matches may be waiting for this map. */
struct arrival {
    struct hs_map_store *maps;
    struct hs_map_entry *entry;
};

static void give_to_match(void *context, struct hs_match_slot *slot)
{
    const struct arrival *arrival = context;
    struct hs_map_entry *entry = arrival->entry;
    if (!hs_str_equal(hs_name_str(&slot->awaited_map), hs_name_str(&entry->name)) ||
        strcmp(slot->awaited_revision, entry->revision) != 0)
        return;
    hs_map_store_retain(arrival->maps, entry);
    slot->map = entry;
    hs_match_set_world(slot->match, entry->world);
    slot->awaited_map = (struct hs_name){0};
    slot->awaited_revision[0] = '\0';
}

void hs_registry_give_map(struct hs_registry *registry, struct hs_map_store *maps,
                          struct hs_map_entry *entry)
{
    struct arrival arrival = {maps, entry};
    hs_registry_each(registry, (struct hs_str){0}, give_to_match, &arrival);
}
