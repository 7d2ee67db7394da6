/* The driver for PostgreSQL (libpq). Parameters and columns are sent in binary format. The driver
   reads a complete result before it returns the first row. So another statement can use the
   connection while the caller reads the rows. */
#include <endian.h>
#include <errno.h>
#include <libpq-fe.h>
#include <math.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/buffer.h"
#include "service/database/driver.h"
#include "service/system/clock.h"
#include "service/system/files.h"

/* Max duration of a statement; the server enforces it, too. */
enum { STATEMENT_MS = 5000 };

enum { CONNECTION_MAX = 4096 };

/* Object ids of built-in types, which never change. */
enum { TYPE_BYTEA = 17, TYPE_INT = 20, TYPE_TEXT = 25, TYPE_REAL = 701 };

struct connection {
    struct hs_db base;
    PGconn *server;
    int64_t changes;
    unsigned prepared; /* number of statements prepared on the server */
    char state[6];     /* SQLSTATE of the last failure */
    char error[256];
};

/* The arrays that libpq needs for the parameters of a statement. X(type, member) */
#define PARAMETER(X) X(Oid, types) X(const char *, values) X(int, lengths) X(int, formats)

struct statement {
    struct hs_db_statement base;
    PGresult *result; /* NULL: the statement has not run yet */
    int row;          /* current row; -1: before the first row */
    unsigned uses;
    char name[16]; /* name on the server; "": not prepared there */
    char *sql;
    struct hs_buffer bytes; /* all bound values */
    size_t *offsets;        /* offset of each value in `bytes`; NOTHING: the value is NULL */
#define MEMBER(type, member) type *member;
    PARAMETER(MEMBER)
#undef MEMBER
};

enum { BINARY = 1 };
#define NOTHING SIZE_MAX

static struct connection *connection_of(const struct hs_db *db)
{
    return (struct connection *)db;
}

static struct statement *statement_of(const struct hs_db_statement *statement)
{
    return (struct statement *)statement;
}

/* ---- calls with a deadline ---- */

/* Copies a message, and makes it a single line. */
static void copy_line(char *to, size_t size, const char *from)
{
    size_t len = 0;
    for (; *from != '\0' && len + 1 < size; from++)
        to[len++] = *from == '\n' || *from == '\t' ? ' ' : *from;
    while (len > 0 && to[len - 1] == ' ')
        len--;
    to[len] = '\0';
}

/* Closes the connection and sets its error to `why`. If the connection stayed open, a late answer
   could be taken for the answer to the next statement. */
static bool lose(struct connection *connection, const char *why)
{
    connection->state[0] = '\0';
    copy_line(connection->error, sizeof connection->error, why);
    PQfinish(connection->server);
    connection->server = NULL;
    return false;
}

/* Waits until the socket is ready for `events`. If the socket is not ready at `until_us`, closes
   the connection and returns false. */
static bool await_socket(struct connection *connection, short events, int64_t until_us)
{
    struct pollfd socket = {.fd = PQsocket(connection->server), .events = events};
    int64_t left_us = until_us - hs_clock_us();
    int ready = left_us > 0 ? poll(&socket, 1, (int)(left_us / 1000) + 1) : 0;
    if (ready > 0 || (ready < 0 && errno == EINTR))
        return true;
    return lose(connection, "the server did not answer in time");
}

static bool send_all(struct connection *connection, int64_t until_us)
{
    for (;;) {
        int left = PQflush(connection->server);
        if (left == 0)
            return true;
        if (left < 0)
            return lose(connection, PQerrorMessage(connection->server));
        if (!await_socket(connection, POLLIN | POLLOUT, until_us))
            return false;
        if (PQconsumeInput(connection->server) == 0)
            return lose(connection, PQerrorMessage(connection->server));
    }
}

/* Waits for the next result of the statements that were sent. *result is NULL if there are no more
   results. Returns false if the connection failed. */
static bool next_result(struct connection *connection, int64_t until_us, PGresult **result)
{
    while (PQisBusy(connection->server)) {
        if (!await_socket(connection, POLLIN, until_us))
            return false;
        if (PQconsumeInput(connection->server) == 0)
            return lose(connection, PQerrorMessage(connection->server));
    }
    *result = PQgetResult(connection->server);
    return true;
}

