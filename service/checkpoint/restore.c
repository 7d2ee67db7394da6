#include "service/checkpoint/restore.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/checkpoint/file.h"
#include "service/checkpoint/journal.h"
#include "service/checkpoint/kept_match.h"
#include "service/checkpoint/restore_maps.h"
#include "service/options/values.h"
#include "service/record/recorder.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/system/array.h"
#include "service/watch/log.h"
#include "validators/base/encoding.h"
#include "validators/journal.h"
#include "validators/snapshot.h"

struct restoring {
    struct hs_service *service;
    struct hs_checkpoint_stats *stats;
    /* rulesets in the checkpoint; this struct owns a reference to each */
    struct hs_ruleset_entry **rulesets;
    size_t ruleset_count, ruleset_capacity;
    struct hs_restored_maps maps;
    struct hs_log_limit log_limit;
    bool is_newest; /* the current file is HS_CHECKPOINT_NAME */
    bool is_final;  /* no claim was verified after the current file was written */
    /* Journal numbers. `contained`: the current file contains the records in all journals with
       lower numbers. `first`: the oldest journal to read. */
    uint64_t contained, first;
    const uint64_t *journals; /* numbers of all journals, ascending */
    size_t journal_count;
    bool is_journal;
    /* the records of the current journal have the layout of this program version */
    bool has_layout;
};

static void log_refused(struct restoring *restoring, struct hs_str name, const char *why)
{
    char match[HS_NAME_MAX + 1];
    snprintf(match, sizeof match, "%.*s", (int)name.len, name.len > 0 ? name.ptr : "");
    if (hs_log_allowed(&restoring->log_limit))
        hs_log(HS_LOG_WARN, "a match in the checkpoint cannot be restored: it starts empty",
               HS_LOG_TEXT("match", match), HS_LOG_TEXT("detail", why));
}

/* ---- rulesets ---- */

static struct hs_ruleset_entry *find_ruleset(const struct restoring *restoring,
                                             struct hs_str revision)
{
    for (size_t i = 0; i < restoring->ruleset_count; i++) {
        const char *own = restoring->rulesets[i]->revision;
        if (hs_str_equal(hs_str_of(own), revision))
            return restoring->rulesets[i];
    }
    return NULL;
}

/* Returns whether `name` can be an owner. An empty name means everybody. */
static bool is_owner(struct hs_str name)
{
    return name.len == 0 || hs_name_is_valid(name);
}

/* Restores a ruleset. If the ruleset is refused, a line is logged later for each match and each
   name that needs the ruleset. */
static void restore_ruleset(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    struct hs_ruleset_store *store = restoring->service->rulesets;
    struct hs_problem problem;
    hs_problem_init(&problem);
    struct hs_str owner = hs_bytes_get_name(reader), revision = hs_bytes_get_name(reader);
    struct hs_str document = {(const char *)reader->at, (size_t)(reader->end - reader->at)};
    if (reader->failed || !is_owner(owner) || find_ruleset(restoring, revision) != NULL)
        return;
    void *rulesets = hs_array_grow(restoring->rulesets, restoring->ruleset_count,
                                   &restoring->ruleset_capacity, sizeof *restoring->rulesets);
    if (rulesets == NULL)
        return;
    restoring->rulesets = rulesets;
    struct hs_ruleset_entry *entry = hs_ruleset_store_adopt(store, owner, document, &problem);
    if (entry != NULL)
        restoring->rulesets[restoring->ruleset_count++] = entry;
}

static void log_refused_ruleset(const char *name, struct hs_str revision, const char *why)
{
    char text[HS_REVISION_MAX];
    snprintf(text, sizeof text, "%.*s", (int)revision.len, revision.len > 0 ? revision.ptr : "");
    hs_log(HS_LOG_WARN, "a ruleset in the checkpoint cannot be restored",
           HS_LOG_TEXT("ruleset", name), HS_LOG_TEXT("revision", text), HS_LOG_TEXT("detail", why));
}

