/* The internal interface of the ruleset store, for rulesets.c, ruleset_batch.c and ruleset_parts.c.
   The caller of a function with a store parameter must hold the store's lock. */
#ifndef HS_SERVICE_RULESET_ENTRIES_H
#define HS_SERVICE_RULESET_ENTRIES_H

#include <pthread.h>

#include "service/state/rulesets.h"

enum { HS_RULESET_PART_CHAINS = 1024 };

struct hs_ruleset_store {
    pthread_mutex_t lock;
    struct hs_name default_name;
    struct hs_ruleset_entry **entries; /* the entries, in order of name */
    atomic_size_t count;
    size_t max_rulesets;
    size_t claim_work; /* max work units of one claim; 0: no limit */
    size_t reserved;   /* places reserved for the new names of batches that are not put yet */
    struct hs_share *share;
    struct hs_ruleset_part *parts[HS_RULESET_PART_CHAINS];
};

/* Computes the hashes for hs_ruleset_entry_charge, without the lock. Returns false if memory runs
   out. */
bool hs_ruleset_entry_hash(struct hs_ruleset_entry *entry);

/* Charges an entry's memory to its owner, and shares the parts that are also in other rulesets of
   that owner. Returns false and changes nothing if the owner has too few bytes left. */
bool hs_ruleset_entry_charge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);

/* Releases the charge of an entry. Call it before the entry is destroyed. Does nothing for an entry
   that was not charged. */
void hs_ruleset_entry_uncharge(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry);

/* Creates an entry with one reference. Takes ownership of the ruleset. Returns NULL if memory runs
   out. */
struct hs_ruleset_entry *hs_ruleset_entry_create(struct hs_ruleset *ruleset, bool is_builtin);
void hs_ruleset_entry_destroy(struct hs_ruleset_entry *entry); /* does nothing for NULL */
void hs_ruleset_entry_drop(struct hs_ruleset_store *store,
                           struct hs_ruleset_entry *entry); /* drops one reference */

/* Compares an entry's name with another name, like strcmp. */
int hs_ruleset_entry_compare(const struct hs_ruleset_entry *entry, struct hs_str name);

/* Returns the entry of a name, or NULL. *place is the index of the entry, or the index at which to
   insert a new entry. */
struct hs_ruleset_entry *hs_ruleset_entries_find(const struct hs_ruleset_store *store,
                                                 struct hs_str name, size_t *place);

/* Sets the canary of an entry (NULL: no canary) and drops the previous canary. Takes ownership of
   the reference to `canary`. */
void hs_ruleset_entry_set_canary(struct hs_ruleset_store *store, struct hs_ruleset_entry *entry,
                                 struct hs_ruleset_entry *canary, double share);

/* Sets the entry at index `place`. Replaces `present`, and drops `present` with its canary. If
   `present` is NULL, inserts the entry instead. The array must have space. */
void hs_ruleset_entries_set(struct hs_ruleset_store *store, size_t place,
                            struct hs_ruleset_entry *present, struct hs_ruleset_entry *entry);

/* Returns whether a name is "default", the alias of the default ruleset. */
bool hs_ruleset_is_default(struct hs_str name);

#endif
