/*
 * What the endpoints keep of matches and rulesets in the journal (journal.h). Without a journal
 * every function succeeds and does nothing. Matches are locked by the caller.
 */
#ifndef HS_SERVICE_KEPT_MATCH_H
#define HS_SERVICE_KEPT_MATCH_H

#include <stdbool.h>

struct hs_bytes;
struct hs_match_slot;
struct hs_ruleset_entry;
struct hs_service;

/* Appends what must be known before the bytes of a match can be read. */
void hs_kept_match_put_head(const struct hs_match_slot *slot, struct hs_bytes *out);

/* Keeps the opening of a match and its ruleset, unless they are kept: before anything is judged in
   it, because verdicts are named after it. False: they cannot be kept now. */
bool hs_kept_match_open(struct hs_service *service, struct hs_match_slot *slot);

/*
 * Keeps what the match has recorded since the last call. False: it cannot be kept now. It stays
 * recorded, and a later call tries again; until then nothing may be answered that pays.
 */
bool hs_kept_match_write(struct hs_service *service, struct hs_match_slot *slot);

/* Keeps that a match ends. */
bool hs_kept_match_close(struct hs_service *service, const struct hs_match_slot *slot);

/* Keeps a ruleset that was put, with its name. */
bool hs_kept_ruleset(struct hs_service *service, struct hs_ruleset_entry *entry);

#endif
