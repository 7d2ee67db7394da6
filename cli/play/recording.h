/*
 * Recordings: timed API requests, with what is known about them. The format of the files is in
 * docs/recording.md; CSV pairs (import/match.h) and the match of the demo (cli/demo/match.h) are
 * read through the same interface, one entry at a time, so that a long match needs no memory.
 */
#ifndef HS_PLAY_RECORDING_H
#define HS_PLAY_RECORDING_H

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "validators/str.h"

enum { HS_PLAY_ERROR_MAX = 512, HS_PLAY_TITLE_MAX = 128, HS_PLAY_PATH_MAX = 256 };

struct hs_recording_header {
    char title[HS_PLAY_TITLE_MAX];
    struct hs_name match;
    struct hs_name ruleset;
    double unit;              /* units of length a metre; scales the tolerance of expectations */
    struct hs_name map;       /* empty: the match has none */
    json_t *ruleset_document; /* owned; to be PUT before the match, or NULL: it is there already */
    json_t *map_document;     /* likewise; as PUT, so without its name */
};

/* One request. */
struct hs_recording_entry {
    size_t line; /* where it stands in the file, from 1; 0: not from a file */
    double at;   /* seconds, on the clock of the recording; never runs back */
    char method[8];
    char path[HS_PLAY_PATH_MAX]; /* "{match}" stands for the name of the match */
    json_t *body;                /* owned; NULL: none */
    json_t *expect;              /* owned; NULL: nothing is expected */
    /* Owned; NULL, or one item a claim of the body: */
    json_t *who;   /* strings: whose claim, e.g. "honest" */
    json_t *truth; /* "hit", "miss" or null: what really happened */
};

void hs_recording_entry_clear(struct hs_recording_entry *entry);

/* The claims of an entry's body (borrowed array), or NULL where there are none. */
json_t *hs_recording_claims(const struct hs_recording_entry *entry);

/* The entry's path in `out` with the name of the match in place. False when it is too long. */
bool hs_recording_path(const struct hs_recording_entry *entry, const char *match,
                       char out[HS_PLAY_PATH_MAX]);

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
 * Opens a JSON Lines recording, plain or gzip, and reads its header. NULL with a sentence in
 * `error`, the line's number in it, when that cannot be done.
 */
struct hs_recording *hs_recording_open(const char *path, char error[HS_PLAY_ERROR_MAX]);

/* The next entry; the caller clears it. After BAD nothing more can be read. */
enum hs_recording_result hs_recording_next(struct hs_recording *recording,
                                           struct hs_recording_entry *entry,
                                           char error[HS_PLAY_ERROR_MAX]);

void hs_recording_close(struct hs_recording *recording);

/* The writer. False when the file cannot be written. */
bool hs_recording_write_header(FILE *file, const struct hs_recording_header *header);
bool hs_recording_write_entry(FILE *file, const struct hs_recording_entry *entry);

#endif
