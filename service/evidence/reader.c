#include "service/evidence/reader.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zstd.h>

#include "service/evidence/files.h"
#include "service/evidence/row.h"
#include "service/record/lines.h"
#include "service/record/stream.h"

/* ---- files ---- */

/* A file of the store that is open for reading. */
static sqlite3 *open_day(const char *directory, const char *day)
{
    char path[HS_EVIDENCE_PATH];
    sqlite3 *db = NULL;
    hs_evidence_path(directory, day, path);
    if (sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX, NULL) == SQLITE_OK) {
        sqlite3_busy_timeout(db, 1000);
        return db;
    }
    sqlite3_close(db);
    return NULL;
}

static struct hs_str text_at(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return (struct hs_str){text, text != NULL ? (size_t)sqlite3_column_bytes(row, column) : 0};
}

static void bind_text(sqlite3_stmt *statement, int at, struct hs_str text)
{
    sqlite3_bind_text(statement, at, text.ptr, (int)text.len, SQLITE_STATIC);
}

/* Returns the first and the last microsecond of a day, plus one. */
static void times_of(const char *day, int64_t *from_us, int64_t *until_us)
{
    *from_us = hs_evidence_day_number(day) * INT64_C(86400000000);
    *until_us = *from_us + INT64_C(86400000000);
}

/* ---- lists ---- */

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

/* The code of a text in this file. 0: no verdict has it. */
static int64_t code_of(sqlite3 *db, struct hs_str text)
{
    sqlite3_stmt *find;
    int64_t code = 0;
    if (sqlite3_prepare_v2(db, "SELECT code FROM codes WHERE text = ?", -1, &find, NULL) !=
        SQLITE_OK)
        return 0;
    bind_text(find, 1, text);
    if (sqlite3_step(find) == SQLITE_ROW)
        code = sqlite3_column_int64(find, 0);
    sqlite3_finalize(find);
    return code;
}

/* Prepares the page of one day. NULL with *is_empty: no verdict of the day matches. */
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
                                  "SELECT v.at, b.id, b.now, b.measured, "
                                  "b.\"limit\", b.unit, b.revision");
    for (int i = 0; i < COLUMNS; i++)
        len += (size_t)snprintf(sql + len, sizeof sql - len,
                                ", (SELECT text FROM codes WHERE code = v.%s)", column_names[i]);
    len += (size_t)snprintf(sql + len, sizeof sql - len,
                            " FROM verdicts v JOIN bodies b ON b.at = v.at"
                            " WHERE v.at >= ? AND v.at < ?");
    for (int i = 0; i < COLUMNS; i++) {
        if (filters[i].ptr == NULL)
            continue;
        codes[count] = code_of(db, filters[i]);
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
    sqlite3_bind_int64(page, 3 + count, (int64_t)limit);
    return page;
}

static void write_row(sqlite3_stmt *found, struct hs_writer *writer)
{
    enum { AT, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, TEXTS };
    int column = TEXTS;
    struct hs_evidence_row row = {
        .id = text_at(found, ID),
        .at_us = sqlite3_column_int64(found, AT),
        .now_us = sqlite3_column_int64(found, NOW),
        .has_measure = sqlite3_column_type(found, MEASURED) != SQLITE_NULL,
        .measured = sqlite3_column_double(found, MEASURED),
        .limit = sqlite3_column_double(found, LIMIT),
        .unit = text_at(found, UNIT),
        .revision = text_at(found, REVISION),
    };
#define X(member, name) row.member = text_at(found, column++);
    HS_EVIDENCE_TEXTS(X)
#undef X
    hs_write_begin(writer, '{');
    hs_evidence_row_encode(writer, &row);
    hs_write_end(writer, '}');
}

/* Writes at most *left verdicts of one day. */
static enum hs_evidence_read list_day(const char *directory, const char *day,
                                      const struct hs_evidence_query *query,
                                      struct hs_writer *writer, size_t *left, int64_t *last_us)
{
    bool is_empty = false;
    sqlite3 *db = open_day(directory, day);
    sqlite3_stmt *page = db != NULL ? prepare_page(db, query, *left, &is_empty) : NULL;
    int result = page != NULL ? sqlite3_step(page) : is_empty ? SQLITE_DONE : SQLITE_ERROR;
    for (; result == SQLITE_ROW; result = sqlite3_step(page)) {
        write_row(page, writer);
        *last_us = sqlite3_column_int64(page, 0);
        --*left;
    }
    sqlite3_finalize(page);
    sqlite3_close(db);
    return result == SQLITE_DONE ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}

enum hs_evidence_read hs_evidence_list(const char *directory, const struct hs_evidence_query *query,
                                       struct hs_writer *writer, int64_t *next_us)
{
    size_t count, left = query->limit;
    int64_t last_us = 0;
    enum hs_evidence_read result = HS_EVIDENCE_READ;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(directory, &count);
    hs_write_begin(writer, '[');
    for (size_t i = 0; i < count && left > 0 && result == HS_EVIDENCE_READ; i++) {
        int64_t from_us, until_us;
        times_of(days[i], &from_us, &until_us);
        if (from_us < query->until_us && until_us > query->since_us)
            result = list_day(directory, days[i], query, writer, &left, &last_us);
    }
    hs_write_end(writer, ']');
    free(days);
    *next_us = left == 0 ? last_us : 0;
    return result;
}

/* ---- one verdict ---- */

/* A verdict as it is stored. All texts are in `unpacked` or in the row of `found`. */
struct stored {
    sqlite3 *db;
    sqlite3_stmt *found;
    unsigned char *unpacked;
    struct hs_str opening, request, state;
};

/* The columns of `found`. */
enum { REVISION, MAP, MAP_REVISION, SIZES, BODY, TENANT, RULESET };

