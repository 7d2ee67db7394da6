#include "service/checkpoint/kept_match.h"

#include <string.h>

#include "service/checkpoint/journal.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "validators/base/encoding.h"
#include "validators/match.h"
#include "validators/snapshot.h"

void hs_kept_match_put_head(const struct hs_match_slot *slot, struct hs_bytes *out)
{
    hs_bytes_put_name(out, slot->tenant.text);
    hs_bytes_put_name(out, slot->name.text);
    hs_bytes_put(out, slot->opening, 8);
    hs_bytes_put_name(out, slot->ruleset->revision);
    hs_bytes_put_name(out, slot->map != NULL ? slot->map->name.text : slot->awaited_map.text);
    hs_bytes_put_name(out, slot->map != NULL ? slot->map->revision : slot->awaited_revision);
}

void hs_kept_ruleset_put(struct hs_bytes *out, const struct hs_ruleset_entry *entry)
{
    hs_bytes_put_name(out, entry->owner.text);
    hs_bytes_put_name(out, entry->revision);
    hs_bytes_put_run(out, entry->document, entry->document_size);
}

/* Writes a record, and frees its bytes in any case. */
static bool write_bytes(struct hs_journal *journal, enum hs_checkpoint_type type,
                        struct hs_bytes *bytes, uint64_t *number)
{
    const struct iovec part = {bytes->data, bytes->len};
    bool fine = !bytes->failed && hs_journal_write(journal, type, &part, 1, number);
    free(bytes->data);
    return fine;
}

/* Writes the document of a ruleset, unless the newest journal has the document. Returns false if
   the document cannot be written. */
static bool keep_document(struct hs_journal *journal, struct hs_ruleset_entry *entry)
{
    struct hs_journal_state state;
    hs_journal_state(journal, &state);
    if (atomic_load(&entry->journal) == state.number)
        return true;
    struct hs_bytes record = {0};
    hs_kept_ruleset_put(&record, entry);
    bool fine = write_bytes(journal, HS_CHECKPOINT_RULESET, &record, &state.number);
    if (fine)
        atomic_store(&entry->journal, state.number);
    return fine;
}

/* Writes the owner of a ruleset and `text`. */
static bool write_name(struct hs_journal *journal, enum hs_checkpoint_type type,
                       const struct hs_ruleset_entry *entry, const char *text)
{
    struct hs_bytes record = {0};
    hs_bytes_put_name(&record, entry->owner.text);
    hs_bytes_put_name(&record, text);
    return write_bytes(journal, type, &record, NULL);
}

void hs_kept_canary_put(struct hs_bytes *out, const char *owner,
                        const struct hs_ruleset_entry *canary, double share)
{
    uint64_t bits;
    memcpy(&bits, &share, sizeof bits);
    hs_bytes_put_name(out, owner);
    hs_bytes_put_name(out, canary->revision);
    hs_bytes_put(out, bits, 8);
}

static bool write_canary(struct hs_journal *journal, const struct hs_ruleset_entry *entry)
{
    struct hs_bytes record = {0};
    if (entry->canary == NULL)
        return true;
    if (!keep_document(journal, entry->canary))
        return false;
    hs_kept_canary_put(&record, entry->owner.text, entry->canary, entry->canary_share);
    return write_bytes(journal, HS_CHECKPOINT_CANARY, &record, NULL);
}

bool hs_kept_ruleset_name(void *service, struct hs_ruleset_entry *entry)
{
    struct hs_journal *journal = ((struct hs_service *)service)->journal;
    return journal == NULL ||
           (keep_document(journal, entry) &&
            write_name(journal, HS_CHECKPOINT_RULESET_NAME, entry, entry->revision) &&
            write_canary(journal, entry));
}

bool hs_kept_ruleset_gone(void *service, struct hs_ruleset_entry *entry)
{
    struct hs_journal *journal = ((struct hs_service *)service)->journal;
    return journal == NULL ||
           write_name(journal, HS_CHECKPOINT_RULESET_GONE, entry, entry->ruleset->name.text);
}

bool hs_kept_match_open(struct hs_service *service, struct hs_match_slot *slot)
{
    struct hs_journal *journal = service->journal;
    if (journal == NULL || slot->is_kept)
        return true;
    struct hs_bytes record = {0};
    if (!keep_document(journal, slot->ruleset))
        return false;
    hs_kept_match_put_head(slot, &record);
    hs_match_save(slot->match, &record);
    slot->is_kept =
        write_bytes(journal, HS_CHECKPOINT_MATCH, &record, NULL) && hs_journal_settle(journal);
    return slot->is_kept;
}

/* Writes all records and empties the buffer, or returns false. */
static bool write_records(struct hs_journal *journal, struct hs_match_slot *slot)
{
    struct hs_bytes *records = &slot->journal;
    unsigned char head[1 + HS_NAME_MAX + 8];
    struct hs_bytes prefix = {.data = head, .capacity = sizeof head};
    hs_bytes_put_name(&prefix, slot->name.text);
    hs_bytes_put(&prefix, slot->opening, 8);
    const struct iovec parts[] = {{prefix.data, prefix.len}, {records->data, records->len}};
    if (!hs_journal_write(journal, HS_CHECKPOINT_EVENTS, parts, 2, NULL))
        return false;
    free(records->data); /* free the memory now, because no budget counts it */
    *records = (struct hs_bytes){0};
    return true;
}

/* Finds out which payments are settled. It tests the records of an earlier write, because under
   load the newest records are never settled. */
static void record_settled(struct hs_match_slot *slot, const struct hs_journal_state *state)
{
    for (int i = 0; i < 2 && slot->written_before.position <= state->settled; i++) {
        slot->settled_payments = slot->written_before.payments;
        slot->written_before = slot->written;
    }
}

bool hs_kept_match_write(struct hs_service *service, struct hs_match_slot *slot)
{
    struct hs_journal *journal = service->journal;
    struct hs_journal_state state;
    bool has_records = slot->journal.len > 0;
    if (journal == NULL)
        return true;
    bool is_written = !has_records || write_records(journal, slot);
    hs_journal_state(journal, &state);
    if (has_records && is_written)
        slot->written = (struct hs_written){state.written, hs_match_payments(slot->match)};
    record_settled(slot, &state);
    return is_written && state.is_sound;
}

bool hs_kept_match_close(struct hs_service *service, const struct hs_match_slot *slot)
{
    if (service->journal == NULL)
        return true;
    struct hs_bytes record = {0};
    hs_bytes_put_name(&record, slot->name.text);
    hs_bytes_put(&record, slot->opening, 8);
    return write_bytes(service->journal, HS_CHECKPOINT_CLOSE, &record, NULL);
}
