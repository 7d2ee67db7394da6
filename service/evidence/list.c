/* Lists of verdicts (reader.h, reading.h). */
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

/* The columns of a row in a page. The columns of HS_EVIDENCE_TEXTS follow, starting at TEXTS. */
enum { AT, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, TEXTS };

/* ---- pages ---- */

/* The columns with an index, in order of preference. If a query filters by several of these
   columns, it uses only the index of the first column. The query applies its other filters row by
   row. */
static const char *const indexed[] = {"account", "player", "target", "match", "reason"};
enum { INDEXED = sizeof indexed / sizeof indexed[0] };

/* SLICE_ROWS: the rows of a slice. Reading these rows takes about 2 ms. With larger slices, a page
   could end much too late on a busy machine. With smaller slices, planning a statement would take
   longer than reading its rows. PAGE_US: after this time, a page ends, even if it has fewer rows
   than the limit. */
enum { SLICE_ROWS = 5000, PAGE_US = 30000 };

struct filters {
    const char *columns[COLUMNS];
    struct hs_str texts[COLUMNS];
    int count;
    int driver;           /* the filter whose index is used; -1: the query reads the rows by time */
    bool skips_summaries; /* whether to omit the summaries (ended.h) */
    bool is_empty;        /* no row can match, because no row contains the text of a filter */
};

/* The number of the SQL parameter for the first filter. Parameters 1 to 3 are the time range and
   the limit. */
enum { FIRST_FILTER = 4 };

static bool read_filters(struct hs_db *db, const struct hs_evidence_query *query,
                         struct filters *out)
{
    const struct hs_str texts[COLUMNS] = {
#define X(member, column) query->member,
        HS_EVIDENCE_TEXTS(X)
#undef X
    };
    *out = (struct filters){.driver = -1, .skips_summaries = query->verdict.ptr == NULL};
    for (int i = 0; i < COLUMNS; i++) {
        if (texts[i].ptr == NULL)
            continue;
        out->columns[out->count] = column_names[i];
        out->texts[out->count++] = texts[i];
        if (hs_db_is_postgres(db)) /* PostgreSQL has no codes */
            continue;
        int64_t found = hs_db_number(db, "SELECT code_of(?1) IS NOT NULL", &texts[i], -1);
        if (found < 0)
            return false;
        out->is_empty = out->is_empty || found == 0;
    }
    for (int k = INDEXED - 1; k >= 0; k--)
        for (int i = 0; i < out->count; i++)
            if (strcmp(out->columns[i], indexed[k]) == 0)
                out->driver = i;
    return true;
}

/* Appends a query by time. From the time range ?1 to ?2, the query selects the newest ?3 rows
   that pass the filter `driver`. */
static void append_rows(const struct filters *filters, const char *columns, struct hs_buffer *sql)
{
    hs_buffer_printf(sql, "SELECT %s FROM verdicts WHERE at >= ?1 AND at < ?2", columns);
    if (filters->driver >= 0)
        hs_buffer_printf(sql, " AND %s = code_of(?%d)", filters->columns[filters->driver],
                         FIRST_FILTER + filters->driver);
    hs_buffer_puts(sql, " ORDER BY at DESC LIMIT ?3");
}

/* Prepares `sql` and binds its parameters. Frees `sql`. */
static struct hs_db_statement *prepare(struct hs_db *db, const struct filters *filters,
                                       struct hs_buffer *sql, int64_t since_us, int64_t until_us,
                                       int64_t limit)
{
    hs_buffer_append(sql, "", 1);
    struct hs_db_statement *statement = sql->failed ? NULL : hs_db_prepare(db, sql->data);
    hs_buffer_free(sql);
    if (statement == NULL)
        return NULL;
    hs_db_bind_int(statement, 1, since_us);
    hs_db_bind_int(statement, 2, until_us);
    hs_db_bind_int(statement, 3, limit);
    for (int i = 0; i < filters->count; i++)
        hs_db_bind_text(statement, FIRST_FILTER + i, filters->texts[i]);
    return statement;
}

/* Prepares the query for a page. From the slice between `since_us` and `until_us`, the query
   returns the newest rows that pass all filters, up to `limit`. Only the time limits the slice,
   because new rows in the slice must not push its oldest rows out. CROSS JOIN makes SQLite keep the
   order of the rows. With an outer ORDER BY, SQLite would read the whole slice before it returns a
   row. */
