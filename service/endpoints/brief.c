#include "service/endpoints/brief.h"

bool hs_brief_begin(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    if (!posting->request->brief || tick->moves.count == 0)
        return true;
    posting->acks =
        hs_arena_alloc(posting->request->arena, tick->moves.count, sizeof *posting->acks);
    return posting->acks != NULL;
}

struct hs_brief_mark hs_brief_mark(const struct hs_posting *posting)
{
    return (struct hs_brief_mark){posting->writer.buffer->len, posting->writer.needs_comma};
}

void hs_brief_item(struct hs_posting *posting, enum hs_item kind, struct hs_brief_mark mark)
{
    struct hs_writer *writer = &posting->writer;
    if (!posting->request->brief)
        return;
    if (!posting->is_plain) {
        hs_write_first_int_field(writer, mark.len + (mark.needs_comma ? 1 : 0), "index",
                                 (int64_t)posting->place);
        return;
    }
    posting->plain[kind]++;
    writer->buffer->len = mark.len;
    writer->needs_comma = mark.needs_comma;
}

void hs_brief_end(struct hs_posting *posting, const struct hs_ticks_request *tick)
{
    static const struct {
        unsigned field;
        enum hs_item kind;
        const char *key;
    } parts[] = {{HS_TICKS_MOVES, HS_ITEM_MOVE, "moves"},
                 {HS_TICKS_SHOTS, HS_ITEM_SHOT, "shots"},
                 {HS_TICKS_HITS, HS_ITEM_HIT, "hits"}};
    struct hs_writer *writer = &posting->writer;
    bool is_tick = posting->request->route == HS_ROUTE_TICKS_POST;
    if (is_tick)
        hs_write_begin_field(writer, "accepted", '{');
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (tick->fields & parts[i].field)
            hs_write_int_field(writer, is_tick ? parts[i].key : "accepted",
                               (int64_t)posting->plain[parts[i].kind]);
    if (is_tick)
        hs_write_end(writer, '}');
    if ((tick->fields & HS_TICKS_MOVES) == 0)
        return;
    hs_write_begin_field(writer, "acks", '[');
    for (size_t i = 0; i < posting->ack_count; i++)
        hs_write_int(writer, (int64_t)posting->acks[i]);
    hs_write_end(writer, ']');
}
