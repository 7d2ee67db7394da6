/* Which replicas run. If a match is taken from an owner that did not give it up, this tells an
   owner that crashed from one that still runs. */
#include "service/store/matches_inside.h"

#include <stdio.h>
#include <string.h>

#include "service/system/clock.h"

enum {
    BEAT_US = 500000, /* a replica writes its key this often */
    /* A former owner is looked for this long after the first takeover from it. The key of an owner
       that has crashed has expired then. */
    LOOK_US = 3500000,
};

#define KEY_TTL "3000" /* milliseconds; if shorter, a replica seems to crash when it is busy */

enum { KEY_MAX = HS_SHARED_OWNER + 32 };

static struct hs_str make_key(const char *owner, char key[KEY_MAX])
{
    snprintf(key, KEY_MAX, "hs:v1:{replica/%s}:up", owner);
    return hs_str_of(key);
}

static void count(struct hs_shared_matches *matches, enum hs_takeover_from from, size_t result,
                  unsigned times)
{
    hs_metrics_add(matches->metrics, HS_METRIC_TAKEOVERS, (size_t)from * HS_TAKEOVER_COUNT + result,
                   times);
}

void hs_shared_matches_count(struct hs_shared_matches *matches, const char *former,
                             enum hs_takeover_result result)
{
    struct hs_shared_former *found = NULL;
    pthread_mutex_lock(&matches->lock);
    for (size_t i = 0; i < HS_SHARED_FORMERS && former[0] != '\0'; i++) {
        struct hs_shared_former *each = &matches->formers[i];
        if (strcmp(each->owner, former) == 0) {
            found = each;
            break;
        }
        if (found == NULL && each->owner[0] == '\0')
            found = each;
    }
    if (found != NULL) {
        if (found->owner[0] == '\0')
            found->look_us = hs_clock_us() + LOOK_US;
        snprintf(found->owner, sizeof found->owner, "%s", former);
        found->counts[result]++;
    }
    pthread_mutex_unlock(&matches->lock);
    if (found == NULL)
        count(matches, HS_TAKEOVER_FROM_CRASHED, result, 1);
}

static enum hs_store_result ask(struct hs_shared_matches *matches, const struct hs_str *arguments,
                                size_t argument_count, long long *answer)
{
    struct redisReply *reply = NULL;
    enum hs_store_result result =
        hs_store_ask(matches->store, HS_STORE_URGENT, HS_STORE_PRESENCE, matches->budgets.take_us,
                     NULL, arguments, argument_count, &reply);
    *answer = reply != NULL ? reply->integer : 0;
    freeReplyObject(reply);
    return result;
}

/* Counts the takeovers from a former owner, if it is time and the store answers. */
static void look_for(struct hs_shared_matches *matches, struct hs_shared_former *former)
{
    char key[KEY_MAX];
    long long runs = 0;
    pthread_mutex_lock(&matches->lock);
    struct hs_shared_former due = *former;
    pthread_mutex_unlock(&matches->lock);
    const struct hs_str arguments[] = {HS_STR("EXISTS"), make_key(due.owner, key)};
    if (due.owner[0] == '\0' || hs_clock_us() < due.look_us ||
        ask(matches, arguments, 2, &runs) != HS_STORE_OK)
        return;
    pthread_mutex_lock(&matches->lock);
    due = *former;
    *former = (struct hs_shared_former){0};
    pthread_mutex_unlock(&matches->lock);
    for (size_t i = 0; i < HS_TAKEOVER_COUNT; i++)
        count(matches, runs == 1 ? HS_TAKEOVER_FROM_RUNNING : HS_TAKEOVER_FROM_CRASHED, i,
              due.counts[i]);
}

void hs_shared_matches_meet(struct hs_shared_matches *matches)
{
    char key[KEY_MAX];
    long long ignored;
    int64_t now_us = hs_clock_us();
    const struct hs_str beat[] = {HS_STR("SET"), make_key(matches->owner, key), HS_STR("1"),
                                  HS_STR("PX"), HS_STR(KEY_TTL)};
    if (hs_store_is_late(matches->store, HS_STORE_URGENT, matches->budgets.take_us))
        return;
    if (now_us >= matches->beat_us && ask(matches, beat, 5, &ignored) == HS_STORE_OK)
        matches->beat_us = now_us + BEAT_US;
    for (size_t i = 0; i < HS_SHARED_FORMERS; i++)
        look_for(matches, &matches->formers[i]);
}