static bool is_fine(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK;
}

static void keep_failure(struct connection *connection, const PGresult *result)
{
    const char *state = PQresultErrorField(result, PG_DIAG_SQLSTATE);
    snprintf(connection->state, sizeof connection->state, "%s", state != NULL ? state : "");
    copy_line(connection->error, sizeof connection->error, PQresultErrorMessage(result));
}

/* Reads the results of the statements that were just sent, and returns the last one. NULL: a
   statement or the connection failed. */
static PGresult *finish_sending(struct connection *connection, int was_sent)
{
    int64_t until_us = hs_clock_us() + (STATEMENT_MS + 1000) * INT64_C(1000);
    PGresult *last = NULL, *result;
    bool fine = was_sent != 0 && send_all(connection, until_us);
    if (was_sent == 0)
        lose(connection, PQerrorMessage(connection->server));
    while (connection->server != NULL && next_result(connection, until_us, &result) &&
           result != NULL) {
        if (fine && !is_fine(result)) {
            keep_failure(connection, result);
            fine = false;
        }
        PQclear(last);
        last = result;
    }
    if (fine && connection->server != NULL)
        return last;
    PQclear(last);
    return NULL;
}

/* ---- the connection ---- */

static void close_connection(struct hs_db *db)
{
    PQfinish(connection_of(db)->server);
    free(db);
}

static const char *error_of(const struct hs_db *db)
{
    return connection_of(db)->error;
}

/* Returns whether the SQLSTATE means that the server refused the values: class 22 (wrong data), 23
   (violated constraint) or 54 (too big). */
static bool has_refused(const struct hs_db *db)
{
    const char *state = connection_of(db)->state;
    return strncmp(state, "22", 2) == 0 || strncmp(state, "23", 2) == 0 ||
           strncmp(state, "54", 2) == 0;
}

/* Prepared statements stay on the server until the connection closes, so a connection with prepared
   statements does not return to the pool. */
static bool is_fresh(const struct hs_db *db)
{
    const struct connection *connection = connection_of(db);
    return connection->server != NULL && connection->prepared == 0 &&
           PQtransactionStatus(connection->server) == PQTRANS_IDLE;
}

static bool run(struct hs_db *db, const char *sql)
{
    struct connection *connection = connection_of(db);
    if (connection->server == NULL)
        return false;
    PGresult *result = finish_sending(connection, PQsendQuery(connection->server, sql));
    bool fine = result != NULL;
    PQclear(result);
    return fine;
}

static int64_t changes(const struct hs_db *db)
{
    return connection_of(db)->changes;
}

/* ---- statements ---- */

static void reset(struct hs_db_statement *base)
{
    struct statement *statement = statement_of(base);
    PQclear(statement->result);
    statement->result = NULL;
    statement->bytes.len = 0;
}

static void finalize(struct hs_db_statement *base)
{
    struct statement *statement = statement_of(base);
    reset(base);
#define FREE(type, member) free(statement->member);
    PARAMETER(FREE)
#undef FREE
    hs_buffer_free(&statement->bytes);
    free(statement->offsets);
    free(statement->sql);
    free(statement);
}

static struct hs_db_statement *prepare(struct hs_db *db, const char *sql, int parameters)
{
    size_t count = (size_t)parameters + 1;
    struct statement *statement = calloc(1, sizeof *statement);
    if (statement == NULL)
        return NULL;
    statement->base.db = db;
    statement->sql = strdup(sql);
    statement->offsets = calloc(count, sizeof *statement->offsets);
    bool fine = statement->sql != NULL && statement->offsets != NULL;
#define MAKE(type, member)                                                                         \
    statement->member = calloc(count, sizeof *statement->member);                                  \
    fine = fine && statement->member != NULL;
    PARAMETER(MAKE)
#undef MAKE
    for (int i = 0; fine && i < parameters; i++) {
        statement->types[i] = TYPE_TEXT;
        statement->formats[i] = BINARY;
        statement->offsets[i] = NOTHING;
    }
    if (fine)
        return &statement->base;
    finalize(&statement->base);
    return NULL;
}

