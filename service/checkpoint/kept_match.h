/*
 * Writes matches, payments and rulesets to the journal (journal.h), so that they survive a crash.
 * Payments also go to the store that replicas share (store/matches.h). If there is neither a
 * journal nor a store, every function does nothing and succeeds. The caller holds the match lock,
 * except in hs_kept_match_copy.
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

/* Appends the head: the fields that a reader needs before it can load the match. */
void hs_kept_match_put_head(const struct hs_match_slot *slot, struct hs_bytes *out);

/* The fields of the head. The strings point into the bytes that were read. */
struct hs_kept_head {
    struct hs_str tenant, name, revision, map, map_revision;
    uint64_t opening;
};

/* Reads the head. Returns false if the head is damaged. */
bool hs_kept_match_get_head(struct hs_bytes_reader *reader, struct hs_kept_head *head);

/* Appends the head and the state of a match. The match must not be locked. This function locks the
   match for one part at a time, so that a request waits for one part at most. Calls `begin` under
   the lock before the first part. Returns false if the match has ended. */
bool hs_kept_match_copy(struct hs_match_slot *slot, struct hs_bytes *out,
                        void (*begin)(void *context, struct hs_match_slot *slot), void *context);

/* A match in the store consists of the file header (hs_checkpoint_magic) and one record, which are
   compressed together (system/packed.h). Call hs_kept_state_begin on an empty buffer, append the
   head and the state, and call hs_kept_state_end, which returns false if memory runs out. */
void hs_kept_state_begin(struct hs_bytes *state);
bool hs_kept_state_end(struct hs_bytes *state, struct hs_bytes *packed);

/* Closes a match that another replica now owns. The caller must still release the slot. */
void hs_kept_match_moved(struct hs_service *service, struct hs_match_slot *slot);

/* Writes the match and its ruleset to the journal, unless they are already there. Must be called
   before the first verdict, because verdict ids depend on the opening number. Returns false if the
   write fails. */
bool hs_kept_match_open(struct hs_service *service, struct hs_match_slot *slot);

/* Must be called after moves were checked. If the service drains and replicas share the match,
   starts to write the state to the store and returns true; the answer must wait for this write
   (hs_shared_match_await). Otherwise does nothing and returns false. While the service drains,
   another replica may take over the match at any time. The state in the store contains the time of
   the client's last move. The other replica grants the client the time since that move. */
bool hs_kept_match_hand_off(struct hs_service *service, struct hs_match_slot *slot);

/*
 * Writes the match's new records to the journal and the store, and updates the slot's
 * `settled_payments`. Returns false if the write fails, or if the sync mode is `always` and a power
 * failure could still lose the records. Records that could not be written stay in the match until
 * the next call. After a failure, answers must not report unsettled payments until a call succeeds.
 */
bool hs_kept_match_write(struct hs_service *service, struct hs_match_slot *slot);

/* Writes the end of a match. Call hs_journal_settle afterwards. Returns false if the write
   fails. */
bool hs_kept_match_close(struct hs_service *service, const struct hs_match_slot *slot);

/* Appends a ruleset's owner, revision and document. */
void hs_kept_ruleset_put(struct hs_bytes *out, const struct hs_ruleset_entry *entry);

/* Appends the owner of a ruleset name, and the revision and the share of the canary of this
   name. */
void hs_kept_canary_put(struct hs_bytes *out, const char *owner,
                        const struct hs_ruleset_entry *canary, double share);

/* These functions record a changed or deleted ruleset in the journal. Call hs_journal_settle
   afterwards. `service` points to a struct hs_service; hs_ruleset_writer requires a void
   pointer. */
bool hs_kept_ruleset_name(void *service, struct hs_ruleset_entry *entry);
bool hs_kept_ruleset_gone(void *service, struct hs_ruleset_entry *entry);

#endif
