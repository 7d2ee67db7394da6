#include "service/state/rulesets.h"

#include "service/state/ruleset_entries.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/rulesets/document.h"
#include "service/system/files.h"
#include "service/system/sha256.h"

/* ---- entries ---- */

void hs_ruleset_entry_destroy(struct hs_ruleset_entry *entry)
{
    if (entry == NULL)
        return;
    hs_ruleset_destroy(entry->ruleset);
    free(entry->hashes);
    free(entry->document);
    free(entry);
}

/* Sets the document and its revision. Takes ownership of `document`. */
static void set_document(struct hs_ruleset_entry *entry, char *document, size_t size)
{
    char digest[HS_SHA256_HEX];
    hs_sha256_hex(document, size, digest);
    snprintf(entry->revision, sizeof entry->revision, "sha256:%s", digest);
    free(entry->document);
    entry->document = document;
    entry->document_size = size;
}

struct hs_ruleset_entry *hs_ruleset_entry_create(struct hs_ruleset *ruleset, bool is_builtin)
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
    set_document(entry, document.data, document.len);
    entry->ruleset = ruleset;
    entry->is_builtin = is_builtin;
    entry->references = 1;
    if (hs_ruleset_entry_hash(entry))
        return entry;
    hs_ruleset_entry_destroy(entry);
    return NULL;
}

int hs_ruleset_entry_compare(const struct hs_ruleset_entry *entry, struct hs_str name)
{
    const char *own = entry->ruleset->name.text;
    int order = strncmp(own, name.ptr, name.len);
    return order != 0 ? order : own[name.len] != '\0';
}

struct hs_ruleset_entry *hs_ruleset_entries_find(const struct hs_ruleset_store *store,
                                                 struct hs_str name, size_t *place)
{
    int order = -1;
    for (*place = 0; *place < store->count; ++*place)
        if ((order = hs_ruleset_entry_compare(store->entries[*place], name)) >= 0)
            break;
    return order == 0 ? store->entries[*place] : NULL;
}

void hs_ruleset_entry_drop(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    if (--entry->references > 0)
        return;
    hs_ruleset_entry_uncharge(store, entry);
    hs_ruleset_entry_destroy(entry);
}

void hs_ruleset_entry_set_canary(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry,
                                 struct hs_ruleset_entry *canary, double share)
{
    struct hs_ruleset_entry *before = entry->canary;
    entry->canary = canary;
    entry->canary_share = share;
    if (before != NULL)
        hs_ruleset_entry_drop(store, before);
}

/* Drops the reference from a name to its entry, and removes the name's canary. */
static void drop_named(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    hs_ruleset_entry_set_canary(store, entry, NULL, 0);
    hs_ruleset_entry_drop(store, entry);
}

void hs_ruleset_entries_set(struct hs_ruleset_store *store, size_t place,
                            struct hs_ruleset_entry *present, struct hs_ruleset_entry *entry)
{
    if (present != NULL) {
        drop_named(store, present);
    } else {
        memmove(&store->entries[place + 1], &store->entries[place],
                (store->count - place) * sizeof store->entries[0]);
        store->count++;
    }
    store->entries[place] = entry;
}

static bool has_revision(const struct hs_ruleset_entry *entry, const char *revision)
{
    return entry != NULL && strcmp(entry->revision, revision) == 0;
}

/* Stores an entry under its name. Takes ownership of the entry. */
static enum hs_ruleset_put put_entry(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    size_t place;
    struct hs_ruleset_entry *present =
        hs_ruleset_entries_find(store, hs_name_str(&entry->ruleset->name), &place);
    enum hs_ruleset_put result = present == NULL ? HS_RULESET_CREATED : HS_RULESET_REPLACED;
    if (present != NULL && strcmp(present->owner.text, entry->owner.text) != 0) {
        result = HS_RULESET_FOREIGN;
    } else if (present == NULL && store->count + store->reserved >= store->max_rulesets) {
        result = HS_RULESET_FULL;
    } else if (has_revision(present, entry->revision)) {
        /* Keep `present`, so that all matches use the same entry. */
        present->is_from_file = entry->is_from_file;
        hs_ruleset_entry_set_canary(store, present, NULL, 0);
    } else if (present != NULL && has_revision(present->canary, entry->revision)) {
        struct hs_ruleset_entry *canary = present->canary;
        canary->references++;
        hs_ruleset_entries_set(store, place, present, canary);
    } else if (!hs_ruleset_entry_charge(store, entry)) {
        result = HS_RULESET_TOO_BIG;
    } else {
        hs_ruleset_entries_set(store, place, present, entry);
        return result;
    }
    hs_ruleset_entry_destroy(entry);
    return result;
}

