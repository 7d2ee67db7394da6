/*
 * Playback: sends the entries of a recording to a service in order, and counts the answers.
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
    const char *match; /* name under which the match is played; NULL: the recorded name */
    struct hs_str map; /* map document that replaces all maps in the recording; ptr NULL: none */
    bool replace;      /* if a match with this name is open, ends this match first */
    double speed; /* 1: at the recorded times; 2: twice as fast; 0: as fast as answers arrive */
    enum hs_cheat cheat; /* if set, forges the claims, and ignores ground truth and expectations */
    bool show_progress;  /* prints the progress to stderr, always in the same line */
    FILE *complaints;    /* failed expectations are printed here; NULL: nowhere */
    /* Called with each claim and its result, in order; may be NULL. */
    void (*observe)(void *context, const struct hs_recording_entry *entry, size_t claim,
                    const json_t *hit, const json_t *result);
    void *context;
};

/*
 * Plays the recording: uploads rulesets and maps, opens matches, sends requests. Does not send
 * requests to a match after a gap in this match (HS_ENTRY_GAP). Returns false with a message in
 * `error` if the service does not answer or refuses a request, or if the recording is malformed. A
 * failed expectation is counted, but is not an error. For each request, the tally records the
 * duration of the last attempt.
 */
bool hs_playback_run(const struct hs_playback *playback, char error[HS_PLAY_ERROR_MAX]);

/*
 * Sends one request (body.ptr NULL: no body). While the answer is a temporary refusal
 * (`wait_seconds` above 0), waits and sends the request again. Does not repeat a request if
 * `expect` (see hs_expect_answer; may be NULL) expects the refusal. Stops after 100 repeats, or 30
 * s after the first answer. In this case, `response` is the last refusal. Repeats are harmless,
 * because the service counts nothing twice. Sets *waits to the number of repeats. Returns false if
 * no answer arrives.
 */
bool hs_playback_send(struct hs_client *client, const char *method, const char *path,
                      struct hs_str body, const json_t *expect, double unit, unsigned *waits,
                      struct hs_client_response *response);

#endif
