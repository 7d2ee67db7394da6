#include "service/evidence/erase.h"

#include <stdio.h>
#include <stdlib.h>

#include "service/evidence/cases.h"
#include "service/evidence/files.h"
#include "service/evidence/reading.h"
#include "service/system/clock.h"
#include "service/system/sha256.h"
#include "service/watch/log.h"

/* The rows of one transaction. They are few, so that the writer of the file waits only some
   milliseconds. */
#define CHUNK "500"

/* The statements of a deletion, in order. ?1: the name, ?2: the tenant or NULL. */
static const char find_doomed[] =
    "INSERT OR IGNORE INTO doomed SELECT at FROM verdicts WHERE"
    " (?2 IS NULL OR tenant = (SELECT code FROM codes WHERE text = ?2)) AND"
    " (SELECT code FROM codes WHERE text = ?1) IN (player, account, target)";
static const char find_struck[] =
    "INSERT OR IGNORE INTO doomed SELECT v.at FROM"
    " (SELECT DISTINCT tenant, match, player FROM verdicts"
    "  WHERE account = (SELECT code FROM codes WHERE text = ?1)) p"
    " JOIN verdicts v ON v.match = p.match AND v.target = p.player AND v.tenant = p.tenant"
    " WHERE (?2 IS NULL OR v.tenant = (SELECT code FROM codes WHERE text = ?2))";
static const char erase_chunk[] =
    "BEGIN IMMEDIATE;"
    "DELETE FROM bodies WHERE at IN (SELECT at FROM doomed ORDER BY at LIMIT " CHUNK ");"
    "DELETE FROM verdicts WHERE at IN (SELECT at FROM doomed ORDER BY at LIMIT " CHUNK ");"
    "DELETE FROM doomed WHERE at IN (SELECT at FROM doomed ORDER BY at LIMIT " CHUNK ");"
    "COMMIT";
/* These two delete the names of the player and of their account. A name stays if a verdict about
   others has it in any column. */
static const char find_names[] =
    "INSERT OR IGNORE INTO names SELECT player FROM verdicts WHERE at IN (SELECT at FROM doomed)"
    " UNION SELECT account FROM verdicts WHERE at IN (SELECT at FROM doomed)"
    " UNION SELECT code FROM codes WHERE text = ?1";
static const char erase_names[] =
    "DELETE FROM codes WHERE code IN (SELECT code FROM names) AND NOT EXISTS"
    " (SELECT 1 FROM verdicts WHERE codes.code IN"
    " (tenant, match, player, account, target, weapon, kind, verdict, reason, ruleset))";

static bool run(sqlite3 *db, const char *sql, struct hs_str name, struct hs_str tenant)
{
    sqlite3_stmt *statement;
    if (sqlite3_prepare_v2(db, sql, -1, &statement, NULL) != SQLITE_OK)
        return false;
    if (sqlite3_bind_parameter_count(statement) > 0)
        hs_evidence_bind(statement, 1, name);
    if (sqlite3_bind_parameter_count(statement) > 1)
        hs_evidence_bind(statement, 2, tenant);
    bool fine = sqlite3_step(statement) == SQLITE_DONE;
    sqlite3_finalize(statement);
    return fine;
}

static int64_t count_doomed(sqlite3 *db)
{
    sqlite3_stmt *find;
    int64_t count = 0;
    if (sqlite3_prepare_v2(db, "SELECT count(*) FROM doomed", -1, &find, NULL) == SQLITE_OK &&
        sqlite3_step(find) == SQLITE_ROW)
        count = sqlite3_column_int64(find, 0);
    sqlite3_finalize(find);
    return count;
}

static bool erase_rows(sqlite3 *db, atomic_llong *alive_us)
{
    while (count_doomed(db) > 0) {
        if (sqlite3_exec(db, erase_chunk, NULL, NULL, NULL) != SQLITE_OK) {
            sqlite3_exec(db, "ROLLBACK", NULL, NULL, NULL);
            return false;
        }
        if (alive_us != NULL)
            atomic_store(alive_us, hs_clock_us());
    }
    return true;
}

/* Erases in one file. The log of SQLite is emptied at the end, because it has the old pages. */
static bool erase_in(sqlite3 *db, struct hs_str tenant, struct hs_str name, atomic_llong *alive_us,
                     int64_t *deleted)
{
    bool fine = sqlite3_exec(db,
                             "PRAGMA temp_store = MEMORY;"
                             "CREATE TEMP TABLE doomed(at INTEGER PRIMARY KEY);"
                             "CREATE TEMP TABLE names(code INTEGER PRIMARY KEY)",
                             NULL, NULL, NULL) == SQLITE_OK &&
                run(db, find_doomed, name, tenant) && run(db, find_struck, name, tenant) &&
                run(db, find_names, name, tenant);
    int64_t count = fine ? count_doomed(db) : 0;
    fine = fine && erase_rows(db, alive_us) && run(db, erase_names, name, tenant);
    if (fine && count > 0)
        sqlite3_exec(db, "PRAGMA wal_checkpoint(TRUNCATE)", NULL, NULL, NULL);
    *deleted += fine ? count : 0;
    if (!fine)
        hs_log(HS_LOG_ERROR, "a player cannot be deleted",
               HS_LOG_TEXT("detail", sqlite3_errmsg(db)));
    return fine;
}

static bool erase_day(const char *directory, const char *day, struct hs_str tenant,
                      struct hs_str name, atomic_llong *alive_us, int64_t *deleted)
{
    char path[HS_EVIDENCE_PATH], error[256];
    hs_evidence_path(directory, day, path);
    struct hs_evidence_store *store = hs_evidence_store_open(path, true, error);
    if (store == NULL) {
        hs_log(HS_LOG_ERROR, "a player cannot be deleted", HS_LOG_TEXT("detail", error));
        return false;
    }
    bool fine = erase_in(hs_evidence_store_db(store), tenant, name, alive_us, deleted);
    hs_evidence_store_close(store);
    return fine;
}

/* Erases the reviewed verdicts with their reviews, and records the deletion. */
static bool erase_cases(const char *directory, struct hs_str tenant, struct hs_str name,
                        struct hs_str by, atomic_llong *alive_us, int64_t *deleted)
{
    char digest[HS_SHA256_HEX];
    hs_sha256_hex(name.ptr, name.len, digest);
    struct hs_evidence_store *cases = hs_cases_open(directory);
    if (cases == NULL)
        return false;
    sqlite3 *db = hs_evidence_store_db(cases);
    bool fine = erase_in(db, tenant, name, alive_us, deleted) &&
                sqlite3_exec(db, "DELETE FROM reviews WHERE verdict NOT IN (SELECT id FROM bodies)",
                             NULL, NULL, NULL) == SQLITE_OK &&
                hs_cases_record(cases, tenant, by, "delete player", hs_str_of(digest), *deleted);
    hs_evidence_store_close(cases);
    return fine;
}

enum hs_evidence_read hs_evidence_erase(const char *directory, struct hs_str tenant,
                                        struct hs_str name, struct hs_str by,
                                        atomic_llong *alive_us, int64_t *deleted)
{
    size_t count;
    bool fine = true;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(directory, &count);
    *deleted = 0;
    for (size_t i = 0; i < count; i++)
        fine = erase_day(directory, days[i], tenant, name, alive_us, deleted) && fine;
    free(days);
    fine = erase_cases(directory, tenant, name, by, alive_us, deleted) && fine;
    return fine ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}
