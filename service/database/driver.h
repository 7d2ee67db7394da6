/* The interface between db.h and its drivers. */
#ifndef HS_SERVICE_DATABASE_DRIVER_H
#define HS_SERVICE_DATABASE_DRIVER_H

#include "service/database/db.h"

enum { HS_DB_MARKS = 3 };

/* The functions of one kind of database; see the functions of the same names in db.h. */
struct hs_db_driver {
    void (*close)(struct hs_db *db);
    const char *(*error)(const struct hs_db *db);
    bool (*has_refused)(const struct hs_db *db);
    bool (*is_damaged)(const struct hs_db *db); /* NULL: always false */
    bool (*is_fresh)(const struct hs_db *db);   /* can go back to a pool; NULL: always false */
    bool (*run)(struct hs_db *db, const char *sql);
    int64_t (*changes)(const struct hs_db *db);
    /* `sql` is in the dialect of the driver. */
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
    /* The replacements of `code_of(X)`, `text_of(X)` and `newest_first(X)`: one text before X and
       one after X. If the text before X is NULL, X is removed too. */
    const char *marks[HS_DB_MARKS][2];
    char parameter; /* the character before the number of a parameter */
};

/* Each driver's own structs begin with these structs. */
struct hs_db {
    const struct hs_db_driver *driver;
    struct hs_db_pool *pool; /* NULL: hs_db_close closes the connection */
};

struct hs_db_statement {
    struct hs_db *db;
    int parameters;
};

#endif
