#include "cli/play/resync.h"

#include <math.h>
#include <string.h>

/* How many seconds of frames to store: the default of `history.keep`. */
static const double kept_seconds = 1.0;

json_t *hs_resync_create(json_t *put)
{
    return json_pack("{s:o,s:[],s:b}", "put", put, "recent", "whole", 0);
}

/* Returns the time of the last frame in a list or table, or NaN if that frame has no time. */
static double newest_time(const json_t *frames)
{
    const json_t *columns = json_object_get(frames, "columns"), *name;
    size_t i;
    if (columns == NULL) {
        const json_t *frame = json_array_get(frames, json_array_size(frames) - 1);
        const json_t *time = json_object_get(frame, "time");
        return time != NULL ? json_number_value(time) : (double)NAN;
    }
    const json_t *rows = json_object_get(frames, "rows");
    json_array_foreach(columns, i, name)
    {
        if (json_is_string(name) && strcmp(json_string_value(name), "time") == 0)
            return json_number_value(
                json_array_get(json_array_get(rows, json_array_size(rows) - 1), i));
    }
    return (double)NAN;
}

void hs_resync_keep(json_t *match, json_t *frames)
{
    json_t *recent = json_object_get(match, "recent");
    double newest = newest_time(frames);
    if (recent == NULL || isnan(newest))
        return;
    json_array_append(recent, frames);
    while (newest_time(json_array_get(recent, 0)) < newest - kept_seconds)
        json_array_remove(recent, 0);
}

bool hs_resync_is_due(json_t *match, const json_t *answer)
{
    const json_t *frames = json_object_get(answer, "frames");
    const json_t *result = frames != NULL ? frames : answer;
    /* Only the answer to a post with frames shows whether the service has enough frames. */
    if (json_object_get(result, "stored") == NULL)
        return false;
    bool was_whole = json_is_true(json_object_get(match, "whole"));
    bool is_whole = json_object_get(result, "need") == NULL;
    json_object_set_new(match, "whole", json_boolean(is_whole));
    return was_whole && !is_whole;
}
