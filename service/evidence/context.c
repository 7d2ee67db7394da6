#include "service/evidence/context.h"

#include "service/record/members.h"
#include "validators/hints.h"

static void begin(struct hs_writer *writer, const struct hs_match_slot *slot)
{
    hs_write_begin(writer, '{');
    hs_write_int_field(writer, "opening", (int64_t)slot->opening);
}

static void write_claims(struct hs_writer *writer, const struct hs_match *match, int hit_reason)
{
    struct hs_match_totals totals;
    uint64_t all = 0;
    hs_match_totals(match, &totals);
    for (int i = 0; i < HS_REASON_COUNT; i++)
        all += totals.reasons[i];
    hs_write_begin_field(writer, "claims", '{');
    hs_write_int_field(writer, "all", (int64_t)all);
    if (hit_reason >= 0)
        hs_write_int_field(writer, "with_reason", (int64_t)totals.reasons[hit_reason]);
    hs_write_end(writer, '}');
}

static void write_hints(struct hs_writer *writer, const struct hs_match *match)
{
    unsigned codes = hs_match_hint_codes(match);
    hs_write_begin_field(writer, "hints", '[');
    for (int i = 0; i < HS_HINT_COUNT; i++)
        if (codes >> i & 1)
            hs_write_text(writer, hs_hint_code_name((enum hs_hint_code)i));
    hs_write_end(writer, ']');
}

void hs_context_write(const struct hs_match_slot *slot, struct hs_str player, int hit_reason,
                      struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    struct hs_player_info info;
    begin(&writer, slot);
    if (hs_match_find_player(slot->match, player, &info)) {
        hs_write_key(&writer, "player");
        hs_player_encode(&writer, slot->match, &info);
    }
    write_claims(&writer, slot->match, hit_reason);
    write_hints(&writer, slot->match);
    hs_write_end(&writer, '}');
}

void hs_context_write_player(const struct hs_match_slot *slot, const struct hs_player_info *player,
                             struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    begin(&writer, slot);
    hs_write_key(&writer, "player");
    hs_player_encode(&writer, slot->match, player);
    hs_match_encode_hints(&writer, slot->match);
    hs_write_end(&writer, '}');
}

void hs_context_write_match(const struct hs_match_slot *slot, struct hs_buffer *out)
{
    struct hs_writer writer = {.buffer = out};
    struct hs_match_head head = hs_match_slot_head(slot);
    begin(&writer, slot);
    hs_write_key(&writer, "match");
    hs_match_encode_end(&writer, &head, slot->match);
    hs_write_end(&writer, '}');
}

struct hs_str hs_context_member(struct hs_str context, struct hs_str key)
{
    struct hs_str found, value;
    struct hs_pieces members = hs_pieces_of(context, '{');
    while (hs_pieces_next(&members, &found, &value))
        if (hs_str_equal(found, key))
            return value;
    return (struct hs_str){0};
}
