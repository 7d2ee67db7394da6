#include "service/evidence/reading.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "service/evidence/files.h"
#include "service/record/stream.h"
#include "service/system/packed.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

enum { BUSY_MS = 1000 };

/* ---- places ---- */

static void report_text(const char *detail)
{
    hs_log(HS_LOG_ERROR, "the evidence store cannot be read", HS_LOG_TEXT("detail", detail));
}

enum hs_evidence_read hs_evidence_failed(const struct hs_db *db)
{
    report_text(hs_db_error(db));
    return HS_EVIDENCE_FAILED;
}

/* Returns true if readers must skip this place because it is damaged. In that case, also counts a
   failure in the metrics. Readers never skip the place of reviewed verdicts. */
static bool leave_out(const struct hs_evidence_home *home, const char *place,
                      const struct hs_db *db)
{
    if (db == NULL || !hs_db_is_damaged(db) || strcmp(place, HS_EVIDENCE_CASES) == 0)
        return false;
    if (home->metrics != NULL)
        hs_metrics_add(home->metrics, HS_METRIC_EVIDENCE_FAILURES, 0, 1);
    return true;
}

enum hs_evidence_read hs_evidence_place_failed(const struct hs_evidence_home *home,
                                               const char *place, const struct hs_db *db)
{
    enum hs_evidence_read failed = hs_evidence_failed(db);
    return leave_out(home, place, db) ? HS_EVIDENCE_MISSING : failed;
}

static void report(const char *where, const char *error, int version)
{
    char detail[HS_EVIDENCE_PATH + 512];
    if (version > 0)
        snprintf(detail, sizeof detail,
                 "%s has tables of version %d, and this program reads version %d", where, version,
                 HS_EVIDENCE_SCHEMA);
    else
        snprintf(detail, sizeof detail, "%s: %s", where, error);
    report_text(detail);
}

static bool is_missing(const char *path)
{
    return access(path, F_OK) != 0 && errno == ENOENT;
}

/* Returns the pool of idle connections to a place; NULL: connections to this place are not
   pooled. */
static struct hs_db_pool *pool_of(const struct hs_evidence_home *home, const char *place)
{
    bool is_pooled = hs_evidence_is_remote(home, place) && strcmp(place, HS_EVIDENCE_CASES) != 0;
    return is_pooled ? home->readers : NULL;
}

/* Takes an idle connection. If that connection does not work, the server has probably failed. In
   that case, closes all idle connections, because each attempt to use an idle connection would cost
   a timeout. NULL: the caller must open a new connection. */
static struct hs_db *take_idle(struct hs_db_pool *pool)
{
    struct hs_db *db = pool != NULL ? hs_db_pool_take(pool) : NULL;
    bool works = db != NULL && hs_evidence_schema_of(db) == HS_EVIDENCE_SCHEMA;
    for (; db != NULL && !works; db = hs_db_pool_take(pool))
        hs_db_close(db);
    return db;
}

enum hs_evidence_read hs_evidence_open(const struct hs_evidence_home *home, const char *place,
                                       struct hs_db **out)
{
    char where[HS_EVIDENCE_PATH], error[256];
    bool is_remote = hs_evidence_is_remote(home, place), fine;
    struct hs_db_pool *pool = pool_of(home, place);
    *out = take_idle(pool);
    if (*out != NULL) {
        hs_db_pool_add(pool, *out);
        return HS_EVIDENCE_READ;
    }
    if (is_remote) {
        snprintf(where, sizeof where, "the schema %s", hs_evidence_schema(place));
        *out = hs_db_open_postgres(home->connection_file, hs_evidence_schema(place), error);
        fine = *out != NULL;
    } else {
        hs_evidence_path(home->directory, place, where);
        *out = hs_db_open_sqlite(where, false, BUSY_MS, &fine);
    }
    int version = fine ? hs_evidence_schema_of(*out) : -1;
    if (version == HS_EVIDENCE_SCHEMA) {
        if (pool != NULL)
            hs_db_pool_add(pool, *out);
        return HS_EVIDENCE_READ;
    }
    bool is_gone = version == 0 || (version < 0 && !is_remote && is_missing(where));
    if (!is_gone) {
        report(where, is_remote && !fine ? error : hs_db_error(*out), version);
        is_gone = leave_out(home, place, *out);
    }
    hs_db_close(*out);
    *out = NULL;
    return is_gone ? HS_EVIDENCE_MISSING : HS_EVIDENCE_FAILED;
}

