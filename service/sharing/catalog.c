#include "service/sharing/catalog.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "service/service.h"
#include "service/sharing/exchange.h"
#include "service/state/maps.h"
#include "service/state/rulesets.h"
#include "service/store/matches.h"
#include "service/system/clock.h"
#include "service/system/thread.h"

/* POLL_US: how often the thread reads the version of the names in the store. KEEP_US: how often the
   thread delays the expiry of the documents of open matches in the store. PINNED_US: how long a
   document stays in `pinned`. EMPTIED_US: how long the store may lack matches of other replicas
   after the store lost its data. The keys of matches in the store expire after the same time.
   RESEND_US: how long the thread waits before it sends names again that the store refused, for
   example because it is full. Each attempt compresses the documents again. */
enum {
    POLL_US = 1000000,
    RESEND_US = 3000000,
    KEEP_US = 600000000,
    PINNED_US = 60000000,
    PINNED_MAX = 64,
    EMPTIED_US = 120000000
};

/* A ruleset or map that this replica keeps for matches that it takes over. The name of the document
   may be deleted by now, or may refer to another document. */
struct pinned {
    enum hs_shared_kind kind;
    struct hs_name name;   /* the name of the map; "" for a ruleset */
    struct hs_name tenant; /* the tenant who is charged for the document */
    char revision[HS_REVISION_MAX];
    /* `ruleset` and `map` are NULL until the document is fetched. A successful fetch sets `ruleset`
       or `map`, and retains the ruleset or map. */
    struct hs_ruleset_entry *ruleset;
    struct hs_map_entry *map;
    int64_t until_us;
    bool was_tried;
};

struct hs_catalog {
    struct hs_service *service;
    struct hs_store *store;
    pthread_t thread;
    pthread_mutex_t lock;
    /* `wake` is for the thread, and `synced` for requests that wait for the thread. */
    pthread_cond_t wake, synced;
    bool has_thread, is_ending; /* `lock` guards the members from `has_thread` to
                                   `pinned_count` */
    /* Rounds of the thread are numbered. asked: the newest round that a request needs. finished:
       the newest round that is finished. */
    uint64_t asked, finished;
    bool must_read;         /* the names on this replica may differ from version `applied` */
    uint64_t applied_round; /* the newest round after which this replica had all names */
    struct hs_shared_version applied; /* version of the names on this replica */
    int64_t emptied_us; /* when this replica last noticed that the store had lost its data */
    struct pinned pinned[PINNED_MAX];
    size_t pinned_count;
    /* Only the thread uses the following members. */
    int64_t kept_us;
    struct hs_unsent unsent;     /* names that the store lost, and may still lack */
    int64_t resend_us;           /* when to send these names again */
    struct hs_revisions offered; /* rulesets sent since kept_us */
};

static bool is_version(const struct hs_shared_version *a, const struct hs_shared_version *b)
{
    return a->birth == b->birth && a->count == b->count;
}

/* ---- the thread ---- */

/* Reads the version of the names in the store (documents.h). If this version has no birth time yet,
   sets the birth time first. */
static bool read_version(struct hs_catalog *catalog, struct hs_shared_version *version)
{
    struct hs_store *store = catalog->store;
    bool has_answer = hs_shared_version(store, HS_STORE_TIMEOUT_US, version);
    if (!has_answer || version->birth != 0)
        return has_answer;
    return hs_shared_begin(store) && hs_shared_version(store, HS_STORE_TIMEOUT_US, version);
}

/* Sends the names of this replica to a store that has lost its data. If some names cannot be sent,
   tries again in later rounds. Returns false if the store did not answer. */
static bool send_names(struct hs_catalog *catalog, bool has_lost, struct hs_shared_version *version)
{
    if (has_lost || (version->count == 0 && catalog->unsent.count == 0)) {
        catalog->resend_us = 0;
        if (!hs_exchange_list(catalog->service, &catalog->unsent))
            return false;
    }
    if (catalog->unsent.count == 0 || hs_clock_us() < catalog->resend_us)
        return true;
    hs_exchange_send(catalog->service, &catalog->unsent);
    catalog->resend_us = hs_clock_us() + RESEND_US;
    catalog->kept_us = 0;
    catalog->offered.count = 0;
    return hs_shared_version(catalog->store, HS_STORE_TIMEOUT_US, version);
}

/* Replaces the names on this replica with the names in the store. A store that has lost its data
   contains at most the names that replicas have sent since the loss. If the store has lost its
   data, this replica first sends its own names, and keeps each name until it is sent. Returns false
   if the store did not answer. */
