#include "service/evidence/report.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>

#include "service/evidence/context.h"
#include "service/evidence/files.h"
#include "service/evidence/reading.h"
#include "service/system/clock.h"

/* ---- measures ---- */

/* Measured values that belong to no check. X(id, name) */
#define FURTHER(X) X(MARGIN, "margin") X(REWIND, "rewind")

enum {
#define X(id, name) SERIES_##id,
    FURTHER(X)
#undef X
        FURTHER_COUNT,
    MOVE_CHECKS = FURTHER_COUNT + HS_CHECK_COUNT, /* first series for checks of moves */
    SERIES = MOVE_CHECKS + HS_MOVE_CHECK_COUNT
};

/* A report contains at most the newest SESSIONS summaries. */
enum { SESSIONS = 20 };

struct series {
    size_t count;
    double values[HS_REPORT_MEASURED];
};

struct sample {
    size_t claims;
    struct series series[SERIES];
};

static void add_value(struct sample *sample, int series, double value)
{
    struct series *to = &sample->series[series];
    if (to->count < HS_REPORT_MEASURED)
        to->values[to->count++] = value;
}

/* Returns the share of a check's limit that the measured value used; more than 1 means that the
   check failed. The limit counts as a minimum if a value above the limit passed, or a value below
   the limit failed. Returns -1 if the outcome is not `pass` or `fail`, or if computing the share
   would divide by 0 or by a negative number. */
static double share_of_limit(const json_t *check)
{
    struct hs_str outcome = hs_str_of(json_string_value(json_object_get(check, "outcome")));
    double measured = json_number_value(json_object_get(check, "measured"));
    double limit = json_number_value(json_object_get(check, "limit"));
    bool is_pass = hs_str_equal(outcome, HS_STR("pass"));
    if (!is_pass && !hs_str_equal(outcome, HS_STR("fail")))
        return -1;
    if (is_pass ? measured > limit : measured < limit)
        return measured > 0 ? limit / measured : -1;
    return limit > 0 ? measured / limit : -1;
}

/* Returns the index of a check's series. Returns -1 if this version of the program does not have
   the check. */
static int series_of(struct hs_str check)
{
    int hit = hs_vocabulary_find(&hs_check_words, check);
    int move = hs_vocabulary_find(&hs_move_check_words, check);
    return hit >= 0 ? FURTHER_COUNT + hit : move >= 0 ? MOVE_CHECKS + move : -1;
}

static const char *check_of(int series)
{
    return series < MOVE_CHECKS ? hs_check_words.names[series - FURTHER_COUNT]
                                : hs_move_check_words.names[series - MOVE_CHECKS];
}

static void add_checks(struct sample *sample, const json_t *checks)
{
    size_t i;
    json_t *check;
    json_array_foreach(checks, i, check)
    {
        int series = series_of(hs_str_of(json_string_value(json_object_get(check, "check"))));
        double share = share_of_limit(check);
        if (series >= 0 && share >= 0)
            add_value(sample, series, share);
    }
}

/* Adds the measured values of the recorded answer in a stored request. This answer contains a
   single result. */
static void add_answer(struct sample *sample, struct hs_str request)
{
    json_t *line = json_loadb(request.ptr, request.len, 0, NULL);
    const json_t *answer = json_object_get(line, "answer");
    const json_t *result = json_array_get(json_object_get(answer, "results"), 0);
    const json_t *margin = json_object_get(result, "margin");
    const json_t *by = json_object_get(json_object_get(result, "rewind"), "by");
    sample->claims++;
    add_checks(sample, json_object_get(result, "checks"));
    if (json_is_number(margin))
        add_value(sample, SERIES_MARGIN, json_number_value(margin));
    if (json_is_number(by))
        add_value(sample, SERIES_REWIND, json_number_value(by));
    json_decref(line);
}

/* ---- counts ---- */

enum { WORDS_MAX = 128 };

struct count {
    struct hs_name word;
    int64_t count;
};

struct counts {
    struct count all[WORDS_MAX];
    size_t used;
};

static void add_count(struct counts *counts, struct hs_str word, int64_t more)
{
    size_t i = 0;
    while (i < counts->used && !hs_str_equal(hs_name_str(&counts->all[i].word), word))
        i++;
    if (i == WORDS_MAX)
        return;
    if (i == counts->used) {
        counts->used++;
        hs_name_set(&counts->all[i].word, word);
    }
    counts->all[i].count += more;
}

