#include "service/checkpoint/kept_match.h"

#include <string.h>

#include "service/checkpoint/journal.h"
#include "service/record/recorder.h"
#include "service/service.h"
#include "service/state/maps.h"
#include "service/state/registry.h"
#include "service/state/rulesets.h"
#include "service/store/matches.h"
#include "service/system/packed.h"
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

bool hs_kept_match_get_head(struct hs_bytes_reader *reader, struct hs_kept_head *head)
{
    head->tenant = hs_bytes_get_name(reader);
    head->name = hs_bytes_get_name(reader);
    head->opening = hs_bytes_get(reader, 8);
    head->revision = hs_bytes_get_name(reader);
    head->map = hs_bytes_get_name(reader);
    head->map_revision = hs_bytes_get_name(reader);
    bool has_map = head->map.len > 0;
    return !reader->failed && (head->tenant.len == 0 || hs_name_is_valid(head->tenant)) &&
           hs_name_is_valid(head->name) &&
           (!has_map || (hs_name_is_valid(head->map) && head->map_revision.len > 0 &&
                         head->map_revision.len < HS_REVISION_MAX));
}

/* Maximum size of one copied part. Copying such a part under the match lock takes tens of
   microseconds. */
enum { PART_BYTES = 64 * 1024 };

bool hs_kept_match_copy(struct hs_match_slot *slot, struct hs_bytes *out,
                        void (*begin)(void *context, struct hs_match_slot *slot), void *context)
{
    struct hs_save_cursor cursor = {0};
    bool is_open = true, is_more = true;
    while (is_open && is_more) {
        hs_registry_lock(slot);
        is_open = !slot->closed;
        if (is_open && !cursor.has_begun) {
            hs_kept_match_put_head(slot, out);
            begin(context, slot);
        }
        if (is_open)
            is_more = hs_match_save_part(slot->match, &cursor, PART_BYTES, out);
        hs_registry_unlock(slot);
    }
    return is_open;
}

/* ---- the store ---- */

enum { STATE_HEAD = HS_CHECKPOINT_HEADER + HS_CHECKPOINT_RECORD_HEADER };

void hs_kept_state_begin(struct hs_bytes *state)
{
    unsigned char *head = hs_bytes_reserve(state, STATE_HEAD);
    if (head != NULL)
        hs_checkpoint_magic(head);
}

bool hs_kept_state_end(struct hs_bytes *state, struct hs_bytes *packed)
{
    if (state->failed)
        return false;
    const struct iovec part = {state->data + STATE_HEAD, state->len - STATE_HEAD};
    hs_checkpoint_frame(state->data + HS_CHECKPOINT_HEADER, HS_CHECKPOINT_MATCH, &part, 1);
    return hs_pack(state->data, state->len, packed);
}

/* Writes the state of a locked match to the store. If `hands_off` is set, calls
   hs_shared_match_hand_off, so that another replica can continue the match. */
static void share_state(struct hs_match_slot *slot, struct hs_shared_match *shared, bool hands_off)
{
    struct hs_bytes state = {0}, packed = {0};
    hs_kept_state_begin(&state);
    hs_kept_match_put_head(slot, &state);
    hs_match_save(slot->match, &state);
    bool fine = hs_kept_state_end(&state, &packed);
    const struct hs_str bytes = {fine ? (const char *)packed.data : NULL, packed.len};
    if (hands_off)
        hs_shared_match_hand_off(shared, bytes);
    else if (fine)
        hs_shared_match_write(shared, HS_STORE_URGENT, bytes, hs_shared_match_mark(shared),
                              HS_SHARED_PARTIAL);
    free(state.data);
    free(packed.data);
}

bool hs_kept_match_hand_off(struct hs_service *service, struct hs_match_slot *slot)
{
    struct hs_shared_match *shared = atomic_load(&slot->shared);
    bool hands_off = shared != NULL && atomic_load(&service->draining);
    if (hands_off)
        share_state(slot, shared, true);
    return hands_off;
}

static void put_record(struct hs_bytes *out, enum hs_checkpoint_type type,
                       const struct iovec *parts, size_t count)
{
    unsigned char *head = hs_bytes_reserve(out, HS_CHECKPOINT_RECORD_HEADER);
    if (head != NULL)
        hs_checkpoint_frame(head, type, parts, count);
    for (size_t i = 0; i < count; i++)
        if (parts[i].iov_base != NULL)
            hs_bytes_put_run(out, parts[i].iov_base, parts[i].iov_len);
}

