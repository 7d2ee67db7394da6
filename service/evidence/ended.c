#include "service/evidence/ended.h"

#include <stdio.h>

#include "service/evidence/context.h"
#include "service/evidence/reading.h"
#include "service/record/members.h"
#include "service/system/clock.h"

/* hs_ended_match reads at most ROWS_MAX rows. A full match has about ROWS_MAX rows, including the
   rows of players who left. LONGEST_US: how long a search may take. */
enum { ROWS_MAX = 4096, LONGEST_US = 1000000 };

#define OF_MATCH  HS_STR("match")
#define OF_PLAYER HS_STR("player")

/* ---- writing ---- */

/* Stores a row. Stores `kind` as the reason, too, because `reason` has an index and `kind` does
   not. Frees `context`. */
static void keep(struct hs_evidence *evidence, const struct hs_match_slot *slot, struct hs_str kind,
                 const struct hs_player_info *player, struct hs_buffer *context)
{
    struct hs_match_info info;
    struct hs_verdict_id id;
    hs_match_info(slot->match, &info);
    struct hs_str name = player != NULL ? player->name : HS_STR("");
    hs_match_slot_verdict_id(slot, player != NULL ? HS_ABOUT_PLAYER : HS_ABOUT_MATCH,
                             (uint64_t)info.newest_us, name, info.newest_us, &id);
    const struct hs_evidence_row row = {
        .at_us = hs_clock_wall_us(),
        .now_us = info.newest_us,
        .id = hs_str_of(id.text),
        .tenant = hs_name_str(&slot->tenant),
        .match = hs_name_str(&slot->name),
        .player = name,
        .account = player != NULL ? player->account : (struct hs_str){0},
        .kind = kind,
        .reason = kind,
        .ruleset = hs_name_str(&slot->ruleset->ruleset->name),
        .revision = hs_str_of(slot->ruleset->revision),
        .context = {context->data, context->len},
    };
    if (!context->failed)
        hs_evidence_put(evidence, &row, false, slot->ruleset, NULL);
    hs_buffer_free(context);
}

static void keep_player(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                        const struct hs_player_info *player)
{
    struct hs_buffer context = {0};
    hs_context_write_player(slot, player, &context);
    keep(evidence, slot, OF_PLAYER, player, &context);
}

void hs_ended_keep_player(struct hs_evidence *evidence, const struct hs_match_slot *slot,
                          struct hs_str player)
{
    struct hs_player_info info;
    if (evidence != NULL && hs_match_find_player(slot->match, player, &info))
        keep_player(evidence, slot, &info);
}

void hs_ended_keep(struct hs_evidence *evidence, const struct hs_match_slot *slot)
{
    struct hs_player_info player;
    struct hs_buffer context = {0};
    if (evidence == NULL)
        return;
    for (uint32_t cursor = 0; hs_match_next_player(slot->match, &cursor, &player);)
        keep_player(evidence, slot, &player);
    hs_context_write_match(slot, &context);
    keep(evidence, slot, OF_MATCH, NULL, &context);
}

/* ---- reading ---- */

static bool list_row(void *context, const struct hs_evidence_stored *stored)
{
    struct hs_writer *writer = context;
    const struct hs_evidence_row *row = &stored->row;
    hs_write_begin(writer, '{');
    hs_write_time_field(writer, "at", row->at_us);
    hs_write_str_field(writer, "kind", row->kind);
    if (row->tenant.len > 0)
        hs_write_str_field(writer, "tenant", row->tenant);
    hs_write_str_field(writer, "match", row->match);
    if (row->player.len > 0)
        hs_write_str_field(writer, "player", row->player);
    if (row->account.len > 0)
        hs_write_str_field(writer, "account", row->account);
    hs_write_str_field(writer, "ruleset", row->ruleset);
    hs_write_str_field(writer, "revision", row->revision);
    hs_write_key(writer, "summary");
    hs_write_raw(writer, hs_context_member(row->context, row->kind));
    hs_write_end(writer, '}');
    return !writer->buffer->failed;
}

enum hs_evidence_read hs_ended_list(const struct hs_evidence_home *home,
                                    struct hs_evidence_query query, struct hs_writer *writer,
                                    int64_t *next_us)
{
    query.verdict = HS_STR("");
    if (query.reason.ptr == NULL)
        query.reason = query.kind;
    hs_write_begin(writer, '[');
    enum hs_evidence_read result =
        hs_evidence_each(home, &query, hs_clock_us() + LONGEST_US, list_row, writer, next_us);
    hs_write_end(writer, ']');
    return result;
}

/* A search for one opening of a match. The search reads the newest row first. */
struct search {
    uint64_t opening;
    struct hs_writer *writer;
    bool has_match; /* the match was written, and the array `players` is open */
    bool is_past;   /* a row of another opening followed, so the search is complete */
};

static void write_match(struct search *search, const struct hs_evidence_row *row)
{
    struct hs_str match = hs_context_member(row->context, OF_MATCH), key, value;
    hs_write_begin(search->writer, '{');
    struct hs_pieces members = hs_pieces_of(match, '{');
    while (hs_pieces_next(&members, &key, &value)) {
        char name[HS_NAME_MAX + 1];
        snprintf(name, sizeof name, "%.*s", (int)key.len, key.ptr);
        hs_write_name(search->writer, name);
        hs_write_raw(search->writer, value);
    }
    hs_write_time_field(search->writer, "ended", row->at_us);
    hs_write_begin_field(search->writer, "players", '[');
    search->has_match = true;
}

static bool visit_row(void *context, const struct hs_evidence_stored *stored)
{
    struct search *search = context;
    const struct hs_evidence_row *row = &stored->row;
    uint64_t opening = 0;
    hs_piece_whole(hs_context_member(row->context, HS_STR("opening")), &opening);
    if (opening == search->opening && hs_str_equal(row->kind, OF_MATCH) && !search->has_match)
        write_match(search, row);
    else if (opening == search->opening && search->has_match && hs_str_equal(row->kind, OF_PLAYER))
        hs_write_raw(search->writer, hs_context_member(row->context, OF_PLAYER));
    search->is_past = search->has_match && opening != search->opening;
    return !search->is_past;
}

enum hs_evidence_read hs_ended_match(const struct hs_evidence_home *home, struct hs_str tenant,
                                     struct hs_str match, uint64_t opening,
                                     struct hs_writer *writer)
{
    struct search search = {.opening = opening, .writer = writer};
    const struct hs_evidence_query query = {.tenant = tenant,
                                            .match = match,
                                            .verdict = HS_STR(""),
                                            .until_us = INT64_MAX,
                                            .limit = ROWS_MAX};
    int64_t next_us;
    enum hs_evidence_read result =
        hs_evidence_each(home, &query, hs_clock_us() + LONGEST_US, visit_row, &search, &next_us);
    if (search.has_match) {
        hs_write_end(writer, ']');
        hs_write_end(writer, '}');
    }
    if (result == HS_EVIDENCE_FAILED && !search.is_past)
        return HS_EVIDENCE_FAILED;
    return search.has_match ? HS_EVIDENCE_READ : HS_EVIDENCE_MISSING;
}
