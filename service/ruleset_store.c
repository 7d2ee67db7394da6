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
    if (store->count == store->max_rulesets) {
        destroy_entry(entry);
        return HS_RULESET_FULL;
    }
    memmove(&store->entries[place + 1], &store->entries[place],
            (store->count - place) * sizeof store->entries[0]);
    store->entries[place] = entry;
    store->count++;
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

static bool load_file(struct hs_ruleset_store *store, const char *path, struct hs_str name,
                      struct hs_problem *problem)
{
    char revision[HS_REVISION_MAX];
    struct hs_ruleset *ruleset = hs_ruleset_from_file(path, name, problem);
    if (ruleset == NULL)
        return false;
    switch (hs_ruleset_store_put(store, (struct hs_str){0}, ruleset, revision)) {
    case HS_RULESET_CREATED:
    case HS_RULESET_REPLACED:
        return true;
    case HS_RULESET_RESERVED:
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "`default` is not a name of its own");
        break;
    case HS_RULESET_FOREIGN:
        hs_problem_set(problem, HS_PROBLEM_FORBIDDEN, "a tenant has put a ruleset of that name");
        break;
    case HS_RULESET_FULL:
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "at most %zu rulesets", store->max_rulesets);
        break;
    case HS_RULESET_NO_MEMORY:
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "out of memory");
        break;
    }
    return false;
}

size_t hs_ruleset_store_load_directory(struct hs_ruleset_store *store, const char *directory,
                                       hs_ruleset_file_report *report, void *context)
{
    static const char suffix[] = ".json";
    DIR *dir = opendir(directory);
    struct hs_problem *problem = calloc(1, sizeof *problem);
    size_t faults = 0;
    if (dir == NULL || problem == NULL) {
        if (problem != NULL) {
            hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "%s", strerror(errno));
            report(context, directory, problem);
        }
        if (dir != NULL)
            closedir(dir);
        free(problem);
        return 1;
    }
    for (struct dirent *file; (file = readdir(dir)) != NULL;) {
        size_t len = strlen(file->d_name), tail = sizeof suffix - 1;
        if (len <= tail || strcmp(file->d_name + len - tail, suffix) != 0)
            continue;
        char path[4096];
        snprintf(path, sizeof path, "%s/%s", directory, file->d_name);
        memset(problem, 0, sizeof *problem);
        if (!load_file(store, path, (struct hs_str){file->d_name, len - tail}, problem)) {
            faults++;
            report(context, path, problem);
        }
    }
    closedir(dir);
    free(problem);
    return faults;
}