/* Makes an entry the canary of its name. Takes ownership of the entry. */
static enum hs_ruleset_put put_canary(struct hs_ruleset_store *store,
                                      struct hs_ruleset_entry *entry, double share)
{
    size_t place;
    struct hs_ruleset_entry *present =
        hs_ruleset_entries_find(store, hs_name_str(&entry->ruleset->name), &place);
    enum hs_ruleset_put result = HS_RULESET_REPLACED;
    if (present == NULL) {
        result = HS_RULESET_NAMELESS;
    } else if (strcmp(present->owner.text, entry->owner.text) != 0) {
        result = HS_RULESET_FOREIGN;
    } else if (has_revision(present->canary, entry->revision)) {
        present->canary_share = share;
    } else if (has_revision(present, entry->revision)) {
        hs_ruleset_entry_set_canary(store, present, NULL, 0);
    } else if (!hs_ruleset_entry_charge(store, entry)) {
        result = HS_RULESET_TOO_BIG;
    } else {
        hs_ruleset_entry_set_canary(store, present, entry, share);
        return HS_RULESET_CREATED;
    }
    hs_ruleset_entry_destroy(entry);
    return result;
}

/* ---- the store ---- */

struct hs_ruleset_store *hs_ruleset_store_create(const char *default_name, size_t max_rulesets,
                                                 size_t max_bytes, char error[256])
{
    struct hs_ruleset_store *store = calloc(1, sizeof *store);
    snprintf(error, 256, "out of memory");
    if (store == NULL)
        return NULL;
    pthread_mutex_init(&store->lock, NULL);
    store->entries = calloc(max_rulesets, sizeof *store->entries);
    store->max_rulesets = max_rulesets;
    store->share = hs_share_create(max_bytes);
    bool fine = store->entries != NULL && store->share != NULL;
    hs_name_set(&store->default_name, hs_str_of(default_name));
    for (size_t i = 0; fine && i < HS_BUILTIN_RULESETS; i++) {
        struct hs_ruleset *ruleset = hs_ruleset_create_builtin(&hs_builtin_rulesets[i]);
        struct hs_ruleset_entry *entry =
            ruleset != NULL ? hs_ruleset_entry_create(ruleset, true) : NULL;
        fine = entry != NULL && put_entry(store, entry) == HS_RULESET_CREATED;
        if (!fine && entry != NULL)
            snprintf(error, 256, "the built-in rulesets do not fit into ruleset-bytes");
    }
    if (fine)
        return store;
    hs_ruleset_store_destroy(store);
    return NULL;
}

void hs_ruleset_store_limit_work(struct hs_ruleset_store *store, size_t units)
{
    store->claim_work = units;
}

bool hs_ruleset_store_allows(const struct hs_ruleset_store *store, const struct hs_ruleset *ruleset,
                             struct hs_problem *problem)
{
    return hs_ruleset_check_work(ruleset, store->claim_work, problem);
}

void hs_ruleset_store_destroy(struct hs_ruleset_store *store)
{
    if (store == NULL)
        return;
    for (size_t i = 0; i < store->count; i++)
        drop_named(store, store->entries[i]);
    pthread_mutex_destroy(&store->lock);
    hs_share_destroy(store->share);
    free(store->entries);
    free(store);
}

bool hs_ruleset_is_default(struct hs_str name)
{
    return hs_str_equal(name, HS_STR("default"));
}

bool hs_ruleset_name_is_reserved(struct hs_str name)
{
    bool reserved = hs_ruleset_is_default(name);
    for (size_t i = 0; i < HS_BUILTIN_RULESETS; i++)
        reserved = reserved || hs_str_equal(name, hs_str_of(hs_builtin_rulesets[i].name));
    return reserved;
}

/* Returns a number x (0 <= x < 1) that depends only on the two names: the first 32 bits of their
   SHA-256 hash, as a fraction. */
static double draw(struct hs_str ruleset, struct hs_str match)
{
    char text[2 * HS_NAME_MAX + 2], digest[HS_SHA256_HEX];
    int length = snprintf(text, sizeof text, "%.*s/%.*s", (int)ruleset.len, ruleset.ptr,
                          (int)match.len, match.ptr);
    hs_sha256_hex(text, (size_t)length, digest);
    digest[8] = '\0';
    return (double)strtoul(digest, NULL, 16) / 4294967296.0;
}