static struct hs_db_statement *prepare_page(struct hs_db *db, const struct filters *filters,
                                            int64_t since_us, int64_t until_us, size_t limit)
{
    struct hs_buffer sql = {0};
    hs_buffer_puts(&sql, "SELECT v.at, b.id, b.now, b.measured, b.\"limit\", b.unit, b.revision");
    for (int i = 0; i < COLUMNS; i++)
        hs_buffer_printf(&sql, ", text_of(v.%s)", column_names[i]);
    hs_buffer_puts(&sql, " FROM (");
    append_rows(filters, "*", &sql);
    /* Without a time range for `b`, PostgreSQL would plan to read the bodies in all partitions. */
    hs_buffer_puts(&sql, ") v CROSS JOIN bodies b WHERE b.at = v.at AND b.at >= ?1 AND b.at < ?2");
    for (int i = 0; i < filters->count; i++)
        if (i != filters->driver)
            hs_buffer_printf(&sql, " AND v.%s = code_of(?%d)", filters->columns[i],
                             FIRST_FILTER + i);
    if (filters->skips_summaries)
        hs_buffer_puts(&sql, " AND " HS_EVIDENCE_IS_VERDICT);
    hs_buffer_printf(&sql, " newest_first(v.at) LIMIT %zu", limit);
    return prepare(db, filters, &sql, since_us, until_us, INT64_MAX);
}

/* Finds the slice with the newest SLICE_ROWS rows that pass the filter `driver`. Returns the time
   of its oldest row. 0: there are fewer rows. -1: failed. */
static int64_t end_of_slice(struct hs_db *db, const struct filters *filters, int64_t since_us,
                            int64_t until_us)
{
    struct hs_buffer sql = {0};
    append_rows(filters, "at", &sql);
    hs_buffer_printf(&sql, " OFFSET %d", SLICE_ROWS - 1);
    struct hs_db_statement *statement = prepare(db, filters, &sql, since_us, until_us, 1);
    enum hs_db_step result = hs_db_step(statement);
    int64_t end_us = result == HS_DB_ROW ? hs_db_int(statement, 0) : result == HS_DB_DONE ? 0 : -1;
    hs_db_finalize(statement);
    return end_us;
}

/* ---- walks ---- */

/* Handles one row. Returns false to stop the list. */
typedef bool row_sink(void *context, struct hs_db_statement *row);

/* A walk over the places of a query, newest row first. */
struct walk {
    const struct hs_evidence_query *query;
    row_sink *sink;
    void *context;
    size_t left;     /* how many more rows the page may contain */
    int64_t end_us;  /* hs_clock_us; after this time, no further slice begins */
    int64_t next_us; /* `until_us` for the next page; 0: this is the last page */
    bool has_ended;  /* the sink returned false */
};

/* Passes the rows of one slice to the sink. Returns false if the database failed or the sink
   stopped the walk. */
static bool walk_slice(struct hs_db *db, const struct filters *filters, int64_t since_us,
                       int64_t until_us, struct walk *walk)
{
    size_t limit = walk->left < INT64_MAX ? walk->left : INT64_MAX;
    struct hs_db_statement *page = prepare_page(db, filters, since_us, until_us, limit);
    enum hs_db_step result = hs_db_step(page);
    for (; result == HS_DB_ROW && !walk->has_ended; result = hs_db_step(page)) {
        walk->has_ended = !walk->sink(walk->context, page);
        if (--walk->left == 0)
            walk->next_us = hs_db_int(page, AT);
    }
    hs_db_finalize(page);
    return result == HS_DB_DONE && !walk->has_ended;
}

/* Returns the start of the time range that is searched first. In PostgreSQL, this range covers only
   today and yesterday, because PostgreSQL plans a query on two partitions ten times as fast as a
   query on all partitions. Most lists end within these two days. If a list needs older rows, the
   caller then searches the time before yesterday. */
static int64_t first_part(const struct hs_db *db, const struct hs_evidence_query *query)
{
    int64_t yesterday_us = (hs_clock_wall_us() / HS_EVIDENCE_DAY_US - 1) * HS_EVIDENCE_DAY_US;
    bool is_first = hs_db_is_postgres(db) && query->until_us > yesterday_us;
    return is_first && yesterday_us > query->since_us ? yesterday_us : query->since_us;
}