static void bind(struct hs_db_statement *base, int at, Oid type, struct hs_str bytes)
{
    struct statement *statement = statement_of(base);
    if (at > base->parameters)
        return;
    statement->types[at - 1] = type;
    statement->lengths[at - 1] = (int)bytes.len;
    statement->offsets[at - 1] = bytes.ptr != NULL ? statement->bytes.len : NOTHING;
    if (bytes.ptr != NULL)
        hs_buffer_append(&statement->bytes, bytes.ptr, bytes.len);
}

/* libpq expects numbers in network byte order. */
static void bind_number(struct hs_db_statement *statement, int at, Oid type, uint64_t bits)
{
    bits = htobe64(bits);
    bind(statement, at, type, (struct hs_str){(const char *)&bits, sizeof bits});
}

static void bind_int(struct hs_db_statement *statement, int at, int64_t value)
{
    bind_number(statement, at, TYPE_INT, (uint64_t)value);
}

static void bind_real(struct hs_db_statement *statement, int at, double value)
{
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    if (isnan(value))
        bind(statement, at, TYPE_REAL, (struct hs_str){0});
    else
        bind_number(statement, at, TYPE_REAL, bits);
}

static void bind_text(struct hs_db_statement *statement, int at, struct hs_str text)
{
    bind(statement, at, TYPE_TEXT, text);
}

static void bind_blob(struct hs_db_statement *statement, int at, struct hs_str bytes)
{
    bind(statement, at, TYPE_BYTEA, bytes);
}

/* Prepares a statement on the server when the statement is used for the second time. From then on,
   the server does not parse the statement again. */
static bool prepare_on_server(struct connection *connection, struct statement *statement)
{
    if (statement->uses++ == 0 || statement->name[0] != '\0')
        return true;
    snprintf(statement->name, sizeof statement->name, "s%u", connection->prepared++);
    PGresult *result = finish_sending(
        connection, PQsendPrepare(connection->server, statement->name, statement->sql,
                                  statement->base.parameters, statement->types));
    bool fine = result != NULL;
    PQclear(result);
    return fine;
}

static bool execute(struct statement *statement)
{
    struct connection *connection = connection_of(statement->base.db);
    int count = statement->base.parameters;
    if (connection->server == NULL || statement->bytes.failed ||
        !prepare_on_server(connection, statement))
        return false;
    const char *const *values = statement->values;
    hs_buffer_append(&statement->bytes, "", 1); /* ensures that `data` is not NULL */
    for (int i = 0; i < count; i++)
        statement->values[i] =
            statement->offsets[i] != NOTHING ? statement->bytes.data + statement->offsets[i] : NULL;
    int sent = statement->name[0] != '\0'
                   ? PQsendQueryPrepared(connection->server, statement->name, count, values,
                                         statement->lengths, statement->formats, 1)
                   : PQsendQueryParams(connection->server, statement->sql, count, statement->types,
                                       values, statement->lengths, statement->formats, 1);
    statement->result = finish_sending(connection, sent);
    statement->row = -1;
    if (statement->result != NULL && PQresultStatus(statement->result) == PGRES_COMMAND_OK)
        connection->changes = strtoll(PQcmdTuples(statement->result), NULL, 10);
    return statement->result != NULL;
}

static enum hs_db_step step(struct hs_db_statement *base)
{
    struct statement *statement = statement_of(base);
    if (statement->result == NULL && !execute(statement))
        return HS_DB_FAILED;
    return ++statement->row < PQntuples(statement->result) ? HS_DB_ROW : HS_DB_DONE;
}

/* ---- columns ---- */

static bool is_null(struct hs_db_statement *base, int column)
{
    const struct statement *row = statement_of(base);
    return PQgetisnull(row->result, row->row, column) != 0;
}

static struct hs_str get_bytes(struct hs_db_statement *base, int column)
{
    const struct statement *row = statement_of(base);
    if (is_null(base, column))
        return (struct hs_str){0};
    return (struct hs_str){PQgetvalue(row->result, row->row, column),
                           (size_t)PQgetlength(row->result, row->row, column)};
}

