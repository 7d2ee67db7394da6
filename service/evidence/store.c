#include "service/evidence/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "service/system/files.h"

/* Codes that the writer remembers, so that most texts need no query. A power of two. */
enum { REMEMBERED = 4096 };

enum { BUSY_MS = 2000 };

/* Against level 1, a verdict takes 43 % fewer instructions and 9 % more bytes. Levels below -3 save
   little more time: -5 takes 17 % fewer instructions and 8 % more bytes than -3. */
enum { PACK_LEVEL = -3 };

static const char schema[] =
    "CREATE TABLE IF NOT EXISTS codes(code INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE IF NOT EXISTS documents("
    " kind TEXT NOT NULL, revision TEXT NOT NULL, name TEXT NOT NULL, body BLOB NOT NULL,"
    " PRIMARY KEY(kind, revision)) WITHOUT ROWID;"
    "CREATE TABLE IF NOT EXISTS verdicts(at INTEGER PRIMARY KEY"
#define X(member, column) "," column " INTEGER NOT NULL"
    HS_EVIDENCE_TEXTS(X)
#undef X
        ");"
        "CREATE TABLE IF NOT EXISTS bodies(at INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE,"
        " now INTEGER NOT NULL, measured REAL, \"limit\" REAL, unit TEXT,"
        " revision TEXT NOT NULL, map TEXT, map_revision TEXT,"
        " sizes TEXT NOT NULL, body BLOB NOT NULL);"
        "CREATE INDEX IF NOT EXISTS by_player ON verdicts(player);"
        "CREATE INDEX IF NOT EXISTS by_account ON verdicts(account);"
        "CREATE INDEX IF NOT EXISTS by_match ON verdicts(match);"
        "CREATE INDEX IF NOT EXISTS by_target ON verdicts(target);"
        "CREATE INDEX IF NOT EXISTS by_reason ON verdicts(reason);";

#define TEXT_OF(number)  #number
#define VALUE_OF(number) TEXT_OF(number)
static const char set_version[] = "PRAGMA user_version = " VALUE_OF(HS_EVIDENCE_SCHEMA);

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
    [PUT_CODE] = "INSERT OR IGNORE INTO codes(text) VALUES(?)",
    [FIND_CODE] = "SELECT code FROM codes WHERE text = ?",
    [PUT_VERDICT] = "INSERT INTO verdicts VALUES(?"
#define X(member, column) ",?"
    HS_EVIDENCE_TEXTS(X)
#undef X
        ")",
    [PUT_BODY] = "INSERT OR IGNORE INTO bodies VALUES(?,?,?,?,?,?,?,?,?,?,?)",
    [HAS_DOCUMENT] = "SELECT 1 FROM documents WHERE kind = ? AND revision = ?",
    [PUT_DOCUMENT] = "INSERT OR IGNORE INTO documents VALUES(?,?,?,?)",
    [NEWEST] = "SELECT max(at) FROM verdicts",
    [CHANGES] = "PRAGMA data_version",
    [HAS_ID] = "SELECT 1 FROM bodies WHERE id = ?",
};

enum { STATEMENTS = sizeof texts / sizeof texts[0] };

struct remembered {
    struct hs_name text;
    int64_t code; /* 0: none */
};

struct hs_evidence_store {
    sqlite3 *db;
    sqlite3_stmt *statements[STATEMENTS];
    int64_t newest_us;
    int64_t changes; /* differs after another connection has changed the file */
    ZSTD_CCtx *packer;
    unsigned char *packed; /* space for a compressed body */
    size_t packed_capacity;
    struct remembered remembered[REMEMBERED];
};

sqlite3 *hs_evidence_store_db(struct hs_evidence_store *store)
{
    return store->db;
}

const char *hs_evidence_store_error(const struct hs_evidence_store *store)
{
    return sqlite3_errmsg(store->db);
}

bool hs_evidence_store_has_refused(const struct hs_evidence_store *store)
{
    switch (sqlite3_errcode(store->db)) {
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
        return true;
    default:
        return false;
    }
}

