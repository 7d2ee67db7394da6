#include "service/sharing/exchange.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/maps.h"
#include "service/checkpoint/map_file.h"
#include "service/checkpoint/maps.h"
#include "service/options/values.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/system/array.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

enum { RULESET_MAX = 8 << 20 }; /* max size of a ruleset's document */

/* ---- names that were read from the store ---- */

struct name {
    enum hs_shared_kind kind;
    struct hs_name name, owner;
    char revision[HS_REVISION_MAX], canary[HS_REVISION_MAX];
    double share;
};

struct names {
    struct name *names;
    size_t count, capacity;
    bool no_memory;
};

static void add_name(void *context, const struct hs_shared_name *name)
{
    struct names *names = context;
    void *grown = hs_array_grow(names->names, names->count, &names->capacity, sizeof *names->names);
    names->no_memory = names->no_memory || grown == NULL;
    if (grown == NULL)
        return;
    names->names = grown;
    struct name *added = &names->names[names->count++];
    *added = (struct name){.kind = name->kind, .share = name->share};
    hs_name_set(&added->name, name->name);
    hs_name_set(&added->owner, name->owner);
    snprintf(added->revision, HS_REVISION_MAX, "%.*s", (int)name->revision.len, name->revision.ptr);
    snprintf(added->canary, HS_REVISION_MAX, "%.*s", (int)name->canary.len,
             name->canary.len > 0 ? name->canary.ptr : "");
}

/* Returns whether this replica must keep a name: the store has the name, or does not have it
   yet. */
static bool must_keep(const struct names *names, const struct hs_unsent *unsent,
                      enum hs_shared_kind kind, const struct hs_name *name)
{
    for (size_t i = 0; i < names->count; i++)
        if (names->names[i].kind == kind && strcmp(names->names[i].name.text, name->text) == 0)
            return true;
    for (size_t i = 0; i < unsent->count; i++)
        if (unsent->names[i].kind == kind && strcmp(unsent->names[i].name.text, name->text) == 0)
            return true;
    return false;
}

static void report_failure(const struct hs_service *service, enum hs_shared_kind kind,
                           const char *name, const char *revision, const char *why)
{
    hs_metrics_add(service->metrics, HS_METRIC_CATALOG_FAILED, 0, 1);
    hs_log(
        HS_LOG_ERROR,
        kind == HS_SHARED_MAP ? "a map of the store cannot be used: its name is deleted here"
                              : "a ruleset of the store cannot be used: its name is deleted here",
        HS_LOG_TEXT("name", name), HS_LOG_TEXT("revision", revision), HS_LOG_TEXT("detail", why));
}

/* ---- rulesets from the store ---- */

struct hs_ruleset_entry *hs_exchange_ruleset(struct hs_service *service, struct hs_str owner,
                                             const char *revision, bool *has_answer)
{
    struct hs_ruleset_store *rulesets = service->rulesets;
    struct hs_ruleset_entry *entry = hs_ruleset_store_find(rulesets, hs_str_of(revision));
    struct hs_problem problem;
    size_t size;
    *has_answer = true;
    if (entry != NULL)
        return entry;
    hs_problem_init(&problem);
    snprintf(problem.detail, sizeof problem.detail, "the store does not have the document");
    char *text = hs_shared_document(service->store, HS_SHARED_RULESET, (struct hs_str){0},
                                    hs_str_of(revision), RULESET_MAX, &size, has_answer);
    if (text != NULL)
        entry = hs_ruleset_store_adopt(rulesets, owner, (struct hs_str){text, size}, &problem);
    free(text);
    if (entry != NULL && strcmp(entry->revision, revision) == 0)
        return entry;
    hs_ruleset_store_release(rulesets, entry);
    if (*has_answer)
        report_failure(service, HS_SHARED_RULESET, "", revision, problem.detail);
    return NULL;
}

static bool is_same_ruleset(struct hs_ruleset_store *rulesets, const struct hs_ruleset_entry *entry,
                            const struct name *name)
{
    double share;
    struct hs_ruleset_entry *canary = hs_ruleset_store_canary(rulesets, entry, &share);
    bool is_same = strcmp(entry->revision, name->revision) == 0 &&
                   strcmp(entry->owner.text, name->owner.text) == 0 &&
                   strcmp(canary != NULL ? canary->revision : "", name->canary) == 0 &&
                   (canary == NULL || share == name->share);
    hs_ruleset_store_release(rulesets, canary);
    return is_same;
}

