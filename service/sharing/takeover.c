#include "service/sharing/takeover.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "api/http/problem.h"
#include "service/checkpoint/file.h"
#include "service/checkpoint/kept_match.h"
#include "service/options/values.h"
#include "service/record/recorder.h"
#include "service/service.h"
#include "service/sharing/catalog.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/store/matches.h"
#include "service/system/clock.h"
#include "service/system/packed.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"
#include "validators/base/encoding.h"
#include "validators/journal.h"
#include "validators/snapshot.h"

enum {
    TURNS = 256,
    STATE_MAX = 1 << 30, /* max size of a state; only a forged state is larger */
    /* Max matches that this replica restores at the same time. Each restore keeps a processor busy
       for some milliseconds. With a higher limit, requests for other matches would wait longer
       while many matches move between replicas. */
    RESTORERS = 2,
};

/* How long a request that opens a new match waits for rulesets and maps that were uploaded to other
   replicas. */
enum { OPEN_US = 250000 };

/* If a match gets no request here for this long, another replica may have a newer copy. */
enum { QUIET_US = 1000000 };

/* How long the client should wait before it retries. REVISION: this replica lacks the match's
   ruleset or map. SPACE: this replica lacks memory for the match. */
enum { REVISION_RETRY_MS = 100, SPACE_RETRY_MS = 1000 };

struct hs_takers {
    struct hs_service *service;
    /* Indexed by a hash of the match name. A request holds the mutex while it takes over the match,
       so only one request at a time takes over a match. */
    pthread_mutex_t turns[TURNS];
    sem_t restorers;
    struct hs_log_limit log_limit;
};

struct hs_takers *hs_takers_create(struct hs_service *service)
{
    struct hs_takers *takers = calloc(1, sizeof *takers);
    if (takers == NULL)
        return NULL;
    takers->service = service;
    takers->log_limit = (struct hs_log_limit){.per_second = 5, .kind = "matches not taken over"};
    for (size_t i = 0; i < TURNS; i++)
        pthread_mutex_init(&takers->turns[i], NULL);
    sem_init(&takers->restorers, 0, RESTORERS);
    return takers;
}

void hs_takers_destroy(struct hs_takers *takers)
{
    for (size_t i = 0; takers != NULL && i < TURNS; i++)
        pthread_mutex_destroy(&takers->turns[i]);
    if (takers != NULL)
        sem_destroy(&takers->restorers);
    free(takers);
}

bool hs_takeover_is_needed(struct hs_takers *takers, struct hs_str name)
{
    return takers != NULL && !hs_registry_is_shared(takers->service->registry, name);
}

/* ---- reading a match ---- */

struct reading {
    struct hs_takers *takers;
    struct hs_service *service;
    struct hs_str name;
    struct hs_kept_head head;
    struct hs_ruleset_entry *ruleset; /* retained, like `map` */
    struct hs_map_entry *map;
    struct hs_match *match;
    bool has_head, lacks_revision, has_layout, is_damaged;
    enum hs_match_load loaded;
};

/* Waits for the ruleset and the map of the match. Other matches may be restored during the wait. */
static void find_revisions(struct reading *reading)
{
    struct hs_catalog *catalog = reading->service->catalog;
    const struct hs_kept_head *head = &reading->head;
    int64_t wait_us = (int64_t)reading->service->options->state_take_ms * 1000;
    sem_post(&reading->takers->restorers);
    reading->ruleset = hs_catalog_ruleset(catalog, head->tenant, head->revision, wait_us);
    if (head->map.len > 0)
        reading->map =
            hs_catalog_map(catalog, head->tenant, head->map, head->map_revision, wait_us);
    reading->lacks_revision =
        reading->ruleset == NULL || (head->map.len > 0 && reading->map == NULL);
    sem_wait(&reading->takers->restorers);
}

static void read_state(void *context, enum hs_checkpoint_type type, const void *bytes, size_t size)
{
    struct reading *reading = context;
    const struct hs_service *service = reading->service;
    struct hs_bytes_reader reader = {bytes, (const unsigned char *)bytes + size, false};
    if (type != HS_CHECKPOINT_MATCH || reading->has_head)
        return;
    reading->has_head = hs_kept_match_get_head(&reader, &reading->head) &&
                        hs_str_equal(reading->head.name, reading->name);
    if (!reading->has_head)
        return;
    find_revisions(reading);
    if (reading->lacks_revision)
        return;
    struct hs_match_limits limits = hs_registry_match_limits(service->registry, service->options);
    reading->loaded = hs_match_load(reading->ruleset->ruleset, &limits, reader.at,
                                    (size_t)(reader.end - reader.at), &reading->match);
}

