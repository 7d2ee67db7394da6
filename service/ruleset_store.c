#include "service/ruleset_store.h"

#include <dirent.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/rulesets.h"
#include "service/sha256.h"

enum { MAX_FILE_BYTES = 8 * 1024 * 1024 };

struct hs_ruleset_store {
    pthread_mutex_t lock;
    struct hs_name default_name;
    struct hs_ruleset_entry **entries; /* in order of name */
    size_t count, max_rulesets;
    size_t reserved; /* places kept for names of batches that are not put yet */
};

/* ---- entries ---- */

static void destroy_entry(struct hs_ruleset_entry *entry)
{
    if (entry == NULL)
        return;
    hs_ruleset_destroy(entry->ruleset);
    free(entry->document);
    free(entry);
}

/* Takes the ruleset over. NULL: out of memory. */
static struct hs_ruleset_entry *create_entry(struct hs_ruleset *ruleset, bool is_builtin)
{
    struct hs_ruleset_entry *entry = calloc(1, sizeof *entry);
    struct hs_buffer document = {0};
    struct hs_writer writer = {.buffer = &document};
    hs_ruleset_encode(&writer, ruleset);
    if (entry == NULL || document.failed) {
        hs_buffer_free(&document);
        free(entry);
        hs_ruleset_destroy(ruleset);
        return NULL;
    }
    char digest[HS_SHA256_HEX];
    hs_sha256_hex(document.data, document.len, digest);
    snprintf(entry->revision, sizeof entry->revision, "sha256:%s", digest);
    entry->ruleset = ruleset;
    entry->document = document.data;
    entry->document_size = document.len;
    entry->is_builtin = is_builtin;
    entry->references = 1;
    return entry;
}

static int compare_name(const struct hs_ruleset_entry *entry, struct hs_str name)
{
    struct hs_str own = hs_name_str(&entry->ruleset->name);
    size_t shorter = own.len < name.len ? own.len : name.len;
    int order = memcmp(own.ptr, name.ptr, shorter);
    if (order != 0 || own.len == name.len)
        return order;
    return own.len < name.len ? -1 : 1;
}

/* Place of a name, or where it would go. */
static size_t find_place(const struct hs_ruleset_store *store, struct hs_str name, bool *found)
{
    size_t i = 0;
    int order = -1;
    while (i < store->count && (order = compare_name(store->entries[i], name)) < 0)
        i++;
    *found = i < store->count && order == 0;
    return i;
}

static void drop_reference(struct hs_ruleset_entry *entry)
{
    if (--entry->references == 0)
        destroy_entry(entry);
}

/* There is room. */
static void insert_entry(struct hs_ruleset_store *store, size_t place,
                         struct hs_ruleset_entry *entry)
{
    memmove(&store->entries[place + 1], &store->entries[place],
            (store->count - place) * sizeof store->entries[0]);
    store->entries[place] = entry;
    store->count++;
}

static enum hs_ruleset_put put_entry(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    bool found;
    size_t place = find_place(store, hs_name_str(&entry->ruleset->name), &found);
    if (found &&
        !hs_str_equal(hs_name_str(&store->entries[place]->owner), hs_name_str(&entry->owner))) {
        destroy_entry(entry);
        return HS_RULESET_FOREIGN;
    }
    if (found) {
        drop_reference(store->entries[place]);
        store->entries[place] = entry;
        return HS_RULESET_REPLACED;
    }
    if (store->count + store->reserved >= store->max_rulesets) {
        destroy_entry(entry);
        return HS_RULESET_FULL;
    }
    insert_entry(store, place, entry);
    return HS_RULESET_CREATED;
}

/* ---- the store ---- */

