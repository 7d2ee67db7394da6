/* Lists of verdicts, for reader.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "service/evidence/files.h"
#include "service/evidence/reading.h"
#include "service/system/clock.h"

enum {
    COLUMNS = 0
#define X(member, column) +1
    HS_EVIDENCE_TEXTS(X)
#undef X
};

static const char *const column_names[] = {
#define X(member, column) column,
    HS_EVIDENCE_TEXTS(X)
#undef X
};

/* The columns of a page; the texts of HS_EVIDENCE_TEXTS follow. */
enum { AT, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, TEXTS };

/* ---- pages ---- */

/* Prepares the page of one file. NULL with *is_empty: no verdict of the file matches. */
static sqlite3_stmt *prepare_page(sqlite3 *db, const struct hs_evidence_query *query, size_t limit,
                                  bool *is_empty)
{
    const struct hs_str filters[COLUMNS] = {
#define X(member, column) query->member,
        HS_EVIDENCE_TEXTS(X)
#undef X
    };
    int64_t codes[COLUMNS];
    int count = 0;
    char sql[2048];
    size_t len = (size_t)snprintf(sql, sizeof sql,
                                  "SELECT v.at, b.id, b.now, b.measured, b.\"limit\", b.unit,"
                                  " b.revision");
    for (int i = 0; i < COLUMNS; i++)
        len += (size_t)snprintf(sql + len, sizeof sql - len,
                                ", (SELECT text FROM codes WHERE code = v.%s)", column_names[i]);
    len += (size_t)snprintf(sql + len, sizeof sql - len,
                            " FROM verdicts v JOIN bodies b ON b.at = v.at"
                            " WHERE v.at >= ? AND v.at < ?");
    for (int i = 0; i < COLUMNS; i++) {
        if (filters[i].ptr == NULL)
            continue;
        codes[count] = hs_evidence_code(db, filters[i]);
        *is_empty = *is_empty || codes[count] == 0;
        count++;
        len += (size_t)snprintf(sql + len, sizeof sql - len, " AND v.%s = ?", column_names[i]);
    }
    snprintf(sql + len, sizeof sql - len, " ORDER BY v.at DESC LIMIT ?");
    sqlite3_stmt *page = NULL;
    if (*is_empty || sqlite3_prepare_v2(db, sql, -1, &page, NULL) != SQLITE_OK)
        return NULL;
    sqlite3_bind_int64(page, 1, query->since_us);
    sqlite3_bind_int64(page, 2, query->until_us);
    for (int i = 0; i < count; i++)
        sqlite3_bind_int64(page, 3 + i, codes[i]);
    sqlite3_bind_int64(page, 3 + count, limit <= INT64_MAX ? (int64_t)limit : INT64_MAX);
    return page;
}

/* Takes a row of a page. False: it cannot, and the list ends. */
typedef bool row_sink(void *context, sqlite3_stmt *row);

/* Gives at most *left rows of one file to the sink. */
static enum hs_evidence_read walk_file(const char *path, const struct hs_evidence_query *query,
                                       row_sink *sink, void *context, size_t *left,
                                       int64_t *last_us)
{
    bool is_empty = false, fine = true;
    sqlite3 *db;
    enum hs_evidence_read opened = hs_evidence_open(path, &db);
    if (opened != HS_EVIDENCE_READ)
        return opened == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : opened;
    sqlite3_stmt *page = prepare_page(db, query, *left, &is_empty);
    int result = page != NULL ? sqlite3_step(page) : is_empty ? SQLITE_DONE : SQLITE_ERROR;
    for (; fine && result == SQLITE_ROW; result = sqlite3_step(page)) {
        fine = sink(context, page);
        *last_us = sqlite3_column_int64(page, AT);
        --*left;
    }
    sqlite3_finalize(page);
    sqlite3_close(db);
    return fine && result == SQLITE_DONE ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}

/* Whether the file of a day may have verdicts of the query. */
static bool overlaps(const char *day, const struct hs_evidence_query *query)
{
    int64_t from_us = hs_evidence_day_number(day) * INT64_C(86400000000);
    int64_t until_us = from_us + INT64_C(86400000000);
    return from_us < query->until_us && until_us > query->since_us;
}

