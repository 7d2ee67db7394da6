#include "service/evidence/erase.h"

#include <stdlib.h>
#include <string.h>

#include "service/evidence/cases.h"
#include "service/evidence/files.h"
#include "service/evidence/reading.h"
#include "service/evidence/wal.h"
#include "service/system/clock.h"
#include "service/system/sha256.h"
#include "service/watch/log.h"

/* Max rows that one transaction deletes. The number is low, so that the writer waits only a few
   milliseconds for the transaction. */
#define CHUNK "500"

/* The statements of a deletion, in order. ?1: the name, ?2: the tenant or NULL. For each of three
   columns, NAMED_BY uses an index. With one condition for all three columns, PostgreSQL would read
   all rows. */
#define NAMED_BY(column)                                                                           \
    "SELECT at FROM verdicts WHERE " column " = code_of(?1)"                                       \
    " AND (?2 IS NULL OR tenant = code_of(?2))"
static const char find_doomed[] = "INSERT INTO doomed " NAMED_BY("player") " UNION " NAMED_BY(
    "account") " UNION " NAMED_BY("target");
static const char find_struck[] =
    "INSERT INTO doomed SELECT v.at FROM"
    " (SELECT DISTINCT tenant, match, player FROM verdicts WHERE account = code_of(?1)) p"
    " JOIN verdicts v ON v.match = p.match AND v.target = p.player AND v.tenant = p.tenant"
    " WHERE (?2 IS NULL OR v.tenant = code_of(?2)) ON CONFLICT DO NOTHING";
static const char erase_chunk[] =
    "DELETE FROM bodies WHERE at IN (SELECT at FROM doomed ORDER BY at LIMIT " CHUNK ");"
    "DELETE FROM verdicts WHERE at IN (SELECT at FROM doomed ORDER BY at LIMIT " CHUNK ");"
    "DELETE FROM doomed WHERE at IN (SELECT at FROM doomed ORDER BY at LIMIT " CHUNK ");"
    "COMMIT";
/* SQLite only. These two statements delete the names of the player and of the player's account from
   the table `codes`. A name stays in the table if any column of a remaining verdict contains this
   name. */
static const char find_names[] =
    "INSERT INTO names SELECT player FROM verdicts WHERE at IN (SELECT at FROM doomed)"
    " UNION SELECT account FROM verdicts WHERE at IN (SELECT at FROM doomed)"
    " UNION SELECT code FROM codes WHERE text = ?1";
static const char erase_names[] =
    "DELETE FROM codes WHERE code IN (SELECT code FROM names) AND NOT EXISTS"
    " (SELECT 1 FROM verdicts WHERE codes.code IN"
    " (tenant, match, player, account, target, weapon, kind, verdict, reason, ruleset))";
/* For the spool: deletes all names that no verdict in the spool contains. */
static const char erase_all_names[] = "DELETE FROM codes WHERE code NOT IN (SELECT 0"
#define X(member, column) " UNION SELECT " column " FROM verdicts"
    HS_EVIDENCE_TEXTS(X)
#undef X
        ")";

struct erasing {
    const struct hs_evidence_home *home;
    struct hs_str texts[2]; /* the name and the tenant */
    struct hs_str by;
    atomic_llong *alive_us;
    int64_t *deleted;
};

static int64_t count_doomed(struct hs_db *db)
{
    return hs_db_number(db, "SELECT count(*) FROM doomed", NULL, 0);
}

/* Deletes the rows that the table `doomed` lists, in transactions of at most CHUNK rows. After a
   failure, the caller must close the connection, because a transaction may still be open. */
static bool erase_rows(struct hs_db *db, atomic_llong *alive_us)
{
    while (count_doomed(db) > 0) {
        if (!hs_evidence_begin_alone(db) || !hs_db_run(db, erase_chunk))
            return false;
        if (alive_us != NULL)
            atomic_store(alive_us, hs_clock_us());
    }
    return true;
}

/* Deletes the rows in one place. In SQLite, also empties the write-ahead log, which still contains
   these rows. */
