#include "service/evidence/reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "service/evidence/files.h"
#include "service/record/stream.h"
#include "service/watch/log.h"

enum { BUSY_MS = 1000 };

/* ---- files ---- */

static void report(const char *path, sqlite3 *db, int version)
{
    char detail[HS_EVIDENCE_PATH + 128];
    if (version > 0)
        snprintf(detail, sizeof detail,
                 "%s has tables of version %d, and this program reads version %d", path, version,
                 HS_EVIDENCE_SCHEMA);
    else
        snprintf(detail, sizeof detail, "%s: %s", path, sqlite3_errmsg(db));
    hs_log(HS_LOG_ERROR, "the evidence store cannot be read", HS_LOG_TEXT("detail", detail));
}

enum hs_evidence_read hs_evidence_open(const char *path, sqlite3 **out)
{
    sqlite3 *db = NULL;
    int flags = SQLITE_OPEN_READONLY | SQLITE_OPEN_NOMUTEX;
    bool fine = sqlite3_open_v2(path, &db, flags, NULL) == SQLITE_OK;
    if (fine)
        sqlite3_busy_timeout(db, BUSY_MS);
    int version = fine ? hs_evidence_schema_of(db) : -1;
    *out = db;
    if (version == HS_EVIDENCE_SCHEMA)
        return HS_EVIDENCE_READ;
    bool is_gone = version < 0 && access(path, F_OK) != 0 && errno == ENOENT;
    if (version != 0 && !is_gone)
        report(path, db, version);
    sqlite3_close(db);
    *out = NULL;
    return version == 0 || is_gone ? HS_EVIDENCE_MISSING : HS_EVIDENCE_FAILED;
}

struct hs_str hs_evidence_text(sqlite3_stmt *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(row, column);
    return (struct hs_str){text, text != NULL ? (size_t)sqlite3_column_bytes(row, column) : 0};
}

void hs_evidence_bind(sqlite3_stmt *statement, int at, struct hs_str text)
{
    sqlite3_bind_text(statement, at, text.ptr, (int)text.len, SQLITE_STATIC);
}

int64_t hs_evidence_code(sqlite3 *db, struct hs_str text)
{
    sqlite3_stmt *find;
    int64_t code = 0;
    if (sqlite3_prepare_v2(db, "SELECT code FROM codes WHERE text = ?", -1, &find, NULL) !=
        SQLITE_OK)
        return 0;
    hs_evidence_bind(find, 1, text);
    if (sqlite3_step(find) == SQLITE_ROW)
        code = sqlite3_column_int64(find, 0);
    sqlite3_finalize(find);
    return code;
}

/* ---- one verdict ---- */

/* The columns of HS_EVIDENCE_WHOLE_ROW. TEXTS is the first of the columns that may follow. */
enum { AT, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, MAP, MAP_REVISION, SIZES, BODY, TEXTS };

void hs_evidence_stored_close(struct hs_evidence_stored *stored)
{
    sqlite3_finalize(stored->found);
    sqlite3_close(stored->db);
    free(stored->unpacked);
    stored->found = NULL;
    stored->db = NULL;
    stored->unpacked = NULL;
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

/* Reads a size and the blank behind it. */
static size_t take_size(const char **at)
{
    char *end;
    size_t size = strtoul(*at, &end, 10);
    *at = *end == ' ' ? end + 1 : end;
    return size;
}

static bool split(sqlite3_stmt *found, struct hs_evidence_stored *out)
{
    size_t size;
    const char *text = (const char *)sqlite3_column_text(found, SIZES);
    unsigned char *unpacked = unpack(found, BODY, &size);
    out->unpacked = unpacked;
    if (unpacked == NULL || text == NULL)
        return false;
    struct hs_str *const parts[] = {&out->row.opening, &out->row.request, &out->row.state,
                                    &out->row.context};
    const char *at = (const char *)unpacked, *end = at + size;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i] = (struct hs_str){at, take_size(&text)};
        if (parts[i]->len > (size_t)(end - at))
            return false;
        at += parts[i]->len;
    }
    return at == end;
}

