/*
 * The tables of the evidence store, in a SQLite file or a PostgreSQL schema.
 *
 * Queries filter by the columns of HS_EVIDENCE_TEXTS. In SQLite, these columns contain small
 * integers, and the table `codes` in the same file maps the integers to texts. So a query reads
 * only about ten bytes of a row that does not match. In PostgreSQL, the columns contain the texts
 * themselves, because other programs also read these tables. In PostgreSQL, `verdicts` and `bodies`
 * have one partition for each day.
 */
#ifndef HS_SERVICE_EVIDENCE_TABLES_H
#define HS_SERVICE_EVIDENCE_TABLES_H

#include "service/database/db.h"

/* The text columns that queries can filter by. X(member, column) */
#define HS_EVIDENCE_TEXTS(X)                                                                       \
    X(tenant, "tenant")                                                                            \
    X(match, "match")                                                                              \
    X(player, "player")                                                                            \
    X(account, "account")                                                                          \
    X(target, "target")                                                                            \
    X(weapon, "weapon")                                                                            \
    X(kind, "kind")                                                                                \
    X(verdict, "verdict")                                                                          \
    X(reason, "reason")                                                                            \
    X(ruleset, "ruleset")

/* Conditions on a row `v` of the table `verdicts`. Rows with an empty verdict are summaries
   (ended.h). */
#define HS_EVIDENCE_IS_SUMMARY "v.verdict = code_of('')"
#define HS_EVIDENCE_IS_VERDICT "v.verdict IS DISTINCT FROM code_of('')"

/* The tables of reviews (cases.h). The parameters are SQL types. */
#define HS_EVIDENCE_REVIEWS(KEY, NUMBER)                                                           \
    "CREATE TABLE IF NOT EXISTS reviews(number " KEY ","                                           \
    " verdict TEXT NOT NULL, at " NUMBER " NOT NULL, label TEXT NOT NULL, note TEXT,"              \
    " author TEXT);"                                                                               \
    "CREATE INDEX IF NOT EXISTS by_verdict ON reviews(verdict);"                                   \
    "CREATE TABLE IF NOT EXISTS audit(number " KEY ","                                             \
    " at " NUMBER " NOT NULL, tenant TEXT, author TEXT, action TEXT NOT NULL,"                     \
    " subject TEXT NOT NULL, verdicts " NUMBER " NOT NULL);"

/* The version of the tables. The service neither reads nor writes tables with another version. */
#define HS_EVIDENCE_SCHEMA 2

/* Returns the version of the tables that the connection uses. 0: there are no tables. -1: the
   version cannot be read. */
int hs_evidence_schema_of(struct hs_db *db);

/* The statements that create the tables in a SQLite file and set the version of the tables. */
extern const char hs_evidence_file_tables[];

/* Creates the PostgreSQL schema and its tables, if they do not exist. Several replicas may call
   this function at once. If `is_partitioned` is true, `verdicts` and `bodies` get one partition for
   each day. If `is_partitioned` is false, `verdicts` and `bodies` are plain tables for reviewed
   verdicts, and the function also creates `reviews` and `audit` (cases.h). */
bool hs_evidence_make_tables(struct hs_db *db, const char *schema, bool is_partitioned);

/* Creates the partitions for a day, if they do not exist. `day`: days since 1970-01-01. Call this
   function outside a transaction. */
bool hs_evidence_make_day(struct hs_db *db, int64_t day);

/* Drops old partitions by the rule of hs_evidence_remove_old (files.h). `today`: days since
   1970-01-01. After dropping a partition, also deletes the rulesets and maps that no verdict needs
   any more. Call this function outside a transaction. Returns false on failure, for example because
   a reader uses the oldest partition. */
bool hs_evidence_drop_days(struct hs_db *db, int64_t today, unsigned keep_days,
                           uint64_t keep_bytes);

/* Returns when documents were last deleted from the PostgreSQL schema; 0: never, -1: failed. While
   a transaction of hs_evidence_begin_shared is open, no document is deleted. */
int64_t hs_evidence_documents_removed(struct hs_db *db);

/* These functions begin a transaction and take a lock. hs_evidence_begin_shared is for adding
   verdicts; several replicas may add verdicts at once. hs_evidence_begin_alone is for deleting rows
   and changing tables. While a transaction of hs_evidence_begin_alone is open, no other transaction
   of these two functions can run. */
bool hs_evidence_begin_shared(struct hs_db *db);
bool hs_evidence_begin_alone(struct hs_db *db);

#endif