struct hs_ruleset_entry *hs_ruleset_store_get_for_match(struct hs_ruleset_store *store,
                                                        struct hs_str name, struct hs_str match)
{
    size_t place;
    if (hs_ruleset_is_default(name))
        name = hs_name_str(&store->default_name);
    pthread_mutex_lock(&store->lock);
    struct hs_ruleset_entry *entry = hs_ruleset_entries_find(store, name, &place);
    if (entry != NULL && entry->canary != NULL && match.ptr != NULL &&
        draw(name, match) < entry->canary_share)
        entry = entry->canary;
    if (entry != NULL)
        entry->references++;
    pthread_mutex_unlock(&store->lock);
    return entry;
}

struct hs_ruleset_entry *hs_ruleset_store_get(struct hs_ruleset_store *store, struct hs_str name)
{
    return hs_ruleset_store_get_for_match(store, name, (struct hs_str){0});
}

struct hs_ruleset_entry *hs_ruleset_store_canary(struct hs_ruleset_store *store,
                                                 const struct hs_ruleset_entry *entry,
                                                 double *share)
{
    pthread_mutex_lock(&store->lock);
    struct hs_ruleset_entry *canary = entry->canary;
    *share = entry->canary_share;
    if (canary != NULL)
        canary->references++;
    pthread_mutex_unlock(&store->lock);
    return canary;
}

struct hs_ruleset_entry *hs_ruleset_store_find(struct hs_ruleset_store *store,
                                               struct hs_str revision)
{
    struct hs_ruleset_entry *found = NULL;
    pthread_mutex_lock(&store->lock);
    for (size_t i = 0; i < store->count && found == NULL; i++) {
        struct hs_ruleset_entry *entry = store->entries[i];
        if (hs_str_equal(hs_str_of(entry->revision), revision))
            found = entry;
        else if (entry->canary != NULL &&
                 hs_str_equal(hs_str_of(entry->canary->revision), revision))
            found = entry->canary;
    }
    if (found != NULL)
        found->references++;
    pthread_mutex_unlock(&store->lock);
    return found;
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
    hs_ruleset_entry_drop(store, entry);
    pthread_mutex_unlock(&store->lock);
}

struct hs_share *hs_ruleset_store_share(struct hs_ruleset_store *store)
{
    return store->share;
}

/* Stores a ruleset under its name. If `share` is above 0, makes the ruleset the canary of its name
   instead. */
static enum hs_ruleset_put put(struct hs_ruleset_store *store, struct hs_str owner,
                               struct hs_ruleset *ruleset, double share,
                               char revision[HS_REVISION_MAX])
{
    if (hs_ruleset_is_default(hs_name_str(&ruleset->name))) {
        hs_ruleset_destroy(ruleset);
        return HS_RULESET_RESERVED;
    }
    struct hs_ruleset_entry *entry = hs_ruleset_entry_create(ruleset, false);
    if (entry == NULL)
        return HS_RULESET_NO_MEMORY;
    hs_name_set(&entry->owner, owner);
    memcpy(revision, entry->revision, HS_REVISION_MAX);
    pthread_mutex_lock(&store->lock);
    enum hs_ruleset_put result =
        share > 0 ? put_canary(store, entry, share) : put_entry(store, entry);
    pthread_mutex_unlock(&store->lock);
    return result;
}

enum hs_ruleset_put hs_ruleset_store_put(struct hs_ruleset_store *store, struct hs_str owner,
                                         struct hs_ruleset *ruleset, char revision[HS_REVISION_MAX])
{
    return put(store, owner, ruleset, 0, revision);
}