/* Appends payments to the journal in the store. An entry consists of a number (so that no two
   entries are equal), the file header (hs_checkpoint_magic), and two records as in a journal
   file. */
static void share_records(const struct hs_service *service, struct hs_match_slot *slot,
                          struct hs_shared_match *shared, const struct iovec parts[2])
{
    struct hs_bytes out = {0};
    unsigned char word[8];
    /* Payment records are useless if the store has no state of the match. */
    if (hs_shared_match_needs_state(shared))
        share_state(slot, shared, false);
    hs_bytes_put(&out, hs_shared_match_mark(shared) + 1, 8);
    unsigned char *magic = hs_bytes_reserve(&out, HS_CHECKPOINT_HEADER);
    if (magic != NULL)
        hs_checkpoint_magic(magic);
    hs_word_put(word, service->journal_layout, sizeof word);
    put_record(&out, HS_CHECKPOINT_LAYOUT, &(struct iovec){word, sizeof word}, 1);
    put_record(&out, HS_CHECKPOINT_EVENTS, parts, 2);
    hs_shared_match_append(shared, out.failed ? (struct hs_str){0}
                                              : (struct hs_str){(const char *)out.data, out.len});
    free(out.data);
}

/* ---- the journal ---- */

void hs_kept_ruleset_put(struct hs_bytes *out, const struct hs_ruleset_entry *entry)
{
    hs_bytes_put_name(out, entry->owner.text);
    hs_bytes_put_name(out, entry->revision);
    hs_bytes_put_run(out, entry->document, entry->document_size);
}

/* Writes a record, and always frees its bytes. */
static bool write_bytes(struct hs_journal *journal, enum hs_checkpoint_type type,
                        struct hs_bytes *bytes, uint64_t *number)
{
    const struct iovec part = {bytes->data, bytes->len};
    bool fine = !bytes->failed && hs_journal_write(journal, type, &part, 1, number);
    free(bytes->data);
    return fine;
}

/* Writes a ruleset's document, unless the current journal already contains it. Returns false on
   failure. */
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

/* Writes a record with the ruleset's owner and `text`. */
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

/* Writes all records and empties the buffer. On failure returns false and keeps the records. */
static bool write_records(const struct hs_service *service, struct hs_match_slot *slot)
{
    struct hs_journal *journal = service->journal;
    struct hs_bytes *records = &slot->journal;
    struct hs_shared_match *shared = atomic_load(&slot->shared);
    unsigned char head[1 + HS_NAME_MAX + 8];
    struct hs_bytes prefix = {.data = head, .capacity = sizeof head};
    hs_bytes_put_name(&prefix, slot->name.text);
    hs_bytes_put(&prefix, slot->opening, 8);
    const struct iovec parts[] = {{prefix.data, prefix.len}, {records->data, records->len}};
    if (journal != NULL && !hs_journal_write(journal, HS_CHECKPOINT_EVENTS, parts, 2, NULL))
        return false;
    if (shared != NULL)
        share_records(service, slot, shared, parts);
    free(records->data); /* free the memory now, because this memory counts towards no budget */
    *records = (struct hs_bytes){0};
    return true;
}

/* Updates `settled_payments`. Under load, the newest write is not settled at this time, so this
   function also checks an earlier write. */
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
    bool is_written = !has_records || write_records(service, slot);
    if (journal == NULL)
        return true;
    hs_journal_state(journal, &state);
    if (has_records && is_written)
        slot->written = (struct hs_written){state.written, hs_match_payments(slot->match)};
    record_settled(slot, &state);
    return is_written && state.is_sound;
}

static bool write_close(struct hs_journal *journal, const struct hs_match_slot *slot)
{
    if (journal == NULL)
        return true;
    struct hs_bytes record = {0};
    hs_bytes_put_name(&record, slot->name.text);
    hs_bytes_put(&record, slot->opening, 8);
    return write_bytes(journal, HS_CHECKPOINT_CLOSE, &record, NULL);
}

bool hs_kept_match_close(struct hs_service *service, const struct hs_match_slot *slot)
{
    struct hs_shared_match *shared = atomic_load(&slot->shared);
    if (!write_close(service->journal, slot))
        return false;
    if (shared != NULL)
        hs_shared_match_close(shared);
    return true;
}

void hs_kept_match_moved(struct hs_service *service, struct hs_match_slot *slot)
{
    /* If this write fails, the next start of the service restores the match. The restored match
       does no harm: before the service uses the match, it asks the store which replica owns the
       match. */
    (void)write_close(service->journal, slot);
    hs_record_replayed(service->record, slot, NULL, 0);
    hs_registry_remove(service->registry, slot);
}
