/*
 * Charges the memory of rulesets. Rigs and weapons that several rulesets of one owner have in
 * common are stored and charged only once.
 */
#include <stdlib.h>
#include <string.h>

#include "service/state/ruleset_entries.h"

struct hs_ruleset_part {
    uint64_t hash;
    void *data; /* a struct hs_rig or hs_weapon */
    size_t size;
    struct hs_name payer;
    unsigned references;
    struct hs_ruleset_part *next;
};

/* Returns part `i` of a ruleset: rigs first, then weapons. */
static void *part_of(const struct hs_ruleset *ruleset, size_t i, size_t *size)
{
    bool is_rig = i < ruleset->rig_count;
    *size = is_rig ? sizeof *ruleset->rigs[0] : sizeof *ruleset->weapons[0];
    return is_rig ? (void *)ruleset->rigs[i] : (void *)ruleset->weapons[i - ruleset->rig_count];
}

static void set_part(struct hs_ruleset *ruleset, size_t i, void *data)
{
    if (i < ruleset->rig_count)
        ruleset->rigs[i] = data;
    else
        ruleset->weapons[i - ruleset->rig_count] = data;
}

static size_t count_of(const struct hs_ruleset *ruleset)
{
    return (size_t)ruleset->rig_count + ruleset->weapon_count;
}

struct bytes {
    const void *data;
    size_t size;
};

enum { SPANS = 4 };

/* Lists the spans of bytes in which two parts can differ, and returns their number. The spans leave
   out unused space in a rig's arrays, and members that are computed from other members. Nearly all
   bytes of a rig are left out. */
static int spans_of(const void *data, size_t size, struct bytes spans[SPANS])
{
    const struct hs_rig *rig = data;
    if (size != sizeof *rig) {
        spans[0] = (struct bytes){data, size};
        return 1;
    }
    spans[0] = (struct bytes){&rig->name, sizeof rig->name};
    spans[1] = (struct bytes){rig->bones, rig->bone_count * sizeof rig->bones[0]};
    spans[2] = (struct bytes){rig->hitboxes, rig->hitbox_count * sizeof rig->hitboxes[0]};
    spans[3] = (struct bytes){rig->stances, rig->stance_count * sizeof rig->stances[0]};
    return SPANS;
}

static bool are_equal(const void *a, const void *b, size_t size)
{
    struct bytes left[SPANS], right[SPANS];
    int count = spans_of(a, size, left);
    spans_of(b, size, right);
    for (int i = 0; i < count; i++)
        if (left[i].size != right[i].size || memcmp(left[i].data, right[i].data, left[i].size) != 0)
            return false;
    return true;
}

static uint64_t hash_of(const void *data, size_t size)
{
    struct bytes spans[SPANS];
    uint64_t hash = 0;
    int count = spans_of(data, size, spans);
    for (int i = 0; i < count; i++)
        for (size_t k = 0; k < spans[i].size; k += 8) {
            uint64_t word = 0;
            size_t left = spans[i].size - k;
            memcpy(&word, (const char *)spans[i].data + k, left < 8 ? left : 8);
            hash = (hash ^ word) * UINT64_C(0x9e3779b97f4a7c15);
            hash ^= hash >> 32;
        }
    return hash;
}

bool hs_ruleset_entry_hash(struct hs_ruleset_entry *entry)
{
    entry->hashes = calloc(count_of(entry->ruleset) + 1, sizeof *entry->hashes);
    if (entry->hashes == NULL)
        return false;
    for (size_t i = 0; i < count_of(entry->ruleset); i++) {
        size_t size;
        const void *data = part_of(entry->ruleset, i, &size);
        entry->hashes[i] = hash_of(data, size);
    }
    return true;
}

/* Returns the link to the part that is equal to `data`, or the link at the end of its hash
   chain. */
static struct hs_ruleset_part **find(struct hs_ruleset_store *store, const char *payer,
                                     uint64_t hash, const void *data, size_t size)
{
    struct hs_ruleset_part **at = &store->parts[hash % HS_RULESET_PART_CHAINS];
    while (*at != NULL &&
           ((*at)->hash != hash || (*at)->size != size || strcmp((*at)->payer.text, payer) != 0 ||
            ((*at)->data != data && !are_equal((*at)->data, data, size))))
        at = &(*at)->next;
    return at;
}

