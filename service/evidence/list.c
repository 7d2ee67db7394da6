/* Lists of verdicts, for reader.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/evidence/files.h"
#include "service/evidence/reading.h"
#include "service/evidence/row.h"
#include "service/system/clock.h"

static const char *const column_names[] = {
#define X(member, column) column,
    HS_EVIDENCE_TEXTS(X)
#undef X
};
enum { COLUMNS = sizeof column_names / sizeof column_names[0] };

/* The columns of a page; the texts of HS_EVIDENCE_TEXTS follow. */
enum { AT, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, TEXTS };

/* ---- pages ---- */

/* A filter finds its rows by an index, if there is one for its column. The first one that is given
   drives the query; the others are compared row by row. */
static const char *const indexed[] = {"account", "player", "target", "match", "reason"};
enum { INDEXED = sizeof indexed / sizeof indexed[0] };

/* The rows that one statement looks at, some 10 ms; and the time after which a page of a list ends
   with what it has. */
enum { SLICE_ROWS = 20000, PAGE_US = 50000 };

/* The filters of a query, as codes of one file. */
struct filters {
    const char *columns[COLUMNS];
    int64_t codes[COLUMNS];
    int count;
    int driver;      /* the filter with an index; -1: none, and the rows come in order of time */
    int64_t summary; /* the code of the verdict of summaries, which are left out; 0: none is */
    bool is_empty;   /* no verdict of the file matches */
};

static void read_filters(sqlite3 *db, const struct hs_evidence_query *query, struct filters *out)
{
    const struct hs_str texts[COLUMNS] = {
#define X(member, column) query->member,
        HS_EVIDENCE_TEXTS(X)
#undef X
    };
    *out = (struct filters){.driver = -1};
    for (int i = 0; i < COLUMNS; i++) {
        if (texts[i].ptr == NULL)
            continue;
        out->columns[out->count] = column_names[i];
        out->codes[out->count] = hs_evidence_code(db, texts[i]);
        out->is_empty = out->is_empty || out->codes[out->count] == 0;
        out->count++;
    }
    if (query->verdict.ptr == NULL)
        out->summary = hs_evidence_code(db, HS_STR(""));
    for (int k = INDEXED - 1; k >= 0; k--)
        for (int i = 0; i < out->count; i++)
            if (strcmp(out->columns[i], indexed[k]) == 0)
                out->driver = i;
}

/* Appends the newest rows of the driver in a time range, at most ?3 of them. */
static void append_slice(const struct filters *filters, const char *columns, struct hs_buffer *sql)
{
    hs_buffer_printf(sql, "SELECT %s FROM verdicts WHERE at >= ?1 AND at < ?2", columns);
    if (filters->driver >= 0)
        hs_buffer_printf(sql, " AND %s = %lld", filters->columns[filters->driver],
                         (long long)filters->codes[filters->driver]);
    hs_buffer_puts(sql, " ORDER BY at DESC LIMIT ?3");
}

/* Frees the text of the statement. */
static sqlite3_stmt *prepare(sqlite3 *db, struct hs_buffer *sql, int64_t since_us, int64_t until_us,
                             int64_t limit)
{
    sqlite3_stmt *statement = NULL;
    if (!sql->failed)
        sqlite3_prepare_v2(db, sql->data, (int)sql->len, &statement, NULL);
    hs_buffer_free(sql);
    sqlite3_bind_int64(statement, 1, since_us);
    sqlite3_bind_int64(statement, 2, until_us);
    sqlite3_bind_int64(statement, 3, limit);
    return statement;
}

/* Prepares a page of the newest SLICE_ROWS rows of the driver before `until_us`. CROSS JOIN keeps
   their order; sorted once more, the whole slice would be read before the first row. */
static sqlite3_stmt *prepare_page(sqlite3 *db, const struct filters *filters, int64_t since_us,
                                  int64_t until_us, size_t limit)
{
    struct hs_buffer sql = {0};
    hs_buffer_puts(&sql, "SELECT v.at, b.id, b.now, b.measured, b.\"limit\", b.unit, b.revision");
    for (int i = 0; i < COLUMNS; i++)
        hs_buffer_printf(&sql, ", (SELECT text FROM codes WHERE code = v.%s)", column_names[i]);
    hs_buffer_puts(&sql, " FROM (");
    append_slice(filters, "*", &sql);
    hs_buffer_puts(&sql, ") v CROSS JOIN bodies b ON b.at = v.at WHERE 1");
    for (int i = 0; i < filters->count; i++)
        if (i != filters->driver)
            hs_buffer_printf(&sql, " AND v.%s = %lld", filters->columns[i],
                             (long long)filters->codes[i]);
    if (filters->summary != 0)
        hs_buffer_printf(&sql, " AND v.verdict <> %lld", (long long)filters->summary);
    hs_buffer_printf(&sql, " LIMIT %zu", limit);
    return prepare(db, &sql, since_us, until_us, SLICE_ROWS);
}

/* Returns the time of the last row of such a slice. 0: it has fewer rows, and is the last one. -1:
   failed. */
