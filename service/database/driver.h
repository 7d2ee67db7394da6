/* The interface between db.h and its drivers. */
#ifndef HS_SERVICE_DATABASE_DRIVER_H
#define HS_SERVICE_DATABASE_DRIVER_H

#include "service/database/db.h"

enum { HS_DB_MARKS = 3 };

/* db.h describes the functions with the same names. */
struct hs_db_driver {
    void (*close)(struct hs_db *db);
    const char *(*error)(const struct hs_db *db);
    bool (*has_refused)(const struct hs_db *db);
    bool (*is_damaged)(const struct hs_db *db); /* NULL: always false */
    bool (*is_fresh)(const struct hs_db *db); /* whether `db` may return to its pool; NULL: never */
    bool (*run)(struct hs_db *db, const char *sql);
    int64_t (*changes)(const struct hs_db *db);
    /* `sql` is already in the dialect of the driver. */
    struct hs_db_statement *(*prepare)(struct hs_db *db, const char *sql, int parameters);
    void (*finalize)(struct hs_db_statement *statement);
    void (*bind_int)(struct hs_db_statement *statement, int at, int64_t value);
    void (*bind_real)(struct hs_db_statement *statement, int at, double value);
    void (*bind_text)(struct hs_db_statement *statement, int at, struct hs_str text);
    void (*bind_blob)(struct hs_db_statement *statement, int at, struct hs_str bytes);
    enum hs_db_step (*step)(struct hs_db_statement *statement);
    void (*reset)(struct hs_db_statement *statement);
    int64_t (*get_int)(struct hs_db_statement *row, int column);
    double (*get_real)(struct hs_db_statement *row, int column);
    struct hs_str (*get_text)(struct hs_db_statement *row, int column);
    struct hs_str (*get_blob)(struct hs_db_statement *row, int column);
    bool (*is_null)(struct hs_db_statement *row, int column);
    /* How to replace `code_of(X)`, `text_of(X)` and `newest_first(X)`: each row contains the texts
       to write before X and after X. If the text before X is NULL, X is removed, too. */
    const char *marks[HS_DB_MARKS][2];
    char parameter; /* the character in front of a parameter's number */
};

/* A driver's own structs for connections and statements begin with struct hs_db and struct
   hs_db_statement. */
struct hs_db {
    const struct hs_db_driver *driver;
    struct hs_db_pool *pool; /* NULL: the connection does not return to a pool */
};

struct hs_db_statement {
    struct hs_db *db;
    int parameters;
};

#endif