/* Sets the ruleset and the canary of a name. Returns false on failure. If the store does not
   answer, changes nothing. */
static bool apply_ruleset(struct hs_service *service, const struct name *name, bool *has_answer)
{
    struct hs_ruleset_store *rulesets = service->rulesets;
    struct hs_str owner = hs_name_str(&name->owner);
    struct hs_ruleset_entry *canary = NULL;
    struct hs_ruleset_entry *entry =
        hs_exchange_ruleset(service, owner, name->revision, has_answer);
    if (entry != NULL && name->canary[0] != '\0')
        canary = hs_exchange_ruleset(service, owner, name->canary, has_answer);
    bool is_fine =
        entry != NULL && *has_answer &&
        hs_ruleset_store_restore_name(rulesets, owner, entry, true) != HS_RULESET_NAME_FULL;
    if (is_fine && canary != NULL)
        hs_ruleset_store_restore_canary(rulesets, owner, canary, name->share);
    hs_ruleset_store_release(rulesets, canary);
    hs_ruleset_store_release(rulesets, entry);
    return is_fine && (canary != NULL || name->canary[0] == '\0');
}

/* Copies a name from the store to this replica. Built-in rulesets and rulesets from files do not
   change. Returns false if the store did not answer. */
static bool update_ruleset(struct hs_service *service, const struct name *name)
{
    bool has_answer = true;
    struct hs_ruleset_store *rulesets = service->rulesets;
    struct hs_ruleset_entry *now = hs_ruleset_store_get(rulesets, hs_name_str(&name->name));
    bool is_ours = now != NULL && (now->is_builtin || now->is_from_file);
    bool is_same = now != NULL && is_same_ruleset(rulesets, now, name);
    if (now != NULL && !is_ours && strcmp(now->owner.text, name->owner.text) != 0)
        hs_ruleset_store_delete(rulesets, hs_name_str(&now->owner), hs_name_str(&name->name), NULL,
                                NULL);
    bool is_fine = is_ours || is_same || apply_ruleset(service, name, &has_answer);
    if (!is_fine && has_answer)
        hs_ruleset_store_delete(rulesets, hs_name_str(&name->owner), hs_name_str(&name->name), NULL,
                                NULL);
    hs_ruleset_store_release(rulesets, now);
    return has_answer;
}

/* ---- maps from the store ---- */

/* Builds a map. If `is_named` is set, also stores the map under its name. On failure returns NULL
   with the reason in `why`. */
static struct hs_map_entry *build_map(struct hs_service *service, const struct name *name,
                                      bool is_named, struct hs_str text, const char **why)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = &problem, .arena = &arena};
    struct hs_share *share = hs_map_store_share(service->maps);
    struct hs_world_mesh counts = hs_map_measure(text);
    size_t bytes = text.len + hs_map_mesh_bytes(&counts);
    struct hs_map_document document;
    struct hs_map_entry *entry = NULL;
    *why = "too little of --map-bytes is left, or --max-maps is reached";
    if (!hs_share_reserve(share, (struct hs_str){0}, bytes))
        return NULL;
    if (hs_map_decode(&reader, text, &counts, &document)) {
        struct hs_world_mesh mesh = hs_map_mesh(&document);
        struct hs_str kept = service->record != NULL ? text : (struct hs_str){0};
        if (is_named)
            hs_map_store_put_kept(service->maps, hs_name_str(&name->owner),
                                  hs_name_str(&name->name), &mesh, kept, 0, &entry);
        else
            hs_map_store_adopt(service->maps, hs_name_str(&name->owner), hs_name_str(&name->name),
                               &mesh, kept, &entry);
    }
    hs_map_document_free(&document);
    hs_arena_free(&arena);
    hs_share_release(share, (struct hs_str){0}, bytes);
    if (entry == NULL || strcmp(entry->revision, name->revision) == 0)
        return entry;
    *why = "the document does not match its revision";
    hs_map_store_release(service->maps, entry);
    return NULL;
}