/* Adds a reference to the shared part that is equal to `own`. In this case `own` still belongs to
   the caller. If no shared part is equal to `own`, adds a shared part that uses `own`. Returns
   false if the payer has too few bytes left or memory runs out. */
static bool share_part(struct hs_ruleset_store *store, const struct hs_name *payer, uint64_t hash,
                       void *own, size_t size)
{
    struct hs_ruleset_part **at = find(store, payer->text, hash, own, size);
    if (*at != NULL) {
        (*at)->references++;
        return true;
    }
    if (!hs_share_reserve(store->share, hs_name_str(payer), size + sizeof **at))
        return false;
    *at = malloc(sizeof **at);
    if (*at == NULL) {
        hs_share_release(store->share, hs_name_str(payer), size + sizeof **at);
        return false;
    }
    **at = (struct hs_ruleset_part){
        .hash = hash, .data = own, .size = size, .payer = *payer, .references = 1};
    return true;
}

/* Drops a reference to the shared part that is equal to `data`. If no reference is left, removes
   the part and returns the data of the part, which then belongs to the caller. If references are
   left, returns NULL. */
static void *unshare_part(struct hs_ruleset_store *store, const struct hs_name *payer,
                          uint64_t hash, const void *data, size_t size)
{
    struct hs_ruleset_part **at = find(store, payer->text, hash, data, size);
    struct hs_ruleset_part *part = *at;
    if (part == NULL || --part->references > 0)
        return NULL;
    void *last = part->data;
    *at = part->next;
    free(part);
    hs_share_release(store->share, hs_name_str(payer), size + sizeof *part);
    return last;
}

/* Shares all parts of an entry's ruleset. The ruleset keeps its own copies. Returns false and
   changes nothing if the owner has too few bytes left or memory runs out. */
static bool share_parts(struct hs_ruleset_store *store, const struct hs_ruleset_entry *entry)
{
    size_t size, count = count_of(entry->ruleset), shared = 0;
    for (; shared < count; shared++) {
        void *own = part_of(entry->ruleset, shared, &size);
        if (!share_part(store, &entry->owner, entry->hashes[shared], own, size))
            break;
    }
    for (size_t i = 0; shared < count && i < shared; i++) {
        const void *own = part_of(entry->ruleset, i, &size);
        /* The ruleset already owns the data that unshare_part may return. */
        unshare_part(store, &entry->owner, entry->hashes[i], own, size);
    }
    return shared == count;
}

/* Replaces the ruleset's copies with the shared parts. */
static void use_shared_parts(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    for (size_t i = 0; i < count_of(entry->ruleset); i++) {
        size_t size;
        void *own = part_of(entry->ruleset, i, &size);
        const struct hs_ruleset_part *part =
            *find(store, entry->owner.text, entry->hashes[i], own, size);
        if (part == NULL || part->data == own)
            continue;
        set_part(entry->ruleset, i, part->data);
        free(own);
    }
}

bool hs_ruleset_entry_charge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    size_t bytes = sizeof *entry + sizeof *entry->ruleset + entry->document_size;
    bytes += count_of(entry->ruleset) * sizeof *entry->hashes;
    bytes += 2 * (size_t)entry->ruleset->rig_count *
             sizeof *entry->ruleset->rigs; /* factor 2: the arrays have spare capacity */
    if (!hs_share_reserve(store->share, hs_name_str(&entry->owner), bytes))
        return false;
    if (!share_parts(store, entry)) {
        hs_share_release(store->share, hs_name_str(&entry->owner), bytes);
        return false;
    }
    use_shared_parts(store, entry);
    entry->payer = entry->owner;
    entry->charged = bytes;
    return true;
}

void hs_ruleset_entry_uncharge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    if (entry->charged == 0)
        return;
    for (size_t i = 0; i < count_of(entry->ruleset); i++) {
        size_t size;
        const void *data = part_of(entry->ruleset, i, &size);
        free(unshare_part(store, &entry->payer, entry->hashes[i], data, size));
        set_part(entry->ruleset, i, NULL);
    }
    hs_share_release(store->share, hs_name_str(&entry->payer), entry->charged);
    entry->charged = 0;
}
