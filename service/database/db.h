/*
 * SQL statements for SQLite and PostgreSQL. Callers write the same SQL for both databases. The
 * driver of a database replaces these parts of the SQL:
 *
 * | in the SQL        | SQLite                                    | PostgreSQL        |
 * |-------------------|-------------------------------------------|-------------------|
 * | `?`, `?1`         | `?1`                                      | `$1`              |
 * | `code_of(X)`      | `(SELECT code FROM codes WHERE text = X)` | `(X)`             |
 * | `text_of(X)`      | `(SELECT text FROM codes WHERE code = X)` | `(X)`             |
 * | `newest_first(X)` | nothing: the rows are already sorted      | `ORDER BY X DESC` |
 *
 * To save space, SQLite stores codes instead of repeated texts. PostgreSQL stores the texts, so
 * that other programs can read its tables. `X` must not contain parentheses.
 *
 * Only one thread at a time may use a connection and its statements.
 */
#ifndef HS_SERVICE_DATABASE_DB_H
#define HS_SERVICE_DATABASE_DB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "validators/str.h"

struct hs_db;
struct hs_db_statement;

enum hs_db_step { HS_DB_ROW, HS_DB_DONE, HS_DB_FAILED };

/* Opens a file, which must exist. While another connection has a transaction, each call that uses
   the file waits up to `busy_ms` milliseconds. On failure, *fine is false, and the result may be
   NULL; pass the result only to hs_db_error and hs_db_close. */
struct hs_db *hs_db_open_sqlite(const char *path, bool can_write, int busy_ms, bool *fine);

/* Returns whether any SQLite connection of this process waits for the transaction of another
   connection. Thread-safe. */
bool hs_db_has_waiting(void);

/* Connects to a PostgreSQL server. `file` contains a libpq connection string. Each call reads the
   file again, so a new password needs no restart. If `file` is "", libpq uses its environment
   variables. `schema`: the schema with the tables. By default, connecting takes at most two seconds
   for each host. The server ends a statement after five seconds. If the server does not answer for
   six seconds, the connection is closed, and all later calls fail. On failure returns NULL with a
   message in `error`, which contains no part of the connection string. */
struct hs_db *hs_db_open_postgres(const char *file, const char *schema, char error[256]);

/* Closes a connection, or returns it to the pool to which it was added. A connection returns to the
   pool if it still works, has no prepared statements (postgres.c), and fits into the pool. Does
   nothing for NULL. */
void hs_db_close(struct hs_db *db);

/*
 * Idle connections to one PostgreSQL schema. Opening a connection is slow. The server starts a
 * process for the connection. To plan the first queries, the server must read the catalog rows of
 * each partition. Thread-safe.
 */
struct hs_db_pool;

/* hs_db_pool_create returns NULL if memory runs out. hs_db_pool_destroy closes the idle
   connections, and does nothing for NULL. The caller must close all other connections first. */
struct hs_db_pool *hs_db_pool_create(void);
void hs_db_pool_destroy(struct hs_db_pool *pool);

/* Takes an idle connection out of the pool; close it with hs_db_close. The connection may have
   failed while it was idle. Returns NULL if no connection is idle. */
struct hs_db *hs_db_pool_take(struct hs_db_pool *pool);
/* From now on, hs_db_close returns this connection to the pool. */
void hs_db_pool_add(struct hs_db_pool *pool, struct hs_db *db);

/* Returns whether a connection uses PostgreSQL. For callers with statements that only one of the
   two databases understands. */
bool hs_db_is_postgres(const struct hs_db *db);

/* Returns the reason for the last failure; valid until the next call. */
const char *hs_db_error(const struct hs_db *db);

/* Returns whether the last call failed because of its values. In this case, a retry with the same
   values is useless. If the result is false, the call failed because of the disk, memory, the
   network, or another user of the database. */
bool hs_db_has_refused(const struct hs_db *db);

/* Returns whether the last call failed because the file is damaged or not a database. In this case,
   all later calls will fail, too. Always false with PostgreSQL. */
bool hs_db_is_damaged(const struct hs_db *db);

/* Runs statements that are separated by `;`. The driver replaces no parts of the SQL. */
bool hs_db_run(struct hs_db *db, const char *sql);

/* Returns the number of rows that the last statement inserted or deleted. */
int64_t hs_db_changes(const struct hs_db *db);

/* Prepares a statement. Returns NULL on failure. A PostgreSQL server checks a statement only in the
   first hs_db_step, which then fails if the statement is wrong. */
struct hs_db_statement *hs_db_prepare(struct hs_db *db, const char *sql);
/* Does nothing for NULL. */
void hs_db_finalize(struct hs_db_statement *statement);

/* Binds parameter `at`, counted from 1. Ignores a parameter that the statement does not have. Texts
   and blobs must stay valid until the first hs_db_step. A text with ptr NULL, and the number NAN,
   become NULL in SQL. After hs_db_reset, bind all parameters again. */
void hs_db_bind_int(struct hs_db_statement *statement, int at, int64_t value);
void hs_db_bind_real(struct hs_db_statement *statement, int at, double value);
void hs_db_bind_text(struct hs_db_statement *statement, int at, struct hs_str text);
void hs_db_bind_blob(struct hs_db_statement *statement, int at, struct hs_str bytes);

/* Advances to the next row. Fails if `statement` is NULL. */
enum hs_db_step hs_db_step(struct hs_db_statement *statement);
void hs_db_reset(struct hs_db_statement *statement);

/* Runs a statement that returns no rows, and resets it. Fails if `statement` is NULL. */
bool hs_db_finish(struct hs_db_statement *statement);

/* Prepares and runs a statement that returns no rows. `texts` has an element for each parameter. */
bool hs_db_do(struct hs_db *db, const char *sql, const struct hs_str *texts);
/* Like hs_db_do, for a statement that returns one number. Returns `failed` if there is no row or
   the statement fails. */
int64_t hs_db_number(struct hs_db *db, const char *sql, const struct hs_str *texts, int64_t failed);

/* Return a column of the current row, counted from 0. Texts and blobs are valid until the next
   hs_db_step. For NULL in SQL, the text has ptr NULL. */
int64_t hs_db_int(struct hs_db_statement *row, int column);
double hs_db_real(struct hs_db_statement *row, int column);
struct hs_str hs_db_text(struct hs_db_statement *row, int column);
struct hs_str hs_db_blob(struct hs_db_statement *row, int column);
bool hs_db_is_null(struct hs_db_statement *row, int column);

struct hs_db *hs_db_of(const struct hs_db_statement *statement);

#endif