static void close_stored(struct stored *stored)
{
    sqlite3_finalize(stored->found);
    sqlite3_close(stored->db);
    free(stored->unpacked);
    *stored = (struct stored){0};
}

/* Returns the unpacked bytes of a column, for free(). NULL: damaged, or out of memory. */
static unsigned char *unpack(sqlite3_stmt *row, int column, size_t *size)
{
    const void *packed = sqlite3_column_blob(row, column);
    size_t packed_size = (size_t)sqlite3_column_bytes(row, column);
    unsigned long long whole = ZSTD_getFrameContentSize(packed, packed_size);
    if (whole == ZSTD_CONTENTSIZE_ERROR || whole == ZSTD_CONTENTSIZE_UNKNOWN ||
        whole > HS_STREAM_STATE_MAX)
        return NULL;
    unsigned char *bytes = malloc((size_t)whole + 1);
    *size = bytes != NULL ? ZSTD_decompress(bytes, (size_t)whole, packed, packed_size) : 0;
    if (bytes != NULL && !ZSTD_isError(*size) && *size == whole)
        return bytes;
    free(bytes);
    return NULL;
}

static bool split(struct stored *stored)
{
    size_t size, sizes[3];
    const char *text = (const char *)sqlite3_column_text(stored->found, SIZES);
    stored->unpacked = unpack(stored->found, BODY, &size);
    if (stored->unpacked == NULL || text == NULL ||
        sscanf(text, "%zu %zu %zu", &sizes[0], &sizes[1], &sizes[2]) != 3 || sizes[0] > size ||
        sizes[1] > size - sizes[0] || sizes[2] != size - sizes[0] - sizes[1])
        return false;
    const char *at = (const char *)stored->unpacked;
    stored->opening = (struct hs_str){at, sizes[0]};
    stored->request = (struct hs_str){at + sizes[0], sizes[1]};
    stored->state = (struct hs_str){at + sizes[0] + sizes[1], sizes[2]};
    return true;
}

static enum hs_evidence_read find_in(const char *directory, const char *day, struct hs_str tenant,
                                     struct hs_str id, struct stored *out)
{
    static const char sql[] = "SELECT b.revision, b.map, b.map_revision, b.sizes, b.body,"
                              " (SELECT text FROM codes WHERE code = v.tenant),"
                              " (SELECT text FROM codes WHERE code = v.ruleset)"
                              " FROM bodies b JOIN verdicts v ON v.at = b.at WHERE b.id = ?";
    out->db = open_day(directory, day);
    if (out->db == NULL || sqlite3_prepare_v2(out->db, sql, -1, &out->found, NULL) != SQLITE_OK)
        return HS_EVIDENCE_FAILED;
    bind_text(out->found, 1, id);
    int result = sqlite3_step(out->found);
    if (result == SQLITE_ROW && tenant.ptr != NULL &&
        !hs_str_equal(tenant, text_at(out->found, TENANT)))
        return HS_EVIDENCE_MISSING;
    if (result == SQLITE_ROW)
        return split(out) ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
    return result == SQLITE_DONE ? HS_EVIDENCE_MISSING : HS_EVIDENCE_FAILED;
}

static enum hs_evidence_read find_stored(const char *directory, struct hs_str tenant,
                                         struct hs_str id, struct stored *out)
{
    size_t count;
    enum hs_evidence_read result = HS_EVIDENCE_MISSING;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(directory, &count);
    for (size_t i = 0; i < count && result == HS_EVIDENCE_MISSING; i++) {
        result = find_in(directory, days[i], tenant, id, out);
        if (result != HS_EVIDENCE_READ)
            close_stored(out);
    }
    free(days);
    return result;
}

/* Writes the line of a ruleset or a map. */
static bool write_document(const struct stored *stored, const char *kind, struct hs_str name,
                           struct hs_str revision, struct hs_writer *writer)
{
    sqlite3_stmt *find;
    size_t size = 0;
    unsigned char *document = NULL;
    if (sqlite3_prepare_v2(stored->db, "SELECT body FROM documents WHERE kind = ? AND revision = ?",
                           -1, &find, NULL) != SQLITE_OK)
        return false;
    bind_text(find, 1, hs_str_of(kind));
    bind_text(find, 2, revision);
    if (sqlite3_step(find) == SQLITE_ROW)
        document = unpack(find, 0, &size);
    sqlite3_finalize(find);
    if (document == NULL)
        return false;
    hs_stream_flatten((char *)document, size);
    hs_line_begin_document(writer, kind, name, revision);
    hs_write_raw(writer, (struct hs_str){(const char *)document, size});
    hs_line_end(writer);
    free(document);
    return true;
}

enum hs_evidence_read hs_evidence_stream(const char *directory, struct hs_str tenant,
                                         struct hs_str id, struct hs_buffer *out)
{
    struct stored stored = {0};
    struct hs_writer writer = {.buffer = out};
    enum hs_evidence_read result = find_stored(directory, tenant, id, &stored);
    if (result != HS_EVIDENCE_READ)
        return result;
    sqlite3_stmt *row = stored.found;
    hs_line_put_header(&writer);
    bool fine =
        write_document(&stored, "ruleset", text_at(row, RULESET), text_at(row, REVISION), &writer);
    if (text_at(row, MAP).ptr != NULL)
        fine = fine && write_document(&stored, "map", text_at(row, MAP), text_at(row, MAP_REVISION),
                                      &writer);
    hs_write_raw(&writer, stored.opening);
    hs_line_put_bytes(&writer, "state", stored.state.ptr, stored.state.len);
    hs_line_end(&writer);
    hs_write_raw(&writer, stored.request);
    close_stored(&stored);
    return fine && !out->failed ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}
