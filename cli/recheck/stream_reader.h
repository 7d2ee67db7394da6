/* A recording, line by line: what `serve --record` writes, `play` plays and `recheck` computes
   again. docs/recording.md has the format. */
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
    HS_STREAM_JOURNAL, /* how a restored match goes on before its first request */
    HS_STREAM_KIND_COUNT
};

/* A line. Text is borrowed until the next line is read; ptr NULL: not there. */
struct hs_stream_line {
    enum hs_stream_kind kind;
    struct hs_str name;              /* of the ruleset, map or match; of a header: the format */
    struct hs_str revision;          /* of the ruleset or map, or of the ruleset of a match */
    struct hs_str map, map_revision; /* of a match; ptr NULL: it has none */
    struct hs_str tenant;            /* a match belongs to; ptr NULL: to nobody */
    struct hs_str program;           /* the version that wrote it */
    struct hs_str document, body, answer; /* JSON; a request may lack its answer */
    struct hs_str title, unit;            /* JSON; of a header */
    struct hs_str who, truth, expect;     /* JSON; of a request: what `play` compares */
    struct hs_str state;                  /* of a restored match, base64; ptr NULL: a new match */
    struct hs_str layout, records;        /* of a journal: their layout, base64 */
    struct hs_str reason;                 /* of a gap; ptr NULL: requests are missing */
    uint64_t version, opening, max_players, max_samples, max_movers;
    uint64_t request_work; /* budget of the request; 0: all items fitted */
    enum hs_route route;
    bool explain;
    bool moves_lost; /* with `state` */
    bool ended;      /* of a journal: the match had ended */
};

struct hs_stream_reader {
    struct hs_lines *lines;
    size_t number;                   /* of the line read last, from 1 */
    bool is_recording;               /* its first line was read, and is one */
    size_t interrupted;              /* lines whose writer did not finish them */
    char error[HS_STREAM_ERROR_MAX]; /* empty: nothing is wrong so far */
};

/* False, with the reader's error set: it cannot be read, or is none of this version. */
bool hs_stream_reader_open(struct hs_stream_reader *reader, const char *path);
void hs_stream_reader_close(struct hs_stream_reader *reader);

/*
 * The next line; false at the end and when the error is set. Lines that end in the middle are
 * passed over at the end of the file and before a header: their writers were interrupted.
 */
bool hs_stream_reader_next(struct hs_stream_reader *reader, struct hs_stream_line *line);

#endif