/* Applies the payments in a record of the journal. */
static void read_payments(void *context, enum hs_checkpoint_type type, const void *bytes,
                          size_t size)
{
    struct reading *reading = context;
    struct hs_bytes_reader reader = {bytes, (const unsigned char *)bytes + size, false};
    if (type == HS_CHECKPOINT_LAYOUT)
        reading->has_layout = hs_bytes_get(&reader, 8) == hs_journal_layout();
    if (type != HS_CHECKPOINT_EVENTS || !reading->has_layout)
        return;
    struct hs_str name = hs_bytes_get_name(&reader);
    uint64_t opening = hs_bytes_get(&reader, 8);
    if (reader.failed || opening != reading->head.opening || !hs_str_equal(name, reading->name))
        return;
    if (!hs_match_replay(reading->match, reader.at, (size_t)(reader.end - reader.at)))
        reading->is_damaged = true;
}

static void read_match(struct reading *reading, const struct hs_taken *taken)
{
    enum { NUMBER = 8 }; /* size of the number at the start of a journal entry (kept_match.c) */
    enum hs_checkpoint_read result = HS_CHECKPOINT_BROKEN;
    size_t size;
    unsigned char *state = hs_unpack(taken->state.ptr, taken->state.len, STATE_MAX, &size);
    if (state != NULL)
        result = hs_checkpoint_read_bytes(state, size, read_state, reading);
    free(state);
    if (result == HS_CHECKPOINT_OTHER_VERSION)
        reading->loaded = HS_MATCH_OTHER_VERSION;
    if (reading->match == NULL)
        return;
    if (!taken->was_released)
        hs_match_lost_moves(reading->match);
    for (size_t i = 0; i < taken->journal_count; i++) {
        const struct hs_str *record = &taken->journal[i];
        reading->has_layout = false;
        if (record->len <= NUMBER ||
            hs_checkpoint_read_bytes(record->ptr + NUMBER, record->len - NUMBER, read_payments,
                                     reading) != HS_CHECKPOINT_UNENDED ||
            !reading->has_layout)
            reading->is_damaged = true;
    }
    if (reading->is_damaged)
        hs_match_lost_payments(reading->match);
}

/* ---- opening a match ---- */

static void report(struct hs_takers *takers, const struct hs_taken *taken, struct hs_str name,
                   enum hs_takeover_result result, const char *detail)
{
    enum hs_takeover_from from = taken->state.ptr == NULL ? HS_TAKEOVER_FROM_NONE
                                 : taken->was_released    ? HS_TAKEOVER_FROM_RELEASED
                                                          : HS_TAKEOVER_FROM_UNRELEASED;
    hs_metrics_add(takers->service->metrics, HS_METRIC_TAKEOVERS,
                   (size_t)from * HS_TAKEOVER_COUNT + result, 1);
    if (detail == NULL || !hs_log_allowed(&takers->log_limit))
        return;
    char match[HS_NAME_MAX + 1];
    memcpy(match, name.ptr, name.len);
    match[name.len] = '\0';
    hs_log(HS_LOG_WARN, "a match from another replica was not taken over, or only in part",
           HS_LOG_TEXT("match", match), HS_LOG_TEXT("detail", detail));
}

/* Opens the match on this replica. Returns false if a limit is reached. */
static bool open_match(struct hs_takers *takers, struct reading *reading,
                       const struct hs_str tenant, const struct hs_taken *taken)
{
    struct hs_service *service = takers->service;
    struct hs_match_opening opening = {
        .ruleset = reading->ruleset,
        .map = reading->map,
        .limits = hs_registry_match_limits(service->registry, service->options),
        .tenant = tenant,
        .number = reading->head.opening,
        .match = reading->match};
    struct hs_match_slot *slot = NULL;
    enum hs_registry_result result =
        hs_registry_acquire(service->registry, tenant, reading->name, &opening, &slot);
    if (result != HS_REGISTRY_CREATED)
        hs_match_destroy(reading->match);
    if (slot == NULL)
        return false;
    if (result == HS_REGISTRY_CREATED) {
        atomic_store(&slot->shared, hs_shared_match_create(service->shared, tenant, reading->name,
                                                           taken->ownership));
        /* The recording of this match ends here. To verify later posts, `recheck` would need the
           match's state and all payments in the journal, but the recording lacks them. */
        slot->recorded = HS_RECORDED_LOST;
    }
    hs_registry_release(service->registry, slot);
    return true;
}