static int64_t end_of_slice(sqlite3 *db, const struct filters *filters, int64_t since_us,
                            int64_t until_us)
{
    struct hs_buffer sql = {0};
    append_slice(filters, "at", &sql);
    hs_buffer_printf(&sql, " OFFSET %d", SLICE_ROWS - 1);
    sqlite3_stmt *statement = prepare(db, &sql, since_us, until_us, 1);
    int result = statement != NULL ? sqlite3_step(statement) : SQLITE_ERROR;
    int64_t end_us = result == SQLITE_ROW    ? sqlite3_column_int64(statement, 0)
                     : result == SQLITE_DONE ? 0
                                             : -1;
    sqlite3_finalize(statement);
    return end_us;
}

/* ---- walks ---- */

/* Takes a row of a page. False: it cannot, and the list ends. */
typedef bool row_sink(void *context, sqlite3_stmt *row);

/* A walk over the files of a query, from the newest row back. */
struct walk {
    const struct hs_evidence_query *query;
    row_sink *sink;
    void *context;
    size_t left;     /* rows that may follow */
    int64_t end_us;  /* monotonic: no slice begins later, except the first */
    int64_t next_us; /* the `until_us` with which another walk goes on; 0: this one is complete */
};

/* Gives the rows of one slice to the sink. */
static bool walk_slice(sqlite3 *db, const struct filters *filters, int64_t until_us,
                       struct walk *walk)
{
    size_t limit = walk->left < INT64_MAX ? walk->left : INT64_MAX;
    sqlite3_stmt *page = prepare_page(db, filters, walk->query->since_us, until_us, limit);
    int result = page != NULL ? sqlite3_step(page) : SQLITE_ERROR;
    bool fine = true;
    for (; fine && result == SQLITE_ROW; result = sqlite3_step(page)) {
        fine = walk->sink(walk->context, page);
        if (--walk->left == 0)
            walk->next_us = sqlite3_column_int64(page, AT);
    }
    sqlite3_finalize(page);
    return fine && result == SQLITE_DONE;
}

/* Walks one file, at least one slice of it. */
static enum hs_evidence_read walk_file(const char *path, struct walk *walk)
{
    sqlite3 *db;
    struct filters filters;
    int64_t until_us = walk->query->until_us;
    enum hs_evidence_read opened = hs_evidence_open(path, &db);
    if (opened != HS_EVIDENCE_READ)
        return opened == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : opened;
    read_filters(db, walk->query, &filters);
    while (until_us > 0 && !filters.is_empty && walk->next_us == 0) {
        bool fine = walk_slice(db, &filters, until_us, walk);
        until_us = fine ? end_of_slice(db, &filters, walk->query->since_us, until_us) : -1;
        if (until_us > 0 && walk->next_us == 0 && hs_clock_us() >= walk->end_us)
            walk->next_us = until_us;
    }
    sqlite3_close(db);
    return until_us >= 0 ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}

/* The microseconds at which a day begins. */
static int64_t start_of(const char *day)
{
    return hs_evidence_day_number(day) * INT64_C(86400000000);
}

static enum hs_evidence_read walk_days(const char *directory, struct walk *walk)
{
    char path[HS_EVIDENCE_PATH];
    size_t count;
    enum hs_evidence_read result = HS_EVIDENCE_READ;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(directory, &count);
    for (size_t i = 0; i < count && result == HS_EVIDENCE_READ && walk->next_us == 0; i++) {
        int64_t from_us = start_of(days[i]), until_us = from_us + INT64_C(86400000000);
        if (from_us >= walk->query->until_us || until_us <= walk->query->since_us)
            continue;
        hs_evidence_path(directory, days[i], path);
        result = walk_file(path, walk);
        if (walk->next_us == 0 && i + 1 < count && hs_clock_us() >= walk->end_us)
            walk->next_us = from_us;
    }
    free(days);
    return result;
}

static enum hs_evidence_read run_walk(const char *directory, struct walk *walk)
{
    char path[HS_EVIDENCE_PATH];
    if (!walk->query->is_reviewed)
        return walk_days(directory, walk);
    return hs_evidence_cases_path(directory, path) ? walk_file(path, walk) : HS_EVIDENCE_READ;
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

static void write_row(struct hs_writer *writer, sqlite3_stmt *found)
{
    struct hs_evidence_row row = read_row(found);
    hs_write_begin(writer, '{');
    hs_evidence_row_encode(writer, &row);
    hs_write_end(writer, '}');
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
    struct walk walk = {.query = query,
                        .sink = list_row,
                        .context = writer,
                        .left = query->limit,
                        .end_us = hs_clock_us() + PAGE_US};
    hs_write_begin(writer, '[');
    enum hs_evidence_read result = run_walk(directory, &walk);
    hs_write_end(writer, ']');
    *next_us = walk.next_us;
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
    struct walk walk = {.query = query,
                        .sink = export_row,
                        .context = &export,
                        .left = query->limit,
                        .end_us = INT64_MAX};
    if (format == HS_EVIDENCE_CSV)
        write_csv_names(&lines);
    enum hs_evidence_read result = run_walk(directory, &walk);
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
                                       int64_t end_us, hs_evidence_visit *visit, void *context,
                                       int64_t *next_us)
{
    struct visiting visiting = {visit, context};
    struct walk walk = {.query = query,
                        .sink = visit_row,
                        .context = &visiting,
                        .left = query->limit,
                        .end_us = end_us};
    enum hs_evidence_read result = run_walk(directory, &walk);
    *next_us = walk.next_us;
    return result;
}
