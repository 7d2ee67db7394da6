/* The inside of the matches in the store, for matches.c, take.c and close.c. */
#ifndef HS_SERVICE_STORE_MATCHES_INSIDE_H
#define HS_SERVICE_STORE_MATCHES_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/store/matches.h"
#include "service/watch/log.h"

enum {
    HS_SHARED_OWNER = 33,
    HS_SHARED_KEY = 2 * (HS_NAME_MAX + 1) + 24,
};

#define HS_SHARED_TTL "120000" /* milliseconds that keys stay after the last write */

/* Refuses a former owner: KEYS owner, state, journal; ARGV owner, epoch. An absent owner is
   replaced: the store was flushed. An epoch of 0 belongs to a match that was never taken. */
#define HS_SHARED_FENCE                                                                            \
    "local o = redis.call('HMGET', KEYS[1], 'epoch', 'owner')\n"                                   \
    "local stored, epoch = tonumber(o[1] or 0), tonumber(ARGV[2])\n"                               \
    "local mine = o[2] == ARGV[1]\n"                                                               \
    "local has = redis.call('EXISTS', KEYS[2])\n"                                                  \
    "if (stored > 0 and stored >= epoch and not mine) or (stored > epoch and has == 1) then\n"     \
    "  return {0, stored, has}\n"                                                                  \
    "end\n"                                                                                        \
    "local now = math.max(stored, epoch, 1)\n"                                                     \
    "if not mine or stored ~= now then\n"                                                          \
    "  redis.call('HSET', KEYS[1], 'epoch', now, 'owner', ARGV[1])\n"                              \
    "end\n"

struct hs_shared_matches {
    struct hs_store *store;
    struct hs_metrics *metrics;
    struct hs_shared_budgets budgets;
    char owner[HS_SHARED_OWNER]; /* identifies this process */
    struct hs_store_script take, append, write;
    atomic_llong lost_us; /* when the store last seemed to have lost its states; older states are
                             written again */
    struct hs_log_limit log_limit;
    pthread_mutex_t lock;          /* guards the following members */
    struct hs_shared_closing *due; /* ends of matches that the store may have missed */
    size_t due_count;
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

/* Logs the error of a command, if it was refused. `reply` may be NULL otherwise. */
void hs_shared_log_refused(struct hs_shared_matches *matches, enum hs_store_result result,
                           const struct redisReply *reply);

/* Ends the ownership of a match, without waiting for a reply. `how`: "ended" also removes the
   match, and the command is sent again if the store may have missed it. Any other text is the new
   value of the field `final`. */
void hs_shared_close(struct hs_shared_matches *matches, const struct hs_shared_keys *keys,
                     uint64_t epoch, const char *how);

/* Frees the ends that were not sent. */
void hs_shared_close_free(struct hs_shared_matches *matches);

void hs_shared_take_init(struct hs_shared_matches *matches);

#endif