/* Restores the name of an uploaded ruleset. */
static void restore_ruleset_name(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    uint64_t *counts = restoring->stats->rulesets;
    struct hs_str owner = hs_bytes_get_name(reader), revision = hs_bytes_get_name(reader);
    bool is_fine = !reader->failed && is_owner(owner);
    struct hs_ruleset_entry *entry = is_fine ? find_ruleset(restoring, revision) : NULL;
    if (entry == NULL) {
        counts[HS_RESTORED_NAME_DAMAGED]++;
        log_refused_ruleset("", revision, "its document is missing or is not a ruleset");
        return;
    }
    enum hs_ruleset_restore result = hs_ruleset_store_restore_name(
        restoring->service->rulesets, owner, entry, restoring->is_journal);
    if (result == HS_RULESET_NAMED) {
        counts[HS_RESTORED_NAME_BACK]++;
    } else if (result != HS_RULESET_NAME_TAKEN) {
        bool is_full = result == HS_RULESET_NAME_FULL;
        counts[is_full ? HS_RESTORED_NAME_NO_SPACE : HS_RESTORED_NAME_IS_FILES]++;
        log_refused_ruleset(entry->ruleset->name.text, revision,
                            is_full ? "the limit of rulesets is reached" : "a file has its name");
    }
}

/* Restores a name's canary. If the canary's document is missing, the name then has no canary. */
static void restore_canary(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    struct hs_str owner = hs_bytes_get_name(reader), revision = hs_bytes_get_name(reader);
    uint64_t bits = hs_bytes_get(reader, 8);
    double share;
    memcpy(&share, &bits, sizeof share);
    bool is_fine = !reader->failed && is_owner(owner) && share > 0 && share <= 1;
    struct hs_ruleset_entry *entry = is_fine ? find_ruleset(restoring, revision) : NULL;
    if (entry != NULL)
        hs_ruleset_store_restore_canary(restoring->service->rulesets, owner, entry, share);
    else
        log_refused_ruleset("", revision, "the document of the canary is missing");
}

static void replay_ruleset_gone(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    struct hs_str owner = hs_bytes_get_name(reader), name = hs_bytes_get_name(reader);
    if (!reader->failed && hs_name_is_valid(name) &&
        hs_ruleset_store_delete(restoring->service->rulesets, owner, name, NULL, NULL) ==
            HS_RULESET_DELETED)
        restoring->stats->rulesets[HS_RESTORED_NAME_BACK]--;
}

/* ---- maps ---- */

static bool is_map(struct hs_str name, struct hs_str revision)
{
    return hs_name_is_valid(name) && revision.len > 0 && revision.len < HS_REVISION_MAX;
}

static void restore_map(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    struct hs_str name = hs_bytes_get_name(reader), owner = hs_bytes_get_name(reader);
    struct hs_str revision = hs_bytes_get_name(reader);
    if (!reader->failed && is_map(name, revision) && is_owner(owner))
        hs_restored_maps_name(&restoring->maps, name, owner, revision);
}

/* ---- matches ---- */

/* The outcome for each result of hs_match_load, and the reason if the match is refused. */
static const struct {
    enum hs_restored outcome;
    const char *why;
} loads[] = {
    [HS_MATCH_LOADED] = {HS_RESTORED_WHOLE, ""},
    [HS_MATCH_LOADED_PARTLY] = {HS_RESTORED_RESET, ""},
    [HS_MATCH_OTHER_VERSION] = {HS_RESTORED_VERSION, "another version of the program wrote it"},
    [HS_MATCH_DAMAGED] = {HS_RESTORED_DAMAGED, "its bytes are damaged"},
    [HS_MATCH_LOAD_NO_MEMORY] = {HS_RESTORED_NO_SPACE, "out of memory"},
};

/* Adds a match that was loaded from `state` to the registry, which then owns the match. Returns
   NULL on success, otherwise the reason for the failure. */
