#include "service/database/db.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/json/buffer.h"
#include "service/database/driver.h"

/* ---- dialects ---- */

/* If `code_of(X)`, `text_of(X)` or `newest_first(X)` (db.h) begins at `at`, writes the replacement
   and returns the end of the replaced part. Otherwise returns `at`. */
static const char *put_mark(const struct hs_db_driver *driver, const char *at,
                            struct hs_buffer *out)
{
    static const char *const names[HS_DB_MARKS] = {"code_of(", "text_of(", "newest_first("};
    for (int i = 0; i < HS_DB_MARKS; i++) {
        size_t len = strlen(names[i]);
        if (strncmp(at, names[i], len) != 0)
            continue;
        size_t inner = strcspn(at + len, ")");
        if (driver->marks[i][0] != NULL) {
            hs_buffer_puts(out, driver->marks[i][0]);
            hs_buffer_append(out, at + len, inner);
            hs_buffer_puts(out, driver->marks[i][1]);
        }
        return at + len + inner + 1;
    }
    return at;
}

static void replace_marks(const struct hs_db_driver *driver, const char *sql, struct hs_buffer *out)
{
    while (*sql != '\0') {
        const char *end = put_mark(driver, sql, out);
        if (end == sql)
            hs_buffer_append(out, end++, 1);
        sql = end;
    }
    hs_buffer_append(out, "", 1);
}

/* Copies the SQL and numbers its parameters. Returns the number of parameters. */
static int number_parameters(char parameter, const char *sql, struct hs_buffer *out)
{
    long count = 0;
    for (size_t len; (len = strcspn(sql, "?")), sql[len] == '?';) {
        char *end;
        hs_buffer_append(out, sql, len);
        sql += len + 1;
        long number = strtol(sql, &end, 10);
        number = end != sql ? number : count + 1;
        count = number > count ? number : count;
        hs_buffer_printf(out, "%c%ld", parameter, number);
        sql = end;
    }
    hs_buffer_append(out, sql, strlen(sql) + 1);
    return (int)count;
}

struct hs_db_statement *hs_db_prepare(struct hs_db *db, const char *sql)
{
    struct hs_buffer marked = {0}, numbered = {0};
    struct hs_db_statement *statement = NULL;
    int count = 0;
    replace_marks(db->driver, sql, &marked);
    if (!marked.failed)
        count = number_parameters(db->driver->parameter, marked.data, &numbered);
    if (!marked.failed && !numbered.failed)
        statement = db->driver->prepare(db, numbered.data, count);
    if (statement != NULL) {
        statement->db = db;
        statement->parameters = count;
    }
    hs_buffer_free(&marked);
    hs_buffer_free(&numbered);
    return statement;
}

/* ---- pools ---- */

enum { IDLE_MAX = 4 };

struct hs_db_pool {
    pthread_mutex_t lock;
    struct hs_db *idle[IDLE_MAX];
    int count;
};

struct hs_db_pool *hs_db_pool_create(void)
{
    struct hs_db_pool *pool = calloc(1, sizeof *pool);
    if (pool != NULL)
        pthread_mutex_init(&pool->lock, NULL);
    return pool;
}

void hs_db_pool_destroy(struct hs_db_pool *pool)
{
    if (pool == NULL)
        return;
    for (struct hs_db *db; (db = hs_db_pool_take(pool)) != NULL;)
        db->driver->close(db);
    pthread_mutex_destroy(&pool->lock);
    free(pool);
}

struct hs_db *hs_db_pool_take(struct hs_db_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    struct hs_db *db = pool->count > 0 ? pool->idle[--pool->count] : NULL;
    pthread_mutex_unlock(&pool->lock);
    if (db != NULL)
        db->pool = NULL;
    return db;
}

void hs_db_pool_add(struct hs_db_pool *pool, struct hs_db *db)
{
    db->pool = pool;
}