/* ---- one verdict ---- */

/* The columns of HS_EVIDENCE_WHOLE_ROW. Further columns may follow, starting at TEXTS. */
enum { AT, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, MAP, MAP_REVISION, SIZES, BODY, TEXTS };

void hs_evidence_stored_close(struct hs_evidence_stored *stored)
{
    hs_db_finalize(stored->found);
    hs_db_close(stored->db);
    free(stored->unpacked);
    stored->found = NULL;
    stored->db = NULL;
    stored->unpacked = NULL;
}

/* Returns the unpacked content of a column; free it with free(). NULL: the content is damaged, or
   memory ran out. */
static unsigned char *unpack(struct hs_db_statement *row, int column, size_t *size)
{
    struct hs_str packed = hs_db_blob(row, column);
    return hs_unpack(packed.ptr, packed.len, HS_STREAM_STATE_MAX, size);
}

static size_t take_size(const char **at)
{
    char *end;
    size_t size = strtoul(*at, &end, 10);
    *at = *end == ' ' ? end + 1 : end;
    return size;
}

static bool split_body(struct hs_db_statement *found, struct hs_evidence_stored *out)
{
    char text[96];
    const char *next = text;
    size_t size;
    struct hs_str sizes = hs_db_text(found, SIZES);
    unsigned char *unpacked = unpack(found, BODY, &size);
    out->unpacked = unpacked;
    snprintf(text, sizeof text, "%.*s", (int)sizes.len, sizes.len > 0 ? sizes.ptr : "");
    if (unpacked == NULL)
        return false;
    struct hs_str *const parts[] = {&out->row.opening, &out->row.request, &out->row.state,
                                    &out->row.context};
    const char *at = (const char *)unpacked, *end = at + size;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        *parts[i] = (struct hs_str){at, take_size(&next)};
        if (parts[i]->len > (size_t)(end - at))
            return false;
        at += parts[i]->len;
    }
    return at == end;
}

/* Unpacks the body and splits it into its texts. Logs a failure. */
static bool split(struct hs_db_statement *found, struct hs_evidence_stored *out)
{
    bool fine = split_body(found, out);
    if (!fine)
        report_text("a stored verdict is damaged, or the service is out of memory");
    return fine;
}

static void load_columns(struct hs_db_statement *found, struct hs_evidence_stored *out)
{
    out->row = (struct hs_evidence_row){
        .at_us = hs_db_int(found, AT),
        .now_us = hs_db_int(found, NOW),
        .id = hs_db_text(found, ID),
        .has_measure = !hs_db_is_null(found, MEASURED),
        .measured = hs_db_real(found, MEASURED),
        .limit = hs_db_real(found, LIMIT),
        .unit = hs_db_text(found, UNIT),
        .revision = hs_db_text(found, REVISION),
        .map = hs_db_text(found, MAP),
        .map_revision = hs_db_text(found, MAP_REVISION),
    };
}

bool hs_evidence_load(struct hs_db_statement *found, struct hs_evidence_stored *out)
{
    load_columns(found, out);
    return split(found, out);
}

static void load_texts(struct hs_db_statement *found, struct hs_evidence_stored *out)
{
    int column = TEXTS;
#define X(member, name) out->row.member = hs_db_text(found, column++);
    HS_EVIDENCE_TEXTS(X)
#undef X
}

bool hs_evidence_load_all(struct hs_db_statement *found, struct hs_evidence_stored *out)
{
    load_columns(found, out);
    load_texts(found, out);
    return split(found, out);
}

