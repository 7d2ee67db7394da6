/* Opens the places of the evidence store (files.h) for reading. Each call uses its own connections
   and never waits for the writer. Thread-safe. */
#ifndef HS_SERVICE_EVIDENCE_READING_H
#define HS_SERVICE_EVIDENCE_READING_H

#include "service/evidence/reader.h"

/* Opens a place; close it with hs_db_close. MISSING: the place does not exist, has no tables, or is
   a damaged file of a day. A damaged file is logged. FAILED: the place cannot be read, or its
   tables have another version; the reason is logged. */
enum hs_evidence_read hs_evidence_open(const struct hs_evidence_home *home, const char *place,
                                       struct hs_db **out);

/* Logs the reason for the last failure on the connection. Returns FAILED. */
enum hs_evidence_read hs_evidence_failed(const struct hs_db *db);

/* Like hs_evidence_failed. But if the place is a damaged file of a day, counts the failure in the
   metrics, and returns MISSING. The answer then omits this file. */
enum hs_evidence_read hs_evidence_place_failed(const struct hs_evidence_home *home,
                                               const char *place, const struct hs_db *db);

/* A stored verdict. The strings in `row` are valid until hs_evidence_stored_close. */
struct hs_evidence_stored {
    struct hs_evidence_row row;
    struct hs_db *db;
    struct hs_db_statement *found;
    unsigned char *unpacked;
};

/* Finds a verdict in the places of the days, and then among the reviewed verdicts (cases.h).
   `tenant`: the verdict must belong to this tenant; ptr NULL: any tenant. Close *out only if the
   result is READ. */
enum hs_evidence_read hs_evidence_find(const struct hs_evidence_home *home, struct hs_str tenant,
                                       struct hs_str id, struct hs_evidence_stored *out);
void hs_evidence_stored_close(struct hs_evidence_stored *stored);

/* Reads the current row and unpacks the body. The statement must select HS_EVIDENCE_WHOLE_ROW from
   `bodies b` and `verdicts v`. If the statement selects further columns, they must come after
   HS_EVIDENCE_WHOLE_ROW. The caller frees out->unpacked with free(). Returns false if the row is
   damaged or memory runs out. */
#define HS_EVIDENCE_WHOLE_ROW                                                                      \
    "v.at, b.id, b.now, b.measured, b.\"limit\", b.unit, b.revision, b.map, b.map_revision,"       \
    " b.sizes, b.body"
bool hs_evidence_load(struct hs_db_statement *found, struct hs_evidence_stored *out);

/* Like hs_evidence_load, for a statement that begins with SELECT HS_EVIDENCE_ALL_OF_ROW. Also reads
   all text columns. The strings of these columns are valid until the next hs_db_step of the
   statement. */
#define HS_EVIDENCE_TEXT_OF(member, column) ", text_of(v." column ")"
#define HS_EVIDENCE_ALL_OF_ROW                                                                     \
    HS_EVIDENCE_WHOLE_ROW HS_EVIDENCE_TEXTS(                                                       \
        HS_EVIDENCE_TEXT_OF) " FROM bodies b JOIN verdicts v ON v.at = b.at"
bool hs_evidence_load_all(struct hs_db_statement *found, struct hs_evidence_stored *out);
/* Like hs_evidence_load_all, but leaves the body packed, so there is nothing to free. */
void hs_evidence_load_packed(struct hs_db_statement *found, struct hs_evidence_stored *out);

/* Returns a ruleset or map from the place of the verdict; free it with free(). NULL: the document
   is missing or damaged, or memory ran out. */
char *hs_evidence_document(const struct hs_evidence_stored *stored, struct hs_str kind,
                           struct hs_str revision, size_t *size);

/* Copies the ruleset and the map of a verdict to `store`. Skips a document that `store` already
   contains. Skips a document that is missing from the place of the verdict. Returns false if
   `store` failed. */
bool hs_evidence_copy_documents(struct hs_evidence_store *store,
                                const struct hs_evidence_stored *stored);

/* Calls `visit` for each verdict that matches the query, newest first. If `visit` returns false,
   stops and returns FAILED. `stored` is valid only until `visit` returns. Skips damaged verdicts.
   Stops soon after `end_us` (hs_clock_us), and sets *next_us as hs_evidence_list does. */
typedef bool hs_evidence_visit(void *context, const struct hs_evidence_stored *stored);
enum hs_evidence_read hs_evidence_each(const struct hs_evidence_home *home,
                                       const struct hs_evidence_query *query, int64_t end_us,
                                       hs_evidence_visit *visit, void *context, int64_t *next_us);

#endif