static uint64_t get_bits(struct hs_db_statement *row, int column)
{
    struct hs_str bytes = get_bytes(row, column);
    uint64_t bits = 0;
    for (size_t i = 0; i < bytes.len; i++)
        bits = bits << 8 | (unsigned char)bytes.ptr[i];
    return bits;
}

/* All integer columns and counts are 64-bit, so the cast keeps the sign. */
static int64_t get_int(struct hs_db_statement *row, int column)
{
    return (int64_t)get_bits(row, column);
}

static double get_real(struct hs_db_statement *row, int column)
{
    uint64_t bits = get_bits(row, column);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

static const struct hs_db_driver driver = {
    .close = close_connection,
    .error = error_of,
    .has_refused = has_refused,
    .is_fresh = is_fresh,
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
    .get_text = get_bytes,
    .get_blob = get_bytes,
    .is_null = is_null,
    .marks = {{"(", ")"}, {"(", ")"}, {"ORDER BY ", " DESC"}},
    .parameter = '$',
};

/* ---- opening ---- */

/* Reads the connection string from a file. On failure returns false with a message that contains no
   part of the connection string. */
static bool read_connection(const char *path, char text[CONNECTION_MAX], char error[256])
{
    text[0] = '\0';
    FILE *file = path[0] != '\0' ? hs_file_read(path) : NULL;
    if (path[0] != '\0' && file == NULL) {
        snprintf(error, 256, "%.150s: %s", path, hs_file_error(errno));
        return false;
    }
    size_t len = file != NULL ? fread(text, 1, CONNECTION_MAX - 1, file) : 0;
    if (file != NULL)
        fclose(file);
    text[len] = '\0';
    PQconninfoOption *options = PQconninfoParse(text, NULL);
    bool fine = options != NULL;
    PQconninfoFree(options);
    if (!fine)
        snprintf(error, 256, "%.150s does not contain a PostgreSQL connection string", path);
    return fine;
}

/* Sets up the session. The timeouts make the server end the transaction of a client that hangs, so
   the locks of this transaction do not block other clients. enable_bitmapscan is off, because lists
   need rows in index order. PostgreSQL would use a bitmap scan for rows that are newer than the
   statistics, and then sort all rows of a day. enable_hashjoin and enable_mergejoin are off,
   because each statement needs few rows of the joined table. PostgreSQL overestimates the cost of
   finding such rows in many partitions, and would read all partitions instead. jit is off, because
   compiling a statement takes longer than running it. */
static bool set_up(struct connection *connection, const char *schema)
{
    char sql[384];
    snprintf(sql, sizeof sql,
             "SET search_path = %s; SET statement_timeout = %d; SET lock_timeout = 2000;"
             "SET idle_in_transaction_session_timeout = 10000; SET client_min_messages = error;"
             "SET enable_bitmapscan = off; SET enable_hashjoin = off; SET enable_mergejoin = off;"
             "SET jit = off",
             schema, STATEMENT_MS);
    return PQsetnonblocking(connection->server, 1) == 0 && run(&connection->base, sql);
}

struct hs_db *hs_db_open_postgres(const char *file, const char *schema, char error[256])
{
    /* libpq accepts a connection string as the value of `dbname`. A value in this string overrides
       a value of the same name that comes before `dbname`. */
    static const char *const names[] = {"connect_timeout", "application_name", "client_encoding",
                                        "dbname", NULL};
    char text[CONNECTION_MAX];
    const char *const values[] = {"2", "hindsight", "UTF8", text, NULL};
    if (!read_connection(file, text, error))
        return NULL;
    struct connection *connection = calloc(1, sizeof *connection);
    snprintf(error, 256, "out of memory");
    if (connection == NULL)
        return NULL;
    connection->base.driver = &driver;
    connection->server = PQconnectdbParams(names, values, 1);
    if (PQstatus(connection->server) != CONNECTION_OK)
        lose(connection, PQerrorMessage(connection->server));
    else if (set_up(connection, schema))
        return &connection->base;
    snprintf(error, 256, "%s", connection->error);
    close_connection(&connection->base);
    return NULL;
}