/* *last_us: the time of the last row, if the limit was reached; else 0. */
static enum hs_evidence_read walk(const char *directory, const struct hs_evidence_query *query,
                                  row_sink *sink, void *context, int64_t *last_us)
{
    char path[HS_EVIDENCE_PATH];
    size_t count = 0, left = query->limit;
    enum hs_evidence_read result = HS_EVIDENCE_READ;
    *last_us = 0;
    if (query->is_reviewed) {
        if (hs_evidence_cases_path(directory, path))
            result = walk_file(path, query, sink, context, &left, last_us);
        *last_us = left == 0 ? *last_us : 0;
        return result;
    }
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(directory, &count);
    for (size_t i = 0; i < count && left > 0 && result == HS_EVIDENCE_READ; i++) {
        hs_evidence_path(directory, days[i], path);
        if (overlaps(days[i], query))
            result = walk_file(path, query, sink, context, &left, last_us);
    }
    free(days);
    *last_us = left == 0 ? *last_us : 0;
    return result;
}

/* ---- JSON ---- */

/* The row of a page. Its texts are borrowed until the next step. */
static struct hs_evidence_row read_row(sqlite3_stmt *row)
{
    int column = TEXTS;
    struct hs_evidence_row out = {
        .at_us = sqlite3_column_int64(row, AT),
        .now_us = sqlite3_column_int64(row, NOW),
        .id = hs_evidence_text(row, ID),
        .has_measure = sqlite3_column_type(row, MEASURED) != SQLITE_NULL,
        .measured = sqlite3_column_double(row, MEASURED),
        .limit = sqlite3_column_double(row, LIMIT),
        .unit = hs_evidence_text(row, UNIT),
        .revision = hs_evidence_text(row, REVISION),
    };
#define X(member, name) out.member = hs_evidence_text(row, column++);
    HS_EVIDENCE_TEXTS(X)
#undef X
    return out;
}

void hs_evidence_row_encode(struct hs_writer *writer, const struct hs_evidence_row *row)
{
    hs_write_begin(writer, '{');
    hs_write_str_field(writer, "verdict_id", row->id);
    hs_write_time_field(writer, "at", row->at_us);
    hs_write_time_field(writer, "now", row->now_us);
#define X(member, name)                                                                            \
    if (row->member.len > 0)                                                                       \
        hs_write_str_field(writer, name, row->member);
    HS_EVIDENCE_TEXTS(X)
#undef X
    if (row->has_measure) {
        hs_write_real_field(writer, "measured", row->measured);
        hs_write_real_field(writer, "limit", row->limit);
        hs_write_str_field(writer, "unit", row->unit);
    }
    hs_write_str_field(writer, "revision", row->revision);
    hs_write_end(writer, '}');
}

static void write_row(struct hs_writer *writer, sqlite3_stmt *found)
{
    struct hs_evidence_row row = read_row(found);
    hs_evidence_row_encode(writer, &row);
}

static bool list_row(void *context, sqlite3_stmt *row)
{
    struct hs_writer *writer = context;
    write_row(writer, row);
    return !writer->buffer->failed;
}

enum hs_evidence_read hs_evidence_list(const char *directory, const struct hs_evidence_query *query,
                                       struct hs_writer *writer, int64_t *next_us)
{
    hs_write_begin(writer, '[');
    enum hs_evidence_read result = walk(directory, query, list_row, writer, next_us);
    hs_write_end(writer, ']');
    return result;
}

/* ---- files ---- */

/* An export, with the lines that are not in its file yet. */
struct export
{
    struct hs_writer writer;
    enum hs_evidence_format format;
    int fd;
    atomic_llong *alive_us;
};

enum { FLUSH_BYTES = 65536 };

static bool flush(struct export *export)
{
    struct hs_buffer *buffer = export->writer.buffer;
    size_t done = 0;
    while (!buffer->failed && done < buffer->len) {
        ssize_t wrote = write(export->fd, buffer->data + done, buffer->len - done);
        if (wrote < 0 && errno != EINTR)
            return false;
        done += wrote > 0 ? (size_t)wrote : 0;
    }
    buffer->len = 0;
    if (export->alive_us != NULL)
        atomic_store(export->alive_us, hs_clock_us());
    return !buffer->failed;
}