enum hs_ruleset_put hs_ruleset_store_put_canary(struct hs_ruleset_store *store, struct hs_str owner,
                                                struct hs_ruleset *ruleset, double share,
                                                char revision[HS_REVISION_MAX])
{
    return put(store, owner, ruleset, share, revision);
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

/* ---- restoring after a restart ---- */

/* Creates an entry with an old document and its revision. Does not encode the ruleset again,
   because this version of the program may write fields that the old document lacks. The revision
   would then change, and verdict ids depend on the revision. */
static struct hs_ruleset_entry *create_adopted(struct hs_ruleset *ruleset, struct hs_str document)
{
    struct hs_ruleset_entry *entry = hs_ruleset_entry_create(ruleset, false);
    char *copy = malloc(document.len + 1);
    if (entry == NULL || copy == NULL) {
        hs_ruleset_entry_destroy(entry);
        free(copy);
        return NULL;
    }
    memcpy(copy, document.ptr, document.len);
    set_document(entry, copy, document.len);
    return entry;
}

struct hs_ruleset_entry *hs_ruleset_store_adopt(struct hs_ruleset_store *store, struct hs_str owner,
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
    hs_name_set(&entry->owner, owner);
    pthread_mutex_lock(&store->lock);
    size_t place;
    struct hs_ruleset_entry *known =
        hs_ruleset_entries_find(store, hs_name_str(&entry->ruleset->name), &place);
    if (known != NULL && has_revision(known->canary, entry->revision))
        known = known->canary;
    if (has_revision(known, entry->revision)) {
        known->references++;
        pthread_mutex_unlock(&store->lock);
        hs_ruleset_entry_destroy(entry);
        return known;
    }
    bool fits = hs_ruleset_entry_charge(store, entry);
    if (!fits) {
        /* The amount that a tenant can reserve depends on the order of the reservations. This order
           may differ after a restart. All rulesets that fitted before the restart must fit again,
           so nobody is charged for this ruleset. */
        hs_name_set(&entry->owner, (struct hs_str){0});
        fits = hs_ruleset_entry_charge(store, entry);
    }
    pthread_mutex_unlock(&store->lock);
    if (fits)
        return entry;
    hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "ruleset-bytes has too few bytes left");
    hs_ruleset_entry_destroy(entry);
    return NULL;
}

/* Sets the owner of an adopted entry, which may have been charged to nobody. Writes the owner only
   if the owner changes, because other threads may use the entry and read its owner without the
   lock. */
static void restore_owner(struct hs_ruleset_entry *entry, struct hs_str owner)
{
    if (!hs_str_equal(hs_name_str(&entry->owner), owner))
        hs_name_set(&entry->owner, owner);
}

enum hs_ruleset_restore hs_ruleset_store_restore_name(struct hs_ruleset_store *store,
                                                      struct hs_str owner,
                                                      struct hs_ruleset_entry *entry, bool replaces)
{
    size_t place;
    enum hs_ruleset_restore result = HS_RULESET_NAMED;
    pthread_mutex_lock(&store->lock);
    struct hs_ruleset_entry *present =
        hs_ruleset_entries_find(store, hs_name_str(&entry->ruleset->name), &place);
    bool is_replaced = present != NULL && present != entry && replaces && !present->is_builtin &&
                       !present->is_from_file && hs_str_equal(hs_name_str(&present->owner), owner);
    if (present == entry && replaces)
        hs_ruleset_entry_set_canary(store, entry, NULL, 0);
    if (present != NULL && !is_replaced) {
        result = present->is_from_file ? HS_RULESET_NAME_IS_FILES : HS_RULESET_NAME_TAKEN;
    } else if (present == NULL && store->count + store->reserved >= store->max_rulesets) {
        result = HS_RULESET_NAME_FULL;
    } else {
        restore_owner(entry, owner);
        entry->references++;
        hs_ruleset_entries_set(store, place, present, entry);
    }
    pthread_mutex_unlock(&store->lock);
    return result;
}

void hs_ruleset_store_restore_canary(struct hs_ruleset_store *store, struct hs_str owner,
                                     struct hs_ruleset_entry *entry, double share)
{
    size_t place;
    pthread_mutex_lock(&store->lock);
    struct hs_ruleset_entry *present =
        hs_ruleset_entries_find(store, hs_name_str(&entry->ruleset->name), &place);
    if (present != NULL && present != entry && !present->is_builtin &&
        hs_str_equal(hs_name_str(&present->owner), owner)) {
        restore_owner(entry, owner);
        entry->references++;
        hs_ruleset_entry_set_canary(store, present, entry, share);
    }
    pthread_mutex_unlock(&store->lock);
}

struct hs_ruleset_entry **hs_ruleset_store_list(struct hs_ruleset_store *store, bool only_posted,
                                                size_t *count)
{
    *count = 0;
    pthread_mutex_lock(&store->lock);
    struct hs_ruleset_entry **list = malloc((store->count + 1) * sizeof(void *));
    for (size_t i = 0; list != NULL && i < store->count; i++) {
        struct hs_ruleset_entry *entry = store->entries[i];
        if (only_posted && (entry->is_builtin || entry->is_from_file))
            continue;
        entry->references++;
        list[(*count)++] = entry;
    }
    pthread_mutex_unlock(&store->lock);
    return list;
}