static const char *open_match(struct restoring *restoring, const struct hs_kept_head *head,
                              struct hs_ruleset_entry *ruleset, struct hs_match *match,
                              const struct hs_bytes_reader *state)
{
    struct hs_service *service = restoring->service;
    struct hs_map_entry *map = NULL;
    if (head->map.len > 0)
        map = hs_restored_maps_get(&restoring->maps, head->map, head->map_revision);
    struct hs_match_opening opening = {
        .ruleset = ruleset,
        .map = map,
        .limits = hs_registry_match_limits(service->registry, service->options),
        .tenant = head->tenant,
        .number = head->opening,
        .match = match};
    struct hs_match_slot *slot = NULL;
    enum hs_registry_result result =
        hs_registry_acquire(service->registry, head->tenant, head->name, &opening, &slot);
    if (slot != NULL) {
        if (map == NULL && head->map.len > 0) {
            hs_name_set(&slot->awaited_map, head->map);
            memcpy(slot->awaited_revision, head->map_revision.ptr, head->map_revision.len);
        }
        hs_record_restored(service->record, slot, state->at, (size_t)(state->end - state->at),
                           !restoring->is_final);
        hs_registry_release(service->registry, slot);
        return NULL;
    }
    hs_match_destroy(match);
    return result == HS_REGISTRY_FULL         ? "the limit of open matches is reached"
           : result == HS_REGISTRY_NO_HISTORY ? "the memory for histories is full"
                                              : "out of memory";
}

/* Returns the open match with this name, locked, or NULL. */
static struct hs_match_slot *find_open(struct restoring *restoring, struct hs_str name)
{
    struct hs_match_slot *slot = NULL;
    hs_registry_acquire(restoring->service->registry, (struct hs_str){0}, name, NULL, &slot);
    return slot;
}

static void remove_ended(struct restoring *restoring, struct hs_match_slot *slot)
{
    hs_record_replayed(restoring->service->record, slot, NULL, 0);
    hs_registry_remove(restoring->service->registry, slot);
}

/* Returns whether the registry contains this opening of the match or a later one. Removes an
   earlier opening, because that match has ended. */
static bool is_open(struct restoring *restoring, const struct hs_kept_head *head)
{
    struct hs_match_slot *slot = find_open(restoring, head->name);
    if (slot == NULL)
        return false;
    bool is_there = slot->opening >= head->opening;
    if (!is_there)
        remove_ended(restoring, slot);
    hs_registry_release(restoring->service->registry, slot);
    return is_there;
}

static void restore_match(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    struct hs_service *service = restoring->service;
    struct hs_match_limits limits = hs_registry_match_limits(service->registry, service->options);
    struct hs_kept_head head;
    bool is_fine = hs_kept_match_get_head(reader, &head);
    enum hs_match_load result = HS_MATCH_DAMAGED;
    struct hs_match *match = NULL;
    struct hs_ruleset_entry *ruleset = find_ruleset(restoring, head.revision);
    if (is_fine && is_open(restoring, &head))
        return;
    if (is_fine && ruleset != NULL)
        result = hs_match_load(ruleset->ruleset, &limits, reader->at,
                               (size_t)(reader->end - reader->at), &match);
    enum hs_restored outcome = loads[result].outcome;
    const char *refused = is_fine && ruleset == NULL ? "its ruleset is missing" : loads[result].why;
    if (match != NULL) {
        if (!restoring->is_final)
            hs_match_lost_moves(match);
        refused = open_match(restoring, &head, ruleset, match, reader);
        outcome = refused != NULL ? HS_RESTORED_NO_SPACE : outcome;
    }
    if (refused != NULL)
        log_refused(restoring, head.name, refused);
    restoring->stats->restored[outcome]++;
}

/* ---- journals ---- */

/* Applies the payments that an open match made after the checkpoint. */
static void replay_events(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    struct hs_str name = hs_bytes_get_name(reader);
    uint64_t opening = hs_bytes_get(reader, 8);
    if (reader->failed || !restoring->has_layout || !hs_name_is_valid(name))
        return;
    struct hs_match_slot *slot = find_open(restoring, name);
    if (slot == NULL)
        return;
    if (slot->opening == opening) {
        size_t size = (size_t)(reader->end - reader->at);
        if (!hs_match_replay(slot->match, reader->at, size))
            log_refused(restoring, name,
                        "records of the journal are damaged, or the service is out of memory");
        hs_record_replayed(restoring->service->record, slot, reader->at, size);
    }
    hs_registry_release(restoring->service->registry, slot);
}

