/*
 * Recordings as `play` reads them: the requests of matches, with what is known about them. Files
 * are streams as `serve --record` writes them (docs/recording.md). Importers of other formats
 * (import/match.h) and the demo (cli/demo/match.h) yield the same. Entries come one at a time, so
 * that a long match needs no memory.
 */
#ifndef HS_PLAY_RECORDING_H
#define HS_PLAY_RECORDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "api/http/routes.h"
#include "validators/str.h"

enum { HS_PLAY_ERROR_MAX = 512, HS_PLAY_TITLE_MAX = 128, HS_PLAY_PATH_MAX = 256 };

struct hs_recording_header {
    char title[HS_PLAY_TITLE_MAX];
    double unit; /* units of length a metre; scales the tolerance of expectations */
    /* Of an importer, whose entries are requests of one match; empty in a file, whose entries open
       its matches: */
    struct hs_name match, ruleset;
    struct hs_name map;       /* empty: the match has none */
    json_t *ruleset_document; /* owned; to be PUT before the match, or NULL: it is there already */
    json_t *map_document;     /* owned; to be PUT too, or NULL */
};

enum hs_entry_kind {
    HS_ENTRY_REQUEST, /* of the open match `name` */
    HS_ENTRY_RULESET, /* `document` is used under `name` from here on */
    HS_ENTRY_MAP,     /* a map `document`, used under `name` */
    HS_ENTRY_OPEN,    /* the match `name` opens, with `ruleset` and `map` */
    HS_ENTRY_GAP,     /* requests of the match `name` are missing from here on */
    HS_ENTRY_RESTART, /* the service was started again: no match is open */
};

struct hs_recording_entry {
    enum hs_entry_kind kind;
    size_t line;         /* where it stands in the file, from 1; 0: not from a file */
    struct hs_name name; /* of a request of an importer: empty */
    /* Of OPEN; the map is empty where there is none. */
    struct hs_name ruleset, map;
    char revision[80]; /* of RULESET */
    json_t *document;  /* owned; of RULESET and MAP */
    /* Of REQUEST: */
    enum hs_route route; /* one of HS_STREAM_REQUESTS */
    double at;           /* seconds on the clock of the match, as far as the body says */
    bool explain;
    bool answered;  /* a service took it once, as it is */
    json_t *body;   /* owned; NULL: none */
    json_t *expect; /* owned; NULL: nothing is expected */
    /* Owned; NULL, or one item a claim of the body: */
    json_t *who;   /* strings: whose claim, e.g. "honest" */
    json_t *truth; /* "hit", "miss" or null: what really happened */
};

void hs_recording_entry_clear(struct hs_recording_entry *entry);

/* The hit claims of an entry (borrowed array), or NULL where there are none. */
json_t *hs_recording_claims(const struct hs_recording_entry *entry);

enum hs_recording_result { HS_RECORDING_ENTRY, HS_RECORDING_END, HS_RECORDING_BAD };

/* An open recording of any kind. The functions behind it belong to whoever opened it. */
struct hs_recording {
    struct hs_recording_header header;
    void *state;
    enum hs_recording_result (*next)(void *state, struct hs_recording_entry *entry,
                                     char error[HS_PLAY_ERROR_MAX]);
    double (*progress)(void *state); /* 0 .. 1: how much has been read; may be NULL */
    void (*destroy)(void *state);
};

/*
 * Opens a recorded stream, plain or gzip, and reads its first line. NULL with a sentence in
 * `error`: it cannot be read, or is not a recording.
 */
struct hs_recording *hs_recording_open(const char *path, char error[HS_PLAY_ERROR_MAX]);

/* The next entry; the caller clears it. After BAD nothing more can be read. */
enum hs_recording_result hs_recording_next(struct hs_recording *recording,
                                           struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX]);

void hs_recording_close(struct hs_recording *recording);

#endif
