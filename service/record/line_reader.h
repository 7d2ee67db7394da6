/* Reads one line of a recorded stream (stream.h). docs/recording.md describes the format. */
#ifndef HS_SERVICE_RECORD_LINE_READER_H
#define HS_SERVICE_RECORD_LINE_READER_H

#include "api/http/routes.h"
#include "validators/str.h"

enum hs_stream_kind {
    HS_STREAM_HEADER,
    HS_STREAM_RULESET,
    HS_STREAM_MAP,
    HS_STREAM_OPEN,
    HS_STREAM_REQUEST,
    HS_STREAM_GAP,
    HS_STREAM_JOURNAL, /* changes of a restored match before its first request */
    HS_STREAM_KIND_COUNT
};

/* A line. Texts are borrowed from the text of the line. A text has ptr NULL if the member is
   absent. */
struct hs_stream_line {
    enum hs_stream_kind kind;
    struct hs_str name; /* name of the ruleset, map or match; header: the format */
    /* Revision of the ruleset or map; for a match, revision of its ruleset. */
    struct hs_str revision;
    struct hs_str map, map_revision; /* map of a match; absent without a map */
    struct hs_str tenant;            /* the owner of a match; absent if nobody owns the match */
    struct hs_str program;           /* header: the version that wrote the recording */
    struct hs_str document;          /* ruleset or map, as JSON */
    /* Name, body and answer of the request; body and answer are JSON, and the answer may be
       absent. */
    struct hs_str request, body, answer;
    struct hs_str title, unit; /* header, as JSON */
    /* Members of a request, as JSON; `play` compares these members with the answer. */
    struct hs_str who, truth, expect;
    struct hs_str state;           /* state of a restored match, base64; absent if the match is
                                      new */
    struct hs_str layout, records; /* journal: layout of the records; records as base64 */
    struct hs_str reason;          /* reason of a gap; absent if requests are missing */
    uint64_t version, opening, max_players, max_samples, max_movers;
    uint64_t request_work; /* budget of the request; 0: all items fitted into the budget */
    enum hs_route route;   /* route of a request */
    bool explain, brief;
    bool moves_lost; /* used only with `state` */
    bool ended;      /* journal: the match had ended */
};

/* Reads the text of a line, without its line end. Returns false if the text is not a line of a
   stream. */
bool hs_stream_line_read(struct hs_str text, struct hs_stream_line *line);

#endif
