/*
 * Rulesets by name. Uploading a ruleset under an existing name creates a new entry. The old entry
 * stays valid until its last reference is released, so the rules of a running match never change.
 * Thread-safe.
 */
#ifndef HS_SERVICE_RULESET_STORE_H
#define HS_SERVICE_RULESET_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/http/problem.h"
#include "service/state/share.h"
#include "validators/ruleset.h"

enum { HS_REVISION_MAX = 72 };

struct hs_ruleset_entry {
    struct hs_ruleset *ruleset;
    char revision[HS_REVISION_MAX]; /* "sha256:" and the hash of `document` */
    char *document;                 /* the canonical document, `document_size` bytes */
    size_t document_size;
    struct hs_name owner; /* the tenant who uploaded the ruleset; "" if it belongs to everybody */
    bool is_builtin, is_from_file;
    /* number of the newest journal that contains the document; 0: none */
    atomic_uint_fast64_t journal;
    unsigned references;  /* guarded by the store */
    struct hs_name payer; /* the tenant charged for the memory; "": nobody */
    size_t charged;       /* bytes charged, without the shared parts (rigs and weapons) */
    uint64_t *hashes;     /* hashes of the rigs, then of the weapons */
    /* The canary of this name: a second ruleset, for a share of new matches. NULL: none. `canary`
       and `canary_share` are guarded by the store. */
    struct hs_ruleset_entry *canary;
    double canary_share; /* 0 < share <= 1 */
};

struct hs_ruleset_store;

/*
 * Creates a store with the built-in rulesets, which count towards `max_rulesets` (>=
 * HS_BUILTIN_RULESETS) and `max_bytes`. The name "default" is an alias of `default_name`. The
 * ruleset `default_name` may be loaded later. On failure returns NULL with a message in `error`.
 */
struct hs_ruleset_store *hs_ruleset_store_create(const char *default_name, size_t max_rulesets,
                                                 size_t max_bytes, char error[256]);

/* Returns the share (share.h) that limits the bytes for rulesets. Each ruleset is charged to the
   tenant who uploaded it. A ruleset that has lost its name is also charged, as long as a match uses
   it. */
struct hs_share *hs_ruleset_store_share(struct hs_ruleset_store *store);

/* Returns the number of named rulesets. */
size_t hs_ruleset_store_count(const struct hs_ruleset_store *store);

/* Sets the limit for hs_ruleset_store_allows: how many work units one claim may need under a
   ruleset from a file or a tenant. 0, the default, means no limit. Call this function before other
   threads use the store. */
void hs_ruleset_store_limit_work(struct hs_ruleset_store *store, size_t units);

/* Returns whether a ruleset is within the limit from hs_ruleset_store_limit_work. If the ruleset
   exceeds the limit, `problem` names the weapons that need too much work. */
bool hs_ruleset_store_allows(const struct hs_ruleset_store *store, const struct hs_ruleset *ruleset,
                             struct hs_problem *problem);

/* Destroys the store. All references must already be released. Does nothing for NULL. */
void hs_ruleset_store_destroy(struct hs_ruleset_store *store);

/* Returns the entry with this name and a reference to it, or NULL. */
struct hs_ruleset_entry *hs_ruleset_store_get(struct hs_ruleset_store *store, struct hs_str name);

/*
 * Like hs_ruleset_store_get, but for a new match. If the name has a canary, a share
 * (`canary_share`) of the new matches gets the canary, and all other matches get the ruleset. The
 * choice depends only on the share and on the names of ruleset and match. So every replica makes
 * the same choice, and a match name that gets the canary still gets the canary when the share
 * grows.
 */
struct hs_ruleset_entry *hs_ruleset_store_get_for_match(struct hs_ruleset_store *store,
                                                        struct hs_str name, struct hs_str match);

/* Returns an entry's canary and a reference to it, and sets *share to `canary_share`. Returns NULL
   if there is no canary. */