static struct hs_map_entry *fetch_map(struct hs_service *service, const struct name *name,
                                      bool is_named, bool *has_answer)
{
    const char *why = "the store does not have the document";
    size_t size;
    char *text = hs_shared_document(service->store, HS_SHARED_MAP, hs_name_str(&name->name),
                                    hs_str_of(name->revision), service->options->map_body_bytes,
                                    &size, has_answer);
    struct hs_map_entry *entry = NULL;
    if (text != NULL)
        entry = build_map(service, name, is_named, (struct hs_str){text, size}, &why);
    if (entry == NULL && *has_answer)
        report_failure(service, HS_SHARED_MAP, name->name.text, name->revision, why);
    else if (entry != NULL && service->keep_map != NULL)
        service->keep_map(service, entry, (struct hs_str){text, size});
    free(text);
    return entry;
}

/* Copies a name from the store to this replica. If this replica cannot use the map, deletes the
   name on this replica. Returns false if the store did not answer. */
static bool update_map(struct hs_service *service, const struct name *name)
{
    struct hs_map_store *maps = service->maps;
    struct hs_map_entry *now = hs_map_store_get(maps, hs_name_str(&name->name));
    bool has_owner = now != NULL && strcmp(now->owner.text, name->owner.text) == 0;
    if (has_owner && strcmp(now->revision, name->revision) == 0) {
        hs_map_store_release(maps, now);
        return true;
    }
    if (now != NULL && !has_owner)
        hs_map_store_delete(maps, hs_name_str(&now->owner), hs_name_str(&name->name));
    hs_map_store_release(maps, now);
    bool has_answer;
    struct hs_map_entry *entry = fetch_map(service, name, true, &has_answer);
    if (entry == NULL && has_answer)
        hs_map_store_delete(maps, hs_name_str(&name->owner), hs_name_str(&name->name));
    else if (entry != NULL)
        hs_registry_give_map(service->registry, maps, entry);
    hs_map_store_release(maps, entry);
    return has_answer;
}

/* ---- names that were deleted ---- */

static void drop_rulesets(struct hs_service *service, const struct names *names,
                          const struct hs_unsent *unsent)
{
    struct hs_ruleset_store *store = service->rulesets;
    size_t count;
    struct hs_ruleset_entry **posted = hs_ruleset_store_list(store, true, &count);
    for (size_t i = 0; i < count; i++) {
        struct hs_ruleset_entry *entry = posted[i];
        if (!must_keep(names, unsent, HS_SHARED_RULESET, &entry->ruleset->name))
            hs_ruleset_store_delete(store, hs_name_str(&entry->owner),
                                    hs_name_str(&entry->ruleset->name), NULL, NULL);
        hs_ruleset_store_release(store, entry);
    }
    free(posted);
}

static void drop_maps(struct hs_service *service, const struct names *names,
                      const struct hs_unsent *unsent)
{
    struct hs_map_store *store = service->maps;
    size_t count;
    struct hs_map_entry **maps = hs_map_store_all(store, &count);
    for (size_t i = 0; maps != NULL && i < count; i++) {
        if (!must_keep(names, unsent, HS_SHARED_MAP, &maps[i]->name))
            hs_map_store_delete(store, hs_name_str(&maps[i]->owner), hs_name_str(&maps[i]->name));
        hs_map_store_release(store, maps[i]);
    }
    free(maps);
}

/* ---- names and documents for the store ---- */

static bool send_ruleset(struct hs_service *service, const struct hs_ruleset_entry *entry)
{
    return entry == NULL ||
           hs_shared_put_document(service->store, HS_SHARED_RULESET, (struct hs_str){0},
                                  hs_str_of(entry->revision),
                                  (struct hs_str){entry->document, entry->document_size});
}

