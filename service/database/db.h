/*
 * Statements over a connection to SQLite or PostgreSQL. Callers write the same SQL for both
 * databases. A driver replaces the following parts, which differ between the dialects:
 *
 * | in the SQL        | SQLite                                    | PostgreSQL        |
 * |-------------------|-------------------------------------------|-------------------|
 * | `?`, `?1`         | `?1`                                      | `$1`              |
 * | `code_of(X)`      | `(SELECT code FROM codes WHERE text = X)` | `(X)`             |
 * | `text_of(X)`      | `(SELECT text FROM codes WHERE code = X)` | `(X)`             |
 * | `newest_first(X)` | nothing: the rows are already in order | `ORDER BY X DESC` |
 *
 * SQLite stores numbers in place of repeated texts, to save space. PostgreSQL stores the texts, so
 * that other programs can read its tables. `X` must not contain parentheses.
 *
 * Only one thread at a time may use a connection.
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

/* Opens a file, which must exist. A call waits at most `busy_ms` for the transaction of another
   connection. On failure, *fine is false, and the result may be NULL. In that case, use the result
   only for hs_db_error and hs_db_close. */
struct hs_db *hs_db_open_sqlite(const char *path, bool can_write, int busy_ms, bool *fine);

/* Connects to a PostgreSQL server. `file` contains the connection string of libpq; if `file` is "",
   libpq reads its environment variables. Each call reads the file, so a new password needs no
   restart. `schema`: the schema with the tables. A connection attempt takes at most two seconds for
   each host. The server ends a statement after five seconds. If the server does not answer for six
   seconds, the connection is closed, and all calls fail. On failure returns NULL with a message in
   `error`. The message contains no part of the connection string. */
struct hs_db *hs_db_open_postgres(const char *file, const char *schema, char error[256]);

/* Does nothing for NULL. A connection of a pool returns to the pool if it works and the pool has
   space. */
void hs_db_close(struct hs_db *db);

/*
 * Idle connections to one schema of PostgreSQL. A new connection starts a process of the server,
 * and plans its first queries slowly, because it must first read the catalog rows of each
 * partition. Thread-safe.
 */
struct hs_db_pool;

/* NULL: out of memory. hs_db_pool_destroy closes the idle connections, and does nothing for NULL.
   Close all other connections of the pool first. */
struct hs_db_pool *hs_db_pool_create(void);
void hs_db_pool_destroy(struct hs_db_pool *pool);

/* Takes an idle connection, which may have failed while it was idle. Close it with hs_db_close.
   NULL: no connection is idle. */
struct hs_db *hs_db_pool_take(struct hs_db_pool *pool);
/* Makes hs_db_close put a connection into the pool. */
void hs_db_pool_add(struct hs_db_pool *pool, struct hs_db *db);

/* Returns whether the database is PostgreSQL. A few statements exist in only one dialect. */
bool hs_db_is_postgres(const struct hs_db *db);

/* Returns the reason for the last failure; the text is valid until the next call. */
const char *hs_db_error(const struct hs_db *db);

/* Returns whether the last call failed because of its values, so that the same call will always
   fail. Other causes of failures are the disk, memory, the network, and other users of the
   database. */
bool hs_db_has_refused(const struct hs_db *db);

/* Returns whether the last call failed because the file is damaged or is not a database, so that
   all later calls will fail. Always false with PostgreSQL. */
bool hs_db_is_damaged(const struct hs_db *db);

/* Runs statements, separated by `;`. The statements must be in the dialect of the driver. */
bool hs_db_run(struct hs_db *db, const char *sql);

/* Returns the number of rows that the last step inserted or deleted. */
int64_t hs_db_changes(const struct hs_db *db);

/* Prepares a statement. NULL: failed. PostgreSQL reports a wrong statement in the first step. */
struct hs_db_statement *hs_db_prepare(struct hs_db *db, const char *sql);
/* Does nothing for NULL. */
void hs_db_finalize(struct hs_db_statement *statement);

/* Binds a parameter, from 1. A parameter that the statement does not have is ignored. Texts and
   blobs must stay valid until the first step. A text with ptr NULL and the number NAN are bound as
   NULL. After hs_db_reset, bind all parameters again. */
void hs_db_bind_int(struct hs_db_statement *statement, int at, int64_t value);
void hs_db_bind_real(struct hs_db_statement *statement, int at, double value);
void hs_db_bind_text(struct hs_db_statement *statement, int at, struct hs_str text);
void hs_db_bind_blob(struct hs_db_statement *statement, int at, struct hs_str bytes);

/* Goes to the next row. A NULL statement fails. */
enum hs_db_step hs_db_step(struct hs_db_statement *statement);
void hs_db_reset(struct hs_db_statement *statement);

/* Runs a statement that returns no rows, and resets it. Returns false for NULL. */
bool hs_db_finish(struct hs_db_statement *statement);

/* Prepares a statement that returns no rows, binds a text to each parameter, and runs the
   statement. */
bool hs_db_do(struct hs_db *db, const char *sql, const struct hs_str *texts);
/* Like hs_db_do, for a statement that returns one number. Returns this number. Returns `failed` if
   there is no row, or the statement failed. */
int64_t hs_db_number(struct hs_db *db, const char *sql, const struct hs_str *texts, int64_t failed);

/* Return a column of the current row; the first column is 0. Texts and blobs are borrowed until the
   next step. If the value is NULL in SQL, the text has ptr NULL. */
int64_t hs_db_int(struct hs_db_statement *row, int column);
double hs_db_real(struct hs_db_statement *row, int column);
struct hs_str hs_db_text(struct hs_db_statement *row, int column);
struct hs_str hs_db_blob(struct hs_db_statement *row, int column);
bool hs_db_is_null(struct hs_db_statement *row, int column);

/* Returns the connection of a statement. */
struct hs_db *hs_db_of(const struct hs_db_statement *statement);

#endif
