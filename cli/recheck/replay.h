/*
 * Processes the lines of a recorded stream again, in a service that has no network.
 */
#ifndef HS_RECHECK_REPLAY_H
#define HS_RECHECK_REPLAY_H

#include "api/json/buffer.h"
#include "cli/recheck/stream_reader.h"
#include "validators/ruleset.h"

struct hs_replay;

/*
 * Creates a replay. If `ruleset` is not NULL, this ruleset replaces the recorded rulesets. If
 * `only` is set, the replay includes only matches that were opened with the ruleset `only`. Takes
 * ownership of `ruleset`, even on failure. Returns NULL if memory runs out, or if the name of
 * `ruleset` is reserved.
 */
struct hs_replay *hs_replay_create(struct hs_ruleset *ruleset, struct hs_str only);
void hs_replay_destroy(struct hs_replay *replay);

enum hs_replay_result {
    HS_REPLAY_DONE,      /* the line was applied; there is no answer to compare */
    HS_REPLAY_REOPENED,  /* like DONE, but the recording lacks the end of the previous match with
                            that name */
    HS_REPLAY_ANSWERED,  /* `answer` must be compared with the recorded answer */
    HS_REPLAY_LEFT_OUT,  /* a request to a match that is left out */
    HS_REPLAY_UNKNOWN,   /* the match cannot be restored and is left out; `answer` is the reason */
    HS_REPLAY_IMPOSSIBLE /* the line cannot be applied; `error` is the reason */
};

/* Applies the next line of the stream. Overwrites `answer`. */
enum hs_replay_result hs_replay_line(struct hs_replay *replay, const struct hs_stream_line *line,
                                     struct hs_buffer *answer, char error[HS_STREAM_ERROR_MAX]);

struct hs_replay_summary {
    const char *rules_name, *revision; /* the replacement ruleset; "": none */
    size_t opened;                     /* matches opened so far, except matches left out */
    size_t restored;                   /* the number of opened matches that were restored from a
                                          state */
    size_t left_out;                   /* matches left out because of `only` */
};

/* Returns the summary so far. The texts in the summary are valid until the replay is destroyed. */
struct hs_replay_summary hs_replay_summary(const struct hs_replay *replay);

#endif
