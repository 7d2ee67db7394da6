/* Opens files of the evidence store for reading. Every call has its own, read-only connections, so
   it never waits for the writer. Thread-safe. */
#ifndef HS_SERVICE_EVIDENCE_READING_H
#define HS_SERVICE_EVIDENCE_READING_H

#include "service/evidence/reader.h"

/* Opens the file at a path; close it with sqlite3_close. MISSING: it was removed because of its
   age, or it has no tables. FAILED: it cannot be read, or has tables of another version; the log
   has the reason. */
enum hs_evidence_read hs_evidence_open(const char *path, sqlite3 **out);

/* A text of the current row, borrowed until the next step. ptr NULL: the column is NULL. */
struct hs_str hs_evidence_text(sqlite3_stmt *row, int column);

/* Binds a text, which must stay valid. */
void hs_evidence_bind(sqlite3_stmt *statement, int at, struct hs_str text);

/* The code of a text in this file. 0: no verdict has it. */
int64_t hs_evidence_code(sqlite3 *db, struct hs_str text);

/* A stored verdict. The texts of the row live until hs_evidence_stored_close. */
struct hs_evidence_stored {
    struct hs_evidence_row row;
    sqlite3 *db;
    sqlite3_stmt *found;
    unsigned char *unpacked;
};

/* Reads a verdict from the file of its day, or from the cases (cases.h). `tenant`: whose verdict it
   must be; ptr NULL: anybody's. Close *out only if the result is READ. */
enum hs_evidence_read hs_evidence_find(const char *directory, struct hs_str tenant,
                                       struct hs_str id, struct hs_evidence_stored *out);
void hs_evidence_stored_close(struct hs_evidence_stored *stored);

/* Reads the current row of a statement over `bodies b JOIN verdicts v` that selects
   HS_EVIDENCE_WHOLE_ROW first. out->unpacked must be freed. False: damaged, or out of memory. */
#define HS_EVIDENCE_WHOLE_ROW                                                                      \
    "v.at, b.id, b.now, b.measured, b.\"limit\", b.unit, b.revision, b.map, b.map_revision,"       \
    " b.sizes, b.body"
bool hs_evidence_load(sqlite3_stmt *found, struct hs_evidence_stored *out);

/* The document of a ruleset or map of the stored verdict, for free(). NULL: it is missing or
   damaged, or out of memory. */
char *hs_evidence_document(const struct hs_evidence_stored *stored, struct hs_str kind,
                           struct hs_str revision, size_t *size);

/* Calls `visit` with each verdict of the query, the newest first. If `visit` returns false, the
   search ends with FAILED. The stored verdict is valid during the call. After `end_us`
   (hs_clock_us) the search ends soon. *next_us: as for hs_evidence_list. */
typedef bool hs_evidence_visit(void *context, const struct hs_evidence_stored *stored);
enum hs_evidence_read hs_evidence_each(const char *directory, const struct hs_evidence_query *query,
                                       int64_t end_us, hs_evidence_visit *visit, void *context,
                                       int64_t *next_us);

#endif
