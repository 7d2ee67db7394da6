/*
 * Rulesets and maps in the store, where all replicas find them. docs/state.md describes the keys
 * for operators. This module only transfers bytes; sharing/ encodes and decodes them. The functions
 * wait for the store, so workers must not call them. Thread-safe.
 *
 * A document never changes, and is identified by its revision. A name refers to one document, or to
 * a ruleset and its canary. A document does not expire while a name refers to it. A document that
 * no name refers to stays in the store for a day, because matches may still use it. Every change of
 * a name changes the version of the store (struct hs_shared_version).
 */
#ifndef HS_SERVICE_STORE_DOCUMENTS_H
#define HS_SERVICE_STORE_DOCUMENTS_H

#include "api/json/writing.h"
#include "service/store/store.h"

enum hs_shared_kind { HS_SHARED_RULESET, HS_SHARED_MAP };

/* A name, and the documents that it refers to. */
struct hs_shared_name {
    enum hs_shared_kind kind;
    struct hs_str name, owner; /* owner: the tenant; len 0: everybody */
    struct hs_str revision;
    struct hs_str canary; /* revision of the canary; len 0: none */
    double share;         /* share of new matches that use the canary */
};

/* The version of the names in the store. `birth`: when a replica found the store empty
   (hs_shared_begin), in microseconds since 1970; 0: not set yet. A store that has lost its data
   gets another birth. `count`: how often a name was changed since `birth`. */
struct hs_shared_version {
    uint64_t birth, count;
};

/* Reads the version. Returns false if there is no answer within `wait_us`. */
bool hs_shared_version(struct hs_store *store, int64_t wait_us, struct hs_shared_version *version);

/* Sets the birth of the store, unless it is already set. Returns false if there is no answer. */
bool hs_shared_begin(struct hs_store *store);

/* Calls `visit` for each name. The strings of the name are valid only until `visit` returns. Skips
   names in the format of a later program version. Returns false if there is no answer. */
bool hs_shared_names(struct hs_store *store,
                     void (*visit)(void *context, const struct hs_shared_name *name),
                     void *context);

enum hs_shared_result {
    HS_SHARED_DONE,
    HS_SHARED_FOREIGN, /* another owner has the name */
    HS_SHARED_LOST,    /* no answer; the name may or may not have changed */
};

/* Sets a name. Its documents must be in the store. `if_new`: does nothing if the store already has
   the name. */
enum hs_shared_result hs_shared_put_name(struct hs_store *store, const struct hs_shared_name *name,
                                         bool if_new);

/* Removes a name. DONE: the store does not have the name any more, or has never had it. */
enum hs_shared_result hs_shared_drop_name(struct hs_store *store, enum hs_shared_kind kind,
                                          struct hs_str owner, struct hs_str name);

/* Adds a document if the store does not have it. The document expires after a day if no name refers
   to it by then. `name`: the name of the document. Returns false if the document may be missing
   from the store. */
bool hs_shared_put_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                            struct hs_str revision, struct hs_str text);

/* Reads a document of up to `max` bytes; free it with free(). Returns NULL if the document is not
   in the store, memory runs out, or the store does not answer. *has_answer is false only if the
   store does not answer; a later call may then succeed. */
char *hs_shared_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                         struct hs_str revision, size_t max, size_t *size, bool *has_answer);

/* If the store has the document, prevents it from expiring within the next day. */
void hs_shared_keep_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                             struct hs_str revision);

#endif