static enum hs_takeover_result open_taken(struct hs_takers *takers, struct hs_str tenant,
                                          struct hs_str name, const struct hs_taken *taken)
{
    static const struct {
        enum hs_takeover_result result;
        const char *why;
    } loads[] = {
        [HS_MATCH_LOADED] = {HS_TAKEOVER_RESTORED, NULL},
        [HS_MATCH_LOADED_PARTLY] = {HS_TAKEOVER_RESET, NULL},
        [HS_MATCH_OTHER_VERSION] = {HS_TAKEOVER_VERSION, "another version of the program wrote it"},
        [HS_MATCH_DAMAGED] = {HS_TAKEOVER_DAMAGED, "its bytes are damaged"},
        [HS_MATCH_LOAD_NO_MEMORY] = {HS_TAKEOVER_NO_SPACE, "out of memory"},
    };
    struct hs_service *service = takers->service;
    struct reading reading = {
        .takers = takers, .service = service, .name = name, .loaded = HS_MATCH_DAMAGED};
    sem_wait(&takers->restorers);
    read_match(&reading, taken);
    sem_post(&takers->restorers);
    enum hs_takeover_result result = loads[reading.loaded].result;
    const char *why = loads[reading.loaded].why;
    if (reading.lacks_revision) {
        result = HS_TAKEOVER_REVISION;
        why = "its ruleset or its map is not on this replica";
    } else if (reading.match != NULL && !open_match(takers, &reading, tenant, taken)) {
        result = HS_TAKEOVER_NO_SPACE;
        why = "the limit on open matches or on memory is reached";
    } else if (reading.is_damaged) {
        why = "the match was taken over, but payments in its journal are damaged";
    }
    report(takers, taken, name, result, why);
    hs_map_store_release(service->maps, reading.map);
    hs_ruleset_store_release(service->rulesets, reading.ruleset);
    return result;
}

/* ---- older copies ---- */

/* Call this function when another replica may have paid for shots of this match. The match must be
   locked. */
static void lose_payments(struct hs_match_slot *slot)
{
    hs_match_lost_payments(slot->match);
    slot->recorded = HS_RECORDED_LOST; /* `recheck` has no data about the lost payments */
}

void hs_takeover_share(struct hs_service *service, struct hs_match_slot *slot,
                       const struct hs_takeover *takeover)
{
    if (takeover->is_uncertain)
        lose_payments(slot);
    atomic_store(&slot->shared,
                 hs_shared_match_create(service->shared, hs_name_str(&slot->tenant),
                                        hs_name_str(&slot->name), takeover->ownership));
}

/* Returns whether the store knows a newer state of a match than a copy from the checkpoint. */
static bool is_outdated(const struct hs_taken *taken, const struct hs_match_slot *copy)
{
    return taken->state.ptr != NULL || copy->opening < taken->ended_us;
}

/* Handles a match that is open on this replica although this replica does not own it. Such a match
   was restored from the checkpoint, or has moved to another replica. If the copy is outdated, it is
   closed here. Otherwise, a match that was restored from the checkpoint stays open here. */
static void settle_copy(struct hs_service *service, struct hs_str tenant, struct hs_str name,
                        const struct hs_takeover *takeover, const struct hs_taken *taken)
{
    struct hs_match_slot *slot = NULL;
    hs_registry_acquire(service->registry, tenant, name, NULL, &slot);
    if (slot == NULL)
        return;
    if (is_outdated(taken, slot) || atomic_load(&slot->shared) != NULL)
        hs_kept_match_moved(service, slot);
    else
        hs_takeover_share(service, slot, takeover);
    hs_registry_release(service->registry, slot);
}

/* If it is uncertain which replica owns a match, asks the store. If the store has lost the match,
   the match may have moved to another replica and back. The match can have moved only if this
   replica got no request for the match during the last QUIET_US. */
static void confirm_copy(struct hs_service *service, struct hs_str tenant, struct hs_str name)
{
    struct hs_match_slot *slot = NULL;
    hs_registry_acquire(service->registry, tenant, name, NULL, &slot);
    if (slot == NULL)
        return;
    struct hs_shared_match *shared = atomic_load(&slot->shared);
    /* As long as requests for the match arrive here, the load balancer sends no requests for this
       match to other replicas. So no other replica has paid for shots. */
    bool was_quiet = hs_clock_us() - slot->used_us > QUIET_US;
    if (shared != NULL && hs_shared_match_is_doubtful(shared) && !hs_shared_match_confirm(shared) &&
        was_quiet)
        lose_payments(slot);
    hs_registry_release(service->registry, slot);
}

static void give_back(struct hs_service *service, struct hs_str tenant, struct hs_str name,
                      struct hs_takeover *takeover)
{
    const struct hs_taken taken = {.ownership = takeover->ownership,
                                   .was_released = takeover->was_released};
    if (taken.ownership.epoch != 0)
        hs_shared_match_give_back(service->shared, tenant, name, &taken);
    takeover->ownership = (struct hs_ownership){0};
}

/* Refuses a request, so that the client retries. If the match started empty instead, the service
   would pay again for shots that were already paid. The empty state would also replace the state in
   the store. */
