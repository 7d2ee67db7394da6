#include "service/evidence/tables.h"

#include <stdio.h>

#include "service/evidence/files.h"
#include "service/system/clock.h"
#include "service/watch/log.h"

#define TEXT_OF(number)  #number
#define VALUE_OF(number) TEXT_OF(number)

/* The tables. NUMBER, REAL and BLOB are SQL types. `COLUMN`: a macro that returns the SQL for a
   text column. `unique`: SQL after the column `id` of `bodies`. `end`: SQL after the column lists
   of `verdicts` and `bodies`. */
#define TABLES(NUMBER, REAL, BLOB, COLUMN, unique, end)                                            \
    "CREATE TABLE IF NOT EXISTS documents("                                                        \
    " kind TEXT NOT NULL, revision TEXT NOT NULL, name TEXT NOT NULL, body " BLOB " NOT NULL,"     \
    " PRIMARY KEY(kind, revision));"                                                               \
    "CREATE TABLE IF NOT EXISTS verdicts(at " NUMBER " PRIMARY KEY" HS_EVIDENCE_TEXTS(             \
        COLUMN) ")" end ";"                                                                        \
                "CREATE TABLE IF NOT EXISTS bodies(at " NUMBER                                     \
                " PRIMARY KEY, id TEXT NOT NULL" unique ","                                        \
                " now " NUMBER " NOT NULL, measured " REAL ", \"limit\" " REAL ", unit TEXT,"      \
                " revision TEXT NOT NULL, map TEXT, map_revision TEXT,"                            \
                " sizes TEXT NOT NULL, body " BLOB " NOT NULL)" end ";"

#define CODE_COLUMN(member, column) ", " column " INTEGER NOT NULL"
#define TEXT_COLUMN(member, column) ", " column " TEXT NOT NULL"

/* One index for each column that list.c searches by. `more`: additional index columns. */
#define INDEXES(more)                                                                              \
    "CREATE INDEX IF NOT EXISTS by_player ON verdicts(player" more ");"                            \
    "CREATE INDEX IF NOT EXISTS by_account ON verdicts(account" more ");"                          \
    "CREATE INDEX IF NOT EXISTS by_match ON verdicts(match" more ");"                              \
    "CREATE INDEX IF NOT EXISTS by_target ON verdicts(target" more ");"                            \
    "CREATE INDEX IF NOT EXISTS by_reason ON verdicts(reason" more ");"

const char hs_evidence_file_tables[] =
    TABLES("INTEGER", "REAL", "BLOB", CODE_COLUMN, " UNIQUE",
           "") "CREATE TABLE IF NOT EXISTS codes(code INTEGER PRIMARY KEY, text TEXT NOT NULL "
               "UNIQUE);" INDEXES("") "PRAGMA user_version = " VALUE_OF(HS_EVIDENCE_SCHEMA);

#define POSTGRES_TABLES(unique, end)                                                               \
    TABLES("BIGINT", "DOUBLE PRECISION", "BYTEA", TEXT_COLUMN, unique, end) INDEXES(", at")

/* by_revision and by_map are for finding documents that no verdict needs any more. */
static const char partitioned_tables[] = POSTGRES_TABLES(
    "", " PARTITION BY RANGE (at)") "CREATE INDEX IF NOT EXISTS by_id ON bodies(id);"
                                    "CREATE INDEX IF NOT EXISTS by_revision ON bodies(revision);"
                                    "CREATE INDEX IF NOT EXISTS by_map ON bodies(map_revision)"
                                    " WHERE map_revision IS NOT NULL;";

static const char cases_tables[] = POSTGRES_TABLES(" UNIQUE", "")
    HS_EVIDENCE_REVIEWS("BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY", "BIGINT");

/* EXTERNAL: PostgreSQL does not compress the bodies, because the service has already compressed
   them. The version of the tables is stored as the comment on `verdicts`. */