static void replay_close(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    struct hs_str name = hs_bytes_get_name(reader);
    uint64_t opening = hs_bytes_get(reader, 8);
    struct hs_match_slot *slot = hs_name_is_valid(name) ? find_open(restoring, name) : NULL;
    if (slot == NULL)
        return;
    if (slot->opening == opening)
        remove_ended(restoring, slot);
    hs_registry_release(restoring->service->registry, slot);
}

/* Reads the number of the first journal whose records this checkpoint does not contain. If this
   journal or a later one exists, a process has started since the checkpoint was written, so the
   checkpoint is not final. */
static void read_contained(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    restoring->contained = hs_bytes_get(reader, 8);
    if (restoring->contained < restoring->first)
        restoring->first = restoring->contained;
    for (size_t i = 0; i < restoring->journal_count; i++)
        if (restoring->journals[i] >= restoring->contained)
            restoring->is_final = false;
}

static void read_final(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    (void)reader;
    restoring->is_final = restoring->is_newest;
}

static void read_layout(struct restoring *restoring, struct hs_bytes_reader *reader)
{
    restoring->has_layout = hs_bytes_get(reader, 8) == hs_journal_layout();
}

static void restore_record(void *context, enum hs_checkpoint_type type, const void *bytes,
                           size_t size)
{
    static void (*const readers[])(struct restoring * restoring,
                                   struct hs_bytes_reader * reader) = {
        [HS_CHECKPOINT_FINAL] = read_final,
        [HS_CHECKPOINT_RULESET] = restore_ruleset,
        [HS_CHECKPOINT_MATCH] = restore_match,
        [HS_CHECKPOINT_RULESET_NAME] = restore_ruleset_name,
        [HS_CHECKPOINT_MAP] = restore_map,
        [HS_CHECKPOINT_JOURNAL] = read_contained,
        [HS_CHECKPOINT_LAYOUT] = read_layout,
        [HS_CHECKPOINT_EVENTS] = replay_events,
        [HS_CHECKPOINT_CLOSE] = replay_close,
        [HS_CHECKPOINT_RULESET_GONE] = replay_ruleset_gone,
        [HS_CHECKPOINT_CANARY] = restore_canary,
    };
    struct hs_bytes_reader reader = {bytes, (const unsigned char *)bytes + size, false};
    if ((size_t)type < sizeof readers / sizeof readers[0] && readers[type] != NULL)
        readers[type](context, &reader);
}

/* ---- files ---- */

/* Reads a file and sets *result. Returns false if the file cannot be opened. */
static bool read_file(struct restoring *restoring, int directory, const char *name,
                      enum hs_checkpoint_read *result, char error[512])
{
    restoring->is_final = restoring->has_layout = false;
    *result = hs_checkpoint_read(directory, name, restore_record, restoring);
    if (*result == HS_CHECKPOINT_UNREADABLE)
        snprintf(error, 512, "%s/%s cannot be read: %s", restoring->service->options->data, name,
                 strerror(errno));
    return *result != HS_CHECKPOINT_UNREADABLE;
}

static void refuse(struct restoring *restoring, const char *name, const char *what,
                   const char *detail)
{
    restoring->stats->files_refused++;
    hs_log(HS_LOG_ERROR, what, HS_LOG_TEXT("data", restoring->service->options->data),
           HS_LOG_TEXT("file", name), HS_LOG_TEXT("detail", detail));
}

/* Reads a checkpoint. Sets *whole to whether the file is complete. Returns false if the file cannot
   be opened. */
