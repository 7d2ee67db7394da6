/*
 * Adds verdicts to a place of the evidence store (files.h): a file of SQLite with the verdicts of a
 * day, or a schema of PostgreSQL. Each writer has its own connection, and each reader, too. See
 * docs/evidence.md.
 */
#ifndef HS_SERVICE_EVIDENCE_STORE_H
#define HS_SERVICE_EVIDENCE_STORE_H

#include "service/evidence/files.h"
#include "service/evidence/tables.h"

/* A verdict with everything that is needed to compute it again. All texts are borrowed. */
struct hs_evidence_row {
    int64_t at_us;  /* wall clock; the store makes it unique and increasing */
    int64_t now_us; /* time on the match clock */
    struct hs_str id;
#define X(member, column) struct hs_str member;
    HS_EVIDENCE_TEXTS(X)
#undef X
    bool has_measure;
    double measured, limit;
    struct hs_str unit;
    struct hs_str revision;          /* revision of the ruleset */
    struct hs_str map, map_revision; /* ptr NULL: the match has no map */
    /* Lines of a recorded stream: the line of the opening without its end, and the line of the
       request. */
    struct hs_str opening, request;
    struct hs_str state; /* an excerpt (validators/snapshot.h), which completes the opening */
    /* What the service knew of the player (context.h), JSON; empty in rows of earlier programs. */
    struct hs_str context;
    /* The stored form of the four texts above. hs_evidence_store_copy takes it instead of the
       texts. If its ptr is NULL, the function compresses the texts. */
    struct hs_str sizes, packed;
};

struct hs_evidence_store;

/* Whether the file at a path, or a store after a failed call, is damaged: it cannot be read as a
   database, and no later call will succeed. */
bool hs_evidence_store_file_is_damaged(const char *path);
bool hs_evidence_store_is_damaged(const struct hs_evidence_store *store);

/* Opens a file. A missing file is made for this user alone (0600), and appears with its tables.
   `is_synced`: a commit survives a loss of power, not only of the process. NULL with a message in
   `error`. Several processes and threads may have a file open; each call waits at most two seconds
   for another's transaction. */
struct hs_evidence_store *hs_evidence_store_open(const char *path, bool is_synced, char error[256]);
/* Opens the place of a home: a file in its directory, with `is_synced`, or a schema of PostgreSQL.
   Missing tables are made. */
struct hs_evidence_store *hs_evidence_store_open_at(const struct hs_evidence_home *home,
                                                    const char *place, char error[256]);
void hs_evidence_store_close(struct hs_evidence_store *store);

/* Limits the size of a file. At the limit, calls fail as with a full disk. */
void hs_evidence_store_limit(struct hs_evidence_store *store, uint64_t bytes);

/* A transaction may add several rows. After a failed call, get the reason from
   hs_evidence_store_error, and then undo the transaction. */
bool hs_evidence_store_begin(struct hs_evidence_store *store);
bool hs_evidence_store_put(struct hs_evidence_store *store, const struct hs_evidence_row *row);
bool hs_evidence_store_commit(struct hs_evidence_store *store);
void hs_evidence_store_undo(struct hs_evidence_store *store);

/* Adds a row like hs_evidence_store_put, but keeps the time that it has in another file. If
   another row has that time already, the time becomes some microseconds later. */
bool hs_evidence_store_copy(struct hs_evidence_store *store, const struct hs_evidence_row *row);

/* Returns whether the store has the document of a ruleset or a map. The second function adds a
   document. */
bool hs_evidence_store_has(struct hs_evidence_store *store, struct hs_str kind,
                           struct hs_str revision);
bool hs_evidence_store_put_document(struct hs_evidence_store *store, struct hs_str kind,
                                    struct hs_str name, struct hs_str revision,
                                    struct hs_str document);

/* Returns the connection, so that the owner of the store can run other statements. */
struct hs_db *hs_evidence_store_db(struct hs_evidence_store *store);

const char *hs_evidence_store_error(const struct hs_evidence_store *store);

/* Returns whether the last failed call failed because of its row, which the store will never take.
   Other failures come from the disk, from memory, or from another user of the file. */
bool hs_evidence_store_has_refused(const struct hs_evidence_store *store);

#endif