static const char last_steps[] =
    "ALTER TABLE bodies ALTER body SET STORAGE EXTERNAL;"
    "ALTER TABLE documents ALTER body SET STORAGE EXTERNAL;"
    "COMMENT ON TABLE verdicts IS '" VALUE_OF(HS_EVIDENCE_SCHEMA) "'; COMMIT";

int hs_evidence_schema_of(struct hs_db *db)
{
    static const char of_file[] = "PRAGMA user_version";
    static const char of_schema[] = "SELECT coalesce(obj_description(to_regclass('verdicts'),"
                                    " 'pg_class')::bigint, 0)";
    return (int)hs_db_number(db, hs_db_is_postgres(db) ? of_schema : of_file, NULL, -1);
}

/* ---- locks ---- */

/* An arbitrary number for the lock: "hindsigh" in ASCII. */
#define LOCK "7523094288207374184"

bool hs_evidence_begin_shared(struct hs_db *db)
{
    return hs_db_run(db, hs_db_is_postgres(db) ? "BEGIN; SELECT pg_advisory_xact_lock_shared(" LOCK
                                                 ")"
                                               : "BEGIN IMMEDIATE");
}

bool hs_evidence_begin_alone(struct hs_db *db)
{
    return hs_db_run(db, hs_db_is_postgres(db) ? "BEGIN; SELECT pg_advisory_xact_lock(" LOCK ")"
                                               : "BEGIN IMMEDIATE");
}

/* ---- PostgreSQL ---- */

/* CREATE SCHEMA IF NOT EXISTS fails for users who lack the right to create schemas, even if the
   schema exists. So the statement checks for the schema first. */
bool hs_evidence_make_tables(struct hs_db *db, const char *schema, bool is_partitioned)
{
    char make_schema[192];
    snprintf(make_schema, sizeof make_schema,
             "DO $$BEGIN IF to_regnamespace('%s') IS NULL THEN CREATE SCHEMA %s; END IF; END$$",
             schema, schema);
    bool fine = hs_evidence_begin_alone(db);
    if (fine && hs_evidence_schema_of(db) == HS_EVIDENCE_SCHEMA) /* another replica has already
                                                                    created the tables */
        return hs_db_run(db, "ROLLBACK");
    return fine && hs_db_run(db, make_schema) &&
           hs_db_run(db, is_partitioned ? partitioned_tables : cases_tables) &&
           hs_db_run(db, last_steps);
}

/* Writes a day as the suffix of a partition's name: 2026_01_31. */
static void name_day(int64_t day, char name[HS_EVIDENCE_DAY])
{
    hs_evidence_day((time_t)(day * 86400), name);
    name[4] = name[7] = '_';
}

/* If `table` has no partition for the day, creates the partition. CREATE TABLE ... PARTITION OF
   would make readers wait, so the partition is created as a separate table and then attached.
   `more`: additional constraints. */
static bool make_partition(struct hs_db *db, const char *table, const char *more, int64_t day)
{
    char name[HS_EVIDENCE_DAY], sql[512];
    name_day(day, name);
    long long from_us = day * HS_EVIDENCE_DAY_US, until_us = from_us + HS_EVIDENCE_DAY_US;
    snprintf(sql, sizeof sql, "SELECT count(to_regclass('%s_%s'))", table, name);
    int64_t found = hs_db_number(db, sql, NULL, -1);
    if (found != 0)
        return found > 0;
    snprintf(sql, sizeof sql,
             "DO $$BEGIN IF to_regclass('%s_%s') IS NULL THEN"
             " CREATE TABLE %s_%s (LIKE %s INCLUDING ALL%s);"
             " ALTER TABLE %s ATTACH PARTITION %s_%s FOR VALUES FROM (%lld) TO (%lld);"
             " END IF; END$$; COMMIT",
             table, name, table, name, table, more, table, table, name, from_us, until_us);
    return hs_evidence_begin_alone(db) && hs_db_run(db, sql);
}

