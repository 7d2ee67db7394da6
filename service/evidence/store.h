/*
 * Writes verdicts to one place of the evidence store (files.h): a SQLite file with the verdicts of
 * one day, or a PostgreSQL schema. Each writer and each reader has its own connection. See
 * docs/evidence.md.
 */
#ifndef HS_SERVICE_EVIDENCE_STORE_H
#define HS_SERVICE_EVIDENCE_STORE_H

#include "service/evidence/files.h"
#include "service/evidence/tables.h"

/* A verdict, with all data that is needed to compute the verdict again. All strings are
   borrowed. */
struct hs_evidence_row {
    int64_t at_us;  /* wall clock; the store changes this time if needed, so that times are unique
                       and in order */
    int64_t now_us; /* match clock */
    struct hs_str id;
#define X(member, column) struct hs_str member;
    HS_EVIDENCE_TEXTS(X)
#undef X
    bool has_measure;
    double measured, limit;
    struct hs_str unit;
    struct hs_str revision;          /* of the ruleset */
    struct hs_str map, map_revision; /* ptr NULL: the match has no map */
    /* Lines of a recorded stream: the line that opens the match, without its state, and the line of
       the request. */
    struct hs_str opening, request;
    /* The excerpt (validators/snapshot.h). In a recorded stream, the complete opening line ends
       with this excerpt. */
    struct hs_str state;
    /* JSON about the player and the match (context.h); empty in rows that earlier versions of the
       program wrote. */
    struct hs_str context;
    /* The sizes and the compressed bytes of `opening`, `request`, `state` and `context`. If
       `packed.ptr` is NULL, the store compresses the texts. If `packed.ptr` is not NULL, the store
       writes the bytes of `packed` unchanged. */
    struct hs_str sizes, packed;
};

struct hs_evidence_store;

/* hs_evidence_store_file_is_damaged checks a file. hs_evidence_store_is_damaged checks the file of
   a store after a failed call. A damaged file cannot be read as a database, so all later calls also
   fail. */
bool hs_evidence_store_file_is_damaged(const char *path);
bool hs_evidence_store_is_damaged(const struct hs_evidence_store *store);

/* Opens a file. If the file is missing, creates the file and its tables. Only the user of the
   process can read the new file (mode 0600). With `is_synced`, a commit survives a power failure.
   Without `is_synced`, a commit survives only a crash of the process. Returns NULL with a message
   in `error` on failure. Several processes and threads may have the file open. Each call waits up
   to two seconds for the transaction of another connection. */
struct hs_evidence_store *hs_evidence_store_open(const char *path, bool is_synced, char error[256]);
/* Opens a place: a PostgreSQL schema, or a file in home->directory with synced commits. Creates
   missing tables. */
struct hs_evidence_store *hs_evidence_store_open_at(const struct hs_evidence_home *home,
                                                    const char *place, char error[256]);
void hs_evidence_store_close(struct hs_evidence_store *store);

/* Limits the size of a file. At the limit, writes fail as if the disk were full. */
void hs_evidence_store_limit(struct hs_evidence_store *store, uint64_t bytes);

/* A transaction may add several rows. After a failed call, read hs_evidence_store_error first, and
   then undo the transaction. hs_evidence_store_put does nothing if a verdict with the same id is
   stored. If the new row is not later than the newest row in the file, the new row gets the first
   time after the newest row. If the time after the newest row is `end_us` or later, the new row
   keeps its own time. If another row already has this time, the new row gets the nearest earlier
   time that no row has. row->at_us must be below `end_us`. */
bool hs_evidence_store_begin(struct hs_evidence_store *store);
bool hs_evidence_store_put(struct hs_evidence_store *store, const struct hs_evidence_row *row,
                           int64_t end_us);
bool hs_evidence_store_commit(struct hs_evidence_store *store);
void hs_evidence_store_undo(struct hs_evidence_store *store);

/* Adds a row that comes from another file, and keeps its time. If another row already has this
   time, increases the time by up to 999 us. Does nothing if a verdict with the same id is
   stored. */
bool hs_evidence_store_copy(struct hs_evidence_store *store, const struct hs_evidence_row *row);

/* `kind` is "ruleset" or "map". hs_evidence_store_has returns whether the document is stored;
   hs_evidence_store_put_document adds the document. */
bool hs_evidence_store_has(struct hs_evidence_store *store, struct hs_str kind,
                           struct hs_str revision);
bool hs_evidence_store_put_document(struct hs_evidence_store *store, struct hs_str kind,
                                    struct hs_str name, struct hs_str revision,
                                    struct hs_str document);

/* Returns the connection (borrowed), so that the caller can run other statements. */
struct hs_db *hs_evidence_store_db(struct hs_evidence_store *store);

const char *hs_evidence_store_error(const struct hs_evidence_store *store);

/* Call this function after a failed call. Returns whether the call failed because of the values in
   the row, so that a retry is useless. False: the cause was the disk, the memory, the network, or
   another user of the database. */
bool hs_evidence_store_has_refused(const struct hs_evidence_store *store);

#endif
