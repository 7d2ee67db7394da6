/* Decides when the state of a match must be written to the store. */
#include "service/store/matches_inside.h"

#include "service/system/clock.h"

enum {
    /* The interval between two writes of a small state, while the match is changing. */
    WRITE_US = 250000,
    /* Large states are written less often, so that a match copies and packs at most this many bytes
       per second. The journal contains the payments between two states. */
    WRITE_BYTES_A_SECOND = 1 << 20,
    /* The interval between two writes of an unchanged state. These writes keep the keys from
       expiring. */
    REFRESH_US = 30000000,
};

void hs_shared_matches_rewrite(struct hs_shared_matches *matches)
{
    atomic_store(&matches->lost_us, hs_clock_us());
}

bool hs_shared_match_is_due(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                            bool hurries)
{
    pthread_mutex_lock(&match->lock);
    bool has_changed = used_us > match->used_us || match->must_write;
    bool is_forgotten = match->captured_us <= atomic_load(&match->matches->lost_us);
    bool is_due = match->captured_us == INT64_MIN || is_forgotten ||
                  (has_changed && (hurries || now_us >= match->due_us)) ||
                  now_us - match->captured_us >= REFRESH_US;
    bool is_free = !match->is_lost && !match->has_ended && !match->is_writing;
    pthread_mutex_unlock(&match->lock);
    return is_due && is_free;
}

void hs_shared_match_captured(struct hs_shared_match *match, int64_t used_us, int64_t now_us,
                              size_t bytes)
{
    int64_t pause_us = (int64_t)(bytes * 1000000 / WRITE_BYTES_A_SECOND);
    pthread_mutex_lock(&match->lock);
    match->captured_us = now_us;
    match->used_us = used_us;
    match->due_us = now_us + (pause_us > WRITE_US ? pause_us : WRITE_US);
    pthread_mutex_unlock(&match->lock);
}
