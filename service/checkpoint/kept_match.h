/*
 * Writes matches and rulesets to the journal (journal.h) for the endpoints. Payments also go to the
 * store that replicas share (store/matches.h). Without a journal and a store, every function
 * succeeds and does nothing. The caller locks the match, except for hs_kept_match_copy.
 */
#ifndef HS_SERVICE_KEPT_MATCH_H
#define HS_SERVICE_KEPT_MATCH_H

#include <stdbool.h>
#include <stdint.h>

#include "validators/str.h"

struct hs_bytes;
struct hs_bytes_reader;
struct hs_match_slot;
struct hs_ruleset_entry;
struct hs_service;

/* Appends the fields that a reader needs before the bytes of a match. */
void hs_kept_match_put_head(const struct hs_match_slot *slot, struct hs_bytes *out);

/* The fields of the head. Texts point into the bytes that were read. */
struct hs_kept_head {
    struct hs_str tenant, name, revision, map, map_revision;
    uint64_t opening;
};

/* Reads the head. Returns false if the head is damaged. */
bool hs_kept_match_get_head(struct hs_bytes_reader *reader, struct hs_kept_head *head);

/* Appends the head and the state of a match, which must not be locked. Releases the lock between
   two parts, so that requests wait for one part at most. `begin` is called under the lock before
   the first part. Returns false if the match has ended. */
bool hs_kept_match_copy(struct hs_match_slot *slot, struct hs_bytes *out,
                        void (*begin)(void *context, struct hs_match_slot *slot), void *context);

/* The form of a match in the store: hs_checkpoint_magic and one record, compressed
   (system/packed.h). Call hs_kept_state_begin on an empty buffer, append the head and the state,
   and call hs_kept_state_end. The last call returns false if memory runs out. */
void hs_kept_state_begin(struct hs_bytes *state);
bool hs_kept_state_end(struct hs_bytes *state, struct hs_bytes *packed);

/* Closes a match that another replica owns now. The caller still releases the slot. */
void hs_kept_match_moved(struct hs_service *service, struct hs_match_slot *slot);

/* Writes the opening of a match, and its ruleset, unless they are already in the journal. Call it
   before the first verdict: verdict ids depend on the opening. Returns false if the opening or the
   ruleset cannot be written now. */
bool hs_kept_match_open(struct hs_service *service, struct hs_match_slot *slot);

/* Call it when moves of a locked match were checked. While the service drains, another replica may
   take over the match at any time. Therefore this function writes the state of the match to the
   store and returns true, and the answer must wait for this write (hs_shared_match_await). The
   other replica can then grant the client the time since its last move. While the service does not
   drain, the function does nothing and returns false. */
bool hs_kept_match_hand_off(struct hs_service *service, struct hs_match_slot *slot);

/*
 * Writes the records of the match since the last call. Returns false if the records cannot be
 * written now. The records then stay in the match, and a later call tries again. Until a call
 * succeeds, no answer may report a payment that is not settled. Sets `settled_payments` of the
 * slot.
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
