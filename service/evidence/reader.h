/* Reads the evidence store: lists of verdicts, and single verdicts with all their evidence. Every
   call has its own read-only connections, so it never waits for the writer. Thread-safe. */
#ifndef HS_SERVICE_EVIDENCE_READER_H
#define HS_SERVICE_EVIDENCE_READER_H

#include <stdatomic.h>

#include "api/json/writing.h"
#include "service/evidence/store.h"

/* The filters of a list. A text with ptr NULL is no filter. The empty `verdict` selects the
   summaries of ended matches (ended.h). With another `verdict`, or with none, a list has no
   summaries. */
struct hs_evidence_query {
#define X(member, column) struct hs_str member;
    HS_EVIDENCE_TEXTS(X)
#undef X
    int64_t since_us, until_us; /* wall clock: since_us <= time < until_us */
    size_t limit;
    bool is_reviewed; /* only reviewed verdicts, including verdicts of days whose files were removed
                       */
};

enum hs_evidence_read {
    HS_EVIDENCE_READ,
    HS_EVIDENCE_MISSING, /* no such verdict */
    HS_EVIDENCE_FAILED   /* the store cannot be read or has another version, or memory ran out */
};

/* Writes an array of verdicts, the newest first. *next_us is set to the `until_us` of the next
   page; 0: this is the last page. A page ends after about 30 ms. So a page before the last one can
   have fewer verdicts than the limit, or no verdicts. */
enum hs_evidence_read hs_evidence_list(const struct hs_evidence_home *home,
                                       const struct hs_evidence_query *query,
                                       struct hs_writer *writer, int64_t *next_us);

/* Writes a verdict as a recorded stream (record/stream.h). `hindsight recheck` can compute the
   verdict again from this stream. `tenant`: the tenant who owns the verdict; ptr NULL: any tenant.
 */
enum hs_evidence_read hs_evidence_stream(const struct hs_evidence_home *home, struct hs_str tenant,
                                         struct hs_str id, struct hs_buffer *out);

enum hs_evidence_format { HS_EVIDENCE_NDJSON, HS_EVIDENCE_CSV };

/* Writes the verdicts to a file, the newest first, with little memory. Each verdict is a line with
   the members of hs_evidence_list; a CSV file begins with a line of member names. The call may take
   seconds, so it regularly sets *alive_us to the current time (hs_clock_us), unless `alive_us` is
   NULL. Also returns FAILED if the file cannot be written. */
enum hs_evidence_read hs_evidence_export(const struct hs_evidence_home *home,
                                         const struct hs_evidence_query *query,
                                         enum hs_evidence_format format, int fd,
                                         atomic_llong *alive_us);

#endif
