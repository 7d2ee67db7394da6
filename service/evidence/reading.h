/* Opens the places of the evidence store (files, or the database) for reading. Every call has its
   own read-only connections, so it never waits for the writer. Thread-safe. */
#ifndef HS_SERVICE_EVIDENCE_READING_H
#define HS_SERVICE_EVIDENCE_READING_H

#include "service/evidence/reader.h"

/* Opens a place; close it with hs_db_close. MISSING: the place was removed because of its age, has
   no tables, or is the damaged file of a day. A damaged file is logged. FAILED: the place cannot be
   read, or has tables of another version; the reason is logged. */
enum hs_evidence_read hs_evidence_open(const struct hs_evidence_home *home, const char *place,
                                       struct hs_db **out);

/* Logs the last failure of a connection. Returns FAILED. */
enum hs_evidence_read hs_evidence_failed(const struct hs_db *db);

/* Like hs_evidence_failed, for the connection of a place. If the place is the damaged file of a
   day, also counts the file and returns MISSING, so that the answer omits this file. */
enum hs_evidence_read hs_evidence_place_failed(const struct hs_evidence_home *home,
                                               const char *place, const struct hs_db *db);

/* A stored verdict. The texts of the row are valid until hs_evidence_stored_close. */
struct hs_evidence_stored {
    struct hs_evidence_row row;
    struct hs_db *db;
    struct hs_db_statement *found;
    unsigned char *unpacked;
};

/* Reads a verdict from the place of its day, or from the cases (cases.h). `tenant`: the tenant who
   owns the verdict; ptr NULL: any tenant. Close *out only if the result is READ. */
enum hs_evidence_read hs_evidence_find(const struct hs_evidence_home *home, struct hs_str tenant,
                                       struct hs_str id, struct hs_evidence_stored *out);
void hs_evidence_stored_close(struct hs_evidence_stored *stored);

/* Reads the current row of a statement over `bodies b JOIN verdicts v` that selects
   HS_EVIDENCE_WHOLE_ROW first, and unpacks the body. The caller frees out->unpacked. Returns false
   if the row is damaged or memory runs out. */
#define HS_EVIDENCE_WHOLE_ROW                                                                      \
    "v.at, b.id, b.now, b.measured, b.\"limit\", b.unit, b.revision, b.map, b.map_revision,"       \
    " b.sizes, b.body"
bool hs_evidence_load(struct hs_db_statement *found, struct hs_evidence_stored *out);

/* Like hs_evidence_load, for a statement that begins with SELECT HS_EVIDENCE_ALL_OF_ROW. This
   function also reads all texts of the row, which are borrowed until the next step. */
#define HS_EVIDENCE_TEXT_OF(member, column) ", text_of(v." column ")"
#define HS_EVIDENCE_ALL_OF_ROW                                                                     \
    HS_EVIDENCE_WHOLE_ROW HS_EVIDENCE_TEXTS(                                                       \
        HS_EVIDENCE_TEXT_OF) " FROM bodies b JOIN verdicts v ON v.at = b.at"
bool hs_evidence_load_all(struct hs_db_statement *found, struct hs_evidence_stored *out);
/* Like hs_evidence_load_all, but does not unpack the body, so the caller has nothing to free. */
void hs_evidence_load_packed(struct hs_db_statement *found, struct hs_evidence_stored *out);

/* Returns the document of the verdict's ruleset or map; release it with free(). NULL: the document
   is missing or damaged, or memory ran out. */
char *hs_evidence_document(const struct hs_evidence_stored *stored, struct hs_str kind,
                           struct hs_str revision, size_t *size);

/* Adds the ruleset and the map of a stored verdict to another store, if that store lacks them.
   Skips a document that the place of the verdict lacks too. */
bool hs_evidence_copy_documents(struct hs_evidence_store *store,
                                const struct hs_evidence_stored *stored);

/* Calls `visit` with each verdict of the query, the newest first. If `visit` returns false, the
   search ends with FAILED. The stored verdict is valid only during the call. Skips damaged
   verdicts. After `end_us` (hs_clock_us), the search ends soon. Sets *next_us like
   hs_evidence_list. */
typedef bool hs_evidence_visit(void *context, const struct hs_evidence_stored *stored);
enum hs_evidence_read hs_evidence_each(const struct hs_evidence_home *home,
                                       const struct hs_evidence_query *query, int64_t end_us,
                                       hs_evidence_visit *visit, void *context, int64_t *next_us);

#endif
