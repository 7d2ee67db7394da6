/*
 * Playback: sends the entries of a recording to a service, in their order and, if wanted, at
 * their pace, and counts what is answered.
 */
#ifndef HS_PLAY_PLAYBACK_H
#define HS_PLAY_PLAYBACK_H

#include <jansson.h>
#include <stdbool.h>

#include "cli/play/client.h"
#include "cli/play/forge.h"
#include "cli/play/recording.h"
#include "cli/play/tally.h"

struct hs_playback {
    struct hs_client *client;
    struct hs_recording *recording;
    struct hs_tally *tally;
    const char *match; /* instead of the recording's own name for its one match; or NULL */
    struct hs_str map; /* a document to be the map, whatever the recording brings; ptr NULL: none */
    bool replace;      /* end an open match of that name first */
    double speed;      /* 1: as fast as it happened; 0: as fast as answers come */
    enum hs_cheat cheat; /* HS_CHEAT_NONE: claims go out as they are; else truth and
                            expectations are left out of account */
    bool show_progress;  /* one line on stderr, rewritten as it goes */
    FILE *complaints;    /* where failed expectations are printed; NULL: nowhere */
    /* Called with each claim and its result, in order; may be NULL. */
    void (*observe)(void *context, const struct hs_recording_entry *entry, size_t claim,
                    const json_t *hit, const json_t *result);
    void *context;
};

/*
 * Plays everything: puts rulesets and maps, opens matches, sends requests. What comes in a match
 * after a gap is left out. False with a sentence in `error`
 * when the service does not answer or refuses something, or when the recording is wrong. Failed
 * expectations are counted, not an error. What is refused only for now (429, 503) is sent again
 * when the service said, unless the recording wants it so; see hs_client_wait. The tally has the
 * time of the last try alone.
 */
bool hs_playback_run(const struct hs_playback *playback, char error[HS_PLAY_ERROR_MAX]);

#endif
