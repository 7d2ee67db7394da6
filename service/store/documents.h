/*
 * Rulesets and maps in the store, where all replicas find them. docs/state.md describes the keys
 * for operators.
 *
 * A document is immutable and has a revision. A name stands for one document, or for a ruleset and
 * its canary. The version changes with every change of a name. The document of a name stays; the
 * document that a name had before stays for a day, because matches may still use it. This module
 * only carries bytes; sharing/ gives them a meaning. Its functions wait for the store, so no
 * worker may call them. Thread-safe.
 */
#ifndef HS_SERVICE_STORE_DOCUMENTS_H
#define HS_SERVICE_STORE_DOCUMENTS_H

#include "api/json/writing.h"
#include "service/store/store.h"

enum hs_shared_kind { HS_SHARED_RULESET, HS_SHARED_MAP };

/* A name and what it stands for. */
struct hs_shared_name {
    enum hs_shared_kind kind;
    struct hs_str name, owner; /* owner: len 0 for everybody */
    struct hs_str revision;
    struct hs_str canary; /* the revision of the canary; len 0: none */
    double share;         /* of the canary */
};

/* How often the names have changed since the store got its first name, and when that was, in
   microseconds since 1970; 0: the store has no names. */
struct hs_shared_version {
    uint64_t birth, count;
};

/* Sets *version. False: there was no answer in `wait_us`. */
bool hs_shared_version(struct hs_store *store, int64_t wait_us, struct hs_shared_version *version);

/* Calls `visit` with each name, whose texts are borrowed. Ignores names of a later format. False:
   no answer. */
bool hs_shared_names(struct hs_store *store,
                     void (*visit)(void *context, const struct hs_shared_name *name),
                     void *context);

enum hs_shared_result {
    HS_SHARED_DONE,
    HS_SHARED_FOREIGN, /* another owner has the name */
    HS_SHARED_LOST,    /* no answer: the change may happen */
};

/* Sets a name, whose documents are in the store. `if_new`: does nothing if the name is there. */
enum hs_shared_result hs_shared_put_name(struct hs_store *store, const struct hs_shared_name *name,
                                         bool if_new);

/* Removes a name. DONE also if it is not there. */
enum hs_shared_result hs_shared_drop_name(struct hs_store *store, enum hs_shared_kind kind,
                                          struct hs_str owner, struct hs_str name);

/* Adds a document, unless the store has it. It stays for a day, and as long as a name stands for
   it. `name`: of the document. False: the store does not have the document. */
bool hs_shared_put_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                            struct hs_str revision, struct hs_str text);

/* Reads a document of up to `max` bytes; free() it. NULL: the store does not have it, did not
   answer (*has_answer is false, so a later call may succeed), or memory is out. */
char *hs_shared_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                         struct hs_str revision, size_t max, size_t *size, bool *has_answer);

/* Lets a document stay for another day. The answer is not awaited. */
void hs_shared_keep_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                             struct hs_str revision);

#endif
