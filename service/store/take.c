/* Makes a replica the owner of a match. */
#include "service/store/matches_inside.h"

#include <stdlib.h>

/* The script only returns whether the store has a state. A GET then reads the state. Redis would
   need ten times as long to return a large value from a script, and would run no other command
   during that time. Between the script and the GET, another replica can write a state only if that
   replica takes the match. */
static const char take_text[] =
    "local o = redis.call('HMGET', KEYS[1], 'epoch', 'final', 'birth', 'tenant', 'owner', "
    "'ended')\n"
    /* If the match has no owner and no state, the match was never opened, or has ended. Before the
       first state is written, only the owner shows that the name is in use. */
    "local used = (o[5] and o[5] ~= '') or redis.call('EXISTS', KEYS[2]) == 1\n"
    "if o[4] and o[4] ~= ARGV[4] and used then return 0 end\n"
    "local now = tonumber(o[1] or 0) + 1\n" HS_SHARED_BORN "local birth = o[3] or born()\n"
    "redis.call('HSET', KEYS[1], 'epoch', now, 'owner', ARGV[1], 'final', 0, 'birth', birth,\n"
    "  'tenant', ARGV[4])\n"
    "redis.call('PEXPIRE', KEYS[1], o[6] and " HS_SHARED_ENDED_TTL " or " HS_SHARED_TTL ")\n"
    "for i = 2, 3 do redis.call('PEXPIRE', KEYS[i], " HS_SHARED_TTL ") end\n"
    "return {now, tonumber(o[2] or 0), redis.call('EXISTS', KEYS[2]),\n"
    "  redis.call('ZRANGE', KEYS[3], 0, -1), tonumber(birth), tonumber(o[6] or 0)}\n";

void hs_shared_take_init(struct hs_shared_matches *matches)
{
    hs_store_script_init(&matches->take, take_text);
}

static bool read_taken(const struct redisReply *reply, struct hs_taken *taken, bool *has_state)
{
    bool fine = reply->type == REDIS_REPLY_ARRAY && reply->elements == 6 &&
                reply->element[0]->type == REDIS_REPLY_INTEGER &&
                reply->element[1]->type == REDIS_REPLY_INTEGER &&
                reply->element[2]->type == REDIS_REPLY_INTEGER &&
                reply->element[3]->type == REDIS_REPLY_ARRAY &&
                reply->element[4]->type == REDIS_REPLY_INTEGER &&
                reply->element[5]->type == REDIS_REPLY_INTEGER;
    if (!fine)
        return false;
    const struct redisReply *journal = reply->element[3];
    taken->ownership = (struct hs_ownership){(uint64_t)reply->element[0]->integer,
                                             (uint64_t)reply->element[4]->integer};
    taken->was_released = reply->element[1]->integer == 1;
    taken->ended_us = (uint64_t)reply->element[5]->integer;
    *has_state = reply->element[2]->integer == 1;
    taken->journal = calloc(journal->elements + 1, sizeof *taken->journal);
    for (size_t i = 0; taken->journal != NULL && i < journal->elements; i++)
        if (journal->element[i]->type == REDIS_REPLY_STRING)
            taken->journal[taken->journal_count++] =
                (struct hs_str){journal->element[i]->str, (size_t)journal->element[i]->len};
    return taken->journal != NULL;
}

static enum hs_store_result ask(struct hs_shared_matches *matches, enum hs_store_lane lane,
                                const struct hs_store_script *script,
                                const struct hs_str *arguments, size_t count,
                                struct redisReply **reply)
{
    enum hs_store_result result =
        hs_store_ask(matches->store, lane, HS_STORE_TAKE, matches->budgets.take_us, script,
                     arguments, count, reply);
    hs_shared_log_refused(matches, result, *reply);
    return result;
}

static enum hs_store_result read_state(struct hs_shared_matches *matches,
                                       const struct hs_shared_keys *keys, struct hs_taken *taken)
{
    const struct hs_str arguments[] = {HS_STR("GET"), hs_str_of(keys->text[1])};
    enum hs_store_result result =
        ask(matches, HS_STORE_READS, NULL, arguments, 2, &taken->replies[1]);
    const struct redisReply *state = taken->replies[1];
    if (result == HS_STORE_OK && state->type == REDIS_REPLY_STRING)
        taken->state = (struct hs_str){state->str, (size_t)state->len};
    return result;
}

enum hs_taken_result hs_shared_match_take(struct hs_shared_matches *matches, struct hs_str tenant,
                                          struct hs_str name, struct hs_taken *taken)
{
    struct hs_shared_keys keys;
    struct hs_str arguments[HS_STORE_ARGUMENTS];
    char digits[2][24];
    *taken = (struct hs_taken){0};
    if (!hs_store_is_up(matches->store, HS_STORE_URGENT))
        return HS_TAKEN_DOWN;
    hs_shared_matches_close_again(matches); /* one of the kept closings may be for this match */
    hs_shared_keys_make(tenant, name, &keys);
    size_t count = hs_shared_arguments(matches, &keys, (struct hs_ownership){0}, digits, arguments);
    enum hs_store_result result =
        ask(matches, HS_STORE_URGENT, &matches->take, arguments, count, &taken->replies[0]);
    bool has_state = false;
    bool is_fine = result == HS_STORE_OK && read_taken(taken->replies[0], taken, &has_state);
    if (is_fine && has_state) {
        result = read_state(matches, &keys, taken);
        is_fine = result == HS_STORE_OK;
    }
    if (is_fine)
        return HS_TAKEN;
    bool is_foreign = result == HS_STORE_OK && taken->replies[1] == NULL &&
                      taken->replies[0]->type == REDIS_REPLY_INTEGER;
    hs_taken_free(taken);
    if (is_foreign)
        return HS_TAKEN_FOREIGN;
    return result == HS_STORE_LOST ? HS_TAKEN_LATE : HS_TAKEN_DOWN;
}

void hs_taken_free(struct hs_taken *taken)
{
    free(taken->journal);
    for (int i = 0; i < 2; i++)
        freeReplyObject(taken->replies[i]);
    *taken = (struct hs_taken){0};
}

void hs_shared_match_give_back(struct hs_shared_matches *matches, struct hs_str tenant,
                               struct hs_str name, const struct hs_taken *taken)
{
    struct hs_shared_keys keys;
    hs_shared_keys_make(tenant, name, &keys);
    hs_shared_close(matches, &keys, taken->ownership, taken->was_released ? "1" : "0");
}