struct hs_ruleset_entry *hs_ruleset_store_canary(struct hs_ruleset_store *store,
                                                 const struct hs_ruleset_entry *entry,
                                                 double *share);

/* Searches the named entries and their canaries for a revision. Returns the entry and a reference
   to it, or NULL if no entry has this revision. */
struct hs_ruleset_entry *hs_ruleset_store_find(struct hs_ruleset_store *store,
                                               struct hs_str revision);

/* Adds a reference; the caller already has one. */
void hs_ruleset_store_retain(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);
void hs_ruleset_store_release(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);

/*
 * Returns whether a name is reserved. The reserved names are `default` and the names of the
 * built-in rulesets, because the contract defines the rules of the built-in rulesets. Callers must
 * refuse such names. The store accepts reserved names, because a recording may contain the built-in
 * rulesets of another program version.
 */
bool hs_ruleset_name_is_reserved(struct hs_str name);

/* Format for printf, with the length and the bytes of the name. */
#define HS_RULESET_RESERVED_TEXT "`%.*s` is reserved: choose another name"

enum hs_ruleset_put {
    HS_RULESET_CREATED,
    HS_RULESET_REPLACED, /* the name was already in use, perhaps with the same document */
    HS_RULESET_RESERVED, /* "default" is only an alias */
    HS_RULESET_FOREIGN,  /* the name belongs to another owner */
    HS_RULESET_NAMELESS, /* there is no ruleset with this name, so the name cannot get a canary */
    HS_RULESET_FULL,
    HS_RULESET_TOO_BIG, /* the ruleset needs more bytes than the owner has left */
    HS_RULESET_NO_MEMORY
};

/* Stores a decoded ruleset under its name, and removes the name's canary. Takes ownership of the
   ruleset, even on failure. `owner` has len 0 if the ruleset belongs to everybody. */
enum hs_ruleset_put hs_ruleset_store_put(struct hs_ruleset_store *store, struct hs_str owner,
                                         struct hs_ruleset *ruleset,
                                         char revision[HS_REVISION_MAX]);

/* Like hs_ruleset_store_put, but makes the ruleset the canary of its name, for a share (0 < share
   <= 1) of new matches. */
enum hs_ruleset_put hs_ruleset_store_put_canary(struct hs_ruleset_store *store, struct hs_str owner,
                                                struct hs_ruleset *ruleset, double share,
                                                char revision[HS_REVISION_MAX]);

/*
 * Restores a ruleset from its canonical document. Returns an existing entry with this name and
 * revision, or a new entry without a name, with a reference in both cases. A new entry is charged
 * to `owner`. If `owner` has len 0 or too few bytes left, the entry is charged to nobody. On
 * failure returns NULL and sets `problem`.
 */
struct hs_ruleset_entry *hs_ruleset_store_adopt(struct hs_ruleset_store *store, struct hs_str owner,
                                                struct hs_str document, struct hs_problem *problem);

enum hs_ruleset_restore {
    HS_RULESET_NAMED,
    HS_RULESET_NAME_IS_FILES, /* a file has this name */
    HS_RULESET_NAME_TAKEN,    /* another restored ruleset or a built-in ruleset has this name */
    HS_RULESET_NAME_FULL
};

/* Restores the name and the owner of an adopted entry. `replaces`: whether `entry` is newer than
   the entry that this owner may already have under this name. If so, `entry` replaces the older
   entry. */
enum hs_ruleset_restore hs_ruleset_store_restore_name(struct hs_ruleset_store *store,
                                                      struct hs_str owner,
                                                      struct hs_ruleset_entry *entry,
                                                      bool replaces);

/* Sets the owner of an adopted entry, and makes the entry the canary of its name. Does nothing if
   this owner has no ruleset with the name. */
void hs_ruleset_store_restore_canary(struct hs_ruleset_store *store, struct hs_str owner,
                                     struct hs_ruleset_entry *entry, double share);