static void write_counts(struct hs_writer *writer, const char *key, const struct counts *counts)
{
    hs_write_begin_field(writer, key, '{');
    for (size_t i = 0; i < counts->used; i++) {
        hs_write_name(writer, counts->all[i].word.text);
        hs_write_int(writer, counts->all[i].count);
    }
    hs_write_end(writer, '}');
}

/* ---- files ---- */

struct report {
    struct hs_str name;
    const struct hs_evidence_query *query;
    atomic_llong *alive_us;
    struct counts verdicts, reasons;
    int64_t matches, counted, first_us, last_us;
    /* The ruleset of the player's newest verdict. Only verdicts under this ruleset are measured. */
    struct hs_name ruleset;
    char revision[HS_REVISION_MAX];
    struct sample own, others;
    struct hs_buffer sessions; /* JSON elements of an array */
    size_t session_count;
};

/* Parts of queries. OWN selects the rows about the player. Each half of OWN uses an index, because
   PostgreSQL would read all rows to find those with one of two columns. Parameters: ?1 the name, ?2
   since, ?3 until, ?4 the tenant or NULL, ?5 the limit, ?6 the ruleset. */
#define OWN                                                                                        \
    "(SELECT * FROM verdicts WHERE player = code_of(?1)"                                           \
    " UNION ALL SELECT * FROM verdicts WHERE account = code_of(?1) AND player <> code_of(?1))"
#define IN_TIME  " AND v.at >= ?2 AND v.at < ?3 AND (?4 IS NULL OR v.tenant = code_of(?4))"
#define NEWEST   " ORDER BY v.at DESC LIMIT ?5"
#define OWN_ROWS "SELECT v.* FROM " OWN " v WHERE " HS_EVIDENCE_IS_VERDICT IN_TIME NEWEST
/* Values are measured only in rows with the ruleset ?6. Such rows about other players may be rare,
   so RECENT limits the search to the newest 20000 rows. */
#define RECENT     "(SELECT * FROM verdicts WHERE at < ?3 ORDER BY at DESC LIMIT 20000)"
#define SAME_RULES " AND v.ruleset = code_of(?6)"
#define WHOLE(rows)                                                                                \
    "SELECT " HS_EVIDENCE_WHOLE_ROW " FROM " rows " v JOIN bodies b ON b.at = v.at WHERE "

static struct hs_db_statement *prepare(struct hs_db *db, const struct report *report,
                                       const char *sql, int64_t limit)
{
    struct hs_db_statement *rows = hs_db_prepare(db, sql);
    if (rows == NULL)
        return NULL;
    hs_db_bind_text(rows, 1, report->name);
    hs_db_bind_int(rows, 2, report->query->since_us);
    hs_db_bind_int(rows, 3, report->query->until_us);
    hs_db_bind_text(rows, 4, report->query->tenant);
    hs_db_bind_int(rows, 5, limit);
    return rows;
}

static bool count_words(struct hs_db *db, struct report *report)
{
    static const char sql[] =
        "SELECT text_of(verdict), text_of(reason), count(*), min(at), max(at) FROM (" OWN_ROWS
        ") own GROUP BY verdict, reason";
    struct hs_db_statement *rows = prepare(db, report, sql, HS_REPORT_COUNTED - report->counted);
    enum hs_db_step result = hs_db_step(rows);
    for (; result == HS_DB_ROW; result = hs_db_step(rows)) {
        int64_t count = hs_db_int(rows, 2), first_us = hs_db_int(rows, 3),
                last_us = hs_db_int(rows, 4);
        add_count(&report->verdicts, hs_db_text(rows, 0), count);
        add_count(&report->reasons, hs_db_text(rows, 1), count);
        report->counted += count;
        if (report->first_us == 0 || first_us < report->first_us)
            report->first_us = first_us;
        if (last_us > report->last_us)
            report->last_us = last_us;
    }
    hs_db_finalize(rows);
    return result == HS_DB_DONE;
}

