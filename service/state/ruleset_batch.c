/* Reads a directory of rulesets, and then stores all rulesets in one step. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "service/state/ruleset_entries.h"
#include "service/system/array.h"

struct hs_ruleset_batch {
    struct hs_ruleset_store *store;
    struct hs_ruleset_entry **entries;
    size_t count, capacity;
};

static void report_text(hs_ruleset_file_report *report, void *context, const char *path,
                        enum hs_problem_code code, const char *text)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    hs_problem_set(&problem, code, "%s", text);
    report(context, path, &problem);
}

static bool add_to_batch(struct hs_ruleset_batch *batch, struct hs_ruleset *ruleset)
{
    void *entries =
        hs_array_grow(batch->entries, batch->count, &batch->capacity, sizeof *batch->entries);
    if (entries == NULL) {
        hs_ruleset_destroy(ruleset);
        return false;
    }
    batch->entries = entries;
    struct hs_ruleset_entry *entry = hs_ruleset_entry_create(ruleset, false);
    if (entry == NULL)
        return false;
    entry->is_from_file = true;
    batch->entries[batch->count++] = entry;
    return true;
}

/* Reads one file. If the file is faulty, reports its fault and returns false. */
static bool read_into_batch(struct hs_ruleset_batch *batch, const char *path, struct hs_str name,
                            hs_ruleset_file_report *report, void *context)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    if (hs_ruleset_name_is_reserved(name))
        hs_problem_set(&problem, HS_PROBLEM_INVALID_REQUEST, HS_RULESET_RESERVED_TEXT,
                       (int)name.len, name.ptr);
    struct hs_ruleset *ruleset =
        problem.code == HS_PROBLEM_NONE ? hs_ruleset_from_file(path, name, &problem) : NULL;
    if (ruleset != NULL && !hs_ruleset_store_allows(batch->store, ruleset, &problem))
        hs_ruleset_destroy(ruleset);
    else if (ruleset != NULL && add_to_batch(batch, ruleset))
        return true;
    if (problem.code == HS_PROBLEM_NONE)
        hs_problem_set(&problem, HS_PROBLEM_OVERLOADED, "out of memory");
    report(context, path, &problem);
    return false;
}

/* Reports and leaves out each file whose ruleset name belongs to a tenant, because a file must not
   replace a tenant's ruleset. The name of a tenant must not stop a reload, which may remove the
   tenant's token. */
static void leave_to_tenants(struct hs_ruleset_batch *batch, const char *directory,
                             hs_ruleset_file_report *report, void *context)
{
    size_t kept = 0;
    for (size_t i = 0; i < batch->count; i++) {
        struct hs_ruleset_entry *entry = batch->entries[i];
        const char *name = entry->ruleset->name.text;
        struct hs_ruleset_entry *present = hs_ruleset_store_get(batch->store, hs_str_of(name));
        char path[4096];
        if (present != NULL && present->owner.text[0] != '\0') {
            snprintf(path, sizeof path, "%s/%s.json", directory, name);
            report_text(report, context, path, HS_PROBLEM_FORBIDDEN,
                        "a tenant has uploaded a ruleset with this name");
            pthread_mutex_lock(&batch->store->lock);
            hs_ruleset_entry_drop(batch->store, entry);
            pthread_mutex_unlock(&batch->store->lock);
        } else {
            batch->entries[kept++] = entry;
        }
        hs_ruleset_store_release(batch->store, present);
    }
    batch->count = kept;
}

/* Reserves space for the new names, and bytes for all rulesets. If a limit would be exceeded,
   returns false and sets *lacking to the name of the limit. */
static bool reserve(struct hs_ruleset_batch *batch, const char **lacking)
{
    struct hs_ruleset_store *store = batch->store;
    pthread_mutex_lock(&store->lock);
    *lacking = "ruleset-bytes";
    size_t new_names = 0;
    bool fits = true;
    for (size_t i = 0; fits && i < batch->count; i++) {
        size_t place;
        fits = hs_ruleset_entry_charge(store, batch->entries[i]);
        struct hs_str name = hs_name_str(&batch->entries[i]->ruleset->name);
        new_names += hs_ruleset_entries_find(store, name, &place) == NULL;
    }
    if (fits && new_names > store->max_rulesets - store->count) {
        *lacking = "max-rulesets";
        fits = false;
    }
    if (fits) {
        store->batch = batch;
        store->reserved = new_names;
    }
    pthread_mutex_unlock(&store->lock);
    return fits;
}