struct hs_ruleset_store *hs_ruleset_store_create(const char *default_name, size_t max_rulesets,
                                                 char error[256])
{
    struct hs_ruleset_store *store = calloc(1, sizeof *store);
    struct hs_ruleset_entry **entries = calloc(max_rulesets, sizeof *entries);
    if (store == NULL || entries == NULL) {
        free(store);
        free(entries);
        snprintf(error, 256, "out of memory");
        return NULL;
    }
    store->entries = entries;
    store->max_rulesets = max_rulesets;
    pthread_mutex_init(&store->lock, NULL);
    hs_name_set(&store->default_name, (struct hs_str){default_name, strlen(default_name)});
    for (size_t i = 0; i < sizeof hs_builtin_rulesets / sizeof hs_builtin_rulesets[0]; i++) {
        struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[i]);
        struct hs_ruleset_entry *entry = ruleset != NULL ? create_entry(ruleset, true) : NULL;
        if (entry == NULL) {
            snprintf(error, 256, "out of memory");
            hs_ruleset_store_destroy(store);
            return NULL;
        }
        put_entry(store, entry);
    }
    return store;
}

void hs_ruleset_store_destroy(struct hs_ruleset_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->count; i++)
        drop_reference(store->entries[i]);
    pthread_mutex_destroy(&store->lock);
    free(store->entries);
    free(store);
}

static bool is_default(struct hs_str name)
{
    return hs_str_equal(name, HS_STR("default"));
}

struct hs_ruleset_entry *hs_ruleset_store_get(struct hs_ruleset_store *store, struct hs_str name)
{
    struct hs_ruleset_entry *entry = NULL;
    bool found;
    if (is_default(name))
        name = hs_name_str(&store->default_name);
    pthread_mutex_lock(&store->lock);
    size_t place = find_place(store, name, &found);
    if (found) {
        entry = store->entries[place];
        entry->references++;
    }
    pthread_mutex_unlock(&store->lock);
    return entry;
}

struct hs_ruleset_entry *hs_ruleset_store_default(struct hs_ruleset_store *store)
{
    return hs_ruleset_store_get(store, HS_STR("default"));
}

void hs_ruleset_store_retain(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    pthread_mutex_lock(&store->lock);
    entry->references++;
    pthread_mutex_unlock(&store->lock);
}

void hs_ruleset_store_release(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    if (entry == NULL)
        return;
    pthread_mutex_lock(&store->lock);
    drop_reference(entry);
    pthread_mutex_unlock(&store->lock);
}

enum hs_ruleset_put hs_ruleset_store_put(struct hs_ruleset_store *store, struct hs_str owner,
                                         struct hs_ruleset *ruleset, char revision[HS_REVISION_MAX])
{
    if (is_default(hs_name_str(&ruleset->name))) {
        hs_ruleset_destroy(ruleset);
        return HS_RULESET_RESERVED;
    }
    struct hs_ruleset_entry *entry = create_entry(ruleset, false);
    if (entry == NULL)
        return HS_RULESET_NO_MEMORY;
    hs_name_set(&entry->owner, owner);
    memcpy(revision, entry->revision, HS_REVISION_MAX);
    pthread_mutex_lock(&store->lock);
    enum hs_ruleset_put result = put_entry(store, entry);
    pthread_mutex_unlock(&store->lock);
    return result;
}

void hs_ruleset_store_each(struct hs_ruleset_store *store,
                           void (*visit)(void *context, const struct hs_ruleset_entry *entry),
                           void *context)
{
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->count; i++)
        visit(context, store->entries[i]);
    pthread_mutex_unlock(&store->lock);
}

/* ---- documents and files ---- */

struct hs_ruleset *hs_ruleset_from_text(struct hs_str text, struct hs_str name,
                                        struct hs_problem *problem)
{
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = problem, .arena = &arena};
    json_t *root = hs_json_parse(text, problem);
    struct hs_ruleset *ruleset = root != NULL ? hs_ruleset_decode(&reader, root, name) : NULL;
    if (reader.no_memory)
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "out of memory");
    json_decref(root);
    hs_arena_free(&arena);
    return ruleset;
}

/* With the document and its revision as they were: a later version of the program may write it with
   more fields, and verdicts are named by the revision. */
