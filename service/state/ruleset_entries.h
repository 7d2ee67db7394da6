/* Internal interface of rulesets.c, ruleset_batch.c and ruleset_parts.c. The caller of a function
   with a store parameter must hold the store's lock. */
#ifndef HS_SERVICE_RULESET_ENTRIES_H
#define HS_SERVICE_RULESET_ENTRIES_H

#include <pthread.h>

#include "service/state/rulesets.h"

enum { HS_RULESET_PART_CHAINS = 1024 };

struct hs_ruleset_store {
    pthread_mutex_t lock;
    struct hs_name default_name;
    struct hs_ruleset_entry **entries; /* sorted by name */
    atomic_size_t count;
    size_t max_rulesets;
    size_t claim_work; /* maximum work units for one claim; 0: no limit */
    /* the batch that was read, until this batch is stored or discarded; NULL: none */
    struct hs_ruleset_batch *batch;
    size_t reserved; /* number of names for which this batch has reserved space */
    struct hs_share *share;
    struct hs_ruleset_part *parts[HS_RULESET_PART_CHAINS];
};

/* Computes the hashes that hs_ruleset_entry_charge needs. Call this function without the lock,
   because this function takes a while. Returns false if memory runs out. */
bool hs_ruleset_entry_hash(struct hs_ruleset_entry *entry);

/* Charges an entry's memory to its owner. If another ruleset of this owner contains an equal part,
   the two rulesets share this part. Returns false and changes nothing if the owner has too few
   bytes left or memory runs out. */
bool hs_ruleset_entry_charge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);

/* Undoes hs_ruleset_entry_charge. Call this function before the entry is destroyed. Does nothing if
   the entry was not charged. */
void hs_ruleset_entry_uncharge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);

/* Creates an entry with one reference. Takes ownership of the ruleset, even on failure. Returns
   NULL if memory runs out. */
struct hs_ruleset_entry *hs_ruleset_entry_create(struct hs_ruleset *ruleset, bool is_builtin);
void hs_ruleset_entry_destroy(struct hs_ruleset_entry *entry); /* does nothing for NULL */
void hs_ruleset_entry_drop(struct hs_ruleset_store *store,
                           struct hs_ruleset_entry *entry); /* drops one reference */

/* Compares an entry's name with another name, like strcmp. */
int hs_ruleset_entry_compare(const struct hs_ruleset_entry *entry, struct hs_str name);

/* Returns the entry with this name, or NULL. *place is the index of the entry, or the index at
   which to insert an entry with this name. */
struct hs_ruleset_entry *hs_ruleset_entries_find(const struct hs_ruleset_store *store,
                                                 struct hs_str name, size_t *place);

/* Sets or removes (NULL) an entry's canary. Takes ownership of the reference to the new canary, and
   drops the reference to the old canary. */
void hs_ruleset_entry_set_canary(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry,
                                 struct hs_ruleset_entry *canary, double share);

/* Stores `entry` at index `place`, and drops the reference to `present`, the entry that was at this
   index. If `present` is NULL, inserts the entry; the array must have space. */
void hs_ruleset_entries_set(struct hs_ruleset_store *store, size_t place,
                            struct hs_ruleset_entry *present, struct hs_ruleset_entry *entry);

/* Call this function after a name was deleted. If the batch contains this name, reserves the freed
   space for the batch. */
void hs_ruleset_batch_keep_space(struct hs_ruleset_store *store, struct hs_str name);

/* Returns whether `name` is "default", the alias of the default ruleset. */
bool hs_ruleset_is_default(struct hs_str name);

#endif
