#include "service/evidence/cases.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/evidence/files.h"
#include "service/evidence/reading.h"
#include "service/system/clock.h"
#include "service/watch/log.h"

static const char schema[] = HS_EVIDENCE_REVIEWS("INTEGER PRIMARY KEY AUTOINCREMENT", "INTEGER");

static void report(const char *detail)
{
    hs_log(HS_LOG_ERROR, "the reviewed verdicts cannot be written", HS_LOG_TEXT("detail", detail));
}

struct hs_evidence_store *hs_cases_open(const struct hs_evidence_home *home)
{
    char error[256];
    struct hs_evidence_store *store = hs_evidence_store_open_at(home, HS_EVIDENCE_CASES, error);
    if (store == NULL) {
        report(error);
        return NULL;
    }
    if (home->is_postgres || hs_db_run(hs_evidence_store_db(store), schema))
        return store;
    report(hs_evidence_store_error(store));
    hs_evidence_store_close(store);
    return NULL;
}

bool hs_cases_record(struct hs_evidence_store *cases, struct hs_str tenant, struct hs_str by,
                     const char *action, struct hs_str subject, int64_t count)
{
    struct hs_db_statement *put =
        hs_db_prepare(hs_evidence_store_db(cases), "INSERT INTO audit(at, tenant, author, action,"
                                                   " subject, verdicts) VALUES(?,?,?,?,?,?)");
    if (put == NULL)
        return false;
    hs_db_bind_int(put, 1, hs_clock_wall_us());
    hs_db_bind_text(put, 2, tenant);
    hs_db_bind_text(put, 3, by);
    hs_db_bind_text(put, 4, hs_str_of(action));
    hs_db_bind_text(put, 5, subject);
    hs_db_bind_int(put, 6, count);
    bool fine = hs_db_finish(put);
    hs_db_finalize(put);
    return fine;
}

/* ---- adding ---- */

static bool put_review(struct hs_evidence_store *cases, struct hs_str id,
                       const struct hs_review *review)
{
    struct hs_db_statement *put =
        hs_db_prepare(hs_evidence_store_db(cases),
                      "INSERT INTO reviews(verdict, at, label, note, author) VALUES(?,?,?,?,?)");
    if (put == NULL)
        return false;
    hs_db_bind_text(put, 1, id);
    hs_db_bind_int(put, 2, review->at_us);
    hs_db_bind_text(put, 3, hs_str_of(hs_review_labels.names[review->label]));
    hs_db_bind_text(put, 4, review->note);
    hs_db_bind_text(put, 5, review->by);
    bool fine = hs_db_finish(put);
    hs_db_finalize(put);
    return fine;
}

static enum hs_cases_add add(struct hs_evidence_store *cases,
                             const struct hs_evidence_stored *stored,
                             const struct hs_review *review)
{
    const struct hs_evidence_row *row = &stored->row;
    int64_t count = hs_db_number(hs_evidence_store_db(cases),
                                 "SELECT count(*) FROM reviews WHERE verdict = ?", &row->id, -1);
    if (count >= HS_REVIEWS_MAX)
        return HS_CASES_FULL;
    bool fine = count >= 0 && hs_evidence_copy_documents(cases, stored) &&
                hs_evidence_store_copy(cases, row) && put_review(cases, row->id, review) &&
                hs_cases_record(cases, row->tenant, review->by, "review", row->id, 1);
    return fine ? HS_CASES_ADDED : HS_CASES_FAILED;
}

