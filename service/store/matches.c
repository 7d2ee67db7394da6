#include "service/store/matches.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "service/store/matches_inside.h"
#include "service/system/clock.h"
#include "service/watch/log.h"
#include "service/watch/metrics.h"

enum {
    /* The state of a match is written this often while it changes, if it is small. */
    WRITE_US = 250000,
    /* A large state is written less often: a match copies and packs at most this many bytes a
       second. In between, the journal has the payments. */
    WRITE_BYTES_A_SECOND = 1 << 20,
    /* A match that does not change is written this often, so that its keys do not expire. */
    REFRESH_US = 30000000,
    /* A quiet owner asks so often whether it still is the owner. Longer: it may answer from a state
       that is so old. Shorter: requests wait more often. */
    CONFIRMED_US = 1000000,
    /* Numbers of the records of one owner begin at the epoch times 2 to the power of this. So they
       are higher than those of former owners, and exact as scores of a sorted set. */
    EPOCH_SHIFT = 32,
};

static const char append_text[] =
    HS_SHARED_FENCE "redis.call('ZADD', KEYS[3], ARGV[3], ARGV[4])\n"
                    "redis.call('PEXPIRE', KEYS[1], " HS_SHARED_TTL ")\n"
                    "redis.call('PEXPIRE', KEYS[3], " HS_SHARED_TTL ")\n"
                    "return {1, now, has}\n";

static const char write_text[] = HS_SHARED_FENCE
    "redis.call('SET', KEYS[2], ARGV[3], 'PX', " HS_SHARED_TTL ")\n"
    "redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[4])\n"
    "redis.call('PEXPIRE', KEYS[1], " HS_SHARED_TTL ")\n"
    "redis.call('PEXPIRE', KEYS[3], " HS_SHARED_TTL ")\n"
    "if ARGV[5] == '1' then redis.call('HSET', KEYS[1], 'owner', '', 'final', 1) end\n"
    "return {1, now, has}\n";

struct hs_shared_match {
    struct hs_shared_matches *matches;
    struct hs_shared_keys keys;
    atomic_uint references;
    atomic_bool is_lost;   /* another replica owns the match; written under the lock */
    pthread_mutex_t lock;  /* guards the following members */
    uint64_t epoch;        /* 0: not taken yet */
    uint64_t newest;       /* number of the newest record */
    uint64_t acknowledged; /* number of the newest record that the store has acknowledged */
    uint64_t failed;       /* the store may lack records up to this number; 0: it lacks none */
    uint64_t written;      /* the highest mark of a state that was submitted */
    bool has_state, is_writing, must_write;
    bool has_ended; /* this replica has removed the match; nothing may write it any more */
    int64_t captured_us, due_us, used_us; /* of the newest captured state */
    int64_t confirmed_us;                 /* when the store last confirmed this owner */
    struct hs_payments_wait *waits;
};

struct hs_shared_matches *hs_shared_matches_create(struct hs_store *store,
                                                   struct hs_metrics *metrics,
                                                   const struct hs_shared_budgets *budgets)
{
    struct hs_shared_matches *matches = calloc(1, sizeof *matches);
    unsigned char id[(HS_SHARED_OWNER - 1) / 2];
    if (matches == NULL || getrandom(id, sizeof id, 0) != (ssize_t)sizeof id) {
        free(matches);
        return NULL;
    }
    for (size_t i = 0; i < sizeof id; i++)
        snprintf(matches->owner + 2 * i, 3, "%02x", id[i]);
    pthread_mutex_init(&matches->lock, NULL);
    matches->store = store;
    matches->metrics = metrics;
    matches->budgets = *budgets;
    matches->lost_us = INT64_MIN;
    matches->log_limit = (struct hs_log_limit){.per_second = 5, .kind = "matches that moved"};
    hs_shared_take_init(matches);
    hs_store_script_init(&matches->append, append_text);
    hs_store_script_init(&matches->write, write_text);
    return matches;
}

void hs_shared_matches_destroy(struct hs_shared_matches *matches)
{
    if (matches == NULL)
        return;
    hs_shared_close_free(matches);
    pthread_mutex_destroy(&matches->lock);
    free(matches);
}