bool hs_ruleset_store_write(struct hs_ruleset_store *store, struct hs_str name,
                            hs_ruleset_writer *write, void *context)
{
    size_t place;
    pthread_mutex_lock(&store->lock);
    struct hs_ruleset_entry *entry = hs_ruleset_entries_find(store, name, &place);
    bool fine = entry == NULL || write(context, entry);
    pthread_mutex_unlock(&store->lock);
    return fine;
}

static enum hs_ruleset_delete may_delete(const struct hs_ruleset_entry *entry, struct hs_str owner)
{
    if (entry == NULL || entry->is_builtin || !hs_str_equal(hs_name_str(&entry->owner), owner))
        return HS_RULESET_UNKNOWN;
    return entry->is_from_file ? HS_RULESET_IS_FILES : HS_RULESET_DELETED;
}

enum hs_ruleset_delete hs_ruleset_store_delete(struct hs_ruleset_store *store, struct hs_str owner,
                                               struct hs_str name, hs_ruleset_writer *write,
                                               void *context)
{
    size_t place;
    pthread_mutex_lock(&store->lock);
    struct hs_ruleset_entry *entry = hs_ruleset_entries_find(store, name, &place);
    enum hs_ruleset_delete result = may_delete(entry, owner);
    if (result == HS_RULESET_DELETED && write != NULL && !write(context, entry))
        result = HS_RULESET_NOT_KEPT;
    if (result == HS_RULESET_DELETED) {
        store->count--;
        memmove(&store->entries[place], &store->entries[place + 1],
                (store->count - place) * sizeof store->entries[0]);
        hs_ruleset_batch_keep_space(store, name);
        drop_named(store, entry);
    }
    pthread_mutex_unlock(&store->lock);
    return result;
}

size_t hs_ruleset_store_count(const struct hs_ruleset_store *store)
{
    return store->count;
}

/* ---- rulesets as text and as files ---- */

enum { MAX_FILE_BYTES = 8 * 1024 * 1024 };

/* Decodes a document, whose name must be `name` (ptr NULL: any name). If both `name` and the name
   in the document are missing, the name is `fallback`. */
static struct hs_ruleset *decode_text(struct hs_str text, struct hs_str name,
                                      struct hs_str fallback, struct hs_problem *problem)
{
    struct hs_arena arena = {0};
    struct hs_reader reader = {.problem = problem, .arena = &arena};
    json_t *root = hs_json_parse(text, problem);
    if (name.ptr == NULL && json_object_get(root, "name") == NULL)
        name = fallback;
    struct hs_ruleset *ruleset = root != NULL ? hs_ruleset_decode(&reader, root, name) : NULL;
    if (reader.no_memory)
        hs_problem_set(problem, HS_PROBLEM_OVERLOADED, "out of memory");
    json_decref(root);
    hs_arena_free(&arena);
    return ruleset;
}

struct hs_ruleset *hs_ruleset_from_text(struct hs_str text, struct hs_str name,
                                        struct hs_problem *problem)
{
    return decode_text(text, name, (struct hs_str){0}, problem);
}

/* Returns the name of a file without .json. Returns an empty string if a ruleset cannot have this
   name. */
static struct hs_str name_of_file(const char *path)
{
    const char *slash = strrchr(path, '/'), *name = slash != NULL ? slash + 1 : path;
    size_t len = strlen(name);
    if (len > 5 && strcmp(name + len - 5, ".json") == 0)
        len -= 5;
    struct hs_str found = {name, len};
    return hs_name_is_valid(found) ? found : (struct hs_str){0};
}

struct hs_ruleset *hs_ruleset_from_file(const char *path, struct hs_str name,
                                        struct hs_problem *problem)
{
    size_t size;
    char *text = hs_file_rest(hs_file_read(path), MAX_FILE_BYTES, &size);
    if (text == NULL) {
        hs_problem_set(problem, HS_PROBLEM_INVALID_REQUEST, "cannot be read: %s",
                       hs_file_error(errno));
        return NULL;
    }
    struct hs_ruleset *ruleset =
        decode_text((struct hs_str){text, size}, name, name_of_file(path), problem);
    free(text);
    return ruleset;
}
