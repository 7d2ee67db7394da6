/*
 * The tables of the evidence store, in a SQLite file or a PostgreSQL schema.
 *
 * Queries filter by the columns of HS_EVIDENCE_TEXTS. In SQLite, these columns are small integers.
 * The table `codes` of the same file has the text of each integer. So a query reads only about ten
 * bytes of a row that does not match its filters. In PostgreSQL the columns have the texts
 * themselves, because other programs read these tables, too. In PostgreSQL, `verdicts` and `bodies`
 * also have one partition for each day.
 */
#ifndef HS_SERVICE_EVIDENCE_TABLES_H
#define HS_SERVICE_EVIDENCE_TABLES_H

#include "service/database/db.h"

/* The texts of a verdict by which queries filter. X(member, column) */
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

/* The tables of reviews (cases.h), with the types of a dialect. */
#define HS_EVIDENCE_REVIEWS(KEY, NUMBER)                                                           \
    "CREATE TABLE IF NOT EXISTS reviews(number " KEY ","                                           \
    " verdict TEXT NOT NULL, at " NUMBER " NOT NULL, label TEXT NOT NULL, note TEXT,"              \
    " author TEXT);"                                                                               \
    "CREATE INDEX IF NOT EXISTS by_verdict ON reviews(verdict);"                                   \
    "CREATE TABLE IF NOT EXISTS audit(number " KEY ","                                             \
    " at " NUMBER " NOT NULL, tenant TEXT, author TEXT, action TEXT NOT NULL,"                     \
    " subject TEXT NOT NULL, verdicts " NUMBER " NOT NULL);"

/* The service neither reads nor writes tables of another version. */
#define HS_EVIDENCE_SCHEMA 2

/* Returns the version of the tables of a connection. 0: there are no tables. -1: the version cannot
   be read. */
int hs_evidence_schema_of(struct hs_db *db);

/* The statements that create the tables in a SQLite file and set their version. */
extern const char hs_evidence_file_tables[];

/* Creates the schema of a PostgreSQL connection, and the tables in it. Several replicas may call
   this function at once. `is_partitioned`: creates tables with one partition for each day of `at`;
   otherwise creates the tables of the reviewed verdicts (cases.h), with `reviews` and `audit`. */
bool hs_evidence_make_tables(struct hs_db *db, const char *schema, bool is_partitioned);

/* Creates the missing partitions of a day (days since 1970). Call it outside a transaction. */
bool hs_evidence_make_day(struct hs_db *db, int64_t day);

/* Removes partitions by the rule of hs_evidence_remove_old (files.h); `today` in days since 1970.
   After the partitions, it removes the rulesets and maps that no verdict needs any more. Call it
   outside a transaction. Returns false on failure, for example because a reader uses the oldest
   partition. */
bool hs_evidence_drop_days(struct hs_db *db, int64_t today, unsigned keep_days,
                           uint64_t keep_bytes);

/* Returns the time at which documents were last removed from the schema of a PostgreSQL connection;
   0: never, -1: failed. Within a transaction of hs_evidence_begin_shared, no document is removed.
 */
int64_t hs_evidence_documents_removed(struct hs_db *db);

/* Begin a transaction with a lock. hs_evidence_begin_shared is for transactions that add verdicts;
   they share the lock. hs_evidence_begin_alone is for a deletion or a change of the tables. Such a
   transaction has the lock alone: it waits until all other transactions with the lock end, and they
   wait for it. */
bool hs_evidence_begin_shared(struct hs_db *db);
bool hs_evidence_begin_alone(struct hs_db *db);

#endif
