/*
 * Writes matches and rulesets to the journal (journal.h) for the endpoints. Without a journal every
 * function succeeds and does nothing. The caller locks the match.
 */
#ifndef HS_SERVICE_KEPT_MATCH_H
#define HS_SERVICE_KEPT_MATCH_H

#include <stdbool.h>

struct hs_bytes;
struct hs_match_slot;
struct hs_ruleset_entry;
struct hs_service;

/* Appends the fields that a reader needs before the bytes of a match. */
void hs_kept_match_put_head(const struct hs_match_slot *slot, struct hs_bytes *out);

/* Writes the opening of a match, and its ruleset, unless they are already in the journal. Call it
   before the first verdict: verdict ids contain the opening. Returns false if they cannot be
   written now. */
bool hs_kept_match_open(struct hs_service *service, struct hs_match_slot *slot);

/*
 * Writes the records of the match since the last call. Returns false if they cannot be written now.
 * The records then stay in the match, and a later call tries again. Until a call succeeds, no
 * answer may report a payment that is not settled. Sets `settled_payments` of the slot.
 */
bool hs_kept_match_write(struct hs_service *service, struct hs_match_slot *slot);

/* Writes the end of a match. Call hs_journal_settle afterwards. */
bool hs_kept_match_close(struct hs_service *service, const struct hs_match_slot *slot);

/* Appends the owner, revision and document of a ruleset. */
void hs_kept_ruleset_put(struct hs_bytes *out, const struct hs_ruleset_entry *entry);

/* Appends the owner of a name, and the revision and the share of its canary. */
void hs_kept_canary_put(struct hs_bytes *out, const char *owner,
                        const struct hs_ruleset_entry *canary, double share);

/* Write to the journal that a ruleset was put, or that its name was deleted. Call hs_journal_settle
   afterwards. `service` is a struct hs_service, as hs_ruleset_writer passes it. */
bool hs_kept_ruleset_name(void *service, struct hs_ruleset_entry *entry);
bool hs_kept_ruleset_gone(void *service, struct hs_ruleset_entry *entry);

#endif
