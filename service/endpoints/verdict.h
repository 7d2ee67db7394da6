/* Verifies one claim or posted shot, counts it, charges its work and writes its result. */
#ifndef HS_SERVICE_VERDICT_H
#define HS_SERVICE_VERDICT_H

#include "service/endpoints/posting.h"
#include "service/watch/metrics.h"

/* A claim or a posted shot, its result, and the fields that only one of the two has. */
struct hs_verdict_item {
    enum hs_judged kind;
    const struct hs_hit_claim *hit;
    const struct hs_shot_claim *shot;
    int64_t forward_us;
    struct hs_hit_result *result; /* large, so it is not cleared for each claim */
};

/*
 * Verifies an item and writes its result. `now_us` is when the game server received it. NULL means
 * the newest frame at the first item of the request, or `without_frames_us` if there is no frame.
 */
void hs_verdict_answer(struct hs_posting *posting, const int64_t *now_us, int64_t without_frames_us,
                       struct hs_verdict_item *item);

#endif