/* Returns all named entries, with a reference to each. If `only_posted` is set, returns only the
   entries that were uploaded. The caller frees the array. If memory runs out, returns NULL and sets
   *count to 0. */
struct hs_ruleset_entry **hs_ruleset_store_list(struct hs_ruleset_store *store, bool only_posted,
                                                size_t *count);

/* Records a name's entry in the journal. While a function of this type runs, no name can change, so
   the records have the same order as the changes. The function must not use the store. Returns
   false on failure. */
typedef bool hs_ruleset_writer(void *context, struct hs_ruleset_entry *entry);

/* Calls `write` for the entry with this name. Returns the result of `write`, or true if there is no
   entry. */
bool hs_ruleset_store_write(struct hs_ruleset_store *store, struct hs_str name,
                            hs_ruleset_writer *write, void *context);

enum hs_ruleset_delete {
    HS_RULESET_DELETED,
    HS_RULESET_UNKNOWN,  /* the owner (len 0: everybody) has no ruleset with this name */
    HS_RULESET_IS_FILES, /* the ruleset comes from a file */
    HS_RULESET_NOT_KEPT  /* `write` failed, so the name was not deleted */
};

/* Deletes a name. Calls `write` (if not NULL) first to record the deletion. References to the entry
   stay valid. */
enum hs_ruleset_delete hs_ruleset_store_delete(struct hs_ruleset_store *store, struct hs_str owner,
                                               struct hs_str name, hs_ruleset_writer *write,
                                               void *context);

/* Calls `visit` for each named entry, sorted by name, under the store's lock. */
void hs_ruleset_store_each(struct hs_ruleset_store *store,
                           void (*visit)(void *context, const struct hs_ruleset_entry *entry),
                           void *context);

/* Decodes a document, whose name must be `name` (ptr NULL: any name). The caller owns the ruleset.
   On failure returns NULL and sets `problem`. */
struct hs_ruleset *hs_ruleset_from_text(struct hs_str text, struct hs_str name,
                                        struct hs_problem *problem);

/* Like hs_ruleset_from_text, for a file. A document without a name gets `name`, or the file's name
   without .json if `name` is NULL. */
struct hs_ruleset *hs_ruleset_from_file(const char *path, struct hs_str name,
                                        struct hs_problem *problem);

/*
 * Reads every NAME.json in a directory, without storing the rulesets yet. Reports every faulty
 * file. Leaves out files whose names belong to tenants, and reports them with HS_PROBLEM_FORBIDDEN;
 * they are no faults. Reserves the space for the rulesets, so that
 * hs_ruleset_batch_put cannot fail. Returns NULL after reporting a fault: a faulty file, too little
 * space, or a directory that cannot be read. Otherwise call hs_ruleset_batch_put or
 * hs_ruleset_batch_discard before reading the next batch.
 */
struct hs_ruleset_batch;
typedef void hs_ruleset_file_report(void *context, const char *path,
                                    const struct hs_problem *problem);
struct hs_ruleset_batch *hs_ruleset_batch_read(struct hs_ruleset_store *store,
                                               const char *directory,
                                               hs_ruleset_file_report *report, void *context);

/* Returns whether the default ruleset is in the store or in the batch (which may be NULL). */
bool hs_ruleset_store_would_have_default(struct hs_ruleset_store *store,
                                         const struct hs_ruleset_batch *batch);

/*
 * Stores all rulesets in the batch in one step, and frees the batch. Calls `changed` for each
 * changed name; `before` is the replaced revision, or "" for a new name. `changed` must not use the
 * store.
 */
typedef void hs_ruleset_change(void *context, const char *name, const char *before,
                               const char *after);
void hs_ruleset_batch_put(struct hs_ruleset_batch *batch, hs_ruleset_change *changed,
                          void *context);
void hs_ruleset_batch_discard(struct hs_ruleset_batch *batch); /* does nothing for NULL */

#endif
