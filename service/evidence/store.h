/*
 * Adds verdicts to a place of the evidence store (files.h): a file of SQLite with the verdicts of a
 * day, or a schema of PostgreSQL. Each writer and each reader has its own connection. See
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
    /* Lines of a recorded stream: the line of the opening without its state, and the line of the
       request. */
    struct hs_str opening, request;
    /* An excerpt (validators/snapshot.h); the line of the opening ends with it. */
    struct hs_str state;
    /* Data about the player and the match (context.h), JSON; empty in rows of earlier versions. */
    struct hs_str context;
    /* The stored form of the four texts above. hs_evidence_store_copy writes this form if
       `packed.ptr` is not NULL. If `packed.ptr` is NULL, it compresses the texts. */
    struct hs_str sizes, packed;
};

struct hs_evidence_store;

/* Return whether the file at a path, or a store after a failed call, is damaged. A damaged file
   cannot be read as a database, so all later calls fail. */
bool hs_evidence_store_file_is_damaged(const char *path);
bool hs_evidence_store_is_damaged(const struct hs_evidence_store *store);

/* Opens a file. Creates a missing file with its tables in one step; only this user can read it
   (0600). With `is_synced`, a commit survives a loss of power. Without `is_synced`, a commit
   survives only a crash of the process. Returns NULL with a message in `error` on failure. Several
   processes and threads may have a file open. Each call waits up to two seconds for the transaction
   of another connection. */
struct hs_evidence_store *hs_evidence_store_open(const char *path, bool is_synced, char error[256]);
/* Opens one place of the evidence (files.h): a file in home->directory, with each commit synced, or
   a schema of PostgreSQL. Creates missing tables. */
struct hs_evidence_store *hs_evidence_store_open_at(const struct hs_evidence_home *home,
                                                    const char *place, char error[256]);
void hs_evidence_store_close(struct hs_evidence_store *store);

/* Limits the size of a file. At the limit, calls fail as if the disk was full. */
void hs_evidence_store_limit(struct hs_evidence_store *store, uint64_t bytes);

/* A transaction may add several rows. After a failed call, get the reason from
   hs_evidence_store_error, and then undo the transaction. */
bool hs_evidence_store_begin(struct hs_evidence_store *store);
bool hs_evidence_store_put(struct hs_evidence_store *store, const struct hs_evidence_row *row);
bool hs_evidence_store_commit(struct hs_evidence_store *store);
void hs_evidence_store_undo(struct hs_evidence_store *store);

/* Adds a row like hs_evidence_store_put, but with the time that the row has in another file. If
   another row already has this time, adds a few microseconds to the time. */
bool hs_evidence_store_copy(struct hs_evidence_store *store, const struct hs_evidence_row *row);

/* hs_evidence_store_has returns whether the store has the document of a ruleset or a map.
   hs_evidence_store_put_document adds a document. */
bool hs_evidence_store_has(struct hs_evidence_store *store, struct hs_str kind,
                           struct hs_str revision);
bool hs_evidence_store_put_document(struct hs_evidence_store *store, struct hs_str kind,
                                    struct hs_str name, struct hs_str revision,
                                    struct hs_str document);

/* Returns the connection, so that the owner of the store can run other statements. */
struct hs_db *hs_evidence_store_db(struct hs_evidence_store *store);

const char *hs_evidence_store_error(const struct hs_evidence_store *store);

/* Returns whether the last call failed because the store will always refuse the row. Other causes
   of failures are the disk, memory, and other users of the file. */
bool hs_evidence_store_has_refused(const struct hs_evidence_store *store);

#endif
