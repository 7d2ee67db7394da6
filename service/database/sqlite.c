/* The driver for SQLite. */
#include <sqlite3.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <time.h>

#include "service/database/driver.h"
#include "service/system/clock.h"

struct connection {
    struct hs_db base;
    sqlite3 *sqlite;
    int busy_ms;
    bool waits;       /* the connection waits until another connection releases a lock */
    int64_t until_us; /* when the wait ends (hs_clock_us) */
};

/* The number of connections that wait for a lock. */
static atomic_int waiting;

struct statement {
    struct hs_db_statement base;
    sqlite3_stmt *sqlite;
};

static sqlite3 *sqlite_of(const struct hs_db *db)
{
    return ((const struct connection *)db)->sqlite;
}

static sqlite3_stmt *statement_of(const struct hs_db_statement *statement)
{
    return ((const struct statement *)statement)->sqlite;
}

bool hs_db_has_waiting(void)
{
    return atomic_load(&waiting) > 0;
}

static void end_wait(struct hs_db *db)
{
    struct connection *connection = (struct connection *)db;
    if (connection->waits)
        atomic_fetch_sub(&waiting, 1);
    connection->waits = false;
}

static void close_file(struct hs_db *db)
{
    end_wait(db);
    sqlite3_close(sqlite_of(db));
    free(db);
}

static const char *error_of(const struct hs_db *db)
{
    return sqlite3_errmsg(sqlite_of(db));
}

static bool has_refused(const struct hs_db *db)
{
    switch (sqlite3_errcode(sqlite_of(db))) {
    case SQLITE_CONSTRAINT:
    case SQLITE_TOOBIG:
    case SQLITE_MISMATCH:
        return true;
    default:
        return false;
    }
}

static bool is_damaged(const struct hs_db *db)
{
    int code = sqlite3_errcode(sqlite_of(db));
    return code == SQLITE_CORRUPT || code == SQLITE_NOTADB;
}

static bool run(struct hs_db *db, const char *sql)
{
    int result = sqlite3_exec(sqlite_of(db), sql, NULL, NULL, NULL);
    end_wait(db);
    return result == SQLITE_OK;
}

static int64_t changes(const struct hs_db *db)
{
    return sqlite3_changes(sqlite_of(db));
}

static struct hs_db_statement *prepare(struct hs_db *db, const char *sql, int parameters)
{
    (void)parameters; /* SQLite counts the parameters itself */
    struct statement *statement = calloc(1, sizeof *statement);
    if (statement != NULL &&
        sqlite3_prepare_v2(sqlite_of(db), sql, -1, &statement->sqlite, NULL) == SQLITE_OK)
        return &statement->base;
    free(statement);
    return NULL;
}

static void finalize(struct hs_db_statement *statement)
{
    sqlite3_finalize(statement_of(statement));
    free(statement);
}

static void bind_int(struct hs_db_statement *statement, int at, int64_t value)
{
    sqlite3_bind_int64(statement_of(statement), at, value);
}

static void bind_real(struct hs_db_statement *statement, int at, double value)
{
    sqlite3_bind_double(statement_of(statement), at, value);
}

static void bind_text(struct hs_db_statement *statement, int at, struct hs_str text)
{
    sqlite3_bind_text(statement_of(statement), at, text.ptr, (int)text.len, SQLITE_STATIC);
}

static void bind_blob(struct hs_db_statement *statement, int at, struct hs_str bytes)
{
    sqlite3_bind_blob(statement_of(statement), at, bytes.ptr, (int)bytes.len, SQLITE_STATIC);
}

static enum hs_db_step step(struct hs_db_statement *statement)
{
    int result = sqlite3_step(statement_of(statement));
    end_wait(statement->db);
    return result == SQLITE_ROW ? HS_DB_ROW : result == SQLITE_DONE ? HS_DB_DONE : HS_DB_FAILED;
}

static void reset(struct hs_db_statement *statement)
{
    sqlite3_reset(statement_of(statement));
}

static int64_t get_int(struct hs_db_statement *row, int column)
{
    return sqlite3_column_int64(statement_of(row), column);
}

static double get_real(struct hs_db_statement *row, int column)
{
    return sqlite3_column_double(statement_of(row), column);
}

static struct hs_str get_text(struct hs_db_statement *row, int column)
{
    const char *text = (const char *)sqlite3_column_text(statement_of(row), column);
    size_t len = text != NULL ? (size_t)sqlite3_column_bytes(statement_of(row), column) : 0;
    return (struct hs_str){text, len};
}

static struct hs_str get_blob(struct hs_db_statement *row, int column)
{
    const char *bytes = sqlite3_column_blob(statement_of(row), column);
    return (struct hs_str){bytes, (size_t)sqlite3_column_bytes(statement_of(row), column)};
}

static bool is_null(struct hs_db_statement *row, int column)
{
    return sqlite3_column_type(statement_of(row), column) == SQLITE_NULL;
}

static const struct hs_db_driver driver = {
    .close = close_file,
    .error = error_of,
    .has_refused = has_refused,
    .is_damaged = is_damaged,
    .run = run,
    .changes = changes,
    .prepare = prepare,
    .finalize = finalize,
    .bind_int = bind_int,
    .bind_real = bind_real,
    .bind_text = bind_text,
    .bind_blob = bind_blob,
    .step = step,
    .reset = reset,
    .get_int = get_int,
    .get_real = get_real,
    .get_text = get_text,
    .get_blob = get_blob,
    .is_null = is_null,
    .marks = {{"(SELECT code FROM codes WHERE text = ", ")"},
              {"(SELECT text FROM codes WHERE code = ", ")"}},
    .parameter = '?',
};

/* SQLite calls this function while another connection has a lock. With sqlite3_busy_timeout, SQLite
   would try again only every 0.1 s, and the connection would wait longer. Longer waits would delay
   the writer of the evidence store, which pauses while another connection waits
   (hs_db_has_waiting). */
static int wait_for_lock(void *context, int tries)
{
    enum { NAP_NS = 1000000 };
    struct connection *connection = context;
    int64_t now_us = hs_clock_us();
    if (!connection->waits)
        atomic_fetch_add(&waiting, 1);
    connection->waits = true;
    if (tries == 0)
        connection->until_us = now_us + INT64_C(1000) * connection->busy_ms;
    if (now_us >= connection->until_us)
        return 0;
    nanosleep(&(struct timespec){.tv_nsec = NAP_NS}, NULL);
    return 1;
}

struct hs_db *hs_db_open_sqlite(const char *path, bool can_write, int busy_ms, bool *fine)
{
    int flags = (can_write ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY) | SQLITE_OPEN_NOMUTEX;
    struct connection *connection = calloc(1, sizeof *connection);
    *fine = false;
    if (connection == NULL)
        return NULL;
    connection->base.driver = &driver;
    connection->busy_ms = busy_ms;
    *fine = sqlite3_open_v2(path, &connection->sqlite, flags, NULL) == SQLITE_OK;
    if (*fine)
        sqlite3_busy_handler(connection->sqlite, wait_for_lock, connection);
    return &connection->base;
}