/* ---- commands ---- */

void hs_shared_keys_make(struct hs_str tenant, struct hs_str name, struct hs_shared_keys *keys)
{
    static const char *const parts[] = {"own", "state", "journal"};
    for (int i = 0; i < 3; i++)
        snprintf(keys->text[i], sizeof keys->text[i], "hs:v1:{%.*s/%.*s}:%s", (int)tenant.len,
                 tenant.len > 0 ? tenant.ptr : "", (int)name.len, name.ptr, parts[i]);
}

size_t hs_shared_arguments(const struct hs_shared_matches *matches,
                           const struct hs_shared_keys *keys, uint64_t epoch, char digits[24],
                           struct hs_str *arguments)
{
    snprintf(digits, 24, "%" PRIu64, epoch);
    arguments[0] = HS_STR("3");
    for (int i = 0; i < 3; i++)
        arguments[1 + i] = hs_str_of(keys->text[i]);
    arguments[4] = hs_str_of(matches->owner);
    arguments[5] = hs_str_of(digits);
    return 6;
}

/* Reads {accepted, epoch, has}, the answer of all scripts but the first. */
struct answer {
    bool is_accepted, had_state;
    uint64_t epoch;
};

static bool read_answer(enum hs_store_result result, const struct redisReply *reply,
                        struct answer *answer)
{
    if (result != HS_STORE_OK || reply->type != REDIS_REPLY_ARRAY || reply->elements != 3)
        return false;
    for (int i = 0; i < 3; i++)
        if (reply->element[i]->type != REDIS_REPLY_INTEGER)
            return false;
    *answer = (struct answer){.is_accepted = reply->element[0]->integer == 1,
                              .epoch = (uint64_t)reply->element[1]->integer,
                              .had_state = reply->element[2]->integer == 1};
    return true;
}

void hs_shared_log_refused(struct hs_shared_matches *matches, enum hs_store_result result,
                           const struct redisReply *reply)
{
    if (result == HS_STORE_REFUSED && hs_log_allowed(&matches->log_limit))
        hs_log(HS_LOG_ERROR, "the store refused a command", HS_LOG_TEXT("detail", reply->str));
}

/* ---- calls ---- */

/* A command about one match. */
struct call {
    struct hs_store_call call;     /* first member: pointers to both are the same */
    struct hs_shared_match *match; /* a reference */
    uint64_t mark;
};

/* ---- one match ---- */

struct hs_shared_match *hs_shared_match_create(struct hs_shared_matches *matches,
                                               struct hs_str tenant, struct hs_str name,
                                               uint64_t epoch)
{
    struct hs_shared_match *match = calloc(1, sizeof *match);
    if (match == NULL)
        return NULL;
    match->matches = matches;
    hs_shared_keys_make(tenant, name, &match->keys);
    match->references = 1;
    pthread_mutex_init(&match->lock, NULL);
    match->epoch = epoch;
    match->newest = match->acknowledged = epoch << EPOCH_SHIFT;
    match->captured_us = match->used_us = INT64_MIN;
    match->confirmed_us = hs_clock_us();
    return match;
}

struct hs_shared_match *hs_shared_match_retain(struct hs_shared_match *match)
{
    atomic_fetch_add(&match->references, 1);
    return match;
}

void hs_shared_match_release(struct hs_shared_match *match)
{
    if (match == NULL || atomic_fetch_sub(&match->references, 1) != 1)
        return;
    pthread_mutex_destroy(&match->lock);
    free(match);
}

bool hs_shared_match_is_lost(struct hs_shared_match *match)
{
    return atomic_load(&match->is_lost);
}

bool hs_shared_match_needs_state(struct hs_shared_match *match)
{
    pthread_mutex_lock(&match->lock);
    bool needs = !match->has_state && !match->is_writing && !match->is_lost && !match->has_ended &&
                 match->epoch != 0;
    pthread_mutex_unlock(&match->lock);
    return needs && hs_store_is_up(match->matches->store, HS_STORE_URGENT);
}

uint64_t hs_shared_match_mark(struct hs_shared_match *match)
{
    pthread_mutex_lock(&match->lock);
    uint64_t newest = match->newest;
    pthread_mutex_unlock(&match->lock);
    return newest;
}