static bool read_checkpoint(struct restoring *restoring, int directory, const char *name,
                            bool *whole, char error[512])
{
    enum hs_checkpoint_read result;
    restoring->is_newest = strcmp(name, HS_CHECKPOINT_NAME) == 0;
    bool fine = read_file(restoring, directory, name, &result, error);
    *whole = result == HS_CHECKPOINT_READ;
    if (fine && !*whole && result != HS_CHECKPOINT_MISSING)
        refuse(restoring, name,
               "a checkpoint is incomplete, or another version of the program wrote it",
               result == HS_CHECKPOINT_BROKEN     ? "damaged: its complete records are used"
               : result == HS_CHECKPOINT_NOT_FILE ? "not a regular file: it is not used"
                                                  : "another version: it is not used");
    return fine;
}

/* Reads a journal. The newest journal may end with a partial record, if the process was killed
   during a write. */
static bool read_journal(struct restoring *restoring, int directory, uint64_t number,
                         char error[512])
{
    char name[HS_JOURNAL_NAME_MAX];
    enum hs_checkpoint_read result;
    hs_journal_name(number, name);
    restoring->is_journal = true;
    bool fine = read_file(restoring, directory, name, &result, error);
    if (fine && (result != HS_CHECKPOINT_UNENDED || !restoring->has_layout))
        refuse(restoring, name, "a journal is damaged, or another version of the program wrote it",
               "its payments may be lost");
    return fine;
}

static bool read_journals(struct restoring *restoring, int directory, char error[512])
{
    bool fine = true;
    for (size_t i = 0; i < restoring->journal_count && fine; i++)
        if (restoring->journals[i] >= restoring->first)
            fine = read_journal(restoring, directory, restoring->journals[i], error);
    return fine;
}

static void log_result(const struct restoring *restoring)
{
    const struct hs_checkpoint_stats *stats = restoring->stats;
    uint64_t restored = stats->restored[HS_RESTORED_WHOLE] + stats->restored[HS_RESTORED_RESET];
    uint64_t refused = stats->restored[HS_RESTORED_VERSION] + stats->restored[HS_RESTORED_DAMAGED] +
                       stats->restored[HS_RESTORED_NO_SPACE];
    if (restored + refused > 0)
        hs_log(HS_LOG_INFO,
               "matches were restored: post the frames of the last history window again",
               HS_LOG_NUMBER("matches", restored), HS_LOG_NUMBER("refused", refused),
               HS_LOG_NUMBER("without_judges", stats->restored[HS_RESTORED_RESET]));
}

bool hs_checkpoint_restore(struct hs_service *service, int directory, struct hs_kept_maps *maps,
                           struct hs_checkpoint_stats *stats, struct hs_restored_journals *journals,
                           char error[512])
{
    size_t count;
    uint64_t *numbers = hs_journal_list(directory, &count);
    if (numbers == NULL) {
        snprintf(error, 512, "the data directory cannot be read, or the service is out of memory");
        return false;
    }
    journals->next = count > 0 ? numbers[count - 1] + 1 : 1;
    struct restoring restoring = {
        .service = service,
        .stats = stats,
        .journals = numbers,
        .journal_count = count,
        .first = UINT64_MAX,
        .maps = {.store = service->maps, .kept = maps, .keeps_documents = service->record != NULL},
        .log_limit = {.per_second = 20, .kind = "matches refused"}};
    bool whole;
    bool fine = read_checkpoint(&restoring, directory, HS_CHECKPOINT_NAME, &whole, error);
    if (fine && stats->files_refused > 0)
        hs_checkpoint_set_aside(directory);
    if (fine && !whole)
        fine = read_checkpoint(&restoring, directory, HS_CHECKPOINT_PREVIOUS, &whole, error);
    journals->contained = restoring.first == UINT64_MAX ? 0 : restoring.first;
    restoring.first = journals->contained;
    fine = fine && read_journals(&restoring, directory, error);
    if (journals->next < journals->contained)
        journals->next = journals->contained;
    free(numbers);
    for (size_t i = 0; i < restoring.ruleset_count; i++)
        hs_ruleset_store_release(service->rulesets, restoring.rulesets[i]);
    free(restoring.rulesets);
    hs_restored_maps_end(&restoring.maps, stats->maps);
    hs_kept_maps_settle(maps);
    hs_log_report(&restoring.log_limit, true);
    log_result(&restoring);
    return fine;
}
