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
    /* The owner of a quiet match asks the store for confirmation after this time. With a longer
       time, a replica that no longer owns the match could answer from an older state. With a
       shorter time, requests would wait for the store more often. */
    CONFIRMED_US = 1000000,
    /* An owner numbers its records from epoch * 2^EPOCH_SHIFT, so that its records have higher
       numbers than the records of former owners. Up to epoch 2^21, a sorted set can store the
       numbers as scores without rounding. */
    EPOCH_SHIFT = 32,
};

static const char append_text[] =
    HS_SHARED_FENCE "redis.call('ZADD', KEYS[3], ARGV[5], ARGV[6])\n"
                    "redis.call('PEXPIRE', KEYS[1], " HS_SHARED_TTL ")\n"
                    "redis.call('PEXPIRE', KEYS[3], " HS_SHARED_TTL ")\n"
                    "return accepted\n";

static const char write_text[] = HS_SHARED_FENCE
    /* States are written over two links, so an older state may arrive after a newer one. */
    "if tonumber(redis.call('HGET', KEYS[1], 'mark') or 0) <= tonumber(ARGV[6]) then\n"
    "  redis.call('SET', KEYS[2], ARGV[5], 'PX', " HS_SHARED_TTL ")\n"
    "  redis.call('ZREMRANGEBYSCORE', KEYS[3], '-inf', ARGV[6])\n"
    "  redis.call('HSET', KEYS[1], 'mark', ARGV[6], 'final', ARGV[7])\n"
    "  redis.call('HDEL', KEYS[1], 'ended')\n"
    "end\n"
    "redis.call('PEXPIRE', KEYS[1], " HS_SHARED_TTL ")\n"
    "redis.call('PEXPIRE', KEYS[3], " HS_SHARED_TTL ")\n"
    "if ARGV[8] == '1' then redis.call('HSET', KEYS[1], 'owner', '') end\n"
    "return accepted\n";

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
        snprintf(keys->text[i], sizeof keys->text[i], "hs:v1:{/%.*s}:%s", (int)name.len, name.ptr,
                 parts[i]);
    hs_name_set(&keys->tenant, tenant);
}

size_t hs_shared_arguments(const struct hs_shared_matches *matches,
                           const struct hs_shared_keys *keys, struct hs_ownership ownership,
                           char digits[2][24], struct hs_str *arguments)
{
    snprintf(digits[0], 24, "%" PRIu64, ownership.epoch);
    snprintf(digits[1], 24, "%" PRIu64, ownership.birth);
    arguments[0] = HS_STR("3");
    for (int i = 0; i < 3; i++)
        arguments[1 + i] = hs_str_of(keys->text[i]);
    arguments[4] = hs_str_of(matches->owner);
    arguments[5] = hs_str_of(digits[0]);
    arguments[6] = hs_str_of(digits[1]);
    arguments[7] = hs_name_str(&keys->tenant);
    return 8;
}

/* The answer {accepted, epoch, has, birth} of a script that begins with HS_SHARED_FENCE. */
struct answer {
    bool is_accepted, had_state;
    struct hs_ownership own;
};