void hs_ruleset_batch_keep_space(struct hs_ruleset_store *store, struct hs_str name)
{
    const struct hs_ruleset_batch *batch = store->batch;
    for (size_t i = 0; batch != NULL && i < batch->count; i++)
        store->reserved += hs_ruleset_entry_compare(batch->entries[i], name) == 0;
}

/* Releases the space that a batch has reserved. The caller holds the lock. */
static void release_space(const struct hs_ruleset_batch *batch)
{
    struct hs_ruleset_store *store = batch->store;
    if (store->batch != batch)
        return; /* the batch was too big for the store */
    store->batch = NULL;
    store->reserved = 0;
}

/* Reads all files in the directory. Returns the number of faulty files. */
static size_t read_directory(struct hs_ruleset_batch *batch, DIR *dir, const char *directory,
                             hs_ruleset_file_report *report, void *context)
{
    static const char suffix[] = ".json";
    size_t faults = 0;
    for (struct dirent *file; (file = readdir(dir)) != NULL;) {
        size_t len = strlen(file->d_name), tail = sizeof suffix - 1;
        if (len <= tail || strcmp(file->d_name + len - tail, suffix) != 0)
            continue;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, file->d_name);
        struct hs_str name = {file->d_name, len - tail};
        faults += !read_into_batch(batch, path, name, report, context);
    }
    return faults;
}

struct hs_ruleset_batch *hs_ruleset_batch_read(struct hs_ruleset_store *store,
                                               const char *directory,
                                               hs_ruleset_file_report *report, void *context)
{
    DIR *dir = opendir(directory);
    struct hs_ruleset_batch *batch = dir == NULL ? NULL : calloc(1, sizeof *batch);
    if (batch == NULL) {
        report_text(report, context, directory, HS_PROBLEM_INVALID_REQUEST, strerror(errno));
        if (dir != NULL)
            closedir(dir);
        return NULL;
    }
    batch->store = store;
    size_t faults = read_directory(batch, dir, directory, report, context);
    closedir(dir);
    leave_to_tenants(batch, directory, report, context);
    const char *lacking = "";
    if (faults == 0 && reserve(batch, &lacking))
        return batch;
    if (faults == 0) {
        char text[64];
        snprintf(text, sizeof text, "more rulesets than %s allows", lacking);
        report_text(report, context, directory, HS_PROBLEM_OVERLOADED, text);
    }
    hs_ruleset_batch_discard(batch);
    return NULL;
}

bool hs_ruleset_store_would_have_default(struct hs_ruleset_store *store,
                                         const struct hs_ruleset_batch *batch)
{
    struct hs_str name = hs_name_str(&store->default_name);
    for (size_t i = 0; batch != NULL && i < batch->count; i++)
        if (hs_ruleset_entry_compare(batch->entries[i], name) == 0)
            return true;
    struct hs_ruleset_entry *entry = hs_ruleset_store_get(store, HS_STR("default"));
    hs_ruleset_store_release(store, entry);
    return entry != NULL;
}

/* Stores one entry. If a tenant has uploaded a ruleset with this name since the files were read,
   the tenant keeps the name. */
static void put_from_batch(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry,
                           hs_ruleset_change *changed, void *context)
{
    size_t place;
    struct hs_ruleset_entry *before =
        hs_ruleset_entries_find(store, hs_name_str(&entry->ruleset->name), &place);
    if (before != NULL && before->owner.text[0] != '\0') {
        hs_ruleset_entry_drop(store, entry);
        return;
    }
    if (before == NULL || strcmp(before->revision, entry->revision) != 0) {
        changed(context, entry->ruleset->name.text, before == NULL ? "" : before->revision,
                entry->revision);
    } else if (before->canary != NULL) {
        before->canary->references++;
        hs_ruleset_entry_set_canary(store, entry, before->canary, before->canary_share);
    }
    hs_ruleset_entries_set(store, place, before, entry);
}

void hs_ruleset_batch_put(struct hs_ruleset_batch *batch, hs_ruleset_change *changed, void *context)
{
    struct hs_ruleset_store *store = batch->store;
    pthread_mutex_lock(&store->lock);
    release_space(batch);
    for (size_t i = 0; i < batch->count; i++)
        put_from_batch(store, batch->entries[i], changed, context);
    pthread_mutex_unlock(&store->lock);
    free(batch->entries);
    free(batch);
}

void hs_ruleset_batch_discard(struct hs_ruleset_batch *batch)
{
    if (batch == NULL)
        return;
    pthread_mutex_lock(&batch->store->lock);
    release_space(batch);
    for (size_t i = 0; i < batch->count; i++)
        hs_ruleset_entry_drop(batch->store, batch->entries[i]);
    pthread_mutex_unlock(&batch->store->lock);
    free(batch->entries);
    free(batch);
}
