/* Closes matches in the store: releases their ownership, and removes ended matches. */
#include "service/store/matches_inside.h"

#include <stdlib.h>
#include <string.h>

#include "service/system/clock.h"

/* The maximum number of closings that are kept, so that they can be sent again. Each kept closing
   needs about 600 bytes. */
enum { DUE_MAX = 4096 };

/* Closes a match. The epoch stays in the store, so that a late write of a former owner cannot
   restore the match. */
static const char close_text[] = HS_SHARED_FENCE
    /* A closing that was sent again may arrive after the match got a newer owner. */
    "if stored > epoch then return {0, stored, has, 0} end\n"
    "if ARGV[5] == 'ended' then\n"
    "  redis.call('DEL', KEYS[2], KEYS[3])\n"
    "  local time = redis.call('TIME')\n"
    "  redis.call('HSET', KEYS[1], 'owner', '', 'final', 0, 'ended',\n"
    "    time[1] .. string.format('%06d', time[2]))\n"
    "  redis.call('HDEL', KEYS[1], 'mark')\n"
    "else\n"
    "  redis.call('HSET', KEYS[1], 'owner', '', 'final', ARGV[5])\n"
    "end\n"
    "local ended = redis.call('HEXISTS', KEYS[1], 'ended') == 1\n"
    "redis.call('PEXPIRE', KEYS[1], ended and " HS_SHARED_ENDED_TTL " or " HS_SHARED_TTL ")\n"
    "return accepted\n";

struct hs_shared_closing {
    struct hs_store_call call; /* must be first: callbacks cast its address to the structure */
    struct hs_shared_matches *matches;
    struct hs_shared_keys keys;
    struct hs_ownership own;
    const char *how;  /* a literal */
    int64_t until_us; /* after this time, the keys have expired, so a closing is no longer needed */
    struct hs_shared_closing *next;
};

static bool submit_closing(struct hs_shared_closing *closing)
{
    struct hs_str arguments[HS_STORE_ARGUMENTS];
    char digits[2][24];
    /* Sends the whole script, not only its hash. If only the hash were sent, and the server did not
       have the script, the link would send the script later, after other commands. One of these
       commands may take a new match with the same name. */
    arguments[0] = HS_STR("EVAL");
    arguments[1] = hs_str_of(close_text);
    size_t count = 2 + hs_shared_arguments(closing->matches, &closing->keys, closing->own, digits,
                                           arguments + 2);
    arguments[count++] = hs_str_of(closing->how);
    return hs_store_submit(closing->matches->store, HS_STORE_URGENT, &closing->call, NULL,
                           arguments, count);
}

/* Keeps a closing that removes an ended match. The server may not have received the closing, so the
   closing must be sent again. Frees the closing if it is too old, if it does not remove an ended
   match, or if too many closings are kept. */
static void keep_closing(struct hs_shared_closing *closing)
{
    struct hs_shared_matches *matches = closing->matches;
    pthread_mutex_lock(&matches->lock);
    bool must_keep = strcmp(closing->how, "ended") == 0 && matches->due_count < DUE_MAX &&
                     hs_clock_us() < closing->until_us;
    if (must_keep) {
        closing->next = matches->due;
        matches->due = closing;
        matches->due_count++;
    }
    pthread_mutex_unlock(&matches->lock);
    if (!must_keep)
        free(closing);
}

static void end_closing(struct hs_store_call *call, enum hs_store_result result,
                        struct redisReply **reply)
{
    (void)reply;
    if (result == HS_STORE_LOST)
        keep_closing((struct hs_shared_closing *)call);
    else
        free(call);
}

void hs_shared_matches_close_again(struct hs_shared_matches *matches)
{
    if (!hs_store_is_up(matches->store, HS_STORE_URGENT))
        return;
    pthread_mutex_lock(&matches->lock);
    struct hs_shared_closing *due = matches->due;
    matches->due = NULL;
    matches->due_count = 0;
    pthread_mutex_unlock(&matches->lock);
    while (due != NULL) {
        struct hs_shared_closing *next = due->next;
        if (!submit_closing(due))
            keep_closing(due);
        due = next;
    }
}

void hs_shared_close(struct hs_shared_matches *matches, const struct hs_shared_keys *keys,
                     struct hs_ownership ownership, const char *how)
{
    struct hs_shared_closing *closing = calloc(1, sizeof *closing);
    if (closing == NULL)
        return;
    *closing = (struct hs_shared_closing){.call = {.op = HS_STORE_CLOSE, .done = end_closing},
                                          .matches = matches,
                                          .keys = *keys,
                                          .own = ownership,
                                          .how = how,
                                          .until_us = hs_clock_us() +
                                                      1000 * strtoll(HS_SHARED_TTL, NULL, 10)};
    if (!submit_closing(closing))
        keep_closing(closing);
}

void hs_shared_close_free(struct hs_shared_matches *matches)
{
    while (matches->due != NULL) {
        struct hs_shared_closing *next = matches->due->next;
        free(matches->due);
        matches->due = next;
    }
}