/* ---- waiting; the lock is held ---- */

static enum hs_payments payments_of(const struct hs_shared_match *match, uint64_t mark)
{
    if (match->is_lost)
        return HS_PAYMENTS_MOVED;
    if (match->failed != 0)
        return HS_PAYMENTS_NOT_DURABLE;
    return match->acknowledged >= mark ? HS_PAYMENTS_DURABLE : HS_PAYMENTS_PENDING;
}

/* Removes the waits that end now from the match, and returns them. `late`: the records up to this
   number are late; 0: none. */
static struct hs_payments_wait *take_ended(struct hs_shared_match *match, uint64_t late)
{
    struct hs_payments_wait *ended = NULL;
    for (struct hs_payments_wait **at = &match->waits; *at != NULL;) {
        struct hs_payments_wait *wait = *at;
        wait->result = payments_of(match, wait->mark);
        if (wait->result == HS_PAYMENTS_PENDING && wait->mark <= late)
            wait->result = HS_PAYMENTS_NOT_DURABLE;
        if (wait->result == HS_PAYMENTS_PENDING) {
            at = &wait->next;
            continue;
        }
        *at = wait->next;
        wait->next = ended;
        ended = wait;
    }
    return ended;
}

/* Call it without the lock. */
static void end_waits(struct hs_payments_wait *wait)
{
    while (wait != NULL) {
        struct hs_payments_wait *next = wait->next; /* `done` may free the wait */
        wait->done(wait);
        wait = next;
    }
}

enum hs_payments hs_shared_match_await(struct hs_shared_match *match, struct hs_payments_wait *wait)
{
    pthread_mutex_lock(&match->lock);
    wait->mark = match->newest;
    wait->result = payments_of(match, wait->mark);
    if (wait->result == HS_PAYMENTS_PENDING &&
        hs_store_is_late(match->matches->store, HS_STORE_URGENT,
                         match->matches->budgets.payment_us))
        wait->result = HS_PAYMENTS_NOT_DURABLE;
    enum hs_payments result = wait->result;
    if (result == HS_PAYMENTS_PENDING) {
        wait->next = match->waits;
        match->waits = wait;
    }
    pthread_mutex_unlock(&match->lock);
    return result;
}

/* ---- results; the lock is held ---- */

/* Handles that the store may lack the records up to `mark`. */
static void fail(struct hs_shared_match *match, uint64_t mark)
{
    if (match->failed < mark)
        match->failed = mark;
    match->must_write = true;
}

/* Handles that a match which was never taken has an owner now: its records get numbers of the
   epoch. */
static void begin_epoch(struct hs_shared_match *match, uint64_t epoch)
{
    uint64_t offset = match->epoch == 0 ? epoch << EPOCH_SHIFT : 0;
    match->newest += offset;
    match->acknowledged += offset;
    match->written += offset;
    match->failed += match->failed != 0 ? offset : 0;
    match->epoch = epoch;
}

static void lose(struct hs_shared_match *match, uint64_t epoch)
{
    struct hs_shared_matches *matches = match->matches;
    if (match->has_ended) /* the end came before the record, and no replica has taken the match */
        fail(match, match->newest);
    if (match->is_lost || match->has_ended)
        return;
    match->is_lost = true;
    hs_metrics_add(matches->metrics, HS_METRIC_MATCHES_MOVED, 0, 1);
    if (hs_log_allowed(&matches->log_limit))
        hs_log(HS_LOG_WARN, "another replica owns a match: its copy here ends",
               HS_LOG_TEXT("key", match->keys.text[0]), HS_LOG_NUMBER("epoch", match->epoch),
               HS_LOG_NUMBER("newer_epoch", epoch));
}

/* The store has forgotten a state, so it has probably forgotten all of them. */
static void forget_state(struct hs_shared_match *match)
{
    if (match->has_state)
        hs_shared_matches_rewrite(match->matches);
    match->has_state = false;
    match->must_write = true;
}

/* ---- being the owner ---- */

bool hs_shared_match_is_doubtful(struct hs_shared_match *match)
{
    pthread_mutex_lock(&match->lock);
    bool is_doubtful =
        match->epoch != 0 && !match->is_lost && hs_clock_us() - match->confirmed_us > CONFIRMED_US;
    pthread_mutex_unlock(&match->lock);
    return is_doubtful;
}

