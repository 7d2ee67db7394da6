/*
 * Rulesets by name. A ruleset is replaced whole; who holds the old one keeps it until he lets go,
 * so the rules of a running match never change. Thread-safe.
 */
#ifndef HS_SERVICE_RULESET_STORE_H
#define HS_SERVICE_RULESET_STORE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "api/problem.h"
#include "service/state/share.h"
#include "validators/ruleset.h"

enum { HS_REVISION_MAX = 72 };

struct hs_ruleset_entry {
    struct hs_ruleset *ruleset;
    char revision[HS_REVISION_MAX]; /* "sha256:" of the canonical document */
    char *document;                 /* canonical, `document_size` bytes */
    size_t document_size;
    struct hs_name owner; /* the tenant who put it; "": it is everybody's */
    bool is_builtin, is_from_file;
    atomic_uint_fast64_t journal; /* number of the newest journal that contains it; 0: none */
    unsigned references;          /* guarded by the store */
    struct hs_name payer;         /* the tenant charged for its memory; "": nobody */
    size_t charged;               /* bytes of the store's share, without its parts */
    uint64_t *hashes;             /* of its rigs, then of its weapons; owned */
};

struct hs_ruleset_store;

/*
 * A store with the built-in rulesets; they count in its space for `max_rulesets` (>=
 * HS_BUILTIN_RULESETS) and `max_bytes`. The name "default" stands for `default_name`, which may be
 * loaded later. NULL with a sentence in `error`.
 */
struct hs_ruleset_store *hs_ruleset_store_create(const char *default_name, size_t max_rulesets,
                                                 size_t max_bytes, char error[256]);

/* The share for the bytes of all rulesets in memory, charged to the tenants who put them. Rulesets
   that only a match holds count as well. */
struct hs_share *hs_ruleset_store_share(struct hs_ruleset_store *store);

/* Rulesets that have a name. */
size_t hs_ruleset_store_count(struct hs_ruleset_store *store);

/* From now on the store refuses rulesets of files and tenants if one claim by them may cost more
   work units (hs_ruleset_store_allows). 0, the default: it refuses none. Call it before other
   threads use the store. */
void hs_ruleset_store_limit_work(struct hs_ruleset_store *store, size_t units);

/* Whether a ruleset is within that limit; if not, `problem` names the weapons at fault. */
bool hs_ruleset_store_allows(const struct hs_ruleset_store *store, const struct hs_ruleset *ruleset,
                             struct hs_problem *problem);

/* Nobody may hold an entry any more. */
void hs_ruleset_store_destroy(struct hs_ruleset_store *store);

/* The entry of a name, or NULL. hs_ruleset_store_release gives it back. */
struct hs_ruleset_entry *hs_ruleset_store_get(struct hs_ruleset_store *store, struct hs_str name);

/* The ruleset the name "default" stands for, or NULL. */
struct hs_ruleset_entry *hs_ruleset_store_default(struct hs_ruleset_store *store);

/* One more holder of an entry that is held already. */
void hs_ruleset_store_retain(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);
void hs_ruleset_store_release(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);

/*
 * Whether nobody may give a ruleset of his own this name: `default`, or that of a built-in one,
 * which stands for the rules the contract says it has. A recording may bring the built-in rules of
 * another version under their name, so the store itself takes them.
 */
bool hs_ruleset_name_is_reserved(struct hs_str name);

/* For printf, with the length and the bytes of such a name. */
#define HS_RULESET_RESERVED_TEXT "`%.*s` is reserved: give yours another name"

enum hs_ruleset_put {
    HS_RULESET_CREATED,
    HS_RULESET_REPLACED, /* also when the same document was there already */
    HS_RULESET_RESERVED, /* "default" is not a name of its own */
    HS_RULESET_FOREIGN,  /* the name is another owner's */
    HS_RULESET_FULL,
    HS_RULESET_TOO_BIG, /* it takes more bytes than are left for its owner */
    HS_RULESET_NO_MEMORY
};

/* Takes a decoded, finished ruleset over, whatever the result. `owner`: len 0: it is everybody's.
 */
enum hs_ruleset_put hs_ruleset_store_put(struct hs_ruleset_store *store, struct hs_str owner,
                                         struct hs_ruleset *ruleset,
                                         char revision[HS_REVISION_MAX]);

/*
 * The entry of a canonical document that was in use before, charged to its owner (len 0, or too
 * little is left for them: to nobody), held for the caller: the one that its name leads to if that
 * has the same revision, else one that no name leads to. NULL with `problem` set when it is not a
 * whole ruleset, or memory is out.
 */
