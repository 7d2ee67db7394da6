/*
 * Playback: sends the entries of a recording to a service in order, and counts the answers. If
 * `speed` is above 0, requests are sent at the recorded times.
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
    const char *match; /* name of the match in the service; NULL: as recorded */
    struct hs_str map; /* a map document that replaces all maps of the recording; ptr NULL: none */
    bool replace;      /* first end an open match that has this name */
    double speed; /* 1: at the recorded times; 2: twice as fast; 0: as fast as answers arrive */
    enum hs_cheat cheat; /* how claims are forged; truth and expectations are then ignored */
    bool show_progress;  /* on stderr, in one line that is rewritten */
    FILE *complaints;    /* failed expectations are printed here; NULL: nowhere */
    /* Called with each claim and its result, in order; may be NULL. */
    void (*observe)(void *context, const struct hs_recording_entry *entry, size_t claim,
                    const json_t *hit, const json_t *result);
    void *context;
};

/*
 * Plays the recording: puts rulesets and maps, opens matches, sends requests. Requests that follow
 * a gap in their match (HS_ENTRY_GAP) are left out. Returns false with a message in `error` when
 * the service does not answer or refuses something, or when the recording is wrong. A failed
 * expectation is counted, but is not an error. For each request, the tally records the duration of
 * the last attempt.
 */
bool hs_playback_run(const struct hs_playback *playback, char error[HS_PLAY_ERROR_MAX]);

/*
 * Sends one request (body.ptr NULL: no body). After a temporary refusal (429, 503), waits for the
 * time that the answer states and sends the request again. Does not repeat a request if `expect`
 * (see hs_expect_answer; may be NULL) expects the refusal. Gives up after 100 waits, or before the
 * sum of waits exceeds 30 s. A repeated request is harmless, because the service counts nothing
 * twice. Sets *waits to the number of repeats. Returns false if there is no answer.
 */
bool hs_playback_send(struct hs_client *client, const char *method, const char *path,
                      struct hs_str body, const json_t *expect, double unit, unsigned *waits,
                      struct hs_client_response *response);

#endif
