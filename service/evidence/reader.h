/* Reads the evidence store: lists of verdicts, and single verdicts with all their evidence. Each
   call uses its own connections and never waits for the writer. Thread-safe. */
#ifndef HS_SERVICE_EVIDENCE_READER_H
#define HS_SERVICE_EVIDENCE_READER_H

#include <stdatomic.h>

#include "api/json/writing.h"
#include "service/evidence/store.h"

/* The filters of a list. A string with ptr NULL matches everything. Summaries of ended matches
   (ended.h) have an empty verdict. A list contains summaries only if `verdict` is "". */
struct hs_evidence_query {
#define X(member, column) struct hs_str member;
    HS_EVIDENCE_TEXTS(X)
#undef X
    int64_t since_us, until_us; /* wall clock: since_us <= at < until_us */
    size_t limit;
    bool is_reviewed; /* only reviewed verdicts, even if the files of their days were removed */
};

enum hs_evidence_read {
    HS_EVIDENCE_READ,
    HS_EVIDENCE_MISSING, /* the store does not have the verdict */
    HS_EVIDENCE_FAILED   /* the store cannot be read, its tables have another version, or
                            memory ran out */
};

/* Writes an array of verdicts, newest first. Sets *next_us to the `until_us` for the next page; 0:
   this is the last page. A page ends after about 30 ms, so it may contain fewer verdicts than the
   limit, or none. */
enum hs_evidence_read hs_evidence_list(const struct hs_evidence_home *home,
                                       const struct hs_evidence_query *query,
                                       struct hs_writer *writer, int64_t *next_us);

/* Writes a verdict as a recorded stream (record/stream.h). `hindsight recheck` can compute the
   verdict again from this stream. `tenant`: the verdict must belong to this tenant; ptr NULL: any
   tenant. */
enum hs_evidence_read hs_evidence_stream(const struct hs_evidence_home *home, struct hs_str tenant,
                                         struct hs_str id, struct hs_buffer *out);

enum hs_evidence_format { HS_EVIDENCE_NDJSON, HS_EVIDENCE_CSV };

/* Writes the verdicts that match the query to a file, newest first. Needs little memory. Each
   verdict is a line with the members that hs_evidence_list writes; a CSV file starts with a line of
   column names. The call may take seconds. If `alive_us` is not NULL, the call regularly sets
   *alive_us to hs_clock_us(), to show the watchdog that the call is not stuck. FAILED: the store
   cannot be read, or the file cannot be written. */
enum hs_evidence_read hs_evidence_export(const struct hs_evidence_home *home,
                                         const struct hs_evidence_query *query,
                                         enum hs_evidence_format format, int fd,
                                         atomic_llong *alive_us);

#endif
