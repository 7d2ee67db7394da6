#include "tests/support/play/follower.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/need.h"
#include "validators/str.h"

/* Max number of printed faults, in total and for each count, because a broken build has
   thousands. */
enum { PRINTED = 60, PRINTED_EACH = 2, FIRST_SLOTS = 1024 };

/* The item that has an id. A slot without an id is free. */
struct owner {
    char id[40];
    uint64_t key;
};

struct hs_follower {
    pthread_mutex_t lock;
    struct owner *owners; /* open addressing; a power of two, at most half full */
    size_t slots, count;
    int printed;
};

struct hs_follower *hs_follower_create(void)
{
    struct hs_follower *follower = need(calloc(1, sizeof *follower));
    pthread_mutex_init(&follower->lock, NULL);
    follower->slots = FIRST_SLOTS;
    follower->owners = need(calloc(follower->slots, sizeof *follower->owners));
    return follower;
}

void hs_follower_destroy(struct hs_follower *follower)
{
    if (follower == NULL)
        return;
    pthread_mutex_destroy(&follower->lock);
    free(follower->owners);
    free(follower);
}

void hs_follower_fault(struct hs_follower *follower, long *count, const char *format, ...)
{
    va_list args;
    ++*count;
    pthread_mutex_lock(&follower->lock);
    if (*count <= PRINTED_EACH && follower->printed++ < PRINTED) {
        va_start(args, format);
        vprintf(format, args);
        va_end(args);
        putchar('\n');
    }
    pthread_mutex_unlock(&follower->lock);
}

/* ---- the owners of ids ---- */

static struct owner *slot_of(struct owner *owners, size_t slots, const char *id)
{
    size_t i = hs_str_hash((struct hs_str){id, strlen(id)}) & (slots - 1);
    while (owners[i].id[0] != '\0' && strcmp(owners[i].id, id) != 0)
        i = (i + 1) & (slots - 1);
    return &owners[i];
}

static void grow(struct hs_follower *follower)
{
    size_t slots = 2 * follower->slots;
    struct owner *owners = need(calloc(slots, sizeof *owners));
    for (size_t i = 0; i < follower->slots; i++)
        if (follower->owners[i].id[0] != '\0')
            *slot_of(owners, slots, follower->owners[i].id) = follower->owners[i];
    free(follower->owners);
    follower->owners = owners;
    follower->slots = slots;
}

/* Returns the key of the item that had the id first. */
static uint64_t owner_of(struct hs_follower *follower, const char *id, uint64_t key)
{
    pthread_mutex_lock(&follower->lock);
    if (2 * (follower->count + 1) > follower->slots)
        grow(follower);
    struct owner *owner = slot_of(follower->owners, follower->slots, id);
    if (owner->id[0] == '\0') {
        snprintf(owner->id, sizeof owner->id, "%s", id);
        owner->key = key;
        follower->count++;
    }
    key = owner->key;
    pthread_mutex_unlock(&follower->lock);
    return key;
}

/* ---- answers ---- */

static uint64_t hash_answer(const json_t *result)
{
    json_t *copy = json_copy((json_t *)(uintptr_t)result);
    json_object_del(copy, "replayed");
    char *text = need(json_dumps(copy, JSON_COMPACT | JSON_SORT_KEYS));
    uint64_t hash = hs_str_hash((struct hs_str){text, strlen(text)});
    free(text);
    json_decref(copy);
    return hash;
}

static const char *text_of(const json_t *result, const char *key)
{
    const char *text = json_string_value(json_object_get(result, key));
    return text != NULL ? text : "";
}

static void note_id(struct hs_follower *follower, struct hs_follow_counts *counts,
                    struct hs_followed *item, const char *id)
{
    if (id[0] == '\0') {
        hs_follower_fault(follower, &counts->unexpected, "an answer without id: %s", item->text);
        return;
    }
    if (item->is_answered && strcmp(item->id, id) != 0)
        hs_follower_fault(follower, &counts->ids_changed, "id changed from %s to %s: %s", item->id,
                          id, item->text);
    if (!item->is_answered)
        snprintf(item->id, sizeof item->id, "%s", id);
    if (owner_of(follower, id, item->key) != item->key)
        hs_follower_fault(follower, &counts->ids_shared, "id %s belongs to another item too: %s",
                          id, item->text);
}