static bool read_answer(enum hs_store_result result, const struct redisReply *reply,
                        struct answer *answer)
{
    if (result != HS_STORE_OK || reply->type != REDIS_REPLY_ARRAY || reply->elements != 4)
        return false;
    for (int i = 0; i < 4; i++)
        if (reply->element[i]->type != REDIS_REPLY_INTEGER)
            return false;
    *answer = (struct answer){
        .is_accepted = reply->element[0]->integer == 1,
        .own = {(uint64_t)reply->element[1]->integer, (uint64_t)reply->element[3]->integer},
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

struct call {
    struct hs_store_call call;     /* must be first: callbacks cast its address to the structure */
    struct hs_shared_match *match; /* retained */
    uint64_t mark;
    bool hands_off; /* true: answers to requests wait until this state is written */
    bool had_state; /* has_state of the match when the command was submitted */
};

/* ---- one match ---- */

struct hs_shared_match *hs_shared_match_create(struct hs_shared_matches *matches,
                                               struct hs_str tenant, struct hs_str name,
                                               struct hs_ownership ownership)
{
    struct hs_shared_match *match = calloc(1, sizeof *match);
    if (match == NULL)
        return NULL;
    match->matches = matches;
    hs_shared_keys_make(tenant, name, &match->keys);
    match->references = 1;
    pthread_mutex_init(&match->lock, NULL);
    match->own = ownership;
    match->newest = match->acknowledged = ownership.epoch << EPOCH_SHIFT;
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
                 match->own.epoch != 0;
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

/* ---- waiting; the caller holds the lock ---- */

static enum hs_payments payments_of(const struct hs_shared_match *match, uint64_t mark)
{
    if (match->is_lost)
        return HS_PAYMENTS_MOVED;
    if (match->failed != 0)
        return HS_PAYMENTS_NOT_DURABLE;
    return match->acknowledged >= mark ? HS_PAYMENTS_DURABLE : HS_PAYMENTS_PENDING;
}

/* Removes the match's finished waits, and returns them. `late`: the number of the newest late
   record; 0: no record is late. */
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

/* Calls `done` for each wait. The caller must not hold the lock. */
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
        (wait->mark <= match->late || hs_store_is_late(match->matches->store, HS_STORE_URGENT,
                                                       match->matches->budgets.payment_us)))
        wait->result = HS_PAYMENTS_NOT_DURABLE;
    enum hs_payments result = wait->result;
    if (result == HS_PAYMENTS_PENDING) {
        wait->next = match->waits;
        match->waits = wait;
    }
    pthread_mutex_unlock(&match->lock);
    return result;
}

/* ---- results; the caller holds the lock ---- */

/* Call this function when the store may lack the records up to `mark`. */
static void fail(struct hs_shared_match *match, uint64_t mark)
{
    if (match->failed < mark)
        match->failed = mark;
    match->must_write = true;
}

/* Sets the owner. If the match was not taken before, its records get numbers in the range of the
   new epoch. */
static void begin_epoch(struct hs_shared_match *match, struct hs_ownership own)
{
    uint64_t offset = match->own.epoch == 0 ? own.epoch << EPOCH_SHIFT : 0;
    match->newest += offset;
    match->acknowledged += offset;
    match->written += offset;
    match->failed += match->failed != 0 ? offset : 0;
    match->own = own;
}

static void lose(struct hs_shared_match *match, uint64_t epoch)
{
    struct hs_shared_matches *matches = match->matches;
    if (match->has_ended) /* this replica has closed the match, so no other replica has taken it */
        fail(match, match->newest);
    if (match->is_lost || match->has_ended)
        return;
    match->is_lost = true;
    hs_metrics_add(matches->metrics, HS_METRIC_MATCHES_MOVED, 0, 1);
    if (hs_log_allowed(&matches->log_limit))
        hs_log(HS_LOG_WARN, "another replica owns a match: it is closed here",
               HS_LOG_TEXT("key", match->keys.text[0]), HS_LOG_NUMBER("epoch", match->own.epoch),
               HS_LOG_NUMBER("newer_epoch", epoch));
}

static bool is_unconfirmed(const struct hs_shared_match *match)
{
    return hs_clock_us() - match->confirmed_us > CONFIRMED_US;
}

/* Call this function after a command that found no state of the match in the store. If the store
   had a state when the command was submitted, the store has probably lost all its states. If the
   store had no state at that time, nothing is lost: another link may have written a state and set
   has_state since then. */
static void lack_state(struct hs_shared_match *match, const struct call *call)
{
    match->must_write = true;
    if (!call->had_state)
        return;
    if (match->has_state)
        hs_shared_matches_rewrite(match->matches);
    if (match->has_state && is_unconfirmed(match))
        match->was_forgotten = true;
    match->has_state = false;
}

/* ---- being the owner ---- */

bool hs_shared_match_is_doubtful(struct hs_shared_match *match)
{
    pthread_mutex_lock(&match->lock);
    bool is_doubtful =
        match->own.epoch != 0 && !match->is_lost && (match->was_forgotten || is_unconfirmed(match));
    pthread_mutex_unlock(&match->lock);
    return is_doubtful;
}

bool hs_shared_match_confirm(struct hs_shared_match *match)
{
    struct hs_shared_matches *matches = match->matches;
    const struct hs_str arguments[] = {HS_STR("HMGET"), hs_str_of(match->keys.text[0]),
                                       HS_STR("epoch"), HS_STR("birth")};
    int64_t wait_us = matches->budgets.take_us;
    struct redisReply *reply = NULL;
    enum hs_store_result result = HS_STORE_LOST;
    if (!hs_store_is_late(matches->store, HS_STORE_URGENT, wait_us))
        result = hs_store_ask(matches->store, HS_STORE_URGENT, HS_STORE_TAKE, wait_us, NULL,
                              arguments, 4, &reply);
    uint64_t found[2] = {0};
    for (size_t i = 0; i < 2 && result == HS_STORE_OK && i < reply->elements; i++)
        if (reply->element[i]->str != NULL)
            found[i] = strtoull(reply->element[i]->str, NULL, 10);
    pthread_mutex_lock(&match->lock);
    bool is_reborn = found[0] != 0 && match->own.birth != 0 && found[1] != match->own.birth;
    if (found[0] > match->own.epoch || is_reborn)
        lose(match, found[0]);
    bool was_forgotten = match->was_forgotten || (result == HS_STORE_OK && found[0] == 0);
    match->was_forgotten = false;
    match->confirmed_us = hs_clock_us(); /* set confirmed_us even if the store did not answer */
    pthread_mutex_unlock(&match->lock);
    freeReplyObject(reply);
    return !was_forgotten;
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
        lose(match, answer.own.epoch);
    } else if (!answer.had_state) {
        lack_state(match, append);
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

static void report_late(struct hs_store_call *call)
{
    const struct call *late = (const struct call *)call;
    pthread_mutex_lock(&late->match->lock);
    if (late->match->late < late->mark)
        late->match->late = late->mark;
    struct hs_payments_wait *ended = take_ended(late->match, late->mark);
    pthread_mutex_unlock(&late->match->lock);
    end_waits(ended);
}

static bool submit(struct call *call, enum hs_store_lane lane, const struct hs_store_script *script,
                   const struct hs_str *arguments, size_t count)
{
    struct hs_shared_match *match = call->match;
    return hs_store_submit(match->matches->store, lane, &call->call, script, arguments, count);
}

/* The caller holds the lock. */
static bool submit_record(struct hs_shared_match *match, struct hs_str record, uint64_t mark)
{
    struct hs_str arguments[HS_STORE_ARGUMENTS];
    char digits[2][24], number[24];
    bool can_append =
        record.ptr != NULL && match->own.epoch != 0 && !match->is_lost && !match->has_ended;
    struct call *call = can_append ? calloc(1, sizeof *call) : NULL;
    if (call == NULL)
        return false;
    size_t count = hs_shared_arguments(match->matches, &match->keys, match->own, digits, arguments);
    snprintf(number, sizeof number, "%" PRIu64, mark);
    arguments[count++] = hs_str_of(number);
    arguments[count++] = record;
    *call = (struct call){.call = {.op = HS_STORE_APPEND,
                                   .budget_us = match->matches->budgets.payment_us,
                                   .late = report_late,
                                   .done = end_append},
                          .match = hs_shared_match_retain(match),
                          .mark = mark,
                          .had_state = match->has_state};
    if (submit(call, HS_STORE_URGENT, &match->matches->append, arguments, count))
        return true;
    atomic_fetch_sub(&match->references, 1); /* the caller has another reference */
    free(call);
    return false;
}

void hs_shared_match_append(struct hs_shared_match *match, struct hs_str record)
{
    /* Hold the lock from choosing the number until submitting the command. Otherwise a request
       could wait for a number whose command cannot be submitted, and nothing would end the wait. */
    pthread_mutex_lock(&match->lock);
    uint64_t mark = ++match->newest;
    if (!submit_record(match, record, mark))
        fail(match, mark);
    pthread_mutex_unlock(&match->lock);
}

/* ---- states ---- */

/* Call this function when the store has a state that includes the records up to `mark`. */
static void cover(struct hs_shared_match *match, uint64_t mark)
{
    match->has_state = true;
    if (match->failed <= mark)
        match->failed = 0;
    if (match->acknowledged < mark)
        match->acknowledged = mark;
}

/* Call this function when the store refused a state because the match has another owner. If
   own.epoch is 0, the match started empty here, because the store was late. As long as the store is
   late, this replica cannot take the match. So this replica keeps the match that started empty. */
static void refuse_write(struct hs_shared_match *match, uint64_t epoch)
{
    const struct hs_shared_matches *matches = match->matches;
    if (match->own.epoch != 0 ||
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
    bool was_untaken = match->own.epoch == 0;
    if (!read_answer(result, *reply, &answer)) {
        match->must_write = true;
        if (write->hands_off)
            fail(match, write->mark);
    } else if (!answer.is_accepted) {
        refuse_write(match, answer.own.epoch);
    } else {
        if (!answer.had_state)
            lack_state(match, write);
        if (match->own.epoch == 0)
            write->mark += answer.own.epoch << EPOCH_SHIFT;
        begin_epoch(match, answer.own);
        match->confirmed_us = hs_clock_us();
        cover(match, write->mark);
        match->must_write = match->failed != 0;
    }
    struct hs_payments_wait *ended = take_ended(match, 0);
    bool must_close = was_untaken && match->own.epoch != 0 && match->has_ended;
    pthread_mutex_unlock(&match->lock);
    if (must_close) /* hs_shared_match_close did nothing, because the match had no epoch */
        hs_shared_close(match->matches, &match->keys, match->own, "ended");
    end_waits(ended);
    hs_shared_match_release(match);
    free(write);
}

static bool write_state(struct hs_shared_match *match, enum hs_store_lane lane, struct hs_str state,
                        uint64_t mark, enum hs_shared_state kind, bool hands_off)
{
    struct hs_str arguments[HS_STORE_ARGUMENTS];
    char digits[2][24], number[24];
    struct call *call = calloc(1, sizeof *call);
    pthread_mutex_lock(&match->lock);
    /* After this state was captured, another thread may have submitted a newer state. When the
       newer state is written, the store removes journal records that this state does not include.
       So this state must not be written any more. */
    bool may_write = call != NULL && mark >= match->written && !match->has_ended;
    if (may_write)
        match->written = mark;
    match->is_writing = match->is_writing || may_write;
    match->must_write = match->must_write || !may_write;
    size_t count = hs_shared_arguments(match->matches, &match->keys, match->own, digits, arguments);
    /* A state is complete only if this replica hands off all later moves. A replica that is not the
       owner (epoch 0) cannot do this, because hs_shared_match_hand_off then does nothing. */
    bool is_complete = kind != HS_SHARED_PARTIAL && match->own.epoch != 0;
    bool had_state = match->has_state;
    pthread_mutex_unlock(&match->lock);
    if (!may_write) {
        free(call);
        return false;
    }
    *call = (struct call){.call = {.op = HS_STORE_WRITE, .done = end_write},
                          .match = hs_shared_match_retain(match),
                          .mark = mark,
                          .hands_off = hands_off,
                          .had_state = had_state};
    if (hands_off) {
        call->call.budget_us = match->matches->budgets.payment_us;
        call->call.late = report_late;
    }
    snprintf(number, sizeof number, "%" PRIu64, mark);
    arguments[count++] = state;
    arguments[count++] = hs_str_of(number);
    arguments[count++] = is_complete || kind == HS_SHARED_FINAL ? HS_STR("1") : HS_STR("0");
    arguments[count++] = kind == HS_SHARED_FINAL ? HS_STR("1") : HS_STR("0");
    if (submit(call, lane, &match->matches->write, arguments, count))
        return true;
    pthread_mutex_lock(&match->lock);
    match->is_writing = false;
    match->must_write = true;
    pthread_mutex_unlock(&match->lock);
    atomic_fetch_sub(&match->references, 1); /* the caller has another reference */
    free(call);
    return false;
}

bool hs_shared_match_write(struct hs_shared_match *match, enum hs_store_lane lane,
                           struct hs_str state, uint64_t mark, enum hs_shared_state kind)
{
    return write_state(match, lane, state, mark, kind, false);
}

void hs_shared_match_hand_off(struct hs_shared_match *match, struct hs_str state)
{
    pthread_mutex_lock(&match->lock);
    bool has_owner = match->own.epoch != 0;
    uint64_t mark = has_owner ? ++match->newest : 0; /* states are numbered like records */
    pthread_mutex_unlock(&match->lock);
    if (!has_owner || (state.ptr != NULL &&
                       write_state(match, HS_STORE_URGENT, state, mark, HS_SHARED_COMPLETE, true)))
        return;
    pthread_mutex_lock(&match->lock);
    fail(match, mark);
    pthread_mutex_unlock(&match->lock);
}

void hs_shared_match_close(struct hs_shared_match *match)
{
    pthread_mutex_lock(&match->lock);
    struct hs_ownership own = match->own;
    bool is_owner = own.epoch != 0 && !match->is_lost;
    match->has_ended = true;
    pthread_mutex_unlock(&match->lock);
    if (is_owner)
        hs_shared_close(match->matches, &match->keys, own, "ended");
}
