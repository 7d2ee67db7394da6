#include "service/evidence/store.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "service/system/files.h"

/* The size of the cache of codes; a power of two. For most texts, the cache saves a query. */
enum { REMEMBERED = 4096 };

enum { BUSY_MS = 2000 };

/* The compression level of zstd. Compared with level 1, level -3 needs 43 % fewer instructions and
   9 % more bytes for a verdict. Lower levels save little more: level -5 needs 17 % fewer
   instructions and 8 % more bytes than level -3. */
enum { PACK_LEVEL = -3 };

enum statement {
    PUT_CODE,
    FIND_CODE,
    PUT_VERDICT,
    PUT_BODY,
    HAS_DOCUMENT,
    PUT_DOCUMENT,
    NEWEST,
    CHANGES,
    HAS_ID
};

static const char *const texts[] = {
    [PUT_CODE] = "INSERT INTO codes(text) VALUES(?) ON CONFLICT DO NOTHING",
    [FIND_CODE] = "SELECT code FROM codes WHERE text = ?",
    [PUT_VERDICT] = "INSERT INTO verdicts VALUES(?"
#define X(member, column) ",?"
    HS_EVIDENCE_TEXTS(X)
#undef X
        ")",
    [PUT_BODY] = "INSERT INTO bodies VALUES(?,?,?,?,?,?,?,?,?,?,?) ON CONFLICT DO NOTHING",
    [HAS_DOCUMENT] = "SELECT 1 FROM documents WHERE kind = ? AND revision = ?",
    [PUT_DOCUMENT] = "INSERT INTO documents VALUES(?,?,?,?) ON CONFLICT DO NOTHING",
    [NEWEST] = "SELECT max(at) FROM verdicts",
    [CHANGES] = "PRAGMA data_version",
    [HAS_ID] = "SELECT 1 FROM bodies WHERE id = ?",
};

enum { STATEMENTS = sizeof texts / sizeof texts[0] };

struct remembered {
    struct hs_name text;
    int64_t code; /* 0: the entry is empty */
};

struct hs_evidence_store {
    struct hs_db *db;
    struct hs_db_statement *statements[STATEMENTS];
    int64_t newest_us;
    int64_t changes; /* data_version of SQLite; changes when another connection writes */
    ZSTD_CCtx *packer;
    unsigned char *packed; /* buffer for the compressed texts */
    size_t packed_capacity;
    struct remembered remembered[REMEMBERED];
};

struct hs_db *hs_evidence_store_db(struct hs_evidence_store *store)
{
    return store->db;
}

const char *hs_evidence_store_error(const struct hs_evidence_store *store)
{
    return hs_db_error(store->db);
}

bool hs_evidence_store_has_refused(const struct hs_evidence_store *store)
{
    return hs_db_has_refused(store->db);
}

bool hs_evidence_store_is_damaged(const struct hs_evidence_store *store)
{
    return hs_db_is_damaged(store->db);
}

bool hs_evidence_store_file_is_damaged(const char *path)
{
    bool fine;
    struct hs_db *db = hs_db_open_sqlite(path, false, BUSY_MS, &fine);
    bool is_damaged = db != NULL && !(fine && hs_db_run(db, "SELECT max(at) FROM verdicts")) &&
                      hs_db_is_damaged(db);
    hs_db_close(db);
    return is_damaged;
}

static bool run(struct hs_evidence_store *store, const char *sql)
{
    return hs_db_run(store->db, sql);
}

static bool step(struct hs_evidence_store *store, enum statement which)
{
    return hs_db_finish(store->statements[which]);
}

/* ---- the file ---- */

/* Runs a statement, and reads the number that the statement returns. Returns false if the statement
   failed or returned no row. */
static bool read_number(struct hs_evidence_store *store, enum statement which, int64_t *out)
{
    struct hs_db_statement *statement = store->statements[which];
    bool fine = hs_db_step(statement) == HS_DB_ROW;
    *out = fine ? hs_db_int(statement, 0) : 0;
    hs_db_reset(statement);
    return fine;
}

static bool prepare(struct hs_evidence_store *store)
{
    for (int i = 0; i < STATEMENTS; i++)
        if ((store->statements[i] = hs_db_prepare(store->db, texts[i])) == NULL)
            return false;
    return hs_db_is_postgres(store->db) || read_number(store, NEWEST, &store->newest_us);
}

/* In WAL mode, readers never wait for the writer. With synchronous NORMAL, a commit is in the log
   file, so the commit survives a crash of the process. FULL also syncs each commit to the disk.
   With secure_delete, SQLite overwrites the bytes of deleted rows with zeros. */