static struct hs_ruleset_entry *create_adopted(struct hs_ruleset *ruleset, struct hs_str document)
{
    struct hs_ruleset_entry *entry = create_entry(ruleset, false);
    char *copy = malloc(document.len + 1);
    if (entry == NULL || copy == NULL) {
        destroy_entry(entry);
        free(copy);
        return NULL;
    }
    memcpy(copy, document.ptr, document.len);
    free(entry->document);
    entry->document = copy;
    entry->document_size = document.len;
    char digest[HS_SHA256_HEX];
    hs_sha256_hex(document.ptr, document.len, digest);
    snprintf(entry->revision, sizeof entry->revision, "sha256:%s", digest);
    return entry;
}

struct hs_ruleset_entry *hs_ruleset_store_adopt(struct hs_ruleset_store *store,
                                                struct hs_str document, struct hs_problem *problem)
{
    struct hs_ruleset *ruleset = hs_ruleset_from_text(document, (struct hs_str){0}, problem);
    if (ruleset == NULL)
        return NULL;
    struct hs_ruleset_entry *entry = create_adopted(ruleset, document);
    if (entry == NULL) {
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "out of memory");
        return NULL;
    }
    struct hs_ruleset_entry *known =
        hs_ruleset_store_get(store, hs_name_str(&entry->ruleset->name));
    if (known != NULL && strcmp(known->revision, entry->revision) == 0) {
        destroy_entry(entry);
        return known;
    }
    hs_ruleset_store_release(store, known);
    return entry;
}

/* The whole file, or ptr NULL with `problem` set; the caller frees it. */
static struct hs_str read_file(const char *path, struct hs_problem *problem)
{
    FILE *file = fopen(path, "rb");
    char *bytes = file != NULL ? malloc(MAX_FILE_BYTES + 1) : NULL;
    size_t size = bytes != NULL ? fread(bytes, 1, MAX_FILE_BYTES + 1, file) : 0;
    if (bytes == NULL || ferror(file) || size > MAX_FILE_BYTES) {
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s",
                       size > MAX_FILE_BYTES ? "too large" : strerror(errno));
        free(bytes);
        bytes = NULL;
    }
    if (file != NULL)
        fclose(file);
    return (struct hs_str){bytes, size};
}

struct hs_ruleset *hs_ruleset_from_file(const char *path, struct hs_str name,
                                        struct hs_problem *problem)
{
    struct hs_str text = read_file(path, problem);
    if (text.ptr == NULL)
        return NULL;
    struct hs_ruleset *ruleset = hs_ruleset_from_text(text, name, problem);
    free((char *)(uintptr_t)text.ptr);
    return ruleset;
}

/* ---- directories ---- */

struct hs_ruleset_batch {
    struct hs_ruleset_store *store;
    struct hs_ruleset_entry **entries;
    size_t count, capacity, reserved;
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
    if (batch->count == batch->capacity) {
        size_t capacity = batch->capacity == 0 ? 16 : 2 * batch->capacity;
        void *entries = realloc(batch->entries, capacity * sizeof *batch->entries);
        if (entries == NULL) {
            hs_ruleset_destroy(ruleset);
            return false;
        }
        batch->entries = entries;
        batch->capacity = capacity;
    }
    struct hs_ruleset_entry *entry = create_entry(ruleset, false);
    if (entry != NULL)
        batch->entries[batch->count++] = entry;
    return entry != NULL;
}

/* False when the file is at fault, which was reported. */
static bool read_into_batch(struct hs_ruleset_batch *batch, const char *path, struct hs_str name,
                            hs_ruleset_file_report *report, void *context)
{
    struct hs_problem problem;
    hs_problem_init(&problem);
    if (is_default(name))
        hs_problem_set(&problem, HS_PROBLEM_INVALID_REQUEST, "`default` is not a name of its own");
    struct hs_ruleset *ruleset =
        problem.code == HS_PROBLEM_NONE ? hs_ruleset_from_file(path, name, &problem) : NULL;
    if (ruleset != NULL && add_to_batch(batch, ruleset))
        return true;
    if (problem.code == HS_PROBLEM_NONE)
        hs_problem_set(&problem, HS_PROBLEM_OVERLOADED, "out of memory");
    report(context, path, &problem);
    return false;
}