enum hs_shared_result hs_exchange_put_ruleset(struct hs_service *service,
                                              struct hs_ruleset_entry *entry, bool if_new)
{
    struct hs_ruleset_store *store = service->rulesets;
    double share;
    struct hs_ruleset_entry *canary = hs_ruleset_store_canary(store, entry, &share);
    struct hs_shared_name name = {.kind = HS_SHARED_RULESET,
                                  .name = hs_name_str(&entry->ruleset->name),
                                  .owner = hs_name_str(&entry->owner),
                                  .revision = hs_str_of(entry->revision)};
    if (canary != NULL) {
        name.canary = hs_str_of(canary->revision);
        name.share = share;
    }
    bool is_sent = send_ruleset(service, entry) && send_ruleset(service, canary);
    hs_ruleset_store_release(store, canary);
    return is_sent ? hs_shared_put_name(service->store, &name, if_new) : HS_SHARED_LOST;
}

enum hs_shared_result hs_exchange_put_map(struct hs_service *service,
                                          const struct hs_map_entry *entry, struct hs_str text,
                                          bool if_new)
{
    struct hs_shared_name name = {.kind = HS_SHARED_MAP,
                                  .name = hs_name_str(&entry->name),
                                  .owner = hs_name_str(&entry->owner),
                                  .revision = hs_str_of(entry->revision)};
    return hs_shared_put_document(service->store, HS_SHARED_MAP, name.name, name.revision, text)
               ? hs_shared_put_name(service->store, &name, if_new)
               : HS_SHARED_LOST;
}

static bool add_unsent(struct hs_unsent *unsent, enum hs_shared_kind kind,
                       const struct hs_name *name)
{
    void *grown =
        hs_array_grow(unsent->names, unsent->count, &unsent->capacity, sizeof *unsent->names);
    if (grown == NULL)
        return false;
    unsent->names = grown;
    unsent->names[unsent->count++] = (struct hs_unsent_name){.kind = kind, .name = *name};
    return true;
}

bool hs_exchange_list(struct hs_service *service, struct hs_unsent *unsent)
{
    size_t ruleset_count, map_count;
    struct hs_ruleset_entry **posted =
        hs_ruleset_store_list(service->rulesets, true, &ruleset_count);
    struct hs_map_entry **maps = hs_map_store_all(service->maps, &map_count);
    bool is_fine = posted != NULL && maps != NULL;
    unsent->count = 0;
    for (size_t i = 0; posted != NULL && i < ruleset_count; i++) {
        is_fine = is_fine && add_unsent(unsent, HS_SHARED_RULESET, &posted[i]->ruleset->name);
        hs_ruleset_store_release(service->rulesets, posted[i]);
    }
    for (size_t i = 0; maps != NULL && i < map_count; i++) {
        is_fine = is_fine && add_unsent(unsent, HS_SHARED_MAP, &maps[i]->name);
        hs_map_store_release(service->maps, maps[i]);
    }
    free(posted);
    free(maps);
    if (!is_fine)
        unsent->count = 0;
    return is_fine;
}

/* Returns false if the ruleset must be sent again. */
static bool resend_ruleset(struct hs_service *service, struct hs_str name)
{
    struct hs_ruleset_store *store = service->rulesets;
    struct hs_ruleset_entry *entry = hs_ruleset_store_get(store, name);
    bool is_done = entry == NULL || entry->is_builtin || entry->is_from_file ||
                   hs_exchange_put_ruleset(service, entry, true) != HS_SHARED_LOST;
    hs_ruleset_store_release(store, entry);
    return is_done;
}

/* Returns false if the map must be sent again. */
static bool resend_map(struct hs_service *service, struct hs_str name)
{
    struct hs_map_entry *entry = hs_map_store_get(service->maps, name);
    struct hs_buffer text = {0};
    bool is_done = true;
    if (entry != NULL && hs_map_file_document(service->options->data, entry->revision, &text))
        is_done = hs_exchange_put_map(service, entry, (struct hs_str){text.data, text.len}, true) !=
                  HS_SHARED_LOST;
    else if (entry != NULL)
        report_failure(service, HS_SHARED_MAP, entry->name.text, entry->revision,
                       "the store has lost this map, and --data lacks its file: upload it again");
    hs_buffer_free(&text);
    hs_map_store_release(service->maps, entry);
    return is_done;
}

void hs_exchange_send(struct hs_service *service, struct hs_unsent *unsent)
{
    size_t kept = 0;
    for (size_t i = 0; i < unsent->count; i++) {
        struct hs_str name = hs_name_str(&unsent->names[i].name);
        bool is_done = unsent->names[i].kind == HS_SHARED_RULESET ? resend_ruleset(service, name)
                                                                  : resend_map(service, name);
        if (!is_done)
            unsent->names[kept++] = unsent->names[i];
    }
    unsent->count = kept;
}