static bool sync_names(struct hs_catalog *catalog)
{
    struct hs_service *service = catalog->service;
    struct hs_shared_version version;
    bool has_answer = read_version(catalog, &version);
    pthread_mutex_lock(&catalog->lock);
    struct hs_shared_version before = catalog->applied;
    bool must_read = catalog->must_read;
    catalog->must_read = false;
    bool has_lost = has_answer && before.birth != 0 && version.birth != before.birth;
    if (has_lost)
        catalog->emptied_us = hs_clock_us();
    pthread_mutex_unlock(&catalog->lock);
    if (has_lost)
        hs_shared_matches_rewrite(service->shared);
    bool had_unsent = catalog->unsent.count > 0;
    has_answer = has_answer && send_names(catalog, has_lost, &version);
    bool is_empty = version.count == 0;
    bool is_new = must_read || had_unsent || !is_version(&version, &before);
    bool is_fine =
        has_answer && (!is_new || is_empty || hs_exchange_read(service, &catalog->unsent));
    pthread_mutex_lock(&catalog->lock);
    if (is_fine)
        catalog->applied = version;
    else
        catalog->must_read = catalog->must_read || must_read || had_unsent;
    pthread_mutex_unlock(&catalog->lock);
    return is_fine;
}

/* Fetches the pinned document at index `place`. The caller holds the lock. The function releases
   the lock while it waits for the store. The index stays valid, because only this thread removes
   pinned documents. */
static void fetch_pinned(struct hs_catalog *catalog, size_t place)
{
    const struct pinned wanted = catalog->pinned[place];
    pthread_mutex_unlock(&catalog->lock);
    struct hs_ruleset_entry *ruleset = NULL;
    struct hs_map_entry *map = NULL;
    bool has_answer;
    if (wanted.kind == HS_SHARED_RULESET)
        ruleset = hs_exchange_ruleset(catalog->service, hs_name_str(&wanted.tenant),
                                      wanted.revision, &has_answer);
    else
        map = hs_exchange_map(catalog->service, hs_name_str(&wanted.tenant),
                              hs_name_str(&wanted.name), wanted.revision, &has_answer);
    pthread_mutex_lock(&catalog->lock);
    struct pinned *pinned = &catalog->pinned[place];
    pinned->ruleset = ruleset;
    pinned->map = map;
    pinned->was_tried = true;
    pinned->until_us = hs_clock_us() + (ruleset != NULL || map != NULL ? PINNED_US : POLL_US);
    pthread_cond_broadcast(&catalog->synced);
}

/* Fetches missing pinned documents, and removes the pinned documents whose `until_us` has
   passed. */
static void serve_pinned(struct hs_catalog *catalog)
{
    pthread_mutex_lock(&catalog->lock);
    for (size_t i = 0; i < catalog->pinned_count; i++)
        if (!catalog->pinned[i].was_tried)
            fetch_pinned(catalog, i);
    for (size_t i = catalog->pinned_count; i-- > 0;) {
        struct pinned gone = catalog->pinned[i];
        if (gone.until_us > hs_clock_us() && !catalog->is_ending)
            continue;
        catalog->pinned[i] = catalog->pinned[--catalog->pinned_count];
        pthread_mutex_unlock(&catalog->lock);
        hs_ruleset_store_release(catalog->service->rulesets, gone.ruleset);
        hs_map_store_release(catalog->service->maps, gone.map);
        pthread_mutex_lock(&catalog->lock);
    }
    pthread_mutex_unlock(&catalog->lock);
}

static void run_round(struct hs_catalog *catalog)
{
    pthread_mutex_lock(&catalog->lock);
    uint64_t asked = catalog->asked;
    pthread_mutex_unlock(&catalog->lock);
    bool is_applied = sync_names(catalog);
    pthread_mutex_lock(&catalog->lock);
    catalog->finished = asked;
    if (is_applied)
        catalog->applied_round = asked;
    pthread_cond_broadcast(&catalog->synced);
    pthread_mutex_unlock(&catalog->lock);
    serve_pinned(catalog);
    if (!hs_store_is_up(catalog->store, HS_STORE_BULK)) {
        catalog->offered.count = 0; /* the store may lose all rulesets, so send them again */
        return;
    }
    hs_exchange_offer(catalog->service, &catalog->offered);
    if (hs_clock_us() - catalog->kept_us >= KEEP_US) {
        catalog->kept_us = hs_clock_us();
        catalog->offered.count = 0;
        hs_exchange_keep(catalog->service);
    }
}