enum hs_cases_add hs_cases_review(const struct hs_evidence_home *home, struct hs_str tenant,
                                  struct hs_str id, const struct hs_review *review)
{
    struct hs_evidence_stored stored;
    enum hs_evidence_read found = hs_evidence_find(home, tenant, id, &stored);
    if (found != HS_EVIDENCE_READ)
        return found == HS_EVIDENCE_MISSING ? HS_CASES_MISSING : HS_CASES_FAILED;
    struct hs_evidence_store *cases = hs_cases_open(home);
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

static void write_review(struct hs_writer *writer, struct hs_db_statement *row)
{
    int label = hs_vocabulary_find(&hs_review_labels, hs_db_text(row, 1));
    const struct hs_review review = {
        .at_us = hs_db_int(row, 0),
        .label = label >= 0 ? (enum hs_review_label)label : HS_REVIEW_UNSURE,
        .note = hs_db_text(row, 2),
        .by = hs_db_text(row, 3),
    };
    hs_review_encode(writer, &review);
}

static enum hs_evidence_read write_reviews(struct hs_db *db, struct hs_str id,
                                           struct hs_writer *writer)
{
    enum hs_db_step result;
    struct hs_db_statement *find = hs_db_prepare(
        db, "SELECT at, label, note, author FROM reviews WHERE verdict = ? ORDER BY number");
    if (find == NULL)
        return hs_evidence_failed(db);
    hs_db_bind_text(find, 1, id);
    while ((result = hs_db_step(find)) == HS_DB_ROW)
        write_review(writer, find);
    hs_db_finalize(find);
    return result == HS_DB_DONE ? HS_EVIDENCE_READ : hs_evidence_failed(db);
}

enum hs_evidence_read hs_cases_list(const struct hs_evidence_home *home, struct hs_str tenant,
                                    struct hs_str id, struct hs_writer *writer)
{
    struct hs_evidence_stored stored;
    struct hs_db *db;
    enum hs_evidence_read result = hs_evidence_find(home, tenant, id, &stored);
    if (result != HS_EVIDENCE_READ)
        return result;
    hs_evidence_stored_close(&stored);
    hs_write_begin(writer, '[');
    result = hs_evidence_open(home, HS_EVIDENCE_CASES, &db);
    if (result == HS_EVIDENCE_READ) {
        result = write_reviews(db, id, writer);
        hs_db_close(db);
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

/* Writes one tally for each reason. The rows must be sorted by reason. */
static enum hs_evidence_read write_tallies(struct hs_db_statement *row, struct hs_writer *writer)
{
    struct tally tally = {0};
    enum hs_db_step result;
    while ((result = hs_db_step(row)) == HS_DB_ROW) {
        struct hs_str reason = hs_db_text(row, 0);
        int label = hs_vocabulary_find(&hs_review_labels, hs_db_text(row, 1));
        if (!hs_str_equal(hs_name_str(&tally.reason), reason)) {
            write_tally(writer, &tally);
            tally = (struct tally){0};
            hs_name_set(&tally.reason, reason);
        }
        if (label >= 0)
            tally.labels[label] += hs_db_int(row, 2);
    }
    write_tally(writer, &tally);
    return result == HS_DB_DONE ? HS_EVIDENCE_READ : hs_evidence_failed(hs_db_of(row));
}

enum hs_evidence_read hs_cases_precision(const struct hs_evidence_home *home, struct hs_str tenant,
                                         struct hs_writer *writer)
{
    static const char sql[] =
        "SELECT text_of(v.reason), r.label, count(*) FROM reviews r"
        " JOIN bodies b ON b.id = r.verdict JOIN verdicts v ON v.at = b.at"
        " WHERE r.number = (SELECT max(number) FROM reviews WHERE verdict = r.verdict)"
        " AND (?1 IS NULL OR v.tenant = code_of(?1)) GROUP BY v.reason, r.label ORDER BY 1";
    struct hs_db *db;
    hs_write_begin(writer, '[');
    enum hs_evidence_read result = hs_evidence_open(home, HS_EVIDENCE_CASES, &db);
    if (result == HS_EVIDENCE_READ) {
        struct hs_db_statement *find = hs_db_prepare(db, sql);
        if (find != NULL)
            hs_db_bind_text(find, 1, tenant);
        result = find != NULL ? write_tallies(find, writer) : hs_evidence_failed(db);
        hs_db_finalize(find);
        hs_db_close(db);
    }
    hs_write_end(writer, ']');
    return result == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : result;
}
