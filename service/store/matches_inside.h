/* What matches.c and take.c share. */
#ifndef HS_SERVICE_STORE_MATCHES_INSIDE_H
#define HS_SERVICE_STORE_MATCHES_INSIDE_H

#include <stdatomic.h>

#include "service/store/matches.h"
#include "service/watch/log.h"

enum {
    HS_SHARED_OWNER = 33,
    HS_SHARED_KEY = 2 * (HS_NAME_MAX + 1) + 24,
};

#define HS_SHARED_TTL "120000" /* milliseconds that keys stay after the last write */

struct hs_shared_matches {
    struct hs_store *store;
    struct hs_metrics *metrics;
    struct hs_shared_budgets budgets;
    char owner[HS_SHARED_OWNER]; /* identifies this process */
    struct hs_store_script take, append, write;
    atomic_llong lost_us; /* when the store last seemed to have lost its states; older states are
                             written again */
    struct hs_log_limit log_limit;
};

struct hs_shared_keys {
    char text[3][HS_SHARED_KEY]; /* owner, state, journal */
};

/* Writes the keys. Names cannot contain a slash, so no two matches have the same keys. */
void hs_shared_keys_make(struct hs_str tenant, struct hs_str name, struct hs_shared_keys *keys);

/* Writes the arguments that all scripts share. Returns their number. */
size_t hs_shared_arguments(const struct hs_shared_matches *matches,
                           const struct hs_shared_keys *keys, uint64_t epoch, char digits[24],
                           struct hs_str *arguments);

/* Logs the error of a refused command. */
void hs_shared_log_refused(struct hs_shared_matches *matches, enum hs_store_result result,
                           const struct redisReply *reply);

/* Ends the ownership of a match, without waiting for a reply. `how`: "ended" also removes the
   match; otherwise the value of `final`. */
void hs_shared_close(struct hs_shared_matches *matches, const struct hs_shared_keys *keys,
                     uint64_t epoch, const char *how);

void hs_shared_take_init(struct hs_shared_matches *matches);

#endif
