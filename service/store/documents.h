/*
 * Rulesets and maps in the store, where all replicas find them. docs/state.md describes the keys
 * for operators.
 *
 * A document is immutable and has a revision. A name refers to one document, or to a ruleset and
 * its canary. The version changes with every change of a name. A document does not expire while a
 * name refers to it. A document without a name stays in the store for a day, because matches may
 * still use it. This module only transfers bytes; sharing/ encodes and decodes them. The functions
 * wait for the store, so workers must not call them. Thread-safe.
 */
#ifndef HS_SERVICE_STORE_DOCUMENTS_H
#define HS_SERVICE_STORE_DOCUMENTS_H

#include "api/json/writing.h"
#include "service/store/store.h"

enum hs_shared_kind { HS_SHARED_RULESET, HS_SHARED_MAP };

/* A name, and the documents that it refers to. */
struct hs_shared_name {
    enum hs_shared_kind kind;
    struct hs_str name, owner; /* owner: len 0 for everybody */
    struct hs_str revision;
    struct hs_str canary; /* the revision of the canary; len 0: no canary */
    double share;         /* share of the canary */
};

/* `birth`: when a replica found the store empty (hs_shared_begin), in microseconds since 1970; 0:
   the store has no birth yet. A store that has lost its data gets another birth. `count`: how often
   the names have changed since `birth`. */
struct hs_shared_version {
    uint64_t birth, count;
};

/* Sets *version. False: there was no answer in `wait_us`. */
bool hs_shared_version(struct hs_store *store, int64_t wait_us, struct hs_shared_version *version);

/* Sets the birth of the store, unless the birth is already set. False: no answer. */
bool hs_shared_begin(struct hs_store *store);

/* Calls `visit` with each name, whose texts are borrowed. Skips names that a later version of the
   program wrote in another format. False: no answer. */
bool hs_shared_names(struct hs_store *store,
                     void (*visit)(void *context, const struct hs_shared_name *name),
                     void *context);

enum hs_shared_result {
    HS_SHARED_DONE,
    HS_SHARED_FOREIGN, /* another owner has the name */
    HS_SHARED_LOST,    /* no answer: the name may have changed or not */
};

/* Sets a name. Add the documents of the name first. `if_new`: does nothing if the store already has
   the name. */
enum hs_shared_result hs_shared_put_name(struct hs_store *store, const struct hs_shared_name *name,
                                         bool if_new);

/* Removes a name. Also returns DONE if the store does not have the name. */
enum hs_shared_result hs_shared_drop_name(struct hs_store *store, enum hs_shared_kind kind,
                                          struct hs_str owner, struct hs_str name);

/* Adds a document, unless the store has it. The document expires after a day, unless a name then
   refers to it. `name`: the name of the document. False: the store may lack the document. */
bool hs_shared_put_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                            struct hs_str revision, struct hs_str text);

/* Reads a document of up to `max` bytes; release it with free(). Returns NULL if the store does not
   have it, if memory runs out, or if the store did not answer. Without an answer, *has_answer is
   false, and a later call may succeed. */
char *hs_shared_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                         struct hs_str revision, size_t max, size_t *size, bool *has_answer);

/* Lets a document expire a day from now at the earliest, if the store has it. */
void hs_shared_keep_document(struct hs_store *store, enum hs_shared_kind kind, struct hs_str name,
                             struct hs_str revision);

#endif