static bool set_up(struct hs_evidence_store *store, bool is_synced, bool has_tables)
{
    return run(store, "PRAGMA journal_mode = WAL") &&
           run(store, is_synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL") &&
           run(store, "PRAGMA wal_autocheckpoint = 4000") &&
           run(store, "PRAGMA cache_size = -32768") && /* KiB; holds the pages of all indexes that
                                                          receive new rows */
           run(store, "PRAGMA secure_delete = ON") &&
           (has_tables || (run(store, "BEGIN IMMEDIATE") && run(store, hs_evidence_file_tables) &&
                           run(store, "COMMIT"))) &&
           prepare(store);
}

/* Returns the content of a file with empty tables; free it with sqlite3_free(). NULL: out of
   memory. */
static unsigned char *make_tables(sqlite3_int64 *size)
{
    /* Two offsets in the file header, and the value for WAL mode. */
    enum { WRITE_VERSION = 18, READ_VERSION = 19, WAL = 2 };
    sqlite3 *db = NULL;
    unsigned char *bytes = NULL;
    if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
        sqlite3_exec(db, hs_evidence_file_tables, NULL, NULL, NULL) == SQLITE_OK)
        bytes = sqlite3_serialize(db, "main", size, 0);
    sqlite3_close(db);
    if (bytes != NULL)
        bytes[WRITE_VERSION] = bytes[READ_VERSION] = WAL;
    return bytes;
}

/* If the file does not exist, creates it with empty tables. If SQLite created the file, SQLite
   would lock the file until the file is on the disk. With a slow disk, readers would fail during
   that time. Returns false and sets errno on failure. */
static bool make_file(const char *path)
{
    char fresh[4096];
    sqlite3_int64 size = 0;
    if (access(path, F_OK) == 0)
        return true;
    snprintf(fresh, sizeof fresh, "%s.XXXXXX", path);
    unsigned char *bytes = make_tables(&size);
    errno = ENOMEM;
    int fd = bytes != NULL ? mkostemp(fresh, O_CLOEXEC) : -1;
    struct iovec part = {bytes, (size_t)size};
    bool fine = fd >= 0 && hs_file_write(fd, &part, 1) && fsync(fd) == 0 &&
                (link(fresh, path) == 0 || errno == EEXIST); /* another thread has already created
                                                                the file */
    int error = errno;
    if (fd >= 0) {
        unlink(fresh);
        close(fd);
    }
    sqlite3_free(bytes);
    errno = error;
    return fine;
}

static bool open_file(struct hs_evidence_store *store, const char *path, bool is_synced,
                      char error[256])
{
    bool fine;
    if (!make_file(path)) {
        snprintf(error, 256, "%.150s: %s", path, strerror(errno));
        return false;
    }
    store->db = hs_db_open_sqlite(path, true, BUSY_MS, &fine);
    int version = fine ? hs_evidence_schema_of(store->db) : -1;
    if (version > 0 && version != HS_EVIDENCE_SCHEMA) {
        snprintf(error, 256, "%.150s has tables of version %d, and this program writes version %d",
                 path, version, HS_EVIDENCE_SCHEMA);
        return false;
    }
    fine = fine && version >= 0 && set_up(store, is_synced, version == HS_EVIDENCE_SCHEMA);
    if (!fine)
        snprintf(error, 256, "%.150s: %s", path, hs_db_error(store->db));
    return fine;
}

static bool open_schema(struct hs_evidence_store *store, const char *file, const char *place,
                        char error[256])
{
    const char *schema = hs_evidence_schema(place);
    bool is_partitioned = strcmp(place, HS_EVIDENCE_CASES) != 0;
    store->db = hs_db_open_postgres(file, schema, error);
    int version = store->db != NULL ? hs_evidence_schema_of(store->db) : -1;
    if (version > 0 && version != HS_EVIDENCE_SCHEMA) {
        snprintf(error, 256,
                 "the schema %s has tables of version %d, and this program writes version %d",
                 schema, version, HS_EVIDENCE_SCHEMA);
        return false;
    }
    bool fine = version == HS_EVIDENCE_SCHEMA ||
                (version == 0 && hs_evidence_make_tables(store->db, schema, is_partitioned));
    fine = fine && prepare(store);
    if (!fine && store->db != NULL)
        snprintf(error, 256, "%s", hs_db_error(store->db));
    return fine;
}

/* Returns a store that is not connected yet. NULL: out of memory. */
static struct hs_evidence_store *create(char error[256])
{
    struct hs_evidence_store *store = calloc(1, sizeof *store);
    snprintf(error, 256, "out of memory");
    if (store == NULL)
        return NULL;
    store->packer = ZSTD_createCCtx();
    if (store->packer == NULL) {
        hs_evidence_store_close(store);
        return NULL;
    }
    ZSTD_CCtx_setParameter(store->packer, ZSTD_c_compressionLevel, PACK_LEVEL);
    return store;
}