void hs_shared_match_confirm(struct hs_shared_match *match)
{
    struct hs_shared_matches *matches = match->matches;
    const struct hs_str arguments[] = {HS_STR("HGET"), hs_str_of(match->keys.text[0]),
                                       HS_STR("epoch")};
    int64_t wait_us = matches->budgets.take_us;
    struct redisReply *reply = NULL;
    enum hs_store_result result = HS_STORE_LOST;
    if (!hs_store_is_late(matches->store, HS_STORE_URGENT, wait_us))
        result = hs_store_ask(matches->store, HS_STORE_URGENT, HS_STORE_TAKE, wait_us, NULL,
                              arguments, 3, &reply);
    uint64_t epoch =
        result == HS_STORE_OK && reply->str != NULL ? strtoull(reply->str, NULL, 10) : 0;
    pthread_mutex_lock(&match->lock);
    if (epoch > match->epoch)
        lose(match, epoch);
    match->confirmed_us = hs_clock_us(); /* without an answer, the copy here goes on */
    pthread_mutex_unlock(&match->lock);
    freeReplyObject(reply);
}

/* ---- payments ---- */

static void end_append(struct hs_store_call *call, enum hs_store_result result,
                       struct redisReply **reply)
{
    struct call *append = (struct call *)call;
    struct hs_shared_match *match = append->match;
    struct answer answer;
    hs_shared_log_refused(match->matches, result, *reply);
    pthread_mutex_lock(&match->lock);
    if (!read_answer(result, *reply, &answer)) {
        fail(match, append->mark);
    } else if (!answer.is_accepted) {
        lose(match, answer.epoch);
    } else if (!answer.had_state) {
        forget_state(match);
        fail(match, append->mark);
    } else {
        match->confirmed_us = hs_clock_us();
        if (match->acknowledged < append->mark)
            match->acknowledged = append->mark;
    }
    struct hs_payments_wait *ended = take_ended(match, 0);
    pthread_mutex_unlock(&match->lock);
    end_waits(ended);
    hs_shared_match_release(match);
    free(append);
}

static void late_append(struct hs_store_call *call)
{
    const struct call *append = (const struct call *)call;
    pthread_mutex_lock(&append->match->lock);
    struct hs_payments_wait *ended = take_ended(append->match, append->mark);
    pthread_mutex_unlock(&append->match->lock);
    end_waits(ended);
}

/* Submits a call about a match. */
static bool submit(struct call *call, enum hs_store_lane lane, const struct hs_store_script *script,
                   const struct hs_str *arguments, size_t count)
{
    struct hs_shared_match *match = call->match;
    return hs_store_submit(match->matches->store, lane, &call->call, script, arguments, count);
}

/* Submits a record with a number. The lock is held. */
static bool submit_record(struct hs_shared_match *match, struct hs_str record, uint64_t mark)
{
    struct hs_str arguments[HS_STORE_ARGUMENTS];
    char epoch[24], number[24];
    bool can_append = match->epoch != 0 && !match->is_lost && !match->has_ended;
    struct call *call = can_append ? calloc(1, sizeof *call) : NULL;
    if (call == NULL)
        return false;
    size_t count =
        hs_shared_arguments(match->matches, &match->keys, match->epoch, epoch, arguments);
    snprintf(number, sizeof number, "%" PRIu64, mark);
    arguments[count++] = hs_str_of(number);
    arguments[count++] = record;
    *call = (struct call){.call = {.op = HS_STORE_APPEND,
                                   .budget_us = match->matches->budgets.payment_us,
                                   .late = late_append,
                                   .done = end_append},
                          .match = hs_shared_match_retain(match),
                          .mark = mark};
    if (submit(call, HS_STORE_URGENT, &match->matches->append, arguments, count))
        return true;
    atomic_fetch_sub(&match->references, 1); /* the caller has another one */
    free(call);
    return false;
}

