/* Decides when the state of a match must be written. */
#include "service/store/matches_inside.h"

#include "service/system/clock.h"

enum {
    /* While a match changes, its state is written this often if the state is small. */
    WRITE_US = 250000,
    /* A large state is written less often: a match copies and packs at most this many bytes a
       second. Between two states, the payments are in the journal. */
    WRITE_BYTES_A_SECOND = 1 << 20,
    /* A match that does not change is written this often, so that its keys do not expire. */
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
