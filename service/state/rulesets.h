/*
 * Rulesets by name. A put under an existing name creates a new entry. The old entry stays valid
 * until its last reference is released, so the rules of a running match never change. Thread-safe.
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
    char revision[HS_REVISION_MAX]; /* "sha256:" of the canonical document */
    char *document;                 /* canonical, `document_size` bytes */
    size_t document_size;
    struct hs_name owner; /* the tenant who put the ruleset, or "" if it belongs to everybody */
    bool is_builtin, is_from_file;
    atomic_uint_fast64_t journal; /* number of the newest journal that contains the document, or 0
                                     if no journal contains it */
    unsigned references;          /* guarded by the store */
    struct hs_name payer;         /* the tenant charged for the memory, or "" for nobody */
    size_t charged;               /* bytes charged to the store's share, without the parts (rigs and
                                     weapons) */
    uint64_t *hashes;             /* hashes of the rigs, then of the weapons; owned */
    /* The canary of the name: a second ruleset, for a share of the new matches (`canary_share`).
       NULL if the name has no canary. The store guards `canary` and `canary_share`. */
    struct hs_ruleset_entry *canary;
    double canary_share; /* 0 < share <= 1 */
};

struct hs_ruleset_store;

/*
 * Creates a store with the built-in rulesets. The built-in rulesets count towards `max_rulesets`
 * (>= HS_BUILTIN_RULESETS) and `max_bytes`. The name "default" is an alias of `default_name`, which
 * may be loaded later. Returns NULL with a message in `error` on failure.
 */
struct hs_ruleset_store *hs_ruleset_store_create(const char *default_name, size_t max_rulesets,
                                                 size_t max_bytes, char error[256]);

/* Returns the share for the bytes of all rulesets in memory. Each ruleset is charged to the tenant
   who put it. A ruleset without a name counts while a match uses it. */
struct hs_share *hs_ruleset_store_share(struct hs_ruleset_store *store);

/* Returns the number of rulesets that have a name. */
size_t hs_ruleset_store_count(const struct hs_ruleset_store *store);

/* Sets the limit for hs_ruleset_store_allows: the work units that one claim may cost under a
   ruleset that was loaded from a file or uploaded by a tenant. The default 0 means no limit. Call
   it before other threads use the store. */
void hs_ruleset_store_limit_work(struct hs_ruleset_store *store, size_t units);

/* Returns whether a ruleset is within the limit of hs_ruleset_store_limit_work. If the ruleset
   exceeds the limit, `problem` names the weapons that do. */
bool hs_ruleset_store_allows(const struct hs_ruleset_store *store, const struct hs_ruleset *ruleset,
                             struct hs_problem *problem);

/* Destroys the store. No references to entries may be left. */
void hs_ruleset_store_destroy(struct hs_ruleset_store *store);

/* Returns the entry of a name, with a reference for the caller, or NULL. */
struct hs_ruleset_entry *hs_ruleset_store_get(struct hs_ruleset_store *store, struct hs_str name);

/*
 * Works like hs_ruleset_store_get, but for a new match. If the name has a canary, returns the
 * canary for a share (`canary_share`) of the match names, and the ruleset for all others. The
 * choice depends only on that share, the name of the ruleset and the name of the match. So every
 * replica makes the same choice, and a match name that gets the canary still gets the canary after
 * the share grows.
 */
struct hs_ruleset_entry *hs_ruleset_store_get_for_match(struct hs_ruleset_store *store,
                                                        struct hs_str name, struct hs_str match);

/* Returns the canary of an entry, with a reference for the caller, and sets *share to the
   entry's `canary_share`. Returns NULL if the entry has no canary. */
struct hs_ruleset_entry *hs_ruleset_store_canary(struct hs_ruleset_store *store,
                                                 const struct hs_ruleset_entry *entry,
                                                 double *share);

/* Returns the entry with this revision, with a reference for the caller. Finds entries that have a
   name, and the canaries of such entries. Returns NULL if there is no such entry. */
struct hs_ruleset_entry *hs_ruleset_store_find(struct hs_ruleset_store *store,
                                               struct hs_str revision);

/* Adds a reference to an entry that the caller already references. */
void hs_ruleset_store_retain(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);
void hs_ruleset_store_release(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);

/*
 * Returns whether a name is reserved: `default`, or the name of a built-in ruleset, whose rules the
 * contract defines. Callers refuse such names. The store accepts them, because a recording may
 * contain the built-in rules of another version.
 */
bool hs_ruleset_name_is_reserved(struct hs_str name);

/* A format for printf; its arguments are the length and the bytes of the name. */
#define HS_RULESET_RESERVED_TEXT "`%.*s` is reserved: choose another name"

enum hs_ruleset_put {
    HS_RULESET_CREATED,
    HS_RULESET_REPLACED, /* the name had a ruleset, perhaps with the same document */
    HS_RULESET_RESERVED, /* the name is "default", which is only an alias */
    HS_RULESET_FOREIGN,  /* another owner has the name */
    HS_RULESET_NAMELESS, /* a canary for a name that no ruleset has */
    HS_RULESET_FULL,
    HS_RULESET_TOO_BIG, /* the ruleset needs more bytes than its owner has left */
    HS_RULESET_NO_MEMORY
};

/* Puts a decoded, finished ruleset under its name. Takes ownership of the ruleset, even on failure.
   `owner` has len 0 if the ruleset belongs to everybody. The name has no canary afterwards. */
enum hs_ruleset_put hs_ruleset_store_put(struct hs_ruleset_store *store, struct hs_str owner,
                                         struct hs_ruleset *ruleset,
                                         char revision[HS_REVISION_MAX]);