bool hs_evidence_load(sqlite3_stmt *found, struct hs_evidence_stored *out)
{
    out->row = (struct hs_evidence_row){
        .at_us = sqlite3_column_int64(found, AT),
        .now_us = sqlite3_column_int64(found, NOW),
        .id = hs_evidence_text(found, ID),
        .has_measure = sqlite3_column_type(found, MEASURED) != SQLITE_NULL,
        .measured = sqlite3_column_double(found, MEASURED),
        .limit = sqlite3_column_double(found, LIMIT),
        .unit = hs_evidence_text(found, UNIT),
        .revision = hs_evidence_text(found, REVISION),
        .map = hs_evidence_text(found, MAP),
        .map_revision = hs_evidence_text(found, MAP_REVISION),
    };
    return split(found, out);
}

static enum hs_evidence_read find_in(const char *path, struct hs_str tenant, struct hs_str id,
                                     struct hs_evidence_stored *out)
{
    static const char sql[] = "SELECT " HS_EVIDENCE_WHOLE_ROW
#define X(member, column) ", (SELECT text FROM codes WHERE code = v." column ")"
        HS_EVIDENCE_TEXTS(X)
#undef X
            " FROM bodies b JOIN verdicts v ON v.at = b.at WHERE b.id = ?";
    enum hs_evidence_read opened = hs_evidence_open(path, &out->db);
    if (opened != HS_EVIDENCE_READ)
        return opened;
    if (sqlite3_prepare_v2(out->db, sql, -1, &out->found, NULL) != SQLITE_OK)
        return HS_EVIDENCE_FAILED;
    hs_evidence_bind(out->found, 1, id);
    int result = sqlite3_step(out->found), column = TEXTS;
    if (result == SQLITE_DONE)
        return HS_EVIDENCE_MISSING;
    if (result != SQLITE_ROW || !hs_evidence_load(out->found, out))
        return HS_EVIDENCE_FAILED;
#define X(member, name) out->row.member = hs_evidence_text(out->found, column++);
    HS_EVIDENCE_TEXTS(X)
#undef X
    bool is_theirs = tenant.ptr == NULL || hs_str_equal(tenant, out->row.tenant);
    return is_theirs && out->row.verdict.len > 0 ? HS_EVIDENCE_READ : HS_EVIDENCE_MISSING;
}

enum hs_evidence_read hs_evidence_find(const char *directory, struct hs_str tenant,
                                       struct hs_str id, struct hs_evidence_stored *out)
{
    size_t count;
    char path[HS_EVIDENCE_PATH];
    enum hs_evidence_read result = HS_EVIDENCE_MISSING, worst = HS_EVIDENCE_MISSING;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(directory, &count);
    *out = (struct hs_evidence_stored){0};
    for (size_t i = 0; i <= count; i++) {
        if (i < count)
            hs_evidence_path(directory, days[i], path);
        else if (!hs_evidence_cases_path(directory, path))
            break;
        result = find_in(path, tenant, id, out);
        if (result == HS_EVIDENCE_READ)
            break;
        hs_evidence_stored_close(out);
        worst = result == HS_EVIDENCE_FAILED ? result : worst; /* another file may have it */
    }
    free(days);
    return result == HS_EVIDENCE_READ ? result : worst;
}

char *hs_evidence_document(const struct hs_evidence_stored *stored, struct hs_str kind,
                           struct hs_str revision, size_t *size)
{
    sqlite3_stmt *find;
    char *document = NULL;
    if (sqlite3_prepare_v2(stored->db, "SELECT body FROM documents WHERE kind = ? AND revision = ?",
                           -1, &find, NULL) != SQLITE_OK)
        return NULL;
    hs_evidence_bind(find, 1, kind);
    hs_evidence_bind(find, 2, revision);
    if (sqlite3_step(find) == SQLITE_ROW)
        document = (char *)unpack(find, 0, size);
    sqlite3_finalize(find);
    return document;
}
