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

bool hs_ruleset_entry_hash(struct hs_ruleset_entry *entry)
{
    entry->hashes = calloc(count_of(entry->ruleset) + 1, sizeof *entry->hashes);
    if (entry->hashes == NULL)
        return false;
    for (size_t i = 0; i < count_of(entry->ruleset); i++) {
        size_t size;
        const void *data = part_of(entry->ruleset, i, &size);
        entry->hashes[i] = hs_str_hash((struct hs_str){data, size});
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
            ((*at)->data != data && memcmp((*at)->data, data, size) != 0)))
        at = &(*at)->next;
    return at;
}

/* Returns the shared part that is equal to `own`, and takes ownership of `own`. Returns NULL if the
   owner has too few bytes left or memory runs out; `own` then still belongs to the caller. */
static void *share_part(struct hs_ruleset_store *store, const struct hs_name *payer, uint64_t hash,
                        void *own, size_t size)
{
    struct hs_ruleset_part **at = find(store, payer->text, hash, own, size);
    if (*at != NULL) {
        (*at)->references++;
        free(own);
        return (*at)->data;
    }
    if (!hs_share_reserve(store->share, hs_name_str(payer), size + sizeof **at))
        return NULL;
    *at = malloc(sizeof **at);
    if (*at == NULL) {
        hs_share_release(store->share, hs_name_str(payer), size + sizeof **at);
        return NULL;
    }
    **at = (struct hs_ruleset_part){
        .hash = hash, .data = own, .size = size, .payer = *payer, .references = 1};
    return own;
}

/* Releases the first `shared` parts of an entry's ruleset. The ruleset still owns the other
   parts. */
static void release_parts(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry,
                          size_t shared)
{
    for (size_t i = 0; i < shared; i++) {
        size_t size;
        const void *data = part_of(entry->ruleset, i, &size);
        struct hs_ruleset_part **at = find(store, entry->payer.text, entry->hashes[i], data, size);
        struct hs_ruleset_part *part = *at;
        set_part(entry->ruleset, i, NULL);
        if (part == NULL || --part->references > 0)
            continue;
        *at = part->next;
        free(part->data);
        free(part);
        hs_share_release(store->share, hs_name_str(&entry->payer), size + sizeof *part);
    }
}

bool hs_ruleset_entry_charge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    size_t bytes = sizeof *entry + sizeof *entry->ruleset + entry->document_size, shared = 0;
    bytes += count_of(entry->ruleset) * sizeof *entry->hashes;
    bytes += 2 * (size_t)entry->ruleset->rig_count *
             sizeof *entry->ruleset->rigs; /* including spare capacity */
    entry->payer = entry->owner;
    if (!hs_share_reserve(store->share, hs_name_str(&entry->payer), bytes))
        return false;
    for (; shared < count_of(entry->ruleset); shared++) {
        size_t size;
        void *own = part_of(entry->ruleset, shared, &size);
        void *part = share_part(store, &entry->payer, entry->hashes[shared], own, size);
        if (part == NULL)
            break;
        set_part(entry->ruleset, shared, part);
    }
    entry->charged = bytes;
    if (shared == count_of(entry->ruleset))
        return true;
    release_parts(store, entry, shared);
    hs_share_release(store->share, hs_name_str(&entry->payer), bytes);
    entry->charged = 0;
    return false;
}

void hs_ruleset_entry_uncharge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry)
{
    if (entry->charged == 0)
        return;
    release_parts(store, entry, count_of(entry->ruleset));
    hs_share_release(store->share, hs_name_str(&entry->payer), entry->charged);
    entry->charged = 0;
}