struct hs_ruleset_entry *hs_ruleset_store_adopt(struct hs_ruleset_store *store, struct hs_str owner,
                                                struct hs_str document, struct hs_problem *problem);

enum hs_ruleset_restore {
    HS_RULESET_NAMED,
    HS_RULESET_NAME_IS_FILES, /* a file has it: it wins */
    HS_RULESET_NAME_TAKEN,    /* by one that was restored, or is built in */
    HS_RULESET_NAME_FULL
};

/*
 * Gives an adopted entry the name and the owner that it had before. Before anybody else uses the
 * store. `replaces`: the entry is newer than one that the same owner has under this name.
 */
enum hs_ruleset_restore hs_ruleset_store_restore_name(struct hs_ruleset_store *store,
                                                      struct hs_str owner,
                                                      struct hs_ruleset_entry *entry,
                                                      bool replaces);

/* The entries that were put one by one, neither built in nor of a file, held for the caller, who
   frees the array. NULL: out of memory. */
struct hs_ruleset_entry **hs_ruleset_store_posted(struct hs_ruleset_store *store, size_t *count);

/*
 * Writes down what a name leads to. Nobody can change a name while `write` runs, so what is written
 * has the order of the changes. `write` must not use the store; false: it failed.
 */
typedef bool hs_ruleset_writer(void *context, struct hs_ruleset_entry *entry);

/* Calls `write` with the entry of a name, unless there is none any more; returns what it does. */
bool hs_ruleset_store_write(struct hs_ruleset_store *store, struct hs_str name,
                            hs_ruleset_writer *write, void *context);

enum hs_ruleset_delete {
    HS_RULESET_DELETED,
    HS_RULESET_UNKNOWN,  /* the owner (len 0: everybody) has none of that name that was put */
    HS_RULESET_IS_FILES, /* a file has the name */
    HS_RULESET_NOT_KEPT  /* `write` failed: nothing has changed */
};

/* Deletes a name after `write` (NULL: nothing to write) has recorded the deletion; if `write`
   fails, the name stays. Holders of the entry keep it. */
enum hs_ruleset_delete hs_ruleset_store_delete(struct hs_ruleset_store *store, struct hs_str owner,
                                               struct hs_str name, hs_ruleset_writer *write,
                                               void *context);

/* Calls `visit` with each entry, in order of name. */
void hs_ruleset_store_each(struct hs_ruleset_store *store,
                           void (*visit)(void *context, const struct hs_ruleset_entry *entry),
                           void *context);

/*
 * Decodes one document. `name`: the one it must carry (ptr NULL: any). NULL with `problem` set;
 * the caller owns the ruleset.
 */
struct hs_ruleset *hs_ruleset_from_text(struct hs_str text, struct hs_str name,
                                        struct hs_problem *problem);

/* The same of a file. */
struct hs_ruleset *hs_ruleset_from_file(const char *path, struct hs_str name,
                                        struct hs_problem *problem);

/*
 * Reads every NAME.json of a directory without putting any into use. Each file that is not a whole
 * ruleset, or whose name a tenant has, is reported. NULL when there was such a file, when there is
 * no room for the new names, or when the directory cannot be read; all of it has been reported
 * then. Room is kept for the new names until hs_ruleset_batch_put, which cannot fail, or
 * hs_ruleset_batch_discard.
 */
struct hs_ruleset_batch;
typedef void hs_ruleset_file_report(void *context, const char *path,
                                    const struct hs_problem *problem);
struct hs_ruleset_batch *hs_ruleset_batch_read(struct hs_ruleset_store *store,
                                               const char *directory,
                                               hs_ruleset_file_report *report, void *context);

/* Whether the store has, with the batch (or NULL), what the name "default" stands for. */
bool hs_ruleset_store_would_have_default(struct hs_ruleset_store *store,
                                         const struct hs_ruleset_batch *batch);

/*
 * Puts all of them at once; nobody sees some new and some old. `changed`, which must not use the
 * store, is called for each that is not as it was: `before` is "" for a new name, else the revision
 * it replaces.
 */
typedef void hs_ruleset_change(void *context, const char *name, const char *before,
                               const char *after);
void hs_ruleset_batch_put(struct hs_ruleset_batch *batch, hs_ruleset_change *changed,
                          void *context);
void hs_ruleset_batch_discard(struct hs_ruleset_batch *batch); /* NULL: nothing */

#endif