/* Walks over one place. Reads at least one slice, and then further slices until end_us. Determines
   the end of a slice before it reads the rows. Otherwise the next slice would repeat or omit rows
   if rows are added or deleted between the two statements. */
static enum hs_evidence_read walk_place(const struct hs_evidence_home *home, const char *place,
                                        struct walk *walk)
{
    struct hs_db *db;
    struct filters filters;
    enum hs_evidence_read result = hs_evidence_open(home, place, &db);
    if (result != HS_EVIDENCE_READ)
        return result == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : result;
    int64_t until_us = read_filters(db, walk->query, &filters) ? walk->query->until_us : -1;
    int64_t since_us = first_part(db, walk->query);
    while (until_us > 0 && !filters.is_empty && walk->next_us == 0) {
        int64_t slice_us = end_of_slice(db, &filters, since_us, until_us);
        int64_t from_us = slice_us > since_us ? slice_us : since_us;
        if (slice_us < 0 || !walk_slice(db, &filters, from_us, until_us, walk))
            until_us = -1;
        else if (walk->next_us == 0)
            until_us = slice_us;
        if (until_us == 0 && since_us > walk->query->since_us) {
            until_us = since_us;
            since_us = walk->query->since_us;
        }
        if (until_us > 0 && walk->next_us == 0 && hs_clock_us() >= walk->end_us)
            walk->next_us = until_us;
    }
    if (until_us < 0)
        result = walk->has_ended ? HS_EVIDENCE_FAILED : hs_evidence_place_failed(home, place, db);
    hs_db_close(db);
    return result == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : result;
}

static enum hs_evidence_read walk_days(const struct hs_evidence_home *home, struct walk *walk)
{
    size_t count;
    enum hs_evidence_read result = HS_EVIDENCE_READ;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(home, &count);
    for (size_t i = 0; i < count && result == HS_EVIDENCE_READ && walk->next_us == 0; i++) {
        int64_t from_us, until_us;
        hs_evidence_span(days[i], &from_us, &until_us);
        if (from_us >= walk->query->until_us || until_us <= walk->query->since_us)
            continue;
        result = walk_place(home, days[i], walk);
        if (walk->next_us == 0 && i + 1 < count && hs_clock_us() >= walk->end_us)
            walk->next_us = from_us;
    }
    free(days);
    return result;
}

static enum hs_evidence_read run_walk(const struct hs_evidence_home *home, struct walk *walk)
{
    return walk->query->is_reviewed ? walk_place(home, HS_EVIDENCE_CASES, walk)
                                    : walk_days(home, walk);
}

/* ---- JSON ---- */

/* The strings in the result are valid until the next hs_db_step. */
static struct hs_evidence_row read_row(struct hs_db_statement *row)
{
    int column = TEXTS;
    struct hs_evidence_row out = {
        .at_us = hs_db_int(row, AT),
        .now_us = hs_db_int(row, NOW),
        .id = hs_db_text(row, ID),
        .has_measure = !hs_db_is_null(row, MEASURED),
        .measured = hs_db_real(row, MEASURED),
        .limit = hs_db_real(row, LIMIT),
        .unit = hs_db_text(row, UNIT),
        .revision = hs_db_text(row, REVISION),
    };
#define X(member, name) out.member = hs_db_text(row, column++);
    HS_EVIDENCE_TEXTS(X)
#undef X
    return out;
}

static void write_row(struct hs_writer *writer, struct hs_db_statement *found)
{
    struct hs_evidence_row row = read_row(found);
    hs_write_begin(writer, '{');
    hs_evidence_row_encode(writer, &row);
    hs_write_end(writer, '}');
}

static bool list_row(void *context, struct hs_db_statement *row)
{
    struct hs_writer *writer = context;
    write_row(writer, row);
    return !writer->buffer->failed;
}

enum hs_evidence_read hs_evidence_list(const struct hs_evidence_home *home,
                                       const struct hs_evidence_query *query,
                                       struct hs_writer *writer, int64_t *next_us)
{
    struct walk walk = {.query = query,
                        .sink = list_row,
                        .context = writer,
                        .left = query->limit,
                        .end_us = hs_clock_us() + PAGE_US};
    hs_write_begin(writer, '[');
    enum hs_evidence_read result = run_walk(home, &walk);
    hs_write_end(writer, ']');
    *next_us = walk.next_us;
    return result;
}