static void refuse(struct hs_takeover *takeover, bool lacks_space, struct hs_problem *problem)
{
    takeover->shed = lacks_space ? HS_SHED_HISTORY : HS_SHED_REVISION;
    hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "%s",
                   lacks_space ? "this replica has too little memory to take over this match"
                               : "the ruleset or the map of this match is not on this replica yet");
    problem->retry_after_ms = lacks_space ? SPACE_RETRY_MS : REVISION_RETRY_MS;
}

/* Returns whether the registry has a match of another tenant with this name. Sets the owner. */
static bool is_of_another(const struct hs_service *service, struct hs_str tenant,
                          struct hs_str name, struct hs_name *owner)
{
    return hs_registry_owner(service->registry, name, owner) && tenant.ptr != NULL &&
           !hs_str_equal(hs_name_str(owner), tenant);
}

/* Returns whether a match was restored from the checkpoint, and no request has asked the store for
   it since then. If `taken` is not NULL, the copy must also be outdated. */
static bool is_unconfirmed(const struct hs_service *service, struct hs_str tenant,
                           struct hs_str name, const struct hs_taken *taken)
{
    struct hs_match_slot *slot = NULL;
    hs_registry_acquire(service->registry, tenant, name, NULL, &slot);
    bool is = slot != NULL && atomic_load(&slot->shared) == NULL &&
              (taken == NULL || is_outdated(taken, slot));
    hs_registry_release(service->registry, slot);
    return is;
}

bool hs_takeover_begin(struct hs_takers *takers, struct hs_str tenant, struct hs_str name,
                       struct hs_takeover *takeover, struct hs_problem *problem)
{
    struct hs_service *service = takers->service;
    struct hs_taken taken;
    struct hs_name owner;
    *takeover = (struct hs_takeover){.turn = &takers->turns[hs_str_hash(name) % TURNS]};
    pthread_mutex_lock(takeover->turn);
    if (!hs_takeover_is_needed(takers, name))
        return true;
    /* If another replica has removed the match, this replica must close its outdated copy. The
       outdated copy would keep other tenants from using the name. */
    confirm_copy(service,
                 is_of_another(service, tenant, name, &owner) ? hs_name_str(&owner) : tenant, name);
    bool is_others = is_of_another(service, tenant, name, &owner);
    if (!hs_takeover_is_needed(takers, name) ||
        (is_others && !is_unconfirmed(service, hs_name_str(&owner), name, NULL)))
        return true;
    enum hs_taken_result result = hs_shared_match_take(service->shared, tenant, name, &taken);
    bool is_fine = true, lacks_space = false;
    takeover->is_foreign = result == HS_TAKEN_FOREIGN;
    if (takeover->is_foreign)
        return false;
    if (result != HS_TAKEN)
        report(takers, &taken, name, result == HS_TAKEN_LATE ? HS_TAKEOVER_LATE : HS_TAKEOVER_DOWN,
               NULL);
    bool is_known = taken.state.ptr != NULL;
    takeover->ownership = taken.ownership;
    takeover->was_released = taken.was_released;
    /* The copy of the other tenant may be the only one. */
    if (is_others && !is_unconfirmed(service, hs_name_str(&owner), name, &taken)) {
        give_back(service, tenant, name, takeover);
        hs_taken_free(&taken);
        return true;
    }
    takeover->has_asked = true;
    /* A request that opens the match can name any ruleset and map. So this replica must have the
       current names of all rulesets and maps. */
    if (!is_known) {
        is_fine = hs_catalog_is_current(service->catalog, OPEN_US);
        takeover->is_uncertain = result != HS_TAKEN || taken.journal_count > 0 ||
                                 hs_catalog_was_emptied(service->catalog);
    }
    if (is_fine) /* otherwise the ownership is released below, and the next request asks the
                    store again */
        settle_copy(service, is_others ? hs_name_str(&owner) : tenant, name, takeover, &taken);
    if (is_known) {
        enum hs_takeover_result opened = open_taken(takers, tenant, name, &taken);
        lacks_space = opened == HS_TAKEOVER_NO_SPACE;
        is_fine = !lacks_space && opened != HS_TAKEOVER_REVISION;
        takeover->is_uncertain = opened == HS_TAKEOVER_VERSION || opened == HS_TAKEOVER_DAMAGED;
    }
    if (!is_fine) {
        give_back(service, tenant, name, takeover);
        refuse(takeover, lacks_space, problem);
    }
    hs_taken_free(&taken);
    return is_fine;
}

void hs_takeover_end(struct hs_takers *takers, struct hs_str tenant, struct hs_str name,
                     struct hs_takeover *takeover)
{
    struct hs_name owner;
    if (takeover->has_asked && !hs_registry_owner(takers->service->registry, name, &owner))
        give_back(takers->service, tenant, name, takeover);
    pthread_mutex_unlock(takeover->turn);
}
