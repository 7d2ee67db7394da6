#include "service/evidence/cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/evidence/files.h"
#include "service/evidence/reading.h"
#include "service/system/clock.h"
#include "service/watch/log.h"

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS reviews(number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " verdict TEXT NOT NULL, at INTEGER NOT NULL, label TEXT NOT NULL, note TEXT, author TEXT);"
    "CREATE INDEX IF NOT EXISTS by_verdict ON reviews(verdict);"
    "CREATE TABLE IF NOT EXISTS audit(number INTEGER PRIMARY KEY AUTOINCREMENT,"
    " at INTEGER NOT NULL, tenant TEXT, author TEXT, action TEXT NOT NULL, subject TEXT NOT NULL,"
    " verdicts INTEGER NOT NULL);";

static void report(const char *detail)
{
    hs_log(HS_LOG_ERROR, "the reviewed verdicts cannot be written", HS_LOG_TEXT("detail", detail));
}

struct hs_evidence_store *hs_cases_open(const char *directory)
{
    char path[HS_EVIDENCE_PATH], error[256];
    (void)hs_evidence_cases_path(directory, path);
    struct hs_evidence_store *store = hs_evidence_store_open(path, true, error);
    if (store == NULL) {
        report(error);
        return NULL;
    }
    if (sqlite3_exec(hs_evidence_store_db(store), schema, NULL, NULL, NULL) == SQLITE_OK)
        return store;
    report(hs_evidence_store_error(store));
    hs_evidence_store_close(store);
    return NULL;
}

/* Runs a statement without rows. */
static bool finish(sqlite3_stmt *statement, int prepared)
{
    bool fine = prepared == SQLITE_OK && sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return fine;
}

bool hs_cases_record(struct hs_evidence_store *cases, struct hs_str tenant, struct hs_str by,
                     const char *action, struct hs_str subject, int64_t count)
{
    sqlite3_stmt *put;
    int result = sqlite3_prepare_v2(hs_evidence_store_db(cases),
                                    "INSERT INTO audit(at, tenant, author, action, subject,"
                                    " verdicts) VALUES(?,?,?,?,?,?)",
                                    -1, &put, NULL);
    if (result == SQLITE_OK) {
        sqlite3_bind_int64(put, 1, hs_clock_wall_us());
        hs_evidence_bind(put, 2, tenant);
        hs_evidence_bind(put, 3, by);
        hs_evidence_bind(put, 4, hs_str_of(action));
        hs_evidence_bind(put, 5, subject);
        sqlite3_bind_int64(put, 6, count);
    }
    return finish(put, result);
}

/* ---- adding ---- */

static bool put_review(struct hs_evidence_store *cases, struct hs_str id,
                       const struct hs_review *review)
{
    sqlite3_stmt *put;
    int result = sqlite3_prepare_v2(hs_evidence_store_db(cases),
                                    "INSERT INTO reviews(verdict, at, label, note, author)"
                                    " VALUES(?,?,?,?,?)",
                                    -1, &put, NULL);
    if (result == SQLITE_OK) {
        hs_evidence_bind(put, 1, id);
        sqlite3_bind_int64(put, 2, review->at_us);
        hs_evidence_bind(put, 3, hs_str_of(hs_review_labels.names[review->label]));
        hs_evidence_bind(put, 4, review->note);
        hs_evidence_bind(put, 5, review->by);
    }
    return finish(put, result);
}

/* Copies a document of the verdict. If the file of the verdict lacks it, the cases lack it too. */
static bool copy_document(struct hs_evidence_store *cases, const struct hs_evidence_stored *stored,
                          struct hs_str kind, struct hs_str name, struct hs_str revision)
{
    size_t size;
    if (revision.ptr == NULL || hs_evidence_store_has(cases, kind, revision))
        return true;
    char *document = hs_evidence_document(stored, kind, revision, &size);
    bool fine = document == NULL || hs_evidence_store_put_document(cases, kind, name, revision,
                                                                   (struct hs_str){document, size});
    free(document);
    return fine;
}

/* Returns the number of reviews of a verdict; -1: failed. */
static int64_t count_reviews(sqlite3 *db, struct hs_str id)
{
    sqlite3_stmt *find;
    int64_t count = -1;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM reviews WHERE verdict = ?", -1, &find, NULL) !=
        SQLITE_OK)
        return -1;
    hs_evidence_bind(find, 1, id);
    if (sqlite3_step(find) == SQLITE_ROW)
        count = sqlite3_column_int64(find, 0);
    sqlite3_finalize(find);
    return count;
}