static void *run(void *context)
{
    struct hs_catalog *catalog = context;
    bool is_ending = false;
    while (!is_ending) {
        run_round(catalog);
        struct timespec until = hs_clock_timespec(hs_clock_us() + POLL_US);
        pthread_mutex_lock(&catalog->lock);
        int code = 0;
        while (!catalog->is_ending && catalog->asked == catalog->finished && code != ETIMEDOUT)
            code = pthread_cond_timedwait(&catalog->wake, &catalog->lock, &until);
        is_ending = catalog->is_ending;
        pthread_mutex_unlock(&catalog->lock);
    }
    serve_pinned(catalog);
    return NULL;
}

/* Asks the thread for a round that begins after this call, and returns the number of this round.
   The caller holds the lock. */
static uint64_t ask_for_round(struct hs_catalog *catalog)
{
    pthread_cond_signal(&catalog->wake);
    return ++catalog->asked;
}

struct hs_catalog *hs_catalog_start(struct hs_service *service)
{
    struct hs_catalog *catalog = calloc(1, sizeof *catalog);
    if (catalog == NULL)
        return NULL;
    catalog->service = service;
    catalog->store = service->store;
    pthread_mutex_init(&catalog->lock, NULL);
    hs_clock_condition(&catalog->wake);
    hs_clock_condition(&catalog->synced);
    run_round(catalog);
    catalog->has_thread = hs_thread_start(&catalog->thread, run, catalog);
    if (catalog->has_thread)
        return catalog;
    hs_catalog_stop(catalog);
    return NULL;
}

void hs_catalog_stop(struct hs_catalog *catalog)
{
    if (catalog == NULL)
        return;
    pthread_mutex_lock(&catalog->lock);
    catalog->is_ending = true;
    pthread_cond_signal(&catalog->wake);
    pthread_mutex_unlock(&catalog->lock);
    hs_store_end_asking(catalog->store);
    if (catalog->has_thread)
        pthread_join(catalog->thread, NULL);
    free(catalog->offered.text);
    free(catalog->unsent.names);
    pthread_cond_destroy(&catalog->synced);
    pthread_cond_destroy(&catalog->wake);
    pthread_mutex_destroy(&catalog->lock);
    free(catalog);
}

/* ---- requests ---- */

bool hs_catalog_is_current(struct hs_catalog *catalog, int64_t wait_us)
{
    struct hs_shared_version version;
    int64_t until_us = hs_clock_us() + wait_us;
    if (catalog == NULL || hs_store_is_late(catalog->store, HS_STORE_URGENT, wait_us) ||
        !hs_shared_version(catalog->store, wait_us, &version))
        return true;
    struct timespec until = hs_clock_timespec(until_us);
    pthread_mutex_lock(&catalog->lock);
    bool is_current = is_version(&version, &catalog->applied) && !catalog->must_read;
    uint64_t round = is_current ? 0 : ask_for_round(catalog);
    int code = 0;
    while (!is_current && code != ETIMEDOUT) {
        code = pthread_cond_timedwait(&catalog->synced, &catalog->lock, &until);
        is_current = catalog->finished >= round;
    }
    /* If the store did not answer during the round, names on this replica may be outdated. While
       the store is down, the replica uses its own names, even outdated names. */
    if (is_current && catalog->applied_round < round)
        is_current = !hs_store_is_up(catalog->store, HS_STORE_BULK);
    pthread_mutex_unlock(&catalog->lock);
    return is_current;
}

bool hs_catalog_was_emptied(struct hs_catalog *catalog)
{
    pthread_mutex_lock(&catalog->lock);
    int64_t emptied_us = catalog->emptied_us;
    pthread_mutex_unlock(&catalog->lock);
    return emptied_us != 0 && hs_clock_us() - emptied_us < EMPTIED_US;
}

/* Asks for a new round. If the store may lack the change, this round reads all names. */
static enum hs_shared_result settle(struct hs_catalog *catalog, enum hs_shared_result result)
{
    pthread_mutex_lock(&catalog->lock);
    if (result != HS_SHARED_DONE)
        catalog->must_read = true;
    ask_for_round(catalog);
    pthread_mutex_unlock(&catalog->lock);
    return result;
}

enum hs_shared_result hs_catalog_put_ruleset(struct hs_catalog *catalog, struct hs_str name,
                                             const char *revision)
{
    if (catalog == NULL)
        return HS_SHARED_DONE;
    struct hs_ruleset_store *store = catalog->service->rulesets;
    struct hs_ruleset_entry *entry = hs_ruleset_store_get(store, name), *canary = NULL;
    enum hs_shared_result result = HS_SHARED_LOST;
    double share;
    if (entry != NULL)
        canary = hs_ruleset_store_canary(store, entry, &share);
    if (entry != NULL && entry->is_from_file)
        result = HS_SHARED_DONE;
    else if (entry != NULL && (strcmp(entry->revision, revision) == 0 ||
                               (canary != NULL && strcmp(canary->revision, revision) == 0)))
        result = hs_exchange_put_ruleset(catalog->service, entry, false);
    hs_ruleset_store_release(store, canary);
    hs_ruleset_store_release(store, entry);
    return settle(catalog, result);
}

