/* How a replica becomes the owner of a match. */
#include "service/store/matches_inside.h"

#include <stdlib.h>

static const char take_text[] =
    "local o = redis.call('HMGET', KEYS[1], 'epoch', 'final', 'birth', 'tenant')\n"
    /* Without a state nobody has opened the match, or it has ended. */
    "if o[4] and o[4] ~= ARGV[4] and redis.call('EXISTS', KEYS[2]) == 1 then return 0 end\n"
    "local now = tonumber(o[1] or 0) + 1\n" HS_SHARED_BORN "local birth = o[3] or born()\n"
    "redis.call('HSET', KEYS[1], 'epoch', now, 'owner', ARGV[1], 'final', 0, 'birth', birth,\n"
    "  'tenant', ARGV[4])\n"
    "for i = 1, 3 do redis.call('PEXPIRE', KEYS[i], " HS_SHARED_TTL ") end\n"
    "return {now, tonumber(o[2] or 0), redis.call('GET', KEYS[2]),\n"
    "  redis.call('ZRANGE', KEYS[3], 0, -1), tonumber(birth)}\n";

void hs_shared_take_init(struct hs_shared_matches *matches)
{
    hs_store_script_init(&matches->take, take_text);
}

static bool read_taken(const struct redisReply *reply, struct hs_taken *taken)
{
    bool fine = reply->type == REDIS_REPLY_ARRAY && reply->elements == 5 &&
                reply->element[0]->type == REDIS_REPLY_INTEGER &&
                reply->element[1]->type == REDIS_REPLY_INTEGER &&
                reply->element[3]->type == REDIS_REPLY_ARRAY &&
                reply->element[4]->type == REDIS_REPLY_INTEGER;
    if (!fine)
        return false;
    const struct redisReply *state = reply->element[2], *journal = reply->element[3];
    taken->ownership = (struct hs_ownership){(uint64_t)reply->element[0]->integer,
                                             (uint64_t)reply->element[4]->integer};
    taken->was_released = reply->element[1]->integer == 1;
    if (state->type == REDIS_REPLY_STRING)
        taken->state = (struct hs_str){state->str, (size_t)state->len};
    taken->journal = calloc(journal->elements + 1, sizeof *taken->journal);
    for (size_t i = 0; taken->journal != NULL && i < journal->elements; i++)
        if (journal->element[i]->type == REDIS_REPLY_STRING)
            taken->journal[taken->journal_count++] =
                (struct hs_str){journal->element[i]->str, (size_t)journal->element[i]->len};
    return taken->journal != NULL;
}

enum hs_taken_result hs_shared_match_take(struct hs_shared_matches *matches, struct hs_str tenant,
                                          struct hs_str name, struct hs_taken *taken)
{
    struct hs_shared_keys keys;
    struct hs_str arguments[HS_STORE_ARGUMENTS];
    char digits[2][24];
    *taken = (struct hs_taken){0};
    if (hs_store_is_late(matches->store, HS_STORE_URGENT, matches->budgets.take_us))
        return HS_TAKEN_DOWN;
    hs_shared_matches_close_again(matches); /* this match may be among them */
    hs_shared_keys_make(tenant, name, &keys);
    size_t count = hs_shared_arguments(matches, &keys, (struct hs_ownership){0}, digits, arguments);
    enum hs_store_result result =
        hs_store_ask(matches->store, HS_STORE_URGENT, HS_STORE_TAKE, matches->budgets.take_us,
                     &matches->take, arguments, count, &taken->reply);
    if (result == HS_STORE_OK && read_taken(taken->reply, taken))
        return HS_TAKEN;
    bool is_foreign = result == HS_STORE_OK && taken->reply->type == REDIS_REPLY_INTEGER;
    hs_shared_log_refused(matches, result, taken->reply);
    hs_taken_free(taken);
    if (is_foreign)
        return HS_TAKEN_FOREIGN;
    return result == HS_STORE_LOST ? HS_TAKEN_LATE : HS_TAKEN_DOWN;
}

void hs_taken_free(struct hs_taken *taken)
{
    free(taken->journal);
    freeReplyObject(taken->reply);
    *taken = (struct hs_taken){0};
}

void hs_shared_match_give_back(struct hs_shared_matches *matches, struct hs_str tenant,
                               struct hs_str name, const struct hs_taken *taken)
{
    struct hs_shared_keys keys;
    hs_shared_keys_make(tenant, name, &keys);
    hs_shared_close(matches, &keys, taken->ownership, taken->was_released ? "1" : "0");
}