/* A field in quotation marks, which are doubled inside (RFC 4180). */
static void write_csv_text(struct hs_buffer *out, struct hs_str text)
{
    hs_buffer_puts(out, ",\"");
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] == '"')
            hs_buffer_puts(out, "\"");
        hs_buffer_append(out, text.ptr + i, 1);
    }
    hs_buffer_puts(out, "\"");
}

static void write_csv_row(struct hs_writer *writer, sqlite3_stmt *row)
{
    struct hs_buffer *out = writer->buffer;
    hs_write_time(writer, sqlite3_column_int64(row, AT));
    hs_buffer_puts(out, ",");
    writer->needs_comma = false;
    hs_write_time(writer, sqlite3_column_int64(row, NOW));
    write_csv_text(out, hs_evidence_text(row, ID));
    for (int i = 0; i < COLUMNS; i++)
        write_csv_text(out, hs_evidence_text(row, TEXTS + i));
    for (int column = MEASURED; column <= LIMIT; column++) {
        hs_buffer_puts(out, ",");
        writer->needs_comma = false;
        if (sqlite3_column_type(row, column) != SQLITE_NULL)
            hs_write_real(writer, sqlite3_column_double(row, column));
    }
    write_csv_text(out, hs_evidence_text(row, UNIT));
    write_csv_text(out, hs_evidence_text(row, REVISION));
}

static void write_csv_names(struct hs_buffer *out)
{
    hs_buffer_puts(out, "at,now,verdict_id");
    for (int i = 0; i < COLUMNS; i++)
        hs_buffer_printf(out, ",%s", column_names[i]);
    hs_buffer_puts(out, ",measured,limit,unit,revision\r\n");
}

static bool export_row(void *context, sqlite3_stmt *row)
{
    struct export *export = context;
    bool is_csv = export->format == HS_EVIDENCE_CSV;
    if (is_csv)
        write_csv_row(&export->writer, row);
    else
        write_row(&export->writer, row);
    hs_buffer_puts(export->writer.buffer, is_csv ? "\r\n" : "\n");
    export->writer.needs_comma = false;
    return export->writer.buffer->len < FLUSH_BYTES || flush(export);
}

enum hs_evidence_read hs_evidence_export(const char *directory,
                                         const struct hs_evidence_query *query,
                                         enum hs_evidence_format format, int fd,
                                         atomic_llong *alive_us)
{
    struct hs_buffer lines = {0};
    struct export export = {{.buffer = &lines}, format, fd, alive_us};
    int64_t last_us;
    if (format == HS_EVIDENCE_CSV)
        write_csv_names(&lines);
    enum hs_evidence_read result = walk(directory, query, export_row, &export, &last_us);
    if (!flush(&export))
        result = HS_EVIDENCE_FAILED;
    hs_buffer_free(&lines);
    return result;
}

/* ---- whole verdicts ---- */

struct visiting {
    hs_evidence_visit *visit;
    void *context;
};

static bool visit_row(void *context, sqlite3_stmt *page)
{
    static const char sql[] = "SELECT " HS_EVIDENCE_WHOLE_ROW
                              " FROM bodies b JOIN verdicts v ON v.at = b.at WHERE b.at = ?";
    const struct visiting *visiting = context;
    struct hs_evidence_row row = read_row(page);
    struct hs_evidence_stored stored = {.db = sqlite3_db_handle(page)};
    if (sqlite3_prepare_v2(stored.db, sql, -1, &stored.found, NULL) != SQLITE_OK)
        return false;
    sqlite3_bind_int64(stored.found, 1, row.at_us);
    bool fine = sqlite3_step(stored.found) == SQLITE_ROW && hs_evidence_load(stored.found, &stored);
#define X(member, name) stored.row.member = row.member; /* of the page's row, which stays */
    HS_EVIDENCE_TEXTS(X)
#undef X
    fine = fine && visiting->visit(visiting->context, &stored);
    stored.db = NULL; /* it is the page's */
    hs_evidence_stored_close(&stored);
    return fine;
}

enum hs_evidence_read hs_evidence_each(const char *directory, const struct hs_evidence_query *query,
                                       hs_evidence_visit *visit, void *context, int64_t *next_us)
{
    struct visiting visiting = {visit, context};
    return walk(directory, query, visit_row, &visiting, next_us);
}