enum hs_shared_result hs_catalog_put_map(struct hs_catalog *catalog,
                                         const struct hs_map_entry *entry, struct hs_str text)
{
    if (catalog == NULL)
        return HS_SHARED_DONE;
    return settle(catalog, hs_exchange_put_map(catalog->service, entry, text, false));
}

enum hs_shared_result hs_catalog_drop(struct hs_catalog *catalog, enum hs_shared_kind kind,
                                      struct hs_str owner, struct hs_str name)
{
    if (catalog == NULL)
        return HS_SHARED_DONE;
    return settle(catalog, hs_shared_drop_name(catalog->store, kind, owner, name));
}

static bool is_pinned(const struct pinned *pinned, enum hs_shared_kind kind, struct hs_str name,
                      struct hs_str revision)
{
    return pinned->kind == kind && hs_str_equal(hs_str_of(pinned->revision), revision) &&
           hs_str_equal(hs_name_str(&pinned->name), name);
}

/* Returns the entry of the pinned document, and adds the entry if it is missing. The document
   itself may not be fetched yet. The caller holds the lock. Returns NULL if PINNED_MAX other
   documents are pinned. */
static struct pinned *find_pinned(struct hs_catalog *catalog, enum hs_shared_kind kind,
                                  struct hs_str tenant, struct hs_str name, struct hs_str revision)
{
    for (size_t i = 0; i < catalog->pinned_count; i++)
        if (is_pinned(&catalog->pinned[i], kind, name, revision))
            return &catalog->pinned[i];
    if (catalog->pinned_count == PINNED_MAX || revision.len >= HS_REVISION_MAX)
        return NULL;
    struct pinned *pinned = &catalog->pinned[catalog->pinned_count++];
    *pinned = (struct pinned){.kind = kind, .until_us = INT64_MAX};
    hs_name_set(&pinned->name, name);
    hs_name_set(&pinned->tenant, tenant);
    memcpy(pinned->revision, revision.ptr, revision.len);
    ask_for_round(catalog);
    return pinned;
}

/* Waits until the pinned document was fetched. Returns a copy of the entry. If the fetch succeeded,
   the copy has a retained ruleset or map. */
static struct pinned await_pinned(struct hs_catalog *catalog, enum hs_shared_kind kind,
                                  struct hs_str tenant, struct hs_str name, struct hs_str revision,
                                  int64_t wait_us)
{
    struct timespec until = hs_clock_timespec(hs_clock_us() + wait_us);
    struct pinned found = {0};
    struct pinned *pinned;
    int code = 0;
    pthread_mutex_lock(&catalog->lock);
    while ((pinned = find_pinned(catalog, kind, tenant, name, revision)) != NULL &&
           !pinned->was_tried && code != ETIMEDOUT)
        code = pthread_cond_timedwait(&catalog->synced, &catalog->lock, &until);
    if (pinned != NULL)
        found = *pinned;
    if (found.ruleset != NULL)
        hs_ruleset_store_retain(catalog->service->rulesets, found.ruleset);
    if (found.map != NULL)
        hs_map_store_retain(catalog->service->maps, found.map);
    pthread_mutex_unlock(&catalog->lock);
    return found;
}

struct hs_ruleset_entry *hs_catalog_ruleset(struct hs_catalog *catalog, struct hs_str tenant,
                                            struct hs_str revision, int64_t wait_us)
{
    struct hs_ruleset_entry *entry = hs_ruleset_store_find(catalog->service->rulesets, revision);
    if (entry != NULL)
        return entry;
    return await_pinned(catalog, HS_SHARED_RULESET, tenant, (struct hs_str){"", 0}, revision,
                        wait_us)
        .ruleset;
}

struct hs_map_entry *hs_catalog_map(struct hs_catalog *catalog, struct hs_str tenant,
                                    struct hs_str name, struct hs_str revision, int64_t wait_us)
{
    struct hs_map_entry *entry = hs_map_store_get(catalog->service->maps, name);
    if (entry != NULL && hs_str_equal(hs_str_of(entry->revision), revision))
        return entry;
    hs_map_store_release(catalog->service->maps, entry);
    return await_pinned(catalog, HS_SHARED_MAP, tenant, name, revision, wait_us).map;
}
