/*
 * A service without a network: the lines of a recorded stream go through the endpoints that
 * answered them, in this process, and the answers are computed again.
 */
#ifndef HS_RECHECK_REPLAY_H
#define HS_RECHECK_REPLAY_H

#include "api/json/buffer.h"
#include "cli/recheck/stream_reader.h"
#include "validators/ruleset.h"

struct hs_replay;

/* What matches are judged by instead of what they were opened with. */
struct hs_replay_rules {
    struct hs_ruleset *ruleset; /* NULL: as recorded */
    struct hs_str only;         /* matches opened with the ruleset of this name; ptr NULL: all */
};

/* Takes the ruleset over, whatever the result. NULL: out of memory. */
struct hs_replay *hs_replay_create(const struct hs_replay_rules *rules);
void hs_replay_destroy(struct hs_replay *replay);

/* The name and the revision of the rules that are used instead; "" without. */
const char *hs_replay_rules_name(const struct hs_replay *replay);
const char *hs_replay_revision(const struct hs_replay *replay);

enum hs_replay_result {
    HS_REPLAY_DONE,      /* there is no answer to compare */
    HS_REPLAY_REOPENED,  /* likewise; the end of the match of that name before is missing */
    HS_REPLAY_ANSWERED,  /* `answer` is to be compared with the recorded one */
    HS_REPLAY_LEFT_OUT,  /* a request of a match that is not looked at */
    HS_REPLAY_UNKNOWN,   /* the match cannot be restored, and is not looked at; `answer` says why */
    HS_REPLAY_IMPOSSIBLE /* the stream does not fit together; `error` says why */
};

/* Takes the next line of the stream. `answer` is emptied and written. */
enum hs_replay_result hs_replay_line(struct hs_replay *replay, const struct hs_stream_line *line,
                                     struct hs_buffer *answer, char error[HS_STREAM_ERROR_MAX]);

/* Openings of matches so far that were looked at, those of them that a restart restored, and
   openings that were not looked at. */
struct hs_replay_counts {
    size_t opened, restored, left_out;
};

struct hs_replay_counts hs_replay_counts(const struct hs_replay *replay);

#endif