static void note_payment(struct hs_follower *follower, struct hs_follow_counts *counts,
                         struct hs_followed *item, const json_t *result)
{
    bool is_replayed = json_is_true(json_object_get(result, "replayed"));
    uint64_t answer = hash_answer(result);
    counts->replayed += is_replayed ? 1 : 0;
    if (!item->is_honest)
        hs_follower_fault(follower, &counts->forged, "dishonest, and paid: %s", item->text);
    if (!item->is_paid) {
        counts->paid++;
        item->is_paid = true;
        item->answer = answer;
    } else if (!is_replayed && item->may_be_lost) {
        counts->paid_again++;
        item->answer = answer;
    } else if (!is_replayed) {
        hs_follower_fault(follower, &counts->paid_twice, "paid twice, %s first, %s now: %s",
                          item->id, text_of(result, "verdict_id"), item->text);
    } else if (answer != item->answer && strcmp(item->id, text_of(result, "verdict_id")) == 0) {
        hs_follower_fault(follower, &counts->changed, "replayed with other values: %s", item->text);
    }
}

static void note_refusal(struct hs_follower *follower, struct hs_follow_counts *counts,
                         struct hs_followed *item, const json_t *result, bool may_lack_poses)
{
    const char *verdict = text_of(result, "verdict"), *reason = text_of(result, "reason");
    if (item->is_paid && item->may_be_lost)
        return;
    if (item->is_paid)
        hs_follower_fault(follower, &counts->lost, "was paid, is now %s/%s: %s", verdict, reason,
                          item->text);
    if (item->is_honest && strcmp(verdict, "rejected") == 0)
        hs_follower_fault(follower, &counts->refused, "honest, and refused as %s: %s", reason,
                          item->text);
    else if (item->is_honest && !item->is_paid && !may_lack_poses)
        hs_follower_fault(follower, &counts->inconclusive, "honest, and %s/%s: %s", verdict, reason,
                          item->text);
}

void hs_follower_note(struct hs_follower *follower, struct hs_follow_counts *counts,
                      struct hs_followed *item, const json_t *result, enum hs_follow_moment moment)
{
    bool is_accepted = strcmp(text_of(result, "verdict"), "accepted") == 0;
    bool is_replayed = json_is_true(json_object_get(result, "replayed"));
    counts->answered++;
    if (moment == HS_FOLLOW_COPY) {
        if (is_accepted)
            hs_follower_fault(follower, &counts->paid_again_as_other,
                              "a copy of a paid item was paid: %s", item->text);
        return;
    }
    if (moment == HS_FOLLOW_ENDED) {
        if (is_accepted && !is_replayed && item->is_paid)
            hs_follower_fault(follower, &counts->paid_twice,
                              "paid twice, the second time after its session: %s", item->text);
        return;
    }
    note_id(follower, counts, item, text_of(result, "verdict_id"));
    if (is_accepted)
        note_payment(follower, counts, item, result);
    else
        note_refusal(follower, counts, item, result, moment == HS_FOLLOW_MOVED);
    item->is_answered = true;
}

/* ---- counts ---- */

void hs_follow_counts_add(struct hs_follow_counts *sum, const struct hs_follow_counts *counts)
{
#define X(field, text) sum->field += counts->field;
    HS_FOLLOW_FAULTS(X)
#undef X
    sum->paid += counts->paid;
    sum->replayed += counts->replayed;
    sum->answered += counts->answered;
    sum->paid_again += counts->paid_again;
}

long hs_follow_counts_print(const struct hs_follow_counts *counts)
{
    long faults = 0;
    printf("%ld answers, %ld items paid, %ld replayed, %ld paid again that were not durable\n",
           counts->answered, counts->paid, counts->replayed, counts->paid_again);
#define X(field, text)                                                                             \
    faults += counts->field;                                                                       \
    printf("  %ld %s\n", counts->field, text);
    HS_FOLLOW_FAULTS(X)
#undef X
    fflush(stdout); /* flush it before a failed assertion ends the process */
    return faults;
}