static bool count_matches(struct hs_db *db, struct report *report)
{
    static const char sql[] = "SELECT count(DISTINCT match) FROM (" OWN_ROWS ") own";
    struct hs_db_statement *rows = prepare(db, report, sql, HS_REPORT_COUNTED);
    bool fine = hs_db_step(rows) == HS_DB_ROW;
    report->matches += fine ? hs_db_int(rows, 0) : 0;
    hs_db_finalize(rows);
    return fine;
}

static bool find_ruleset(struct hs_db *db, struct report *report)
{
    static const char sql[] =
        "SELECT b.revision, text_of(v.ruleset) FROM (" OWN_ROWS ") v JOIN bodies b ON b.at = v.at";
    if (report->revision[0] != '\0')
        return true;
    struct hs_db_statement *rows = prepare(db, report, sql, 1);
    enum hs_db_step result = hs_db_step(rows);
    if (result == HS_DB_ROW) {
        struct hs_str revision = hs_db_text(rows, 0);
        snprintf(report->revision, sizeof report->revision, "%.*s", (int)revision.len,
                 revision.ptr);
        hs_name_set(&report->ruleset, hs_db_text(rows, 1));
    }
    hs_db_finalize(rows);
    return result != HS_DB_FAILED;
}

static bool add_sessions(struct hs_db *db, struct report *report)
{
    static const char sql[] =
        "SELECT " HS_EVIDENCE_ALL_OF_ROW " WHERE v.at IN (SELECT v.at FROM " OWN
        " v WHERE " HS_EVIDENCE_IS_SUMMARY IN_TIME NEWEST ") ORDER BY v.at DESC";
    struct hs_writer writer = {.buffer = &report->sessions,
                               .needs_comma = report->session_count > 0};
    struct hs_db_statement *rows =
        prepare(db, report, sql, (int64_t)(SESSIONS - report->session_count));
    enum hs_db_step result = hs_db_step(rows);
    for (; result == HS_DB_ROW; result = hs_db_step(rows)) {
        struct hs_evidence_stored stored = {0};
        if (hs_evidence_load_all(rows, &stored)) {
            hs_write_begin(&writer, '{');
            hs_write_time_field(&writer, "at", stored.row.at_us);
            hs_write_str_field(&writer, "match", stored.row.match);
            hs_write_str_field(&writer, "ruleset", stored.row.ruleset);
            hs_write_key(&writer, "summary");
            hs_write_raw(&writer, hs_context_member(stored.row.context, HS_STR("player")));
            struct hs_str hints = hs_context_member(stored.row.context, HS_STR("hints"));
            if (hints.len > 0) { /* earlier versions of the program stored no hints */
                hs_write_key(&writer, "hints");
                hs_write_raw(&writer, hints);
            }
            hs_write_end(&writer, '}');
            report->session_count++;
        }
        free(stored.unpacked);
    }
    hs_db_finalize(rows);
    return result == HS_DB_DONE;
}

/* Adds the measured values from the newest rows. Skips damaged rows, and rows with another revision
   of the ruleset. */
static bool measure(struct hs_db *db, struct report *report, const char *sql, struct sample *sample)
{
    struct hs_db_statement *rows =
        prepare(db, report, sql, (int64_t)(HS_REPORT_MEASURED - sample->claims));
    if (rows != NULL)
        hs_db_bind_text(rows, 6, hs_name_str(&report->ruleset));
    enum hs_db_step result = hs_db_step(rows);
    for (; result == HS_DB_ROW; result = hs_db_step(rows)) {
        struct hs_evidence_stored stored = {0};
        if (hs_evidence_load(rows, &stored) &&
            hs_str_equal(stored.row.revision, hs_str_of(report->revision)))
            add_answer(sample, stored.row.request);
        free(stored.unpacked);
        if (report->alive_us != NULL)
            atomic_store(report->alive_us, hs_clock_us());
    }
    hs_db_finalize(rows);
    return result == HS_DB_DONE;
}