/* ---- documents of matches ---- */

/* A set of retained rulesets or maps. */
struct entries {
    void **items;
    size_t count, capacity;
};

/* Adds an item to the set. Returns false if the set already contains the item, or memory runs
   out. */
static bool add_once(struct entries *entries, void *item)
{
    for (size_t i = 0; i < entries->count; i++)
        if (entries->items[i] == item)
            return false;
    void *grown = hs_array_grow(entries->items, entries->count, &entries->capacity, sizeof item);
    if (grown == NULL)
        return false;
    entries->items = grown;
    entries->items[entries->count++] = item;
    return true;
}

struct in_use {
    struct hs_service *service;
    struct entries rulesets, maps;
};

static void add_documents(void *context, struct hs_match_slot *slot)
{
    struct in_use *in_use = context;
    if (add_once(&in_use->rulesets, slot->ruleset))
        hs_ruleset_store_retain(in_use->service->rulesets, slot->ruleset);
    if (slot->map != NULL && add_once(&in_use->maps, slot->map))
        hs_map_store_retain(in_use->service->maps, slot->map);
}

/* Locks each match only while its documents are listed. Afterwards asks the store once for each
   document. With a slow store, asking once for each match would take minutes, and would delay the
   next round. */
void hs_exchange_keep(struct hs_service *service)
{
    struct in_use in_use = {.service = service};
    hs_registry_each(service->registry, (struct hs_str){0}, add_documents, &in_use);
    for (size_t i = 0; i < in_use.rulesets.count; i++) {
        send_ruleset(service, in_use.rulesets.items[i]);
        hs_ruleset_store_release(service->rulesets, in_use.rulesets.items[i]);
    }
    for (size_t i = 0; i < in_use.maps.count; i++) {
        struct hs_map_entry *map = in_use.maps.items[i];
        hs_shared_keep_document(service->store, HS_SHARED_MAP, hs_name_str(&map->name),
                                hs_str_of(map->revision));
        hs_map_store_release(service->maps, map);
    }
    free(in_use.rulesets.items);
    free(in_use.maps.items);
}

void hs_exchange_offer(struct hs_service *service, struct hs_revisions *sent)
{
    struct hs_ruleset_store *store = service->rulesets;
    size_t count;
    struct hs_ruleset_entry **list = hs_ruleset_store_list(store, false, &count);
    for (size_t i = 0; i < count; i++) {
        double share;
        struct hs_ruleset_entry *const both[] = {list[i],
                                                 hs_ruleset_store_canary(store, list[i], &share)};
        for (size_t j = 0; j < 2; j++) {
            if (both[j] != NULL && !hs_revisions_has(sent, both[j]->revision)) {
                hs_revisions_add(sent, both[j]->revision);
                send_ruleset(service, both[j]);
            }
            hs_ruleset_store_release(store, both[j]);
        }
    }
    free(list);
}

bool hs_exchange_read(struct hs_service *service, const struct hs_unsent *unsent)
{
    struct names names = {0};
    bool has_names = hs_shared_names(service->store, add_name, &names) && !names.no_memory;
    bool has_all = has_names;
    for (size_t i = 0; has_names && i < names.count; i++) {
        const struct name *name = &names.names[i];
        bool has_answer = name->kind == HS_SHARED_RULESET ? update_ruleset(service, name)
                                                          : update_map(service, name);
        has_all = has_all && has_answer;
    }
    if (has_names) {
        drop_rulesets(service, &names, unsent);
        drop_maps(service, &names, unsent);
    }
    free(names.names);
    return has_all;
}

struct hs_map_entry *hs_exchange_map(struct hs_service *service, struct hs_str owner,
                                     struct hs_str name, const char *revision, bool *has_answer)
{
    struct name wanted = {.kind = HS_SHARED_MAP};
    hs_name_set(&wanted.owner, owner);
    hs_name_set(&wanted.name, name);
    snprintf(wanted.revision, sizeof wanted.revision, "%s", revision);
    return fetch_map(service, &wanted, false, has_answer);
}