static bool is_damaged(int code)
{
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

bool hs_evidence_store_is_damaged(const struct hs_evidence_store *store)
{
    return is_damaged(sqlite3_errcode(store->db));
}

bool hs_evidence_store_file_is_damaged(const char *path)
{
    sqlite3 *db = NULL;
    bool is_open = sqlite3_open_v2(path, &db, SQLITE_OPEN_READONLY, NULL) == SQLITE_OK;
    int code = is_open ? sqlite3_exec(db, "SELECT max(at) FROM verdicts", NULL, NULL, NULL)
                       : sqlite3_errcode(db);
    sqlite3_close(db);
    return is_damaged(code);
}

static bool run(struct hs_evidence_store *store, const char *sql)
{
    return sqlite3_exec(store->db, sql, NULL, NULL, NULL) == SQLITE_OK;
}

/* Runs a prepared statement that gives no rows. */
static bool step(struct hs_evidence_store *store, enum statement which)
{
    sqlite3_stmt *statement = store->statements[which];
    bool fine = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_reset(statement);
    return fine;
}

static void bind_text(sqlite3_stmt *statement, int at, struct hs_str text)
{
    if (text.ptr == NULL)
        sqlite3_bind_null(statement, at);
    else
        sqlite3_bind_text(statement, at, text.ptr, (int)text.len, SQLITE_STATIC);
}

/* ---- the file ---- */

int hs_evidence_schema_of(sqlite3 *db)
{
    sqlite3_stmt *find;
    if (sqlite3_prepare_v2(db, "PRAGMA user_version", -1, &find, NULL) != SQLITE_OK)
        return -1;
    int version = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int(find, 0) : -1;
    sqlite3_finalize(find);
    return version;
}

/* Runs a prepared statement that gives one number. */
static bool read_number(struct hs_evidence_store *store, enum statement which, int64_t *out)
{
    sqlite3_stmt *statement = store->statements[which];
    bool fine = sqlite3_step(statement) == SQLITE_ROW;
    *out = fine ? sqlite3_column_int64(statement, 0) : 0;
    sqlite3_reset(statement);
    return fine;
}

static bool prepare(struct hs_evidence_store *store)
{
    for (int i = 0; i < STATEMENTS; i++)
        if (sqlite3_prepare_v3(store->db, texts[i], -1, SQLITE_PREPARE_PERSISTENT,
                               &store->statements[i], NULL) != SQLITE_OK)
            return false;
    return read_number(store, NEWEST, &store->newest_us);
}

/* WAL: readers never wait for the writer. With synchronous NORMAL a commit is in the log file,
   which survives a crash of the process. With FULL it is also synced to the disk. secure_delete:
   the bytes of a deleted player are overwritten. */
static bool set_up(struct hs_evidence_store *store, bool is_synced)
{
    return run(store, "PRAGMA journal_mode = WAL") &&
           run(store, is_synced ? "PRAGMA synchronous = FULL" : "PRAGMA synchronous = NORMAL") &&
           run(store, "PRAGMA wal_autocheckpoint = 4000") &&
           run(store, "PRAGMA cache_size = -32768") && /* KiB; the ends of all indexes fit */
           run(store, "PRAGMA secure_delete = ON") && run(store, "BEGIN IMMEDIATE") &&
           run(store, schema) && run(store, set_version) && run(store, "COMMIT") && prepare(store);
}

/* Returns the bytes of a file with empty tables, for sqlite3_free(). NULL: out of memory. */
static unsigned char *make_tables(sqlite3_int64 *size)
{
    enum { WRITE_VERSION = 18, READ_VERSION = 19, WAL = 2 }; /* of the file format */
    sqlite3 *db = NULL;
    unsigned char *bytes = NULL;
    if (sqlite3_open(":memory:", &db) == SQLITE_OK &&
        sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
        sqlite3_exec(db, set_version, NULL, NULL, NULL) == SQLITE_OK)
        bytes = sqlite3_serialize(db, "main", size, 0);
    sqlite3_close(db);
    if (bytes != NULL)
        bytes[WRITE_VERSION] = bytes[READ_VERSION] = WAL;
    return bytes;
}

/* Makes the file with its tables, for this user alone, unless it exists. SQLite would lock it until
   all of it is on the disk, so readers of a slow disk would fail. False with errno. */
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
                (link(fresh, path) == 0 || errno == EEXIST); /* another thread was faster */
    int error = errno;
    if (fd >= 0) {
        unlink(fresh);
        close(fd);
    }
    sqlite3_free(bytes);
    errno = error;
    return fine;
}