static bool put_back(struct hs_db *db)
{
    struct hs_db_pool *pool = db->pool;
    if (pool == NULL || db->driver->is_fresh == NULL || !db->driver->is_fresh(db))
        return false;
    pthread_mutex_lock(&pool->lock);
    bool fits = pool->count < IDLE_MAX;
    if (fits)
        pool->idle[pool->count++] = db;
    pthread_mutex_unlock(&pool->lock);
    return fits;
}

void hs_db_close(struct hs_db *db)
{
    if (db != NULL && !put_back(db))
        db->driver->close(db);
}

/* ---- calls of the driver ---- */

bool hs_db_is_postgres(const struct hs_db *db)
{
    return db->driver->parameter == '$';
}

const char *hs_db_error(const struct hs_db *db)
{
    return db != NULL ? db->driver->error(db) : "out of memory";
}

bool hs_db_has_refused(const struct hs_db *db)
{
    return db->driver->has_refused(db);
}

bool hs_db_is_damaged(const struct hs_db *db)
{
    return db->driver->is_damaged != NULL && db->driver->is_damaged(db);
}

bool hs_db_run(struct hs_db *db, const char *sql)
{
    return db->driver->run(db, sql);
}

int64_t hs_db_changes(const struct hs_db *db)
{
    return db->driver->changes(db);
}

void hs_db_finalize(struct hs_db_statement *statement)
{
    if (statement != NULL)
        statement->db->driver->finalize(statement);
}

void hs_db_bind_int(struct hs_db_statement *statement, int at, int64_t value)
{
    statement->db->driver->bind_int(statement, at, value);
}

void hs_db_bind_real(struct hs_db_statement *statement, int at, double value)
{
    statement->db->driver->bind_real(statement, at, value);
}

void hs_db_bind_text(struct hs_db_statement *statement, int at, struct hs_str text)
{
    statement->db->driver->bind_text(statement, at, text);
}

void hs_db_bind_blob(struct hs_db_statement *statement, int at, struct hs_str bytes)
{
    statement->db->driver->bind_blob(statement, at, bytes);
}

enum hs_db_step hs_db_step(struct hs_db_statement *statement)
{
    return statement != NULL ? statement->db->driver->step(statement) : HS_DB_FAILED;
}

void hs_db_reset(struct hs_db_statement *statement)
{
    statement->db->driver->reset(statement);
}

int64_t hs_db_int(struct hs_db_statement *row, int column)
{
    return row->db->driver->get_int(row, column);
}

double hs_db_real(struct hs_db_statement *row, int column)
{
    return row->db->driver->get_real(row, column);
}

struct hs_str hs_db_text(struct hs_db_statement *row, int column)
{
    return row->db->driver->get_text(row, column);
}

struct hs_str hs_db_blob(struct hs_db_statement *row, int column)
{
    return row->db->driver->get_blob(row, column);
}

bool hs_db_is_null(struct hs_db_statement *row, int column)
{
    return row->db->driver->is_null(row, column);
}

struct hs_db *hs_db_of(const struct hs_db_statement *statement)
{
    return statement->db;
}

/* ---- statements in one call ---- */

bool hs_db_finish(struct hs_db_statement *statement)
{
    bool fine = hs_db_step(statement) == HS_DB_DONE;
    if (statement != NULL)
        hs_db_reset(statement);
    return fine;
}

bool hs_db_do(struct hs_db *db, const char *sql, const struct hs_str *texts)
{
    struct hs_db_statement *statement = hs_db_prepare(db, sql);
    for (int i = 0; statement != NULL && i < statement->parameters; i++)
        hs_db_bind_text(statement, i + 1, texts[i]);
    bool fine = hs_db_finish(statement);
    hs_db_finalize(statement);
    return fine;
}

int64_t hs_db_number(struct hs_db *db, const char *sql, const struct hs_str *texts, int64_t failed)
{
    struct hs_db_statement *find = hs_db_prepare(db, sql);
    int64_t number = failed;
    for (int i = 0; find != NULL && i < find->parameters; i++)
        hs_db_bind_text(find, i + 1, texts[i]);
    if (hs_db_step(find) == HS_DB_ROW)
        number = hs_db_int(find, 0);
    hs_db_finalize(find);
    return number;
}
