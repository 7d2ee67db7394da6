/* Parses one line of a recorded stream (stream.h). docs/recording.md describes the format. */
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
    HS_STREAM_JOURNAL, /* what happened to a restored match before its first request */
    HS_STREAM_KIND_COUNT
};

/* A line. Its strings are parts of the parsed text. If the line lacks a member, the ptr of the
   string is NULL. */
struct hs_stream_line {
    enum hs_stream_kind kind;
    struct hs_str name; /* name of the ruleset, map or match; in the header: the format */
    /* Revision of the ruleset or map; for a match: the revision of its ruleset. */
    struct hs_str revision;
    struct hs_str map, map_revision; /* ptr NULL: the match has no map */
    struct hs_str tenant;            /* owner of a match; ptr NULL: no owner */
    struct hs_str program;           /* header: version of the program that wrote the stream */
    struct hs_str document;          /* JSON of a ruleset or map */
    /* Name, body and answer of a request. Body and answer are JSON; the answer may be missing. */
    struct hs_str request, body, answer;
    struct hs_str title, unit; /* header: JSON */
    /* JSON members of a request for `play`: the label of the player, the true outcome, and what the
       answer must contain. */
    struct hs_str who, truth, expect;
    struct hs_str state;           /* state of a restored match, base64 */
    struct hs_str layout, records; /* journal: layout of the records; the records, base64 */
    struct hs_str reason;          /* reason for a gap; ptr NULL: requests are missing */
    uint64_t version, opening, max_players, max_samples, max_movers;
    uint64_t request_work; /* work budget of a request; 0: no item exceeded the budget */
    enum hs_route route;   /* route of a request */
    bool explain, brief;
    bool moves_lost; /* with `state`: hs_match_lost_moves was called */
    bool ended;      /* journal: the match had ended */
};

/* Parses a line without its newline. Returns false if the line is not valid. */
bool hs_stream_line_read(struct hs_str text, struct hs_stream_line *line);

#endif
