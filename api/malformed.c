#include "api/malformed.h"

#include "validators/match.h"
#include "validators/vocabulary.h"

const struct hs_item_kind hs_item_kinds[HS_ITEM_COUNT] = {
    [HS_ITEM_PLAYER] = {"player", NULL, NULL},
    [HS_ITEM_MOVER] = {"mover", NULL, NULL},
    [HS_ITEM_MOVE] = {"player", "seq", "\"delta_time\":0,\"force_update\":false"},
    [HS_ITEM_SHOT] = {"shooter", "shot", "\"forward_time\":0,\"flags\":[],\"would_reject\":[]"},
    [HS_ITEM_HIT] = {"shooter", "shot",
                     "\"damage_total\":0,\"damage\":[],\"flags\":[],\"would_reject\":[]"},
};

const struct hs_malformed *hs_malformed_first(const struct hs_malformed_items *items,
                                              enum hs_item kind)
{
    return items != NULL ? items->lists[kind].first : NULL;
}

static void encode_errors(struct hs_writer *writer, const struct hs_malformed *malformed)
{
    hs_write_begin_field(writer, "errors", '[');
    for (const struct hs_item_error *error = malformed->errors; error != NULL;
         error = error->next) {
        hs_write_begin(writer, '{');
        hs_write_text_field(writer, "pointer", error->pointer);
        hs_write_text_field(writer, "detail", error->detail);
        hs_write_end(writer, '}');
    }
    hs_write_end(writer, ']');
    if (malformed->left_out > 0)
        hs_write_int_field(writer, "errors_left_out", (int64_t)malformed->left_out);
}

void hs_malformed_encode(struct hs_writer *writer, enum hs_item kind,
                         const struct hs_malformed *malformed)
{
    bool is_posed = kind == HS_ITEM_FRAME || kind == HS_ITEM_PLAYER || kind == HS_ITEM_MOVER;
    hs_write_begin(writer, '{');
    if (is_posed) {
        hs_write_int_field(writer, "frame",
                           (int64_t)(kind == HS_ITEM_FRAME ? malformed->index : malformed->frame));
    }
    if (malformed->number >= 0)
        hs_write_int_field(writer, hs_item_kinds[kind].number_key, malformed->number);
    if (malformed->who.ptr != NULL)
        hs_write_str_field(writer, hs_item_kinds[kind].name_key, malformed->who);
    if (is_posed) {
        hs_write_text_field(writer, "reason", hs_frame_result_name(HS_FRAME_MALFORMED));
        hs_write_text_field(writer, "detail", hs_frame_result_text(HS_FRAME_MALFORMED));
    } else {
        hs_write_text_field(writer, "verdict", hs_verdict_name(HS_VERDICT_REJECTED));
        hs_write_text_field(writer, "reason", hs_reason_name(HS_REASON_MALFORMED));
        hs_write_raw(writer, hs_str_of(hs_item_kinds[kind].rest));
    }
    encode_errors(writer, malformed);
    if (!is_posed)
        hs_write_bool_field(writer, "replayed", false);
    hs_write_end(writer, '}');
}