/* The caller has begun a transaction. */
static enum hs_cases_add add(struct hs_evidence_store *cases,
                             const struct hs_evidence_stored *stored,
                             const struct hs_review *review)
{
    const struct hs_evidence_row *row = &stored->row;
    int64_t count = count_reviews(hs_evidence_store_db(cases), row->id);
    if (count >= HS_REVIEWS_MAX)
        return HS_CASES_FULL;
    bool fine = count >= 0 &&
                copy_document(cases, stored, HS_STR("ruleset"), row->ruleset, row->revision) &&
                copy_document(cases, stored, HS_STR("map"), row->map, row->map_revision) &&
                hs_evidence_store_copy(cases, row) && put_review(cases, row->id, review) &&
                hs_cases_record(cases, row->tenant, review->by, "review", row->id, 1);
    return fine ? HS_CASES_ADDED : HS_CASES_FAILED;
}

enum hs_cases_add hs_cases_review(const char *directory, struct hs_str tenant, struct hs_str id,
                                  const struct hs_review *review)
{
    struct hs_evidence_stored stored;
    enum hs_evidence_read found = hs_evidence_find(directory, tenant, id, &stored);
    if (found != HS_EVIDENCE_READ)
        return found == HS_EVIDENCE_MISSING ? HS_CASES_MISSING : HS_CASES_FAILED;
    struct hs_evidence_store *cases = hs_cases_open(directory);
    enum hs_cases_add result = HS_CASES_FAILED;
    if (cases != NULL && hs_evidence_store_begin(cases)) {
        result = add(cases, &stored, review);
        if (result == HS_CASES_ADDED && !hs_evidence_store_commit(cases))
            result = HS_CASES_FAILED;
        if (result == HS_CASES_FAILED)
            report(hs_evidence_store_error(cases));
        if (result != HS_CASES_ADDED)
            hs_evidence_store_undo(cases);
    }
    hs_evidence_store_close(cases);
    hs_evidence_stored_close(&stored);
    return result;
}

/* ---- reading ---- */

/* Opens the file for reading. MISSING: nothing was reviewed yet. */
static enum hs_evidence_read open_cases(const char *directory, sqlite3 **db)
{
    char path[HS_EVIDENCE_PATH];
    return hs_evidence_cases_path(directory, path) ? hs_evidence_open(path, db)
                                                   : HS_EVIDENCE_MISSING;
}

static void write_review(struct hs_writer *writer, sqlite3_stmt *row)
{
    int label = hs_vocabulary_find(&hs_review_labels, hs_evidence_text(row, 1));
    const struct hs_review review = {
        .at_us = sqlite3_column_int64(row, 0),
        .label = label >= 0 ? (enum hs_review_label)label : HS_REVIEW_UNSURE,
        .note = hs_evidence_text(row, 2),
        .by = hs_evidence_text(row, 3),
    };
    hs_review_encode(writer, &review);
}

static enum hs_evidence_read write_reviews(sqlite3 *db, struct hs_str id, struct hs_writer *writer)
{
    sqlite3_stmt *find;
    int result = SQLITE_DONE;
    if (sqlite3_prepare_v2(db,
                           "SELECT at, label, note, author FROM reviews WHERE verdict = ?"
                           " ORDER BY number",
                           -1, &find, NULL) != SQLITE_OK)
        return HS_EVIDENCE_FAILED;
    hs_evidence_bind(find, 1, id);
    while ((result = sqlite3_step(find)) == SQLITE_ROW)
        write_review(writer, find);
    sqlite3_finalize(find);
    return result == SQLITE_DONE ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}