bool hs_evidence_make_day(struct hs_db *db, int64_t day)
{
    return make_partition(db, "verdicts", "", day) &&
           make_partition(db, "bodies", ", UNIQUE(id)", day);
}

/* Uses two statements, because one statement for both partitions could deadlock with a reader. */
static bool drop_day(struct hs_db *db, int64_t day)
{
    char name[HS_EVIDENCE_DAY], bodies[64], verdicts[64];
    name_day(day, name);
    snprintf(bodies, sizeof bodies, "DROP TABLE IF EXISTS bodies_%s", name);
    snprintf(verdicts, sizeof verdicts, "DROP TABLE IF EXISTS verdicts_%s", name);
    bool fine = hs_db_run(db, bodies) && hs_db_run(db, verdicts);
    if (fine)
        hs_log(HS_LOG_INFO, "old evidence was removed", HS_LOG_TEXT("day", name));
    return fine;
}

/* Deletes the documents that no verdict needs any more. enable_seqscan is off, because PostgreSQL
   expects to find most documents in the first rows, and would read all rows for a document that no
   verdict needs. Stores the time of the deletion as the
   comment on the table. The replicas read this time, because each replica caches which documents it
   has sent (spool.c). */
static bool remove_documents(struct hs_db *db)
{
    char sql[448];
    snprintf(sql, sizeof sql,
             "SET LOCAL enable_seqscan = off;"
             "DELETE FROM documents d"
             " WHERE NOT EXISTS (SELECT 1 FROM bodies b WHERE b.revision = d.revision)"
             " AND NOT EXISTS (SELECT 1 FROM bodies b WHERE b.map_revision = d.revision);"
             "COMMENT ON TABLE documents IS '%lld'; COMMIT",
             (long long)hs_clock_wall_us());
    return hs_evidence_begin_alone(db) && hs_db_run(db, sql);
}

int64_t hs_evidence_documents_removed(struct hs_db *db)
{
    static const char sql[] = "SELECT coalesce(obj_description(to_regclass('documents'),"
                              " 'pg_class')::bigint, 0)";
    return hs_db_number(db, sql, NULL, -1);
}

bool hs_evidence_drop_days(struct hs_db *db, int64_t today, unsigned keep_days, uint64_t keep_bytes)
{
    static const char sql[] =
        "SELECT replace(substr(v.relname::text, 10), '_', '-'), pg_total_relation_size(v.oid) +"
        " coalesce(pg_total_relation_size(to_regclass('bodies_' || substr(v.relname::text, 10))),"
        " 0) FROM pg_inherits i JOIN pg_class v ON v.oid = i.inhrelid"
        " WHERE i.inhparent = to_regclass('verdicts') AND v.relname LIKE 'verdicts@_____@___@___' "
        "ESCAPE '@'"
        " ORDER BY 1 DESC";
    struct hs_db_statement *rows = hs_db_prepare(db, sql);
    enum hs_db_step step;
    int64_t last = -1; /* the newest day before today */
    uint64_t bytes = 0;
    bool fine = true, has_dropped = false;
    while ((step = hs_db_step(rows)) == HS_DB_ROW) {
        char name[HS_EVIDENCE_DAY];
        struct hs_str text = hs_db_text(rows, 0);
        snprintf(name, sizeof name, "%.*s", (int)text.len, text.ptr);
        int64_t day = hs_evidence_day_number(name);
        bytes += (uint64_t)hs_db_int(rows, 1);
        last = last < 0 && day < today ? day : last;
        if (day < today && (last - day >= (int64_t)keep_days || bytes > keep_bytes)) {
            bool is_dropped = drop_day(db, day);
            has_dropped = has_dropped || is_dropped;
            fine = fine && is_dropped;
        }
    }
    hs_db_finalize(rows);
    if (has_dropped && !remove_documents(db)) {
        hs_db_run(db, "ROLLBACK");
        fine = false;
    }
    return fine && step == HS_DB_DONE;
}