/* What a tenant has put is his: a file does not take the name from him. False: one would. */
static bool leave_to_tenants(struct hs_ruleset_batch *batch, const char *directory,
                             hs_ruleset_file_report *report, void *context)
{
    bool fine = true;
    for (size_t i = 0; i < batch->count; i++) {
        const char *name = batch->entries[i]->ruleset->name.text;
        struct hs_ruleset_entry *present =
            hs_ruleset_store_get(batch->store, (struct hs_str){name, strlen(name)});
        char path[4096];
        if (present != NULL && present->owner.text[0] != '\0') {
            snprintf(path, sizeof path, "%s/%s.json", directory, name);
            report_text(report, context, path, HS_PROBLEM_FORBIDDEN,
                        "a tenant has put a ruleset of that name");
            fine = false;
        }
        hs_ruleset_store_release(batch->store, present);
    }
    return fine;
}

/* Keeps room for the names that are new. False: there is none. */
static bool reserve(struct hs_ruleset_batch *batch)
{
    struct hs_ruleset_store *store = batch->store;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < batch->count; i++) {
        bool found;
        find_place(store, hs_name_str(&batch->entries[i]->ruleset->name), &found);
        batch->reserved += !found;
    }
    bool fits = batch->reserved <= store->max_rulesets - store->count - store->reserved;
    if (fits)
        store->reserved += batch->reserved;
    else
        batch->reserved = 0;
    pthread_mutex_unlock(&store->lock);
    return fits;
}

/* Reads the files. Returns how many were at fault. */
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
    if (!leave_to_tenants(batch, directory, report, context))
        faults++;
    if (faults == 0 && reserve(batch))
        return batch;
    if (faults == 0) {
        char text[64];
        snprintf(text, sizeof text, "at most %zu rulesets", store->max_rulesets);
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
        if (compare_name(batch->entries[i], name) == 0)
            return true;
    struct hs_ruleset_entry *entry = hs_ruleset_store_default(store);
    hs_ruleset_store_release(store, entry);
    return entry != NULL;
}

/* There is room. A tenant who put the name since the files were read has it. */
static void put_from_batch(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry,
                           hs_ruleset_change *changed, void *context)
{
    bool found;
    size_t place = find_place(store, hs_name_str(&entry->ruleset->name), &found);
    struct hs_ruleset_entry *before = found ? store->entries[place] : NULL;
    if (before != NULL && before->owner.text[0] != '\0') {
        destroy_entry(entry);
        return;
    }
    if (before == NULL || strcmp(before->revision, entry->revision) != 0)
        changed(context, entry->ruleset->name.text, before == NULL ? "" : before->revision,
                entry->revision);
    if (before == NULL) {
        insert_entry(store, place, entry);
        return;
    }
    store->entries[place] = entry;
    drop_reference(before);
}

static void free_batch(struct hs_ruleset_batch *batch)
{
    free(batch->entries);
    free(batch);
}

void hs_ruleset_batch_put(struct hs_ruleset_batch *batch, hs_ruleset_change *changed, void *context)
{
    struct hs_ruleset_store *store = batch->store;
    pthread_mutex_lock(&store->lock);
    store->reserved -= batch->reserved;
    for (size_t i = 0; i < batch->count; i++)
        put_from_batch(store, batch->entries[i], changed, context);
    pthread_mutex_unlock(&store->lock);
    free_batch(batch);
}

void hs_ruleset_batch_discard(struct hs_ruleset_batch *batch)
{
    if (batch == NULL)
        return;
    pthread_mutex_lock(&batch->store->lock);
    batch->store->reserved -= batch->reserved;
    pthread_mutex_unlock(&batch->store->lock);
    for (size_t i = 0; i < batch->count; i++)
        destroy_entry(batch->entries[i]);
    free_batch(batch);
}