enum hs_evidence_read hs_cases_list(const char *directory, struct hs_str tenant, struct hs_str id,
                                    struct hs_writer *writer)
{
    struct hs_evidence_stored stored;
    sqlite3 *db;
    enum hs_evidence_read result = hs_evidence_find(directory, tenant, id, &stored);
    if (result != HS_EVIDENCE_READ)
        return result;
    hs_evidence_stored_close(&stored);
    hs_write_begin(writer, '[');
    result = open_cases(directory, &db);
    if (result == HS_EVIDENCE_READ) {
        result = write_reviews(db, id, writer);
        sqlite3_close(db);
    }
    hs_write_end(writer, ']');
    return result == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : result;
}

/* ---- precision ---- */

struct tally {
    struct hs_name reason;
    int64_t labels[HS_REVIEW_LABEL_COUNT];
};

static void write_tally(struct hs_writer *writer, const struct tally *tally)
{
    int64_t decided = 0;
    if (tally->reason.text[0] == '\0')
        return;
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, "reason", tally->reason.text);
    for (int i = 0; i < HS_REVIEW_LABEL_COUNT; i++) {
        hs_write_name(writer, hs_review_labels.names[i]);
        hs_write_int(writer, tally->labels[i]);
        decided += i != HS_REVIEW_UNSURE ? tally->labels[i] : 0;
    }
    if (decided > 0)
        hs_write_real_field(writer, "cheat_share",
                            (double)tally->labels[HS_REVIEW_CHEAT] / (double)decided);
    hs_write_end(writer, '}');
}

/* The rows come in order of their reasons. */
static enum hs_evidence_read write_tallies(sqlite3_stmt *row, struct hs_writer *writer)
{
    struct tally tally = {0};
    int result;
    while ((result = sqlite3_step(row)) == SQLITE_ROW) {
        struct hs_str reason = hs_evidence_text(row, 0);
        int label = hs_vocabulary_find(&hs_review_labels, hs_evidence_text(row, 1));
        if (!hs_str_equal(hs_name_str(&tally.reason), reason)) {
            write_tally(writer, &tally);
            tally = (struct tally){0};
            hs_name_set(&tally.reason, reason);
        }
        if (label >= 0)
            tally.labels[label] += sqlite3_column_int64(row, 2);
    }
    write_tally(writer, &tally);
    return result == SQLITE_DONE ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}

enum hs_evidence_read hs_cases_precision(const char *directory, struct hs_str tenant,
                                         struct hs_writer *writer)
{
    static const char sql[] =
        "SELECT c.text, r.label, count(*) FROM reviews r JOIN bodies b ON b.id = r.verdict"
        " JOIN verdicts v ON v.at = b.at JOIN codes c ON c.code = v.reason"
        " WHERE r.number = (SELECT max(number) FROM reviews WHERE verdict = r.verdict)"
        " AND (?1 IS NULL OR v.tenant = (SELECT code FROM codes WHERE text = ?1))"
        " GROUP BY c.text, r.label ORDER BY c.text";
    sqlite3 *db;
    sqlite3_stmt *find;
    hs_write_begin(writer, '[');
    enum hs_evidence_read result = open_cases(directory, &db);
    if (result == HS_EVIDENCE_READ) {
        if (sqlite3_prepare_v2(db, sql, -1, &find, NULL) == SQLITE_OK) {
            hs_evidence_bind(find, 1, tenant);
            result = write_tallies(find, writer);
        } else {
            result = HS_EVIDENCE_FAILED;
        }
        sqlite3_finalize(find);
        sqlite3_close(db);
    }
    hs_write_end(writer, ']');
    return result == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : result;
}