/* Opens the file and its tables. False with a sentence. */
static bool open_file(struct hs_evidence_store *store, const char *path, bool is_synced,
                      char error[256])
{
    int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
    if (!make_file(path)) {
        snprintf(error, 256, "%.150s: %s", path, strerror(errno));
        return false;
    }
    bool fine = sqlite3_open_v2(path, &store->db, flags, NULL) == SQLITE_OK;
    if (fine)
        sqlite3_busy_timeout(store->db, BUSY_MS);
    int version = fine ? hs_evidence_schema_of(store->db) : -1;
    if (version > 0 && version != HS_EVIDENCE_SCHEMA) {
        snprintf(error, 256, "%.150s has tables of version %d, and this program writes version %d",
                 path, version, HS_EVIDENCE_SCHEMA);
        return false;
    }
    fine = fine && version >= 0 && set_up(store, is_synced);
    if (!fine && store->db != NULL)
        snprintf(error, 256, "%.150s: %s", path, sqlite3_errmsg(store->db));
    return fine;
}

struct hs_evidence_store *hs_evidence_store_open(const char *path, bool is_synced, char error[256])
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
    if (open_file(store, path, is_synced, error))
        return store;
    hs_evidence_store_close(store);
    return NULL;
}

void hs_evidence_store_close(struct hs_evidence_store *store)
{
    if (store == NULL)
        return;
    for (int i = 0; i < STATEMENTS; i++)
        sqlite3_finalize(store->statements[i]);
    sqlite3_close(store->db);
    ZSTD_freeCCtx(store->packer);
    free(store->packed);
    free(store);
}

/* ---- transactions ---- */

static void forget_codes(struct hs_evidence_store *store)
{
    memset(store->remembered, 0, sizeof store->remembered);
}

/* Another connection may have deleted codes together with a player, so they are forgotten then. */
bool hs_evidence_store_begin(struct hs_evidence_store *store)
{
    int64_t changes = 0;
    if (!run(store, "BEGIN IMMEDIATE") || !read_number(store, CHANGES, &changes))
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
    forget_codes(store); /* their rows may be undone */
}

/* ---- rows ---- */

/* Returns the code of a text, and gives it one if it has none. 0: failed. */
static int64_t code_of(struct hs_evidence_store *store, struct hs_str text)
{
    text = text.ptr != NULL ? text : HS_STR("");
    struct remembered *remembered = &store->remembered[hs_str_hash(text) & (REMEMBERED - 1)];
    if (remembered->code != 0 && hs_str_equal(hs_name_str(&remembered->text), text))
        return remembered->code;
    sqlite3_stmt *find = store->statements[FIND_CODE];
    bind_text(store->statements[PUT_CODE], 1, text);
    if (!step(store, PUT_CODE))
        return 0;
    bind_text(find, 1, text);
    int64_t code = sqlite3_step(find) == SQLITE_ROW ? sqlite3_column_int64(find, 0) : 0;
    sqlite3_reset(find);
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
    sqlite3_stmt *statement = store->statements[PUT_VERDICT];
    sqlite3_bind_int64(statement, 1, at_us);
    for (size_t i = 0; i < sizeof columns / sizeof columns[0]; i++) {
        int64_t code = code_of(store, columns[i]);
        if (code == 0)
            return false;
        sqlite3_bind_int64(statement, (int)i + 2, code);
    }
    return step(store, PUT_VERDICT);
}

/* Compresses the parts, one after the other, into store->packed. Returns the size; 0: out of
   memory. */
static size_t pack(struct hs_evidence_store *store, const struct hs_str *parts, size_t count)
{
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        size += parts[i].len;
    size_t bound = ZSTD_compressBound(size);
    if (bound > store->packed_capacity) {
        unsigned char *more = realloc(store->packed, bound);
        if (more == NULL)
            return 0;
        store->packed = more;
        store->packed_capacity = bound;
    }
    ZSTD_outBuffer out = {store->packed, bound, 0};
    if (ZSTD_isError(ZSTD_CCtx_reset(store->packer, ZSTD_reset_session_only)) ||
        ZSTD_isError(ZSTD_CCtx_setPledgedSrcSize(store->packer, size)))
        return 0;
    for (size_t i = 0; i < count; i++) {
        ZSTD_inBuffer in = {parts[i].ptr, parts[i].len, 0};
        ZSTD_EndDirective end = i + 1 < count ? ZSTD_e_continue : ZSTD_e_end;
        if (ZSTD_isError(ZSTD_compressStream2(store->packer, &out, &in, end)))
            return 0;
    }
    return out.pos;
}