/* ---- files ---- */

/* An export. The buffer of `writer` contains the lines that are not in the file yet. */
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

/* Writes a field in quotation marks. Doubles the quotation marks inside the field (RFC 4180). */
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

static void write_csv_row(struct hs_writer *writer, struct hs_db_statement *row)
{
    struct hs_buffer *out = writer->buffer;
    hs_write_time(writer, hs_db_int(row, AT));
    hs_buffer_puts(out, ",");
    writer->needs_comma = false;
    hs_write_time(writer, hs_db_int(row, NOW));
    write_csv_text(out, hs_db_text(row, ID));
    for (int i = 0; i < COLUMNS; i++)
        write_csv_text(out, hs_db_text(row, TEXTS + i));
    for (int column = MEASURED; column <= LIMIT; column++) {
        hs_buffer_puts(out, ",");
        writer->needs_comma = false;
        if (!hs_db_is_null(row, column))
            hs_write_real(writer, hs_db_real(row, column));
    }
    write_csv_text(out, hs_db_text(row, UNIT));
    write_csv_text(out, hs_db_text(row, REVISION));
}

static void write_csv_names(struct hs_buffer *out)
{
    hs_buffer_puts(out, "at,now,verdict_id");
    for (int i = 0; i < COLUMNS; i++)
        hs_buffer_printf(out, ",%s", column_names[i]);
    hs_buffer_puts(out, ",measured,limit,unit,revision\r\n");
}

static bool export_row(void *context, struct hs_db_statement *row)
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

enum hs_evidence_read hs_evidence_export(const struct hs_evidence_home *home,
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
    enum hs_evidence_read result = run_walk(home, &walk);
    if (!flush(&export))
        result = HS_EVIDENCE_FAILED;
    hs_buffer_free(&lines);
    return result;
}

/* ---- whole verdicts ---- */

struct visiting {
    const struct hs_evidence_home *home;
    const char *place; /* HS_EVIDENCE_CASES or HS_EVIDENCE_ALL */
    hs_evidence_visit *visit;
    void *context;
};

static bool visit_row(void *context, struct hs_db_statement *page)
{
    static const char sql[] = "SELECT " HS_EVIDENCE_WHOLE_ROW
                              " FROM bodies b JOIN verdicts v ON v.at = b.at WHERE b.at = ?";
    const struct visiting *visiting = context;
    struct hs_evidence_row row = read_row(page);
    struct hs_evidence_stored stored = {.db = hs_db_of(page)};
    stored.found = hs_db_prepare(stored.db, sql);
    if (stored.found != NULL)
        hs_db_bind_int(stored.found, 1, row.at_us);
    enum hs_db_step step = hs_db_step(stored.found);
    bool fine = true;
    if (step == HS_DB_FAILED)
        fine = hs_evidence_place_failed(visiting->home, visiting->place, stored.db) ==
               HS_EVIDENCE_MISSING;
    if (step == HS_DB_ROW && hs_evidence_load(stored.found, &stored)) {
#define X(member, name) stored.row.member = row.member; /* not set by hs_evidence_load */
        HS_EVIDENCE_TEXTS(X)
#undef X
        fine = visiting->visit(visiting->context, &stored);
    }
    stored.db = NULL; /* the page still uses the connection, so do not close the connection */
    hs_evidence_stored_close(&stored);
    return fine;
}

enum hs_evidence_read hs_evidence_each(const struct hs_evidence_home *home,
                                       const struct hs_evidence_query *query, int64_t end_us,
                                       hs_evidence_visit *visit, void *context, int64_t *next_us)
{
    const char *place = query->is_reviewed ? HS_EVIDENCE_CASES : HS_EVIDENCE_ALL;
    struct visiting visiting = {home, place, visit, context};
    struct walk walk = {.query = query,
                        .sink = visit_row,
                        .context = &visiting,
                        .left = query->limit,
                        .end_us = end_us};
    enum hs_evidence_read result = run_walk(home, &walk);
    *next_us = walk.next_us;
    return result;
}