struct hs_evidence_store *hs_evidence_store_open(const char *path, bool is_synced, char error[256])
{
    struct hs_evidence_store *store = create(error);
    if (store == NULL || open_file(store, path, is_synced, error))
        return store;
    hs_evidence_store_close(store);
    return NULL;
}

struct hs_evidence_store *hs_evidence_store_open_at(const struct hs_evidence_home *home,
                                                    const char *place, char error[256])
{
    char path[HS_EVIDENCE_PATH];
    if (!hs_evidence_is_remote(home, place)) {
        hs_evidence_path(home->directory, place, path);
        return hs_evidence_store_open(path, true, error);
    }
    struct hs_evidence_store *store = create(error);
    if (store == NULL || open_schema(store, home->connection_file, place, error))
        return store;
    hs_evidence_store_close(store);
    return NULL;
}

void hs_evidence_store_close(struct hs_evidence_store *store)
{
    if (store == NULL)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        hs_db_finalize(store->statements[i]);
    hs_db_close(store->db);
    ZSTD_freeCCtx(store->packer);
    free(store->packed);
    free(store);
}

void hs_evidence_store_limit(struct hs_evidence_store *store, uint64_t bytes)
{
    enum { PAGE_BYTES = 4096 }; /* SQLite's default */
    char sql[64];
    snprintf(sql, sizeof sql, "PRAGMA max_page_count = %llu",
             (unsigned long long)(bytes / PAGE_BYTES));
    run(store, sql);
}

/* ---- transactions ---- */

static void forget_codes(struct hs_evidence_store *store)
{
    memset(store->remembered, 0, sizeof store->remembered);
}

/* If another connection has written to the file, drops the cached codes, because the other
   connection may have deleted the codes of a player (erase.h). */
bool hs_evidence_store_begin(struct hs_evidence_store *store)
{
    int64_t changes = 0;
    if (!hs_evidence_begin_shared(store->db))
        return false;
    if (hs_db_is_postgres(store->db)) /* PostgreSQL has no codes */
        return true;
    if (!read_number(store, CHANGES, &changes))
        return false;
    if (changes != store->changes)
        forget_codes(store);
    store->changes = changes;
    return true;
}

bool hs_evidence_store_commit(struct hs_evidence_store *store)
{
    return run(store, "COMMIT");
}

void hs_evidence_store_undo(struct hs_evidence_store *store)
{
    run(store, "ROLLBACK");
    forget_codes(store); /* the cache may contain codes that the rollback has removed */
}

/* ---- rows ---- */

/* Returns the code of a text, and adds a new code if necessary. 0: failed. */
static int64_t code_of(struct hs_evidence_store *store, struct hs_str text)
{
    text = text.ptr != NULL ? text : HS_STR("");
    struct remembered *remembered = &store->remembered[hs_str_hash(text) & (REMEMBERED - 1)];
    if (remembered->code != 0 && hs_str_equal(hs_name_str(&remembered->text), text))
        return remembered->code;
    int64_t code = 0;
    hs_db_bind_text(store->statements[PUT_CODE], 1, text);
    hs_db_bind_text(store->statements[FIND_CODE], 1, text);
    if (!step(store, PUT_CODE) || !read_number(store, FIND_CODE, &code))
        return 0;
    remembered->code = text.len <= HS_NAME_MAX ? code : 0;
    if (remembered->code != 0)
        hs_name_set(&remembered->text, text);
    return code;
}

static bool put_verdict(struct hs_evidence_store *store, int64_t at_us,
                        const struct hs_evidence_row *row)
{
    const struct hs_str columns[] = {
#define X(member, column) row->member,
        HS_EVIDENCE_TEXTS(X)
#undef X
    };
    struct hs_db_statement *statement = store->statements[PUT_VERDICT];
    bool has_codes = !hs_db_is_postgres(store->db);
    hs_db_bind_int(statement, 1, at_us);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        int64_t code = has_codes ? code_of(store, columns[i]) : 0;
        if (has_codes && code == 0)
            return false;
        if (has_codes)
            hs_db_bind_int(statement, (int)i + 2, code);
        else
            hs_db_bind_text(statement, (int)i + 2,
                            columns[i].ptr != NULL ? columns[i] : HS_STR(""));
    }
    return step(store, PUT_VERDICT);
}

/* Compresses the concatenated parts into store->packed. Returns the size; 0: out of memory. Before
   compressing, copies the parts to one long text behind the space for the result, because zstd
   compresses one long text faster than several short texts. */