static enum hs_evidence_read read_day(const struct hs_evidence_home *home, const char *place,
                                      struct report *report)
{
    static const char own[] = WHOLE(OWN) HS_EVIDENCE_IS_VERDICT SAME_RULES IN_TIME NEWEST;
    static const char others[] =
        WHOLE(RECENT) "coalesce(v.player = code_of(?1) OR v.account = code_of(?1), false) = false"
                      " AND " HS_EVIDENCE_IS_VERDICT SAME_RULES IN_TIME NEWEST;
    struct hs_db *db;
    enum hs_evidence_read result = hs_evidence_open(home, place, &db);
    if (result != HS_EVIDENCE_READ)
        return result == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : result;
    bool fine = count_words(db, report) && count_matches(db, report) && find_ruleset(db, report) &&
                add_sessions(db, report) && measure(db, report, own, &report->own) &&
                measure(db, report, others, &report->others);
    if (!fine)
        result = hs_evidence_place_failed(home, place, db);
    hs_db_close(db);
    return result == HS_EVIDENCE_MISSING ? HS_EVIDENCE_READ : result;
}

/* ---- the answer ---- */

static int by_value(const void *a, const void *b)
{
    const double *x = a, *y = b;
    return (*x > *y) - (*x < *y);
}

/* Computes percentiles with the nearest-rank method. */
static void write_spread(struct hs_writer *writer, struct series *series)
{
    hs_write_int_field(writer, "claims", (int64_t)series->count);
    if (series->count == 0)
        return;
    qsort(series->values, series->count, sizeof series->values[0], by_value);
    hs_write_real_field(writer, "p50", series->values[(series->count - 1) / 2]);
    hs_write_real_field(writer, "p95", series->values[(series->count * 95 + 99) / 100 - 1]);
}

static void write_series(struct hs_writer *writer, const char *key, const char *name,
                         struct series *own, struct series *others)
{
    hs_write_begin(writer, '{');
    hs_write_text_field(writer, key, name);
    write_spread(writer, own);
    hs_write_begin_field(writer, "others", '{');
    write_spread(writer, others);
    hs_write_end(writer, '}');
    hs_write_end(writer, '}');
}

static void write_report(struct report *report, struct hs_writer *writer)
{
    static const char *const further[] = {
#define X(id, name) name,
        FURTHER(X)
#undef X
    };
    hs_write_begin(writer, '{');
    hs_write_str_field(writer, "player", report->name);
    hs_write_int_field(writer, "matches", report->matches);
    hs_write_time_field(writer, "first", report->first_us);
    hs_write_time_field(writer, "last", report->last_us);
    write_counts(writer, "verdicts", &report->verdicts);
    write_counts(writer, "reasons", &report->reasons);
    hs_write_text_field(writer, "ruleset", report->ruleset.text);
    hs_write_text_field(writer, "revision", report->revision);
    hs_write_begin_field(writer, "checks", '[');
    for (int i = FURTHER_COUNT; i < SERIES; i++)
        if (report->own.series[i].count > 0)
            write_series(writer, "check", check_of(i), &report->own.series[i],
                         &report->others.series[i]);
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "measures", '[');
    for (int i = 0; i < FURTHER_COUNT; i++)
        if (report->own.series[i].count > 0)
            write_series(writer, "measure", further[i], &report->own.series[i],
                         &report->others.series[i]);
    hs_write_end(writer, ']');
    hs_write_begin_field(writer, "sessions", '[');
    hs_write_raw(writer, (struct hs_str){report->sessions.data, report->sessions.len});
    hs_write_end(writer, ']');
    hs_write_end(writer, '}');
}

enum hs_evidence_read hs_evidence_report(const struct hs_evidence_home *home, struct hs_str name,
                                         const struct hs_evidence_query *query,
                                         atomic_llong *alive_us, struct hs_writer *writer)
{
    size_t count;
    enum hs_evidence_read result = HS_EVIDENCE_READ;
    struct report *report = calloc(1, sizeof *report);
    if (report == NULL)
        return HS_EVIDENCE_FAILED;
    report->name = name;
    report->query = query;
    report->alive_us = alive_us;
    char(*days)[HS_EVIDENCE_DAY] = hs_evidence_days(home, &count);
    for (size_t i = 0; i < count && result == HS_EVIDENCE_READ; i++)
        result = read_day(home, days[i], report);
    free(days);
    if (result == HS_EVIDENCE_READ && report->counted == 0 && report->session_count == 0)
        result = HS_EVIDENCE_MISSING;
    if (result == HS_EVIDENCE_READ)
        write_report(report, writer);
    writer->buffer->failed = writer->buffer->failed || report->sessions.failed;
    hs_buffer_free(&report->sessions);
    free(report);
    return result;
}