static bool put_body(struct hs_evidence_store *store, int64_t at_us,
                     const struct hs_evidence_row *row)
{
    const struct hs_str parts[] = {row->opening, row->request, row->state, row->context};
    enum { AT = 1, ID, NOW, MEASURED, LIMIT, UNIT, REVISION, MAP, MAP_REVISION, SIZES, BODY };
    char sizes[96];
    size_t packed = pack(store, parts, sizeof parts / sizeof *parts);
    sqlite3_stmt *statement = store->statements[PUT_BODY];
    if (packed == 0)
        return false;
    int len = snprintf(sizes, sizeof sizes, "%zu %zu %zu %zu", parts[0].len, parts[1].len,
                       parts[2].len, parts[3].len);
    sqlite3_bind_int64(statement, AT, at_us);
    bind_text(statement, ID, row->id);
    sqlite3_bind_int64(statement, NOW, row->now_us);
    sqlite3_bind_null(statement, MEASURED);
    sqlite3_bind_null(statement, LIMIT);
    if (row->has_measure) {
        sqlite3_bind_double(statement, MEASURED, row->measured);
        sqlite3_bind_double(statement, LIMIT, row->limit);
    }
    bind_text(statement, UNIT, row->unit);
    bind_text(statement, REVISION, row->revision);
    bind_text(statement, MAP, row->map);
    bind_text(statement, MAP_REVISION, row->map_revision);
    bind_text(statement, SIZES, (struct hs_str){sizes, (size_t)len});
    sqlite3_bind_blob(statement, BODY, store->packed, (int)packed, SQLITE_STATIC);
    return step(store, PUT_BODY);
}

/* A verdict that is stored already (its id is used) changes nothing. */
bool hs_evidence_store_put(struct hs_evidence_store *store, const struct hs_evidence_row *row)
{
    int64_t at_us = row->at_us > store->newest_us ? row->at_us : store->newest_us + 1;
    if (!put_body(store, at_us, row))
        return false;
    if (sqlite3_changes(store->db) == 0)
        return true;
    store->newest_us = at_us;
    return put_verdict(store, at_us, row);
}

static bool has_id(struct hs_evidence_store *store, struct hs_str id)
{
    sqlite3_stmt *statement = store->statements[HAS_ID];
    bind_text(statement, 1, id);
    bool has = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_reset(statement);
    return has;
}

bool hs_evidence_store_copy(struct hs_evidence_store *store, const struct hs_evidence_row *row)
{
    enum { TRIES = 1000 };
    for (int64_t at_us = row->at_us; at_us < row->at_us + TRIES; at_us++) {
        if (has_id(store, row->id))
            return true;
        if (!put_body(store, at_us, row))
            return false;
        if (sqlite3_changes(store->db) > 0)
            return put_verdict(store, at_us, row);
    }
    return false;
}

bool hs_evidence_store_has(struct hs_evidence_store *store, struct hs_str kind,
                           struct hs_str revision)
{
    sqlite3_stmt *statement = store->statements[HAS_DOCUMENT];
    bind_text(statement, 1, kind);
    bind_text(statement, 2, revision);
    bool has = sqlite3_step(statement) == SQLITE_ROW;
    sqlite3_reset(statement);
    return has;
}

bool hs_evidence_store_put_document(struct hs_evidence_store *store, struct hs_str kind,
                                    struct hs_str name, struct hs_str revision,
                                    struct hs_str document)
{
    sqlite3_stmt *statement = store->statements[PUT_DOCUMENT];
    size_t packed = pack(store, &document, 1);
    if (packed == 0)
        return false;
    bind_text(statement, 1, kind);
    bind_text(statement, 2, revision);
    bind_text(statement, 3, name);
    sqlite3_bind_blob(statement, 4, store->packed, (int)packed, SQLITE_STATIC);
    return step(store, PUT_DOCUMENT);
}