static size_t pack(struct hs_evidence_store *store, const struct hs_str *parts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].len;
    size_t bound = ZSTD_compressBound(size);
    if (bound + size > store->packed_capacity) {
        unsigned char *more = realloc(store->packed, bound + size);
        if (more == NULL)
            return 0;
        store->packed = more;
        store->packed_capacity = bound + size;
    }
    unsigned char *text = store->packed + bound, *to = text;
    for (size_t i = 0; i < count; i++) {
        if (parts[i].len > 0)
            memcpy(to, parts[i].ptr, parts[i].len);
        to += parts[i].len;
    }
    size_t packed = ZSTD_compress2(store->packer, store->packed, bound, text, size);
    return ZSTD_isError(packed) ? 0 : packed;
}

static bool put_body(struct hs_evidence_store *store, int64_t at_us,
                     const struct hs_evidence_row *row)
{
    const struct hs_str parts[] = {row->opening, row->request, row->state, row->context};
    enum { AT = 1, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, MAP, MAP_REVISION, SIZES, BODY };
    char text[96];
    struct hs_str sizes = row->sizes, packed = row->packed;
    struct hs_db_statement *statement = store->statements[PUT_BODY];
    if (packed.ptr == NULL) {
        size_t size = pack(store, parts, sizeof parts / sizeof *parts);
        if (size == 0)
            return false;
        snprintf(text, sizeof text, "%zu %zu %zu %zu", parts[0].len, parts[1].len, parts[2].len,
                 parts[3].len);
        sizes = hs_str_of(text);
        packed = (struct hs_str){(const char *)store->packed, size};
    }
    hs_db_bind_int(statement, AT, at_us);
    hs_db_bind_text(statement, ID, row->id);
    hs_db_bind_int(statement, NOW, row->now_us);
    hs_db_bind_real(statement, MEASURED, row->has_measure ? row->measured : (double)NAN);
    hs_db_bind_real(statement, LIMIT, row->has_measure ? row->limit : (double)NAN);
    hs_db_bind_text(statement, UNIT, row->unit);
    hs_db_bind_text(statement, REVISION, row->revision);
    hs_db_bind_text(statement, MAP, row->map);
    hs_db_bind_text(statement, MAP_REVISION, row->map_revision);
    hs_db_bind_text(statement, SIZES, sizes);
    hs_db_bind_blob(statement, BODY, packed);
    return step(store, PUT_BODY);
}

static bool finds(struct hs_evidence_store *store, enum statement which)
{
    int64_t found;
    return read_number(store, which, &found);
}

/* Adds a row with the time row->at_us. If another row already has this time, tries the times after
   this time (`step` 1) or before this time (`step` -1). */
static bool put_at_free_time(struct hs_evidence_store *store, const struct hs_evidence_row *row,
                             int64_t step)
{
    enum { TRIES = 1000 };
    for (int64_t i = 0; i < TRIES; i++) {
        int64_t at_us = row->at_us + i * step;
        if (!put_body(store, at_us, row))
            return false;
        if (hs_db_changes(store->db) > 0)
            return put_verdict(store, at_us, row);
        hs_db_bind_text(store->statements[HAS_ID], 1, row->id);
        if (finds(store, HAS_ID))
            return true;
    }
    return false;
}

bool hs_evidence_store_put(struct hs_evidence_store *store, const struct hs_evidence_row *row,
                           int64_t end_us)
{
    int64_t at_us = row->at_us > store->newest_us ? row->at_us : store->newest_us + 1;
    if (at_us >= end_us)
        return put_at_free_time(store, row, -1);
    if (!put_body(store, at_us, row))
        return false;
    if (hs_db_changes(store->db) == 0)
        return true;
    store->newest_us = at_us;
    return put_verdict(store, at_us, row);
}

bool hs_evidence_store_copy(struct hs_evidence_store *store, const struct hs_evidence_row *row)
{
    return put_at_free_time(store, row, 1);
}

bool hs_evidence_store_has(struct hs_evidence_store *store, struct hs_str kind,
                           struct hs_str revision)
{
    struct hs_db_statement *statement = store->statements[HAS_DOCUMENT];
    hs_db_bind_text(statement, 1, kind);
    hs_db_bind_text(statement, 2, revision);
    return finds(store, HAS_DOCUMENT);
}

bool hs_evidence_store_put_document(struct hs_evidence_store *store, struct hs_str kind,
                                    struct hs_str name, struct hs_str revision,
                                    struct hs_str document)
{
    struct hs_db_statement *statement = store->statements[PUT_DOCUMENT];
    size_t packed = pack(store, &document, 1);
    if (packed == 0)
        return false;
    hs_db_bind_text(statement, 1, kind);
    hs_db_bind_text(statement, 2, revision);
    hs_db_bind_text(statement, 3, name);
    hs_db_bind_blob(statement, 4, (struct hs_str){(const char *)store->packed, packed});
    return step(store, PUT_DOCUMENT);
}
