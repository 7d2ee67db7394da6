/* The interface between matches.c, take.c, close.c and due.c. */
#ifndef HS_SERVICE_STORE_MATCHES_INSIDE_H
#define HS_SERVICE_STORE_MATCHES_INSIDE_H

#include <pthread.h>
#include <stdatomic.h>

#include "service/store/matches.h"
#include "service/watch/log.h"

enum {
    HS_SHARED_OWNER = 33,
    HS_SHARED_KEY = HS_NAME_MAX + 24,
};

#define HS_SHARED_TTL "120000" /* in ms; keys expire this long after the last write */
/* The key of the owner of an ended match expires later. Another replica may restart and restore the
   match from its checkpoint. */
#define HS_SHARED_ENDED_TTL "3600000"

/* Defines born(), which returns the birth of a match that is new to the store. */
#define HS_SHARED_BORN                                                                             \
    "local function born()\n"                                                                      \
    "  local time = redis.call('TIME')\n"                                                          \
    "  return time[1] .. string.format('%06d', time[2])\n"                                         \
    "end\n"

/* Each script that writes begins with this check, which refuses former owners. KEYS: owner, state,
   journal. ARGV: owner, epoch, birth, tenant. If the store has no epoch for the match, the store
   has lost its data, and the sender becomes the owner again. If the births differ, another replica
   has opened the match in the empty store, so the epochs cannot be compared. A match that was never
   taken has epoch 0. If the last match with its name has ended, it gets a new epoch. */
#define HS_SHARED_FENCE                                                                            \
    "local o = redis.call('HMGET', KEYS[1], 'epoch', 'owner', 'birth')\n"                          \
    "local stored, epoch = tonumber(o[1] or 0), tonumber(ARGV[2])\n"                               \
    "local birth, mine = o[3], o[2] == ARGV[1]\n"                                                  \
    "local has = redis.call('EXISTS', KEYS[2])\n"                                                  \
    "local free = epoch == 0 and o[2] == '' and has == 0\n"                                        \
    "local reborn = stored > 0 and ARGV[3] ~= '0' and birth ~= ARGV[3]\n"                          \
    "if not free and (reborn or (stored > 0 and stored >= epoch and not mine) or\n"                \
    "    (stored > epoch and has == 1)) then\n"                                                    \
    "  return {0, stored, has, 0}\n"                                                               \
    "end\n" HS_SHARED_BORN "local now = math.max(stored, epoch, 1)\n"                              \
    "if free then now = stored + 1 end\n"                                                          \
    "birth = birth or (ARGV[3] ~= '0' and ARGV[3]) or born()\n"                                    \
    "if not mine or stored ~= now then\n"                                                          \
    "  redis.call('HSET', KEYS[1], 'epoch', now, 'owner', ARGV[1], 'birth', birth,\n"              \
    "    'tenant', ARGV[4])\n"                                                                     \
    "end\n"                                                                                        \
    "local accepted = {1, now, has, tonumber(birth)}\n"

struct hs_shared_matches {
    struct hs_store *store;
    struct hs_metrics *metrics;
    struct hs_shared_budgets budgets;
    char owner[HS_SHARED_OWNER]; /* identifies this process */
    struct hs_store_script take, append, write;
    /* The last time at which the store seemed to have lost its states. If a match's newest state
       was captured before this time, the match's state is written again. */
    atomic_llong lost_us;
    struct hs_log_limit log_limit;
    pthread_mutex_t lock;          /* guards the following members */
    struct hs_shared_closing *due; /* closings that the store may have missed */
    size_t due_count;
};

struct hs_shared_keys {
    char text[3][HS_SHARED_KEY]; /* owner, state, journal */
    struct hs_name tenant;       /* tenant of the match; "" without tenants */
};

struct hs_shared_match {
    struct hs_shared_matches *matches;
    struct hs_shared_keys keys;
    atomic_uint references;
    atomic_bool is_lost;     /* another replica owns the match; written under the lock */
    pthread_mutex_t lock;    /* guards the following members */
    struct hs_ownership own; /* epoch 0: not taken yet */
    uint64_t newest;         /* number of the newest record */
    uint64_t acknowledged;   /* newest record that the store has acknowledged */
    uint64_t failed;         /* the store may lack records up to this number; 0: the store lacks no
                                record */
    /* The newest record that the store did not acknowledge within `payment_us`; 0: none. A late
       record is reported as late only once, so requests that arrive after the report must not wait
       for this record. */
    uint64_t late;
    uint64_t written; /* highest mark of all states that were sent */
    bool has_state, is_writing, must_write;
    bool was_forgotten; /* the store lost the match while the ownership was uncertain */
    bool has_ended;     /* this replica has removed the match and must not write states any more */
    /* captured_us: when the newest state was captured. due_us: a changed state is written again
       after this time. used_us: when the match had last changed before that capture. */
    int64_t captured_us, due_us, used_us;
    int64_t confirmed_us; /* when the store last confirmed this owner */
    struct hs_payments_wait *waits;
};

/* Writes the keys of a match. The keys do not contain the tenant, because a match name is unique
   across all tenants and replicas. The {tag} begins with a slash, so that no match name gives the
   tag {catalog}. */
void hs_shared_keys_make(struct hs_str tenant, struct hs_str name, struct hs_shared_keys *keys);

/* Writes the arguments that all scripts have in common. Returns the number of these arguments. */
size_t hs_shared_arguments(const struct hs_shared_matches *matches,
                           const struct hs_shared_keys *keys, struct hs_ownership ownership,
                           char digits[2][24], struct hs_str *arguments);

/* Logs the error if `result` is REFUSED. If `result` is not REFUSED, `reply` may be NULL. */
void hs_shared_log_refused(struct hs_shared_matches *matches, enum hs_store_result result,
                           const struct redisReply *reply);

/* Closes a match without waiting for a reply. If `how` is "ended", also removes the match, and
   repeats the command if the store may have missed it. With any other `how`, the match only loses
   its owner, and `how` becomes the value of the field `final`. */
void hs_shared_close(struct hs_shared_matches *matches, const struct hs_shared_keys *keys,
                     struct hs_ownership ownership, const char *how);

/* Frees the closings that wait to be sent again. */
void hs_shared_close_free(struct hs_shared_matches *matches);

void hs_shared_take_init(struct hs_shared_matches *matches);

#endif