void hs_shared_match_append(struct hs_shared_match *match, struct hs_str record)
{
    /* One lock for the number and its command. Otherwise a request could begin to wait for a number
       whose command fails right after, and nothing would end its wait. */
    pthread_mutex_lock(&match->lock);
    uint64_t mark = ++match->newest;
    if (!submit_record(match, record, mark))
        fail(match, mark);
    pthread_mutex_unlock(&match->lock);
}

/* ---- states ---- */

/* Handles that the store has a state with the records up to `mark`. */
static void cover(struct hs_shared_match *match, uint64_t mark)
{
    match->has_state = true;
    if (match->failed <= mark)
        match->failed = 0;
    if (match->acknowledged < mark)
        match->acknowledged = mark;
}

/* Handles that the store has the match of another owner. If this copy was never taken, it started
   empty because the store was late. While the store is late, taking the match would fail again, so
   this copy goes on. */
static void refuse_write(struct hs_shared_match *match, uint64_t epoch)
{
    const struct hs_shared_matches *matches = match->matches;
    if (match->epoch != 0 ||
        !hs_store_is_late(matches->store, HS_STORE_URGENT, matches->budgets.take_us))
        lose(match, epoch);
    else
        match->must_write = true;
}

static void end_write(struct hs_store_call *call, enum hs_store_result result,
                      struct redisReply **reply)
{
    struct call *write = (struct call *)call;
    struct hs_shared_match *match = write->match;
    struct answer answer;
    hs_shared_log_refused(match->matches, result, *reply);
    pthread_mutex_lock(&match->lock);
    match->is_writing = false;
    if (!read_answer(result, *reply, &answer)) {
        match->must_write = true;
    } else if (!answer.is_accepted) {
        refuse_write(match, answer.epoch);
    } else {
        if (!answer.had_state)
            forget_state(match);
        if (match->epoch == 0)
            write->mark += answer.epoch << EPOCH_SHIFT;
        begin_epoch(match, answer.epoch);
        match->confirmed_us = hs_clock_us();
        cover(match, write->mark);
        match->must_write = match->failed != 0;
    }
    struct hs_payments_wait *ended = take_ended(match, 0);
    pthread_mutex_unlock(&match->lock);
    end_waits(ended);
    hs_shared_match_release(match);
    free(write);
}

bool hs_shared_match_write(struct hs_shared_match *match, enum hs_store_lane lane,
                           struct hs_str state, uint64_t mark, bool gives_up)
{
    struct hs_str arguments[HS_STORE_ARGUMENTS];
    char epoch[24], number[24];
    struct call *call = calloc(1, sizeof *call);
    pthread_mutex_lock(&match->lock);
    /* A newer state, which has dropped records that this one lacks, may have been submitted since
       this one was captured. */
    bool may_write = call != NULL && mark >= match->written && !match->has_ended;
    if (may_write)
        match->written = mark;
    match->is_writing = match->is_writing || may_write;
    match->must_write = match->must_write || !may_write;
    size_t count =
        hs_shared_arguments(match->matches, &match->keys, match->epoch, epoch, arguments);
    pthread_mutex_unlock(&match->lock);
    if (!may_write) {
        free(call);
        return false;
    }
    *call = (struct call){.call = {.op = HS_STORE_WRITE, .done = end_write},
                          .match = hs_shared_match_retain(match),
                          .mark = mark};
    snprintf(number, sizeof number, "%" PRIu64, mark);
    arguments[count++] = state;
    arguments[count++] = hs_str_of(number);
    arguments[count++] = gives_up ? HS_STR("1") : HS_STR("0");
    if (submit(call, lane, &match->matches->write, arguments, count))
        return true;
    pthread_mutex_lock(&match->lock);
    match->is_writing = false;
    match->must_write = true;
    pthread_mutex_unlock(&match->lock);
    hs_shared_match_release(match);
    free(call);
    return false;
}

void hs_shared_match_close(struct hs_shared_match *match)
{
    pthread_mutex_lock(&match->lock);
    uint64_t epoch = match->epoch;
    bool is_owner = epoch != 0 && !match->is_lost;
    match->has_ended = true;
    pthread_mutex_unlock(&match->lock);
    if (is_owner)
        hs_shared_close(match->matches, &match->keys, epoch, "ended");
}

/* ---- when to write ---- */

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
