/*
 * Recordings for `play`: the requests of one or more matches and, if known, the ground truth of the
 * claims. Recording files have the format that `serve --record` writes (docs/recording.md). The
 * importer (import/match.h) and the demo (cli/demo/match.h) produce the same kinds of entries.
 * Entries are read one at a time, so a long match needs little memory.
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
    double unit; /* units of length per metre; scales the tolerance of expectations */
    /* An imported recording and the demo consist of requests to one match. The following members
       describe this match. In a recording file, entries open the matches, so these names are
       empty. */
    struct hs_name match, ruleset;
    struct hs_name map;       /* empty: no map */
    json_t *ruleset_document; /* owned; uploaded before the match opens; NULL: the service already
                                 has the ruleset */
    json_t *map_document;     /* owned; uploaded before the match opens; NULL: none */
};

enum hs_entry_kind {
    HS_ENTRY_REQUEST, /* a request to the open match `name` */
    HS_ENTRY_RULESET, /* later entries use `document` as the ruleset `name` */
    HS_ENTRY_MAP,     /* later entries use `document` as the map `name` */
    HS_ENTRY_OPEN,    /* the match `name` opens, with `ruleset` and `map` */
    HS_ENTRY_GAP,     /* from here on, the recording lacks requests to the match `name` */
    HS_ENTRY_RESTART, /* the service restarted, so no match is open */
};

struct hs_recording_entry {
    enum hs_entry_kind kind;
    size_t line;         /* line in the file, from 1; 0: the entry is not from a file */
    struct hs_name name; /* empty in requests of an imported recording or of the demo */
    /* For OPEN; an empty `map` means that the match has no map. */
    struct hs_name ruleset, map;
    char revision[80]; /* for RULESET */
    json_t *document;  /* for RULESET and MAP; owned */
    /* For REQUEST: */
    enum hs_route route; /* one of HS_STREAM_REQUESTS */
    double at;           /* time of the request on the match clock, seconds; -HUGE_VAL: unknown */
    bool explain;
    bool answered;  /* the recording contains an answer to this request */
    json_t *body;   /* owned; NULL: none */
    json_t *expect; /* owned; NULL: no expectation */
    /* Owned arrays with one item for each claim in the body, or NULL: */
    json_t *who;   /* labels of the shooters, for example "honest" */
    json_t *truth; /* what really happened: "hit", "miss" or null (unknown) */
};

void hs_recording_entry_clear(struct hs_recording_entry *entry);

/* Returns the hit claims of an entry (borrowed array), or NULL. */
json_t *hs_recording_claims(const struct hs_recording_entry *entry);

enum hs_recording_result { HS_RECORDING_ENTRY, HS_RECORDING_END, HS_RECORDING_BAD };

/* An open recording. The function pointers depend on the format of the recording. */
struct hs_recording {
    struct hs_recording_header header;
    void *state;
    enum hs_recording_result (*next)(void *state, struct hs_recording_entry *entry,
                                     char error[HS_PLAY_ERROR_MAX]);
    double (*progress)(void *state); /* the share read so far, 0 .. 1; may be NULL */
    void (*destroy)(void *state);
};

/* Opens a recording file, plain or gzip, and reads its first line. Returns NULL with a message in
   `error` if the file cannot be read or is not a recording. */
struct hs_recording *hs_recording_open(const char *path, char error[HS_PLAY_ERROR_MAX]);

/* Reads the next entry, which the caller must clear. After HS_RECORDING_BAD, nothing more can be
   read. */
enum hs_recording_result hs_recording_next(struct hs_recording *recording,
                                           struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX]);

void hs_recording_close(struct hs_recording *recording);

#endif