static bool erase_in(struct hs_db *db, const struct erasing *erasing, const char *place)
{
    const struct hs_str *texts = erasing->texts;
    bool has_names = !hs_db_is_postgres(db);
    bool is_spool = strcmp(place, HS_EVIDENCE_SPOOL) == 0;
    bool fine =
        (!has_names || hs_db_run(db, "PRAGMA temp_store = MEMORY;"
                                     "CREATE TEMP TABLE names(code INTEGER PRIMARY KEY)")) &&
        hs_db_run(db, "CREATE TEMP TABLE doomed(at BIGINT PRIMARY KEY)") &&
        hs_db_do(db, find_doomed, texts) && hs_db_do(db, find_struck, texts) &&
        (!has_names || hs_db_do(db, find_names, texts));
    int64_t count = fine ? count_doomed(db) : 0;
    fine = fine && erase_rows(db, erasing->alive_us) &&
           (!has_names || hs_db_do(db, is_spool ? erase_all_names : erase_names, texts));
    if (!fine)
        hs_log(HS_LOG_ERROR, "a player cannot be deleted", HS_LOG_TEXT("detail", hs_db_error(db)));
    else if (has_names && (count > 0 || is_spool) && !hs_wal_empty(db))
        hs_log(HS_LOG_WARN, "a deleted player may still be in the log of a file",
               HS_LOG_TEXT("place", place));
    *erasing->deleted += fine ? count : 0;
    return fine;
}

static bool erase_place(const struct erasing *erasing, const char *place)
{
    char error[256];
    struct hs_evidence_store *store = hs_evidence_store_open_at(erasing->home, place, error);
    if (store == NULL) {
        hs_log(HS_LOG_ERROR, "a player cannot be deleted", HS_LOG_TEXT("detail", error));
        return false;
    }
    bool fine = erase_in(hs_evidence_store_db(store), erasing, place);
    hs_evidence_store_close(store);
    return fine;
}

static bool record(struct hs_evidence_store *cases, const struct erasing *erasing,
                   const char *action)
{
    char digest[HS_SHA256_HEX];
    hs_sha256_hex(erasing->texts[0].ptr, erasing->texts[0].len, digest);
    return hs_cases_record(cases, erasing->texts[1], erasing->by, action, hs_str_of(digest),
                           *erasing->deleted);
}

/* Records in the audit that a deletion begins. After that, no replica adds a verdict about this
   player to the database if the verdict is older than the deletion (spool.c). */
static bool announce(const struct erasing *erasing)
{
    struct hs_evidence_store *cases = hs_cases_open(erasing->home);
    bool fine = cases != NULL && hs_evidence_begin_alone(hs_evidence_store_db(cases)) &&
                record(cases, erasing, HS_EVIDENCE_ERASE_BEGINS) && hs_evidence_store_commit(cases);
    if (cases != NULL && !fine)
        hs_log(HS_LOG_ERROR, "a player cannot be deleted",
               HS_LOG_TEXT("detail", hs_evidence_store_error(cases)));
    hs_evidence_store_close(cases);
    return fine;
}

static bool erase_cases(const struct erasing *erasing)
{
    struct hs_evidence_store *cases = hs_cases_open(erasing->home);
    if (cases == NULL)
        return false;
    struct hs_db *db = hs_evidence_store_db(cases);
    bool fine = erase_in(db, erasing, HS_EVIDENCE_CASES) &&
                hs_db_run(db, "DELETE FROM reviews WHERE verdict NOT IN (SELECT id FROM bodies)") &&
                record(cases, erasing, "delete player");
    hs_evidence_store_close(cases);
    return fine;
}

enum hs_evidence_read hs_evidence_erase(const struct hs_evidence_home *home, struct hs_str tenant,
                                        struct hs_str name, struct hs_str by,
                                        atomic_llong *alive_us, int64_t *deleted)
{
    size_t count;
    const struct erasing erasing = {home, {name, tenant}, by, alive_us, deleted};
    *deleted = 0;
    bool fine =
        !home->is_postgres || (announce(&erasing) && erase_place(&erasing, HS_EVIDENCE_SPOOL));
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(home, &count);
    for (size_t i = 0; i < count; i++)
        fine = erase_place(&erasing, days[i]) && fine;
    free(days);
    fine = erase_cases(&erasing) && fine;
    return fine ? HS_EVIDENCE_READ : HS_EVIDENCE_FAILED;
}