/* Works like hs_ruleset_store_put, but sets the ruleset as the canary of its name, for a share (0 <
   share <= 1) of new matches. */
enum hs_ruleset_put hs_ruleset_store_put_canary(struct hs_ruleset_store *store, struct hs_str owner,
                                                struct hs_ruleset *ruleset, double share,
                                                char revision[HS_REVISION_MAX]);

/*
 * Restores the entry of a canonical document, with a reference for the caller. If an entry with
 * this name and revision exists, returns that entry. If there is no such entry, creates an entry
 * without a name. The owner of a new entry is charged, unless `owner` has len 0 or the owner has
 * too few bytes left. Returns NULL with `problem` set if the document is not a ruleset, or if
 * memory runs out.
 */
struct hs_ruleset_entry *hs_ruleset_store_adopt(struct hs_ruleset_store *store, struct hs_str owner,
                                                struct hs_str document, struct hs_problem *problem);

enum hs_ruleset_restore {
    HS_RULESET_NAMED,
    HS_RULESET_NAME_IS_FILES, /* a file has the name and keeps it */
    HS_RULESET_NAME_TAKEN,    /* a restored or built-in ruleset has the name */
    HS_RULESET_NAME_FULL
};

/* Restores the name and the owner of an adopted entry. `replaces` is true if the entry is newer
   than the one that the same owner has under this name. */
enum hs_ruleset_restore hs_ruleset_store_restore_name(struct hs_ruleset_store *store,
                                                      struct hs_str owner,
                                                      struct hs_ruleset_entry *entry,
                                                      bool replaces);

/* Sets the owner of an adopted entry, and sets the entry as the canary of its name. Does nothing if
   the name has another owner, or if no ruleset has the name. */
void hs_ruleset_store_restore_canary(struct hs_ruleset_store *store, struct hs_str owner,
                                     struct hs_ruleset_entry *entry, double share);

/* Returns all entries with a name; with `only_posted`, only the entries that were put. The caller
   gets a reference to each entry, and frees the array. Returns NULL with *count 0 if memory runs
   out. */
struct hs_ruleset_entry **hs_ruleset_store_list(struct hs_ruleset_store *store, bool only_posted,
                                                size_t *count);

/* A function that records the entry of a name in the journal. No name can change while the function
   runs, so the records have the order of the changes. The function must not use the store. Returns
   false on failure. */
typedef bool hs_ruleset_writer(void *context, struct hs_ruleset_entry *entry);

/* Calls `write` with the entry of a name, and returns the result of `write`. Returns true if the
   name has no entry. */
bool hs_ruleset_store_write(struct hs_ruleset_store *store, struct hs_str name,
                            hs_ruleset_writer *write, void *context);

enum hs_ruleset_delete {
    HS_RULESET_DELETED,
    HS_RULESET_UNKNOWN,  /* the owner (len 0: everybody) put no ruleset with this name */
    HS_RULESET_IS_FILES, /* a file has the name */
    HS_RULESET_NOT_KEPT  /* `write` failed: nothing has changed */
};

/* Deletes a name. Before the deletion, `write` records it (NULL: nothing to record). If `write`
   fails, the name stays. References to the entry stay valid. */
enum hs_ruleset_delete hs_ruleset_store_delete(struct hs_ruleset_store *store, struct hs_str owner,
                                               struct hs_str name, hs_ruleset_writer *write,
                                               void *context);

/* Calls `visit` with each entry, in order of name. */
void hs_ruleset_store_each(struct hs_ruleset_store *store,
                           void (*visit)(void *context, const struct hs_ruleset_entry *entry),
                           void *context);

/* Decodes one document, whose name must be `name` (ptr NULL: any name). The caller owns the
   ruleset. Returns NULL and sets `problem` on failure. */
struct hs_ruleset *hs_ruleset_from_text(struct hs_str text, struct hs_str name,
                                        struct hs_problem *problem);

/* Works like hs_ruleset_from_text, but reads the document from a file. */
struct hs_ruleset *hs_ruleset_from_file(const char *path, struct hs_str name,
                                        struct hs_problem *problem);

/*
 * Reads every NAME.json of a directory, but puts no ruleset yet. Reports each file that is not a
 * valid ruleset, or whose name belongs to a tenant. On a fault, reports it and returns NULL: there
 * is such a file, the store has too little space for the new names, or the directory cannot be
 * read. The space for the new names stays reserved until hs_ruleset_batch_put or
 * hs_ruleset_batch_discard. Therefore hs_ruleset_batch_put cannot fail.
 */
struct hs_ruleset_batch;
typedef void hs_ruleset_file_report(void *context, const char *path,
                                    const struct hs_problem *problem);
struct hs_ruleset_batch *hs_ruleset_batch_read(struct hs_ruleset_store *store,
                                               const char *directory,
                                               hs_ruleset_file_report *report, void *context);

/* Returns whether the store or the batch (unless NULL) contains the default ruleset. */
bool hs_ruleset_store_would_have_default(struct hs_ruleset_store *store,
                                         const struct hs_ruleset_batch *batch);

/*
 * Puts all rulesets of the batch in one step, and frees the batch. `changed` is called for each
 * changed name and must not use the store. `before` is the replaced revision, or "" for a new name.
 */
typedef void hs_ruleset_change(void *context, const char *name, const char *before,
                               const char *after);
void hs_ruleset_batch_put(struct hs_ruleset_batch *batch, hs_ruleset_change *changed,
                          void *context);
void hs_ruleset_batch_discard(struct hs_ruleset_batch *batch); /* does nothing for NULL */

#endif
