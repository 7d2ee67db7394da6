/* Reads a recording line by line. `serve --record` and `demo --keep` write it, `play` and `recheck`
   read it. docs/recording.md has the format. */
#ifndef HS_RECHECK_STREAM_READER_H
#define HS_RECHECK_STREAM_READER_H

#include "api/http/routes.h"
#include "cli/play/lines.h"
#include "validators/str.h"

enum { HS_STREAM_ERROR_MAX = 256 };

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

/* A line. Texts are borrowed until the next line is read; ptr NULL: the member is absent. */
struct hs_stream_line {
    enum hs_stream_kind kind;
    /* name of the ruleset, map or match; in a header: the format */
    struct hs_str name;
    struct hs_str revision;          /* of the ruleset or map; for a match: of its ruleset */
    struct hs_str map, map_revision; /* for a match with a map; else absent */
    struct hs_str tenant;            /* the owner of a match; absent: nobody */
    struct hs_str program;           /* for a header: the version that wrote the recording */
    struct hs_str document;          /* for a ruleset or a map, as JSON */
    /* for a request: its name, then JSON; answer may be absent */
    struct hs_str request, body, answer;
    struct hs_str title, unit;        /* for a header, as JSON */
    struct hs_str who, truth, expect; /* for a request, as JSON; only `play` uses them */
    struct hs_str state;              /* for a restored match, base64; absent: a new match */
    struct hs_str layout, records;    /* for a journal: the layout, and the records as base64 */
    struct hs_str reason;             /* for a gap; absent: requests are missing */
    uint64_t version, opening, max_players, max_samples, max_movers;
    uint64_t request_work; /* budget of the request; 0: all items were within it */
    enum hs_route route;   /* for a request */
    bool explain, brief;
    bool moves_lost; /* for a match with `state`: see hs_match_lost_moves */
    bool ended;      /* for a journal: the match had ended */
};

struct hs_stream_reader {
    struct hs_lines *lines;
    size_t number;                   /* number of the line read last, from 1 */
    bool is_recording;               /* the first line was the header of a recording */
    size_t interrupted;              /* lines whose writer did not finish them */
    char error[HS_STREAM_ERROR_MAX]; /* empty: no error so far */
};

/* Opens a file. Returns false with the reader's error set if the file cannot be opened. */
bool hs_stream_reader_open(struct hs_stream_reader *reader, const char *path);
void hs_stream_reader_close(struct hs_stream_reader *reader);

/* Reads the next line; false at the end and when the error is set. Broken lines are skipped at the
   end of the file and before a header: their writers were interrupted. */
bool hs_stream_reader_next(struct hs_stream_reader *reader, struct hs_stream_line *line);

#endif