void hs_evidence_load_packed(struct hs_db_statement *found, struct hs_evidence_stored *out)
{
    load_columns(found, out);
    load_texts(found, out);
    out->row.sizes = hs_db_text(found, SIZES);
    out->row.packed = hs_db_blob(found, BODY);
}

static enum hs_evidence_read find_in(const struct hs_evidence_home *home, const char *place,
                                     struct hs_str tenant, struct hs_str id,
                                     struct hs_evidence_stored *out)
{
    static const char sql[] = "SELECT " HS_EVIDENCE_ALL_OF_ROW " WHERE b.id = ?";
    enum hs_evidence_read opened = hs_evidence_open(home, place, &out->db);
    if (opened != HS_EVIDENCE_READ)
        return opened;
    out->found = hs_db_prepare(out->db, sql);
    if (out->found == NULL)
        return hs_evidence_place_failed(home, place, out->db);
    hs_db_bind_text(out->found, 1, id);
    enum hs_db_step result = hs_db_step(out->found);
    if (result == HS_DB_DONE)
        return HS_EVIDENCE_MISSING;
    if (result == HS_DB_FAILED)
        return hs_evidence_place_failed(home, place, out->db);
    if (!hs_evidence_load_all(out->found, out))
        return HS_EVIDENCE_FAILED;
    bool is_theirs = tenant.ptr == NULL || hs_str_equal(tenant, out->row.tenant);
    return is_theirs && out->row.verdict.len > 0 ? HS_EVIDENCE_READ : HS_EVIDENCE_MISSING;
}

enum hs_evidence_read hs_evidence_find(const struct hs_evidence_home *home, struct hs_str tenant,
                                       struct hs_str id, struct hs_evidence_stored *out)
{
    size_t count;
    enum hs_evidence_read result = HS_EVIDENCE_MISSING, worst = HS_EVIDENCE_MISSING;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(home, &count);
    *out = (struct hs_evidence_stored){0};
    for (size_t i = 0; i <= count; i++) {
        result = find_in(home, i < count ? days[i] : HS_EVIDENCE_CASES, tenant, id, out);
        if (result == HS_EVIDENCE_READ)
            break;
        bool is_away = result == HS_EVIDENCE_FAILED && home->is_postgres;
        hs_evidence_stored_close(out);
        worst = result == HS_EVIDENCE_FAILED ? result : worst; /* continue with the other places */
        if (is_away)
            break;
    }
    free(days);
    return result == HS_EVIDENCE_READ ? result : worst;
}

char *hs_evidence_document(const struct hs_evidence_stored *stored, struct hs_str kind,
                           struct hs_str revision, size_t *size)
{
    char *document = NULL;
    struct hs_db_statement *find =
        hs_db_prepare(stored->db, "SELECT body FROM documents WHERE kind = ? AND revision = ?");
    if (find == NULL)
        return NULL;
    hs_db_bind_text(find, 1, kind);
    hs_db_bind_text(find, 2, revision);
    if (hs_db_step(find) == HS_DB_ROW)
        document = (char *)unpack(find, 0, size);
    hs_db_finalize(find);
    return document;
}

static bool copy_document(struct hs_evidence_store *store, const struct hs_evidence_stored *stored,
                          struct hs_str kind, struct hs_str name, struct hs_str revision)
{
    size_t size;
    if (revision.ptr == NULL || hs_evidence_store_has(store, kind, revision))
        return true;
    char *document = hs_evidence_document(stored, kind, revision, &size);
    bool fine = document == NULL || hs_evidence_store_put_document(store, kind, name, revision,
                                                                   (struct hs_str){document, size});
    free(document);
    return fine;
}

bool hs_evidence_copy_documents(struct hs_evidence_store *store,
                                const struct hs_evidence_stored *stored)
{
    const struct hs_evidence_row *row = &stored->row;
    return copy_document(store, stored, HS_STR("ruleset"), row->ruleset, row->revision) &&
           copy_document(store, stored, HS_STR("map"), row->map, row->map_revision);
}
